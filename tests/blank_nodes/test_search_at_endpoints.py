"""Searches and schemas of endpoints have blank nodes as those of files do."""

from pathlib import Path
from typing import Final

import pytest

from gateway.api import open_gateway
from gateway.tools.gateway import Gateway
from tests.blank_nodes.small_endpoint import PREFIXES, profile_for, served

pytestmark = pytest.mark.anyio

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


async def test_a_search_whose_blank_nodes_could_not_be_read_is_not_complete() -> None:
    async with served(GRAPH, refuses=lambda query: "isBlank(?n)&&?pIN" in query) as (gateway, _):
        await gateway.wait_until_ready()
        answer = await gateway.search_entities(node_types=["x:Dose"])
    assert answer.result == []
    assert not answer.complete


async def test_a_question_about_the_values_of_blank_nodes_is_not_complete() -> None:
    async with served(GRAPH) as (gateway, _):
        await gateway.wait_until_ready()
        answer = await gateway.search_entities(node_types=["(x:interaction)"], where=["rdfs:label = 'major'"])
    assert not answer.complete


async def test_an_engine_that_is_taken_for_another_is_not_asked_for_blank_nodes() -> None:
    async with served(GRAPH, engine="fuseki") as (gateway, _):
        await gateway.wait_until_ready()
        schema = await gateway.describe_schema(all=True)
        answer = await gateway.bfs_query(["x:aspirin"], 1)
    assert not schema.comprehensive
    assert not answer.complete
