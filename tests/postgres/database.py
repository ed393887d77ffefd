"""A PostgreSQL for tests, with graphs that were loaded into schemas of their own."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import asyncpg
from pydantic import SecretStr

from gateway.api import open_gateway
from gateway.files.loading import load_files
from gateway.postgres.connection import Address
from gateway.postgres.loading import Loaded, Loader, NewTables, nodes_of
from gateway.postgres.store import PostgresStore
from gateway.postgres.tables import BlankEnds
from gateway.settings.databases import PostgresSettings
from gateway.settings.endpoint import AccessSettings, RequestSettings
from gateway.settings.limits import CacheSettings, OrientationSettings
from gateway.settings.load import load_profile
from gateway.settings.profile import Profile
from gateway.sparql.store import SparqlStore
from gateway.terms.prefixes import PrefixMap, merge
from gateway.tools.gateway import Gateway
from gateway.transport.inprocess import InProcess
from tests.clocks import fixed_wall_clock
from tests.columns import Column
from tests.servers.loopback import HOST
from tests.servers.postgres import PASSWORD, USER, PostgresServer, running_postgres

Result = TypeVar("Result")

CHAIN = """
CREATE TABLE entity (entity_id text PRIMARY KEY, entity_type text, name text);
CREATE TABLE relationship (subject_id text, predicate text, object_id text);
INSERT INTO entity SELECT 'urn:n:' || i, 'Node', 'node ' || i FROM generate_series(0, 60) AS i;
INSERT INTO relationship SELECT 'urn:n:' || i, 'next', 'urn:n:' || i + 1 FROM generate_series(0, 59) AS i;
CREATE INDEX ON relationship (subject_id);
CREATE INDEX ON relationship (object_id);
"""
"""61 nodes; `tests.databases.chain` says what is right about them."""


@dataclass
class Database:
    """A running server and what was loaded into it.

    Attributes:
        server: The server.
        schemas: Schemas that were made in the database `postgres`.
        databases: Databases that were made, with what was put into each.
    """

    server: PostgresServer
    schemas: set[str] = field(default_factory=set)
    databases: dict[str, str] = field(default_factory=dict)

    @property
    def address(self) -> Address:
        """Where the database is that graphs are loaded into, with the right password."""
        return self.address_of("postgres")

    def address_of(self, database: str) -> Address:
        """Return where a database is, with the right password."""
        return Address(HOST, self.server.port, database, USER, SecretStr(PASSWORD), tls=False)

    def url(self, database: str = "postgres") -> str:
        """Return the URL of a database, without the password."""
        return f"postgresql://{USER}@{HOST}:{self.server.port}/{database}"

    def access(self) -> AccessSettings:
        """Return the settings that say where the password is."""
        return AccessSettings(user=USER, password=f"file:{self.server.password}")

    def execute(self, sql: str, database: str = "postgres") -> None:
        """Run statements of a test."""
        self._run(database, lambda connection: connection.execute(sql))

    def rows(self, sql: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """Return the rows of a query of a test."""
        return [tuple(row) for row in self._run(database, lambda connection: connection.fetch(sql))]

    def _run(self, database: str, work: Callable[[Any], Awaitable[Any]]) -> Any:
        async def run() -> Any:
            connection = await asyncpg.connect(**self.address_of(database).arguments)
            try:
                return await work(connection)
            finally:
                await connection.close()

        return _apart(run)

    def make_database(self, name: str, sql: str = "") -> str:
        """Make a database, with what statements put into it, and return its URL."""
        if name not in self.databases:
            self.execute(f'CREATE DATABASE "{name}"')
            if sql:
                self.execute(sql, name)
            self.databases[name] = sql
        assert self.databases[name] == sql, f"another test has a database {name}"
        return self.url(name)

    def make_schema(self, name: str) -> bool:
        """Make a schema; return whether it is new."""
        if name in self.schemas:
            return False
        self.execute(f'CREATE SCHEMA "{name}"')
        self.schemas.add(name)
        return True

    def load(self, name: str, files: list[Path], profile: Profile, *, blank_nodes: bool = False) -> Loaded | None:
        """Load files into the tables of a schema, if that was not done before; blank nodes are nodes where asked."""
        if not self.make_schema(name):
            return None
        graph = load_files(files, blank_types=profile.edges.types if blank_nodes else None)
        store = SparqlStore(InProcess(graph.engine, max_bytes=1 << 26), profile)
        nodes = nodes_of(graph.engine)
        roles = profile.roles
        blank_ends = BlankEnds.of(graph.engine, profile.edges.types, (*roles.name, *roles.synonym))
        loader = Loader(
            store, store.stated_edges, NewTables(self.address, tables_in(name)), roles, prefixes=profile.prefixes
        )
        return _apart(lambda: loader.load(nodes, blank_ends))


def _apart(work: Callable[[], Coroutine[object, object, Result]]) -> Result:
    """Return what a coroutine returns, run in a thread: the caller may be on an event loop."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(work())).result()


def tables_in(schema: str) -> PostgresSettings:
    """Return settings for the usual tables in a schema."""
    usual = PostgresSettings()
    return PostgresSettings(
        nodes=usual.nodes.model_copy(update={"table": f"{schema}.{usual.nodes.table}"}),
        edges=usual.edges.model_copy(update={"table": f"{schema}.{usual.edges.table}"}),
        evidence=usual.evidence.model_copy(update={"table": f"{schema}.{usual.evidence.table}"}),
    )


@contextmanager
def running_database(workdir: Path, port: int | None = None) -> Iterator[Database]:
    """Run a server, with what an earlier one of the same folder had."""
    with running_postgres(workdir, port) as server:
        yield Database(server)


def opened(url: str, access: AccessSettings, *, seconds: float = 30, concurrency: int = 4) -> Gateway:
    """Open a gateway without a cache."""
    profile = load_profile("bfsql-postgres")
    requests = RequestSettings(concurrency=concurrency)
    endpoint = profile.endpoint.model_copy(update={"access": access, "requests": requests})
    limits = profile.limits.model_copy(update={"deadline_seconds": seconds})
    update = {"endpoint": endpoint, "limits": limits, "cache": CacheSettings(megabytes=0)}
    return open_gateway(url, profile=profile.model_copy(update=update))


@dataclass(frozen=True)
class PostgresColumn(Column):
    """PostgreSQL in the place of an engine: every graph that a test opens is loaded first."""

    database: Database = field(default=None, repr=False)  # type: ignore[assignment]  # a base class has defaults
    blank_nodes: bool = False

    @property
    def is_here(self) -> bool:
        """A database is a server."""
        return False

    def open(self, graph: str, profile: Profile | None = None, *, through: str = "") -> Gateway:
        """Open a gateway over a graph; see `Column.open`."""
        assert not through
        settings = self.settled(profile or Profile())
        prefixes, _ = merge([("the profile", settings.prefixes)])
        return Gateway(self.store(graph, settings), settings, PrefixMap(prefixes))

    def store(self, graph: str, profile: Profile) -> PostgresStore:
        """Return the store over a graph, which is loaded first."""
        self._need(graph)
        self.database.load(graph, list(self.files[graph]), profile, blank_nodes=self.blank_nodes)
        return PostgresStore(
            self.database.address, tables_in(graph), profile, profile.prefixes, wall_clock=fixed_wall_clock
        )

    @staticmethod
    def settled(profile: Profile) -> Profile:
        """Return a profile as `Column.open` has it."""
        if "orientation" not in profile.model_fields_set:
            profile = profile.model_copy(update={"orientation": OrientationSettings(patience_seconds=120)})
        if "coined_prefixes" not in profile.size.model_fields_set:
            size = profile.size.model_copy(update={"coined_prefixes": False})
            profile = profile.model_copy(update={"size": size})
        return profile
