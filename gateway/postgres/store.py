"""The store of a graph in PostgreSQL, in its dialect."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial

from gateway.databases.client import DatabaseClient, DatabaseRows, Remembered
from gateway.databases.nodes import MAX_BYTES, EdgeStatements, EvidenceReader
from gateway.databases.store import DatabaseStore
from gateway.errors import ConfigurationError, EndpointFault
from gateway.graph.call import Call
from gateway.graph.values import Edge
from gateway.graph.walks import Walk
from gateway.postgres.connection import Address, Pool
from gateway.postgres.sql import expression, identifier, load, parameters_of
from gateway.postgres.tables import Tables, mappings, names_of_tables, tables_of
from gateway.settings.databases import PostgresSettings
from gateway.settings.profile import Profile
from gateway.telemetry.tally import Clock

_COLUMNS = 10_000
"""Columns of all tables of a graph, of which there are five at most; PostgreSQL allows 1,600 in each."""


class PostgresClient(DatabaseClient):
    """Sends the queries of `queries/postgres/` to one database.

    Args:
        pool: The connections.
        settings: Its section about the graph.
        profile: The profile, which says how long columns are used before they are looked up again.
        prefixes: Namespaces by prefix, for CURIEs.
        clock: A monotonic clock, in seconds.
    """

    def __init__(
        self, pool: Pool, settings: PostgresSettings, profile: Profile, prefixes: Mapping[str, str], clock: Clock
    ) -> None:
        super().__init__(pool, profile, *mappings(settings, prefixes), alive=load("alive"), clock=clock)
        self._settings = settings
        self._tables: Remembered[Tables] = Remembered(profile.cache.ttl_seconds, clock)

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

    async def leaves_out(self, call: Call) -> bool:
        """Return whether `load` left out edges of this graph."""
        return bool((await self.tables(call)).left_out)

    async def evidence(self, call: Call, *arguments: object, at_most: int) -> DatabaseRows:
        """Ask for rows of evidence; see `rows`."""
        tables = await self.tables(call)
        return await self._answer("evidence", tables.evidence, arguments, at_most, call)

    def forget(self) -> None:
        """Look up the columns again with the next question."""
        self._tables.forget()


class TableEvidenceReader(EvidenceReader):
    """Reads the statements about edges from both tables; see `EvidenceReader`."""

    def __init__(self, client: PostgresClient) -> None:
        super().__init__(client)
        self._tables = client

    async def _read(self, by_edge: Mapping[Edge, EdgeStatements], call: Call) -> None:
        tables = await self._tables.tables(call)
        await self._read_rows(by_edge, call, by_triple=tables.by_triple)
        if tables.evidence:
            await self._read_evidence(by_edge, call)

    async def _read_evidence(self, by_edge: Mapping[Edge, EdgeStatements], call: Call) -> None:
        by_key: dict[str, list[EdgeStatements]] = {}
        for one in by_edge.values():
            for key in filter(None, one.keys):
                by_key.setdefault(key, []).append(one)
        found = await self._tables.evidence(call, list(by_key), MAX_BYTES, at_most=self._most_rows)
        for key, *row in found.whole():
            for one in by_key[key]:
                self._add(one, row)


class PostgresStore(DatabaseStore):
    """A graph in tables of a database, whose CURIEs are read by these prefixes; see `DatabaseStore`."""

    def __init__(
        self,
        address: Address,
        tables: PostgresSettings,
        profile: Profile,
        prefixes: Mapping[str, str],
        *,
        clock: Clock = time.monotonic,
        wall_clock: Clock = time.time,
    ) -> None:
        pool = Pool(address, profile.endpoint.requests.concurrency)
        super().__init__(
            PostgresClient(pool, tables, profile, prefixes, clock),
            parameters=parameters_of,
            expression=expression,
            evidence=TableEvidenceReader,
            wall_clock=wall_clock,
        )

    async def may_have_lists(self, _walk: Walk, _call: Call) -> bool:
        """Return whether lists may be values: `load` writes them."""
        return True

    async def may_have_expressions(self, _call: Call) -> bool:
        """Return whether edges may be those of class expressions: `load` writes them."""
        return True
