"""Walks and conditions over nodes of Neo4j, against a naive computation over the same nodes."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import neo4j
import pytest

from gateway.neo4j.connection import Address
from gateway.neo4j.store import Neo4jStore
from gateway.settings.databases import Neo4jSettings, NodesInNeo4j
from tests.databases.checked_walks import check_ends, check_limits, check_selected, check_values
from tests.databases.drawn_values import PROFILE, DrawnGraph, drawn_graph
from tests.neo4j.database import address_at
from tests.servers.neo4j import PASSWORD, USER, running_neo4j
from tests.servers.unavailable import ServerUnavailable, skip_or_fail

pytestmark = [pytest.mark.anyio, pytest.mark.server]

_SEEDS = ("2026 walks", "2026 more walks")

_LABEL = "drawn"

_SETTINGS = Neo4jSettings(nodes=NodesInNeo4j(labels=(_LABEL,), no_types=(_LABEL,), names=("name",), properties="json"))


@pytest.fixture(scope="module")
def own_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    """A database of this module's own."""
    try:
        with running_neo4j(tmp_path_factory.mktemp("walks") / "home") as server:
            address = address_at(server.port)
            with neo4j.GraphDatabase.driver(address.url, auth=(USER, PASSWORD)) as driver:
                driver.execute_query("CREATE CONSTRAINT FOR (n:drawn) REQUIRE n.id IS UNIQUE")
            yield address
    except ServerUnavailable as error:
        skip_or_fail(error)


@asynccontextmanager
async def _written(address: Address, graph: DrawnGraph) -> AsyncIterator[Neo4jStore]:
    """Write a graph, give a store over it, and delete the graph after the block."""
    nodes = [
        {
            "labels": [_LABEL, *one.types],
            "properties": {
                "id": one.id,
                "name": one.name or None,
                "synonyms": [*one.synonyms],
                **one.plain,
                "json": json.dumps(one.json),
            },
        }
        for one in graph.nodes
    ]
    edges = [{"s": subject, "p": predicate, "o": target} for subject, predicate, target in graph.edges]
    with neo4j.GraphDatabase.driver(address.url, auth=(USER, PASSWORD)) as driver:
        driver.execute_query("UNWIND $rows AS row CREATE (n:$(row.labels)) SET n += row.properties", rows=nodes)
        driver.execute_query(
            "UNWIND $rows AS row MATCH (s:drawn {id: row.s}), (o:drawn {id: row.o}) CREATE (s)-[:$(row.p)]->(o)",
            rows=edges,
        )
        store = Neo4jStore(address, _SETTINGS, PROFILE, {})
        try:
            yield store
        finally:
            await store.close()
            driver.execute_query("MATCH (n:drawn) DETACH DELETE n")


@pytest.mark.parametrize("seed", _SEEDS)
async def test_walks_end_where_they_do_in_the_triples_of_the_nodes(own_address: Address, seed: str) -> None:
    graph = drawn_graph(seed)
    async with _written(own_address, graph) as store:
        await check_ends(store, graph, "neo4j", seed)


@pytest.mark.parametrize("seed", _SEEDS)
async def test_every_node_from_which_a_walk_leads_to_some_nodes_is_selected(own_address: Address, seed: str) -> None:
    graph = drawn_graph(seed)
    async with _written(own_address, graph) as store:
        await check_selected(store, graph, "neo4j", seed)


@pytest.mark.parametrize("seed", _SEEDS)
async def test_every_node_with_a_value_that_fulfils_a_condition_is_selected(own_address: Address, seed: str) -> None:
    graph = drawn_graph(seed)
    async with _written(own_address, graph) as store:
        await check_values(store, graph, "neo4j", seed)


async def test_within_a_small_budget_nothing_is_wrong_and_whole(own_address: Address) -> None:
    seed = _SEEDS[0]
    graph = drawn_graph(seed)
    async with _written(own_address, graph) as store:
        await check_limits(store, graph, "neo4j", seed)
