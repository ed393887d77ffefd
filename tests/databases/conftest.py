"""Both databases, one after the other: with graphs of the fixtures, and as engines that tests of all engines run on."""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gateway.neo4j.connection import Address
from tests.databases.served import GRAPHS, ServedDatabase, load
from tests.graphs import graph_files, linked
from tests.neo4j.conftest import address, files  # noqa: F401 - fixtures
from tests.neo4j.database import Neo4jColumn
from tests.postgres.conftest import database  # noqa: F401 - a fixture
from tests.postgres.database import Database, PostgresColumn
from tests.servers import neo4j as neo4j_server
from tests.servers import postgres as postgres_server
from tests.servers.loopback import HOST


@pytest.fixture(scope="session")
def postgresql_engine(database: Database, tmp_path_factory: pytest.TempPathFactory) -> PostgresColumn:  # noqa: F811
    """PostgreSQL. A table has no blank nodes, so the random graphs are without them."""
    folder: Path = tmp_path_factory.mktemp("files")
    graphs = graph_files(folder)
    graphs["random"] = [linked(graphs["random"][0], folder / "linked.nt")]
    return PostgresColumn("in-process", graphs, annotated=True, database=database)


@pytest.fixture(scope="session")
def neo4j_engine(address: Address, files: dict[str, list[Path]]) -> Neo4jColumn:  # noqa: F811 - the fixtures
    """Neo4j, with the graphs that are loaded into it."""
    return Neo4jColumn("in-process", files, annotated=True, address=address)


@pytest.fixture(scope="session", params=["postgresql", "neo4j"])
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ServedDatabase:
    """Run the test on each database."""
    make: dict[str, Callable[[pytest.FixtureRequest, Path], ServedDatabase]] = {
        "postgresql": _tables,
        "neo4j": _nodes,
    }
    return make[request.param](request, tmp_path_factory.mktemp(request.param))


def _tables(request: pytest.FixtureRequest, folder: Path) -> ServedDatabase:
    running: Database = request.getfixturevalue("database")
    password, user = running.server.password, postgres_server.USER
    urls = {graph: running.make_database(f"served_{graph}") for graph in GRAPHS}
    for graph, url in urls.items():
        load(graph, url, user, password)
    return ServedDatabase("postgresql", folder, user, password, urls)


def _nodes(request: pytest.FixtureRequest, folder: Path) -> ServedDatabase:
    running: Address = request.getfixturevalue("address")
    password = folder / "password"
    password.write_text(neo4j_server.PASSWORD, encoding="utf-8")
    url = f"neo4j://{HOST}:{urlsplit(running.url).port}/neo4j"
    return ServedDatabase("neo4j", folder, neo4j_server.USER, password, dict.fromkeys(GRAPHS, url))
