"""The queries of `queries/postgres/`, over the tables of one graph."""

from __future__ import annotations

from gateway.databases.client import DatabaseClient, Rows
from gateway.errors import ConfigurationError, EndpointFault
from gateway.flow.control import FlowControl
from gateway.graph.call import Call
from gateway.postgres.connection import Pool
from gateway.postgres.quoting import identifier
from gateway.postgres.sql import load
from gateway.postgres.tables import Tables, names_of_tables, tables_of
from gateway.settings.postgres import PostgresSettings

_COLUMNS = 2_000
"""Columns of a table; PostgreSQL allows 1,600."""


class PostgresClient(DatabaseClient):
    """Sends the queries of `queries/postgres/` to one database."""

    def __init__(self, pool: Pool, settings: PostgresSettings, flow: FlowControl, query_rows: int) -> None:
        super().__init__(pool, flow, query_rows, load("alive"))
        self._settings = settings
        self._tables: Tables | None = None

    async def tables(self, call: Call) -> Tables:
        """Return the tables of the graph, which are looked up once.

        Raises:
            Fault: The database could not be asked, or lacks a table or column that the profile names.
        """
        if self._tables is None:
            found = {}
            for name in names_of_tables(self._settings):
                rows = await self._fetched("columns", load("columns"), [identifier(name)], _COLUMNS, call)
                found[name] = {str(column): str(kind) for column, kind in rows}
            try:
                self._tables = tables_of(self._settings, found)
            except ConfigurationError as error:
                raise EndpointFault(error.wrong, valid=error.valid, next_step=error.next_step) from error
        return self._tables

    async def query(self, name: str, call: Call) -> str:
        """Return a query over the tables; see `DatabaseClient.query`."""
        return (await self.tables(call)).query(name)

    async def evidence(self, call: Call, *arguments: object) -> Rows:
        """Ask for rows of evidence; see `rows`."""
        tables = await self.tables(call)
        return await self._answer("evidence", tables.evidence, arguments, None, call)
