"""Filters that mean the subclasses of a type, where the profile says how to find them."""

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.errors import EndpointFault
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import TypeSettings
from tests.small import ROOM, Watched, engine, over

SUBCLASS_OF = "http://www.w3.org/2000/01/rdf-schema#subClassOf"
WITH_SUBCLASSES = Profile(size=ROOM, types=TypeSettings(subclass_of=(SUBCLASS_OF,)))

GRAPH = """
x:Town rdfs:subClassOf x:Place . x:Port rdfs:subClassOf x:Town . x:River rdfs:subClassOf x:Water .
x:a a x:Port ; rdfs:label 'Alpha' ; x:p x:b , x:c .
x:b a x:Town ; rdfs:label 'Beta' . x:c a x:River ; rdfs:label 'Gamma' .
"""

pytestmark = pytest.mark.anyio


async def full(types: list[str], profile: Profile = WITH_SUBCLASSES) -> set[str]:
    """Return the nodes that come in full where these types are asked for."""
    async with over(GRAPH, profile) as gateway:
        answer = await gateway.bfs_query(["x:a"], 1, node_types=types)
    return {node.id for node in answer.nodes if node.metadata is not None}


async def test_a_filter_by_a_type_means_its_subclasses_and_theirs() -> None:
    async with over(GRAPH + "x:z a x:Place .", WITH_SUBCLASSES) as gateway:
        answer = await gateway.bfs_query(["x:a"], 1, node_types=["Place"])
    assert {node.id for node in answer.nodes if node.metadata is not None} == {"x:a", "x:b"}


async def test_without_the_profiles_word_it_means_the_type_alone() -> None:
    assert await full(["Town"], Profile(size=ROOM)) == {"x:b"}
    assert await full(["Town"]) == {"x:a", "x:b"}


async def test_what_is_excluded_is_excluded_with_its_subclasses() -> None:
    async with over(GRAPH, WITH_SUBCLASSES) as gateway:
        answer = await gateway.bfs_query(["x:c"], 2, exclude_node_types=["Town"])
    assert [node.id for node in answer.nodes] == ["x:c"]


async def test_a_search_by_a_type_finds_what_has_a_subclass_of_it() -> None:
    async with over(GRAPH, WITH_SUBCLASSES) as gateway:
        answer = await gateway.search_entities("alpha", ["Town"])
    assert [hit.id for hit in answer.result] == ["x:a"]


async def test_subclasses_that_cannot_be_read_are_reported() -> None:
    async def hook(query: str) -> None:
        if "?class" in query:
            raise EndpointFault("Down.")

    async with over(Watched(engine(GRAPH), hook), WITH_SUBCLASSES) as gateway:
        answer = await gateway.bfs_query(["x:a"], 1, node_types=["Town"])
        search = await gateway.search_entities("alpha", ["Town"])
    assert answer.warnings is not None
    assert any("subclasses of x:Town" in warning for warning in answer.warnings)
    assert search.result == []
    assert not search.complete


@settings(deadline=None)
@given(st.dictionaries(st.integers(0, 8), st.integers(0, 8), max_size=9), st.integers(0, 8))
async def test_any_graph_of_classes_is_followed_down_to_its_end(above: Mapping[int, int], asked: int) -> None:
    turtle = "".join(f"x:C{one} rdfs:subClassOf x:C{other} . " for one, other in above.items())
    turtle += "".join(f"x:n{number} a x:C{number} ; x:p x:n0 . " for number in range(9))
    expected = {number for number in range(9) if asked in _upwards(number, above)}
    async with over(turtle, WITH_SUBCLASSES) as gateway:
        answer = await gateway.bfs_query(["x:n0"], 1, node_types=[f"C{asked}"])
    assert {node.id for node in answer.nodes if node.metadata is not None} == {f"x:n{number}" for number in expected}


def _upwards(start: int, above: Mapping[int, int]) -> set[int]:
    """Return a class and all above it."""
    seen = {start}
    while start in above and above[start] not in seen:
        start = above[start]
        seen.add(start)
    return seen
