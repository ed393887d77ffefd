"""Nodes without a name are found by their local names in both databases, as at every engine."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.settings.profile import Profile
from tests.every_engine import test_local_names as everywhere
from tests.neo4j.database import Neo4jColumn, address_at, own_database
from tests.postgres.database import Database, PostgresColumn
from tests.servers.unavailable import ServerUnavailable, skip_or_fail

pytestmark = [pytest.mark.anyio, pytest.mark.server]

GRAPH = """
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix b: <http://example.org/building#> .
@prefix p: <http://example.org/place/> .
b:vav_C180 a b:Box ; b:feeds b:room_C180 , b:roomPlan .
b:roomPlan a b:Plan . b:room_C180 a b:Chamber ; b:is b:Q42 .
b:hasSubSystem a b:Part ; b:is b:room_C180 , b:pointed_at .
b:named a b:Part ; rdfs:label "a name of its own" ; b:is b:room_C180 .
p:K%C3%B6ln a b:Place ; b:is b:room_C180 . p:Düsseldorf a b:Place ; b:is b:room_C180 .
"""

NOT_THERE = {"ROOM_c180", "cities", "shelves"}
FOUND = [(query, nodes) for query, nodes in everywhere.FOUND if query not in NOT_THERE]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The graph."""
    path = tmp_path / "local.ttl"
    path.write_text(GRAPH, encoding="utf-8")
    return path


async def test_in_postgresql(database: Database, file: Path) -> None:
    engine = PostgresColumn("in-process", {"local": [file]}, database=database)
    async with engine.open("local", Profile()) as gateway:
        await everywhere.are_found(gateway, FOUND, "Chamber")


@pytest.fixture
def neo4j(file: Path, tmp_path: Path) -> Iterator[Neo4jColumn]:
    """Neo4j, with that graph."""
    files = {"local": [file]}
    try:
        with own_database(tmp_path, files) as server:
            yield Neo4jColumn("in-process", files, address=address_at(server.port))
    except ServerUnavailable as error:
        skip_or_fail(error)


async def test_in_neo4j(neo4j: Neo4jColumn) -> None:
    async with neo4j.open("local") as gateway:
        await everywhere.are_found(gateway, FOUND, "Chamber")
