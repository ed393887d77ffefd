"""Hits of one name and type come with what tells them apart."""

from typing import Any

import pytest

from gateway.settings.profile import ShapeName
from tests.small import over

pytestmark = pytest.mark.anyio


async def differing(graph: str, query: str, shape: ShapeName = "reference") -> dict[str, Any]:
    async with over(graph) as gateway:
        found = (await gateway.call("search_entities", {"query": query}, shape=shape)).as_json()
    if shape == "compact":
        return {row[0].partition(" ")[0]: row[5] if len(row) > 5 else None for row in found["result"]}
    return {hit["id"]: hit.get("differs") for hit in found["result"]}


CITIES = """
x:a a x:City ; rdfs:label "Springfield" ; x:people 1000 ; x:kind "town" .
x:b a x:City ; rdfs:label "springfield" ; x:people 2000 ; x:kind "town" .
x:c a x:Person ; rdfs:label "Springfield" ; x:people 3 .
x:a x:p x:b . x:c x:p x:b .
"""


@pytest.mark.parametrize("shape", ["reference", "compact"])
async def test_the_property_with_most_different_values_stands_beside_equal_names(shape: ShapeName) -> None:
    found = await differing(CITIES, "springfield", shape)
    # Its type tells the person from the two cities.
    assert found == {"x:a": {"x:people": 1000}, "x:b": {"x:people": 2000}, "x:c": None}


async def test_an_edge_tells_apart_what_properties_do_not() -> None:
    graph = """
    x:a a x:River ; rdfs:label "Main" ; x:kind "river" ; x:in x:ohio .
    x:b a x:River ; rdfs:label "Main" ; x:kind "river" ; x:in x:texas .
    x:ohio rdfs:label "Ohio" . x:texas rdfs:label "Texas" .
    """
    assert await differing(graph, "main") == {"x:a": {"x:in": "Ohio"}, "x:b": {"x:in": "Texas"}}


async def test_where_nothing_differs_nothing_is_said_and_names_and_descriptions_tell_nothing() -> None:
    graph = """
    x:a a x:T ; rdfs:label "same" ; rdfs:comment "one" ; skos:altLabel "first" .
    x:b a x:T ; rdfs:label "same" ; rdfs:comment "two" ; skos:altLabel "second" .
    x:a x:q x:o . x:b x:q x:o .
    """
    assert await differing(graph, "same") == {"x:a": None, "x:b": None}


async def test_different_names_are_not_compared() -> None:
    async with over(CITIES) as gateway:
        page = await gateway.search_entities("Springfield", ["x:Person"], explain=True)
    assert page.result[0].differs is None
