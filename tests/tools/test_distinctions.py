"""Hits of one name and type come with what tells them apart."""

from typing import Any

import pytest

from gateway.errors import InputError
from gateway.settings.profile import ShapeName
from tests.small import Watched, engine, over

pytestmark = pytest.mark.anyio


async def differing(graph: str, query: str, shape: ShapeName = "reference") -> dict[str, Any]:
    async with over(graph) as gateway:
        found = (await gateway.call("search_entities", {"query": query}, shape=shape)).as_json()
    if shape == "compact":
        return {row[0].partition(" ")[0]: row[6] if len(row) > 6 else None for row in found["result"]}
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


async def test_a_value_that_another_has_too_tells_nothing_apart() -> None:
    graph = """
    x:a rdfs:label "Mercury" ; x:colour "blue", "red" ; x:near x:n1, x:n2 .
    x:b rdfs:label "Mercury" ; x:colour "red" ; x:near x:n2 .
    """
    assert await differing(graph, "mercury") == {"x:a": {"x:colour": "blue"}, "x:b": None}


async def test_who_has_a_property_with_others_is_told_apart_by_another() -> None:
    graph = """
    x:a rdfs:label "Springfield" ; x:state "Ohio" ; x:zip 1 .
    x:b rdfs:label "Springfield" ; x:state "Ohio" ; x:founded 1820 .
    x:c rdfs:label "Springfield" ; x:state "Texas" .
    x:d rdfs:label "Springfield" ; x:state "Utah" .
    """
    assert await differing(graph, "springfield") == {
        "x:a": {"x:zip": 1}, "x:b": {"x:founded": 1820}, "x:c": {"x:state": "Texas"}, "x:d": {"x:state": "Utah"},
    }  # fmt: skip


async def test_an_edge_of_which_not_all_ends_are_known_tells_nothing_apart() -> None:
    many = ", ".join(f"x:n{number}" for number in range(5))
    graph = f'x:a rdfs:label "Main" ; x:near {many} . x:b rdfs:label "Main" ; x:near x:n2 .'
    assert await differing(graph, "main") == {"x:a": None, "x:b": None}


async def test_a_value_in_another_language_is_not_shown_as_what_differs() -> None:
    graph = """
    x:a rdfs:label "Bank" ; x:kind "bench"@en , "Sitz"@de . x:b rdfs:label "Bank" ; x:kind "bench"@en , "Pult"@de .
    """
    assert await differing(graph, "bank") == {"x:a": None, "x:b": None}


async def test_nothing_is_read_to_tell_apart_what_a_name_in_the_place_of_an_id_means() -> None:
    asked: list[str] = []

    async def hook(query: str) -> None:
        asked.append(query)

    graph = 'x:a a x:T ; rdfs:label "Main" ; x:k 1 . x:b a x:T ; rdfs:label "Main" ; x:k 2 .'
    async with over(Watched(engine(graph), hook)) as gateway:
        with pytest.raises(InputError, match="x:a"):
            await gateway.describe_entity("Main")
        for_name = [*asked]
        asked.clear()
        found = await gateway.search_entities("Main")
    assert [hit.differs for hit in found.result] == [{"x:k": 1}, {"x:k": 2}]
    assert len([query for query in asked if query not in for_name]) == 1
