"""A Neo4j for tests with all their graphs, opened by URL as a user opens it; this is its keeper's program, too."""

import hashlib
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pydantic import SecretStr

from gateway.api import open_gateway
from gateway.graph.call import Call
from gateway.graph.store import DelegatingStore
from gateway.graph.values import Schema
from gateway.neo4j.connection import Address
from gateway.neo4j.store import Neo4jStore
from gateway.settings.databases import Neo4jSettings, NodesInNeo4j
from gateway.settings.endpoint import AccessSettings, RequestSettings
from gateway.settings.limits import CacheSettings, OrientationSettings
from gateway.settings.load import load_profile
from gateway.settings.profile import Profile
from gateway.terms.prefixes import PrefixMap, merge
from gateway.tools.gateway import Gateway
from tests.clocks import fixed_wall_clock
from tests.columns import Column
from tests.neo4j import loading
from tests.postgres.database import PostgresColumn
from tests.servers import neo4j as servers
from tests.servers.cache import fingerprint, private_copy
from tests.servers.engines import Files
from tests.servers.loopback import HOST
from tests.servers.neo4j import PASSWORD, USER, Neo4jServer, loaded_home, running_neo4j
from tests.servers.shared import keep, shared
from tests.servers.unavailable import ServerUnavailable, skip_or_fail

MESH = "http://id.nlm.nih.gov/mesh/"
RXNORM = "http://purl.bioontology.org/ontology/RXNORM/"

UNCLOSED = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
"""Where the time of a call ends while the driver connects, it leaves the socket to be closed by the interpreter.

neo4j 6.4: `AsyncBoltSocketBase._connect_secure` closes it for an `Exception`, which a cancellation is not.
"""


def address_at(port: int) -> Address:
    """Return where a database is, with the right password."""
    return Address(f"bolt://{HOST}:{port}", "neo4j", USER, SecretStr(PASSWORD))


@contextmanager
def shared_database(run: Path, files: Files) -> Iterator[Address]:
    """Use a server with graphs that all processes of a test run share.

    Args:
        run: The folder of the test run.
        files: The files of each graph; those of the process that asks first are loaded.
    """
    request = json.dumps({graph: [*map(str, paths)] for graph, paths in files.items()})
    with shared(run / "neo4j", [sys.executable, "-m", __name__, request]) as port:
        yield address_at(port)


@contextmanager
def own_database(folder: Path, files: Files) -> Iterator[Neo4jServer]:
    """Run a server with graphs for one user."""
    loader = b"".join(Path(path).read_bytes() for path in (servers.__file__, loading.__file__, loading.EXISTING))
    key = hashlib.sha256(loader + fingerprint(b"", files).encode()).hexdigest()[:24]

    def load(server: Neo4jServer) -> None:
        loading.write_existing(server)
        loading.write_graphs(server, files)

    database = loaded_home(key, load)
    with private_copy(database, folder / "home"), running_neo4j(folder / "home") as server:
        yield server


@contextmanager
def _server(folder: Path, files: Files) -> Iterator[int]:
    with own_database(folder, files) as server:
        yield server.port


def access(folder: Path, password: str = PASSWORD) -> AccessSettings:
    """Return the settings that say where the password is."""
    file = folder / "password"
    file.write_text(password, encoding="utf-8")
    return AccessSettings(user=USER, password=f"file:{file}")


def opened(
    port: int,
    access: AccessSettings,
    nodes: NodesInNeo4j | None = None,
    *,
    database: str = "neo4j",
    seconds: float = 30,
    concurrency: int = 4,
) -> Gateway:
    """Open a gateway without a cache, with the profile that comes with it."""
    profile = load_profile("bfsql-neo4j")
    endpoint = profile.endpoint.model_copy(
        update={"access": access, "requests": RequestSettings(concurrency=concurrency)}
    )
    update = {
        "endpoint": endpoint,
        "limits": profile.limits.model_copy(update={"deadline_seconds": seconds}),
        "cache": CacheSettings(megabytes=0),
        # What a test asks must not depend on whether the schema was read in full within a second.
        "orientation": OrientationSettings(patience_seconds=120),
        "neo4j": Neo4jSettings(nodes=nodes or NodesInNeo4j()),
    }
    prefixes = {"MeSH": MESH, "RxNorm": RXNORM}
    return open_gateway(
        f"neo4j://{HOST}:{port}/{database}", profile=profile.model_copy(update=update), prefixes=prefixes
    )


class _ReadInFull(DelegatingStore):
    """Reads the schema in full also where a server that has just started takes long for it."""

    async def quick_schema(self, call: Call) -> Schema:
        return await self._inner.schema(call)


@dataclass(frozen=True)
class Neo4jColumn(Column):
    """Neo4j in the place of an engine."""

    address: Address = field(default=None, repr=False)  # type: ignore[assignment]  # a base class has defaults

    @property
    def is_here(self) -> bool:
        """A database is a server."""
        return False

    def open(self, graph: str, profile: Profile | None = None, *, through: str = "") -> Gateway:
        """Open a gateway over a graph; see `Column.open`."""
        assert not through
        self._need(graph)
        profile = PostgresColumn.settled(profile or Profile())
        prefixes, _ = merge([("the profile", profile.prefixes)])
        return Gateway(_ReadInFull(self.store(graph, profile)), profile, PrefixMap(prefixes))

    def store(self, graph: str, profile: Profile) -> Neo4jStore:
        """Return the store over a graph."""
        return Neo4jStore(
            self.address, loading.settings_of(graph), profile, profile.prefixes, wall_clock=fixed_wall_clock
        )


if __name__ == "__main__":
    place = Path(sys.argv[2])
    keep(place, _server(place, {graph: [*map(Path, paths)] for graph, paths in json.loads(sys.argv[1]).items()}))


@contextmanager
def column_of(graph: str, file: Path, folder: Path) -> Iterator[Neo4jColumn]:
    """Run a server with the graph of one file; the test is skipped, or fails, where there is none."""
    files = {graph: [file]}
    try:
        with own_database(folder, files) as server:
            yield Neo4jColumn("in-process", files, address=address_at(server.port))
    except ServerUnavailable as error:
        skip_or_fail(error)
