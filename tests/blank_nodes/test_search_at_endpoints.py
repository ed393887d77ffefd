"""Searches and schemas of endpoints have blank nodes as those of files do."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal, get_args

import pytest

from gateway.answers.models import SearchResult
from gateway.api import open_gateway
from gateway.settings.endpoint import EngineName
from gateway.tools.gateway import Gateway
from tests.blank_nodes.served_graphs import NAMED
from tests.blank_nodes.small_endpoint import PREFIXES, profile_for, served
from tests.columns import Column
from tests.servers.engines import ColumnName

pytestmark = pytest.mark.anyio

KeyedEngine = Literal["fuseki", "oxigraph", "virtuoso", "rdf4j"]

GRAPH: Final = """
    x:aspirin a x:Drug ; rdfs:label 'aspirin' ; x:interaction _:major , _:minor .
    _:major x:severity 'major' ; x:with x:warfarin ; rdfs:label 'Aspirin with warfarin' .
    _:minor x:severity 'minor' ; x:with x:heparin .
    _:dose a x:Dose ; rdfs:label 'weekly dose' ; x:of x:aspirin ; x:unit [ a x:Unit ; rdfs:label 'mg' ] .
    x:warfarin a x:Drug ; rdfs:label 'warfarin' .
    x:heparin a x:Drug .
"""


async def searched(gateway: Gateway, query: str, types: list[str]) -> tuple[list[tuple[str, str]], bool]:
    answer = await gateway.search_entities(query, node_types=types or None)
    found = sorted((hit.name or "", hit.entity_type) for hit in answer.result)
    return found, answer.complete


@pytest.mark.parametrize(
    ("query", "types"),
    [
        ("warfarin", []),
        ("dose", []),
        ("weekly dose", []),
        ("MG", []),
        ("aspirin warfarin", []),
        ("warfarin", ["x:Drug"]),
        ("warfarin", ["(x:interaction)"]),
        ("", ["x:Dose"]),
        ("", ["x:Unit"]),
        ("", ["(x:interaction)"]),
        ("", ["(x:interaction)", "x:Drug"]),
    ],
)
async def test_a_search_finds_the_blank_nodes_that_it_finds_in_a_file(
    query: str, types: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "graph.ttl"
    file.write_text(PREFIXES + GRAPH)
    async with open_gateway(file, profile=profile_for()) as gateway:
        await gateway.wait_until_ready()
        expected = await searched(gateway, query, types)
    async with served(GRAPH) as (gateway, _):
        await gateway.wait_until_ready()
        assert await searched(gateway, query, types) == expected


async def test_a_schema_counts_blank_nodes_by_type_and_those_without_by_the_predicate_that_leads_to_them(
    tmp_path: Path,
) -> None:
    file = tmp_path / "graph.ttl"
    file.write_text(PREFIXES + GRAPH)
    async with open_gateway(file, profile=profile_for()) as gateway:
        await gateway.wait_until_ready()
        expected = await gateway.describe_schema(all=True)
    async with served(GRAPH) as (gateway, _):
        await gateway.wait_until_ready()
        schema = await gateway.describe_schema(all=True)
    assert schema.comprehensive
    assert (schema.entity_types, schema.predicates) == (expected.entity_types, expected.predicates)
    assert "(x:interaction)" in schema.entity_types
    assert schema.schema_version == expected.schema_version
    assert schema.graph_description == expected.graph_description


@pytest.mark.parametrize(
    "turtle",
    [
        GRAPH,
        GRAPH.replace("x:heparin a x:Drug", "x:heparin a x:Drug ; rdfs:label 'heparin'"),
        "x:a rdfs:label 'a' ; x:p [ x:q x:b ] . x:b rdfs:label 'b' .",
        "x:a rdfs:label 'a' . [] x:q x:a .",
        "x:a rdfs:label 'a' ; x:p [ x:q x:b ; rdfs:label 'c' ] .",
        "x:a rdfs:label 'a' ; x:p [ x:q x:b ; rdfs:label 'c' ] . x:b rdfs:label 'b' .",
        "x:a rdfs:label 'a' ; x:p x:b . x:b rdfs:label 'b' .",
    ],
)
async def test_nodes_without_a_name_are_counted_as_in_a_file(turtle: str, tmp_path: Path) -> None:
    file = tmp_path / "graph.ttl"
    file.write_text(PREFIXES + turtle)
    async with open_gateway(file, profile=profile_for()) as gateway:
        await gateway.wait_until_ready()
        expected = await gateway.search_entities("qxzzyv")
    async with served(turtle) as (gateway, _):
        await gateway.wait_until_ready()
        found = await gateway.search_entities("qxzzyv")
    assert (found.complete, found.next_steps) == (expected.complete, expected.next_steps)


@pytest.mark.parametrize("engine", ["qlever", "blazegraph"])
async def test_blank_nodes_of_engines_without_keys_are_counted_among_nodes_without_a_name(engine: EngineName) -> None:
    turtle = "x:a rdfs:label 'a' ; x:p x:b ; x:q [ x:r x:b ] . x:b rdfs:label 'b' ."
    async with served(turtle, engine=engine) as (gateway, _):
        await gateway.wait_until_ready()
        answer = await gateway.search_entities("qxzzyv")
    assert not answer.complete
    assert "1 of the 3 nodes with edges has no name" in (answer.next_steps or "")


async def test_a_search_whose_blank_nodes_could_not_be_read_is_not_complete() -> None:
    async with served(GRAPH, refuses=lambda query: "isBlank(?n)&&?pIN" in query) as (gateway, _):
        await gateway.wait_until_ready()
        answer = await gateway.search_entities(node_types=["x:Dose"])
    assert answer.result == []
    assert not answer.complete


async def test_a_search_is_not_complete_where_an_expression_has_nodes_that_are_not_read() -> None:
    prefix = "@prefix owl: <http://www.w3.org/2002/07/owl#> ."
    turtle = "x:c a owl:Class ; owl:equivalentClass [ owl:oneOf ( [ a x:Person ; rdfs:label 'Ann' ] x:b ) ] ."
    async with served(f"{prefix} {turtle} x:b a x:Person .") as (gateway, _):
        await gateway.wait_until_ready()
        answer = await gateway.search_entities(node_types=["x:Person"])
    assert [hit.id for hit in answer.result] == ["x:b"]
    assert not answer.complete


async def test_an_engine_that_is_taken_for_another_is_not_asked_for_blank_nodes() -> None:
    async with served(GRAPH, engine="fuseki") as (gateway, _):
        await gateway.wait_until_ready()
        schema = await gateway.describe_schema(all=True)
        answer = await gateway.bfs_query(["x:aspirin"], 1)
    assert not schema.comprehensive
    assert not answer.complete


@pytest.mark.server
@pytest.mark.parametrize("engine", get_args(KeyedEngine))
def test_every_engine_with_keys_counts_blank_nodes_without_a_name(
    engine: KeyedEngine, small_graphs: Callable[[ColumnName], Column]
) -> None:
    async def searched_in(gateway: Gateway) -> SearchResult:
        async with gateway:
            await gateway.wait_until_ready()
            return await gateway.search_entities("qxzzyv")

    column = small_graphs(engine)
    unnamed, named = (asyncio.run(searched_in(column.open(name, profile_for(engine)))) for name in NAMED)
    assert not unnamed.complete
    assert "1 of the 3 nodes with edges has no name" in (unnamed.next_steps or "")
    assert named.complete
