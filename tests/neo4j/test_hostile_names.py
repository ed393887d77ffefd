"""IDs, names, labels and types of relationships that try to become Cypher stay values."""

import asyncio
from collections.abc import Iterator
from typing import Final

import neo4j
import pytest
from hypothesis import given

from gateway.neo4j.connection import Address
from gateway.neo4j.store import Neo4jStore
from gateway.settings.databases import Neo4jSettings, NodesInNeo4j
from gateway.settings.limits import CacheSettings
from gateway.settings.profile import Profile
from tests.databases.hostile_names import NAMES, World, often
from tests.servers.neo4j import PASSWORD, USER

pytestmark = pytest.mark.server

_FILL: Final = """
MATCH (old:Hostile) DETACH DELETE old
WITH count(*) AS deleted
UNWIND range(0, size($names) - 1) AS i
CREATE (n:Hostile:$($names[i]) {id: $names[i], name: $names[i]})
WITH collect(n) AS nodes
UNWIND range(0, size($names) - 1) AS i
WITH nodes, i, nodes[i] AS n, nodes[(i + 1) % size($names)] AS o
CREATE (n)-[:$($names[i])]->(o)
"""


@pytest.fixture(scope="module")
def world(address: Address) -> Iterator[World]:
    with asyncio.Runner() as runner:
        driver = neo4j.AsyncGraphDatabase.driver(address.url, auth=(USER, PASSWORD))

        async def fill(names: list[str]) -> None:
            await driver.execute_query(_FILL, names=names)

        settings = Neo4jSettings(nodes=NodesInNeo4j(labels=("Hostile",), no_types=("Hostile",)))
        store = Neo4jStore(address, settings, Profile(cache=CacheSettings(megabytes=0)), {})
        yield World(runner, fill, store)
        runner.run(store.close())
        runner.run(driver.execute_query("MATCH (n:Hostile) DETACH DELETE n"))
        runner.run(driver.close())


@often
@given(names=NAMES)
def test_hostile_texts_are_answered_right_by_statements_of_one_shape(world: World, names: list[str]) -> None:
    world.check(names)
