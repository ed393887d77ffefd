"""The queries of `queries/postgres/`, over the tables of one graph."""

from __future__ import annotations

from functools import partial

from gateway.databases.client import DatabaseClient, Rows
from gateway.databases.lookup import Lookup
from gateway.errors import ConfigurationError, EndpointFault
from gateway.flow.control import FlowControl
from gateway.graph.call import Call
from gateway.graph.deadline import Clock
from gateway.postgres.connection import Pool
from gateway.postgres.quoting import identifier
from gateway.postgres.sql import load
from gateway.postgres.tables import Tables, names_of_tables, tables_of
from gateway.settings.postgres import PostgresSettings

_COLUMNS = 10_000
"""Columns of all tables of a graph, of which there are four at most; PostgreSQL allows 1,600 in each."""


class PostgresClient(DatabaseClient):
    """Sends the queries of `queries/postgres/` to one database.

    Args:
        pool: The connections.
        settings: The section of the profile.
        flow: The flow control of the database.
        query_rows: Rows that one query may return.
        seconds: How long columns are used before they are looked up again.
        clock: A monotonic clock, in seconds.
    """

    def __init__(
        self,
        pool: Pool,
        settings: PostgresSettings,
        flow: FlowControl,
        query_rows: int,
        *,
        seconds: float,
        clock: Clock,
    ) -> None:
        super().__init__(pool, flow, query_rows, load("alive"))
        self._settings = settings
        self._tables: Lookup[Tables] = Lookup(seconds, clock)

    async def tables(self, call: Call) -> Tables:
        """Return the tables of the graph, whose columns are looked up once in a while.

        Raises:
            Fault: The database could not be asked, or lacks a table or column that the profile names.
        """
        return await self._tables.found(partial(self._looked_up, call))

    async def _looked_up(self, call: Call) -> Tables:
        quoted = {identifier(name): name for name in names_of_tables(self._settings)}
        found: dict[str, dict[str, str]] = {name: {} for name in quoted.values()}
        for table, column, kind in await self._fetched("columns", load("columns"), [list(quoted)], _COLUMNS, call):
            found[quoted[str(table)]][str(column)] = str(kind)
        try:
            return tables_of(self._settings, found)
        except ConfigurationError as error:
            raise EndpointFault(error.wrong, valid=error.valid, next_step=error.next_step) from error

    async def query(self, name: str, call: Call) -> str:
        """Return a query over the tables; see `DatabaseClient.query`."""
        return (await self.tables(call)).query(name)

    async def evidence(self, call: Call, *arguments: object, at_most: int) -> Rows:
        """Ask for rows of evidence; see `rows`."""
        tables = await self.tables(call)
        return await self._answer("evidence", tables.evidence, arguments, at_most, call)

    def forget(self) -> None:
        """Look up the columns again with the next question."""
        self._tables.forget()
