"""Entities of a type, listed without a query (docs/tools.md, "search_entities")."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.answers.models import SearchResult
from gateway.arguments import MAX_HITS
from gateway.errors import InputError
from gateway.settings.endpoint import EndpointSettings
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import TypeSettings
from tests.examples import examples
from tests.small import ROOM, over

pytestmark = pytest.mark.anyio

GRAPH = """
x:few a x:Film ; rdfs:label 'Zebra' ; x:by x:ann .
x:many a x:Film ; rdfs:label 'Yak' ; x:by x:ann, x:bob .
x:nameless a x:Film, x:Work ; x:by x:ann, x:bob, x:cid .
x:work a x:Work .
x:ann a x:Person ; rdfs:label 'Ann' .
[] a x:Film ; rdfs:label 'Blank' .
x:note a x:Film, rdf:Statement ; rdf:subject x:few ; rdf:predicate x:by ; rdf:object x:ann .
"""


async def listed(types: list[str], turtle: str = GRAPH, query: str = "", limit: int | None = None) -> SearchResult:
    """List the entities of some types of a small graph."""
    async with over(turtle) as gateway:
        return await gateway.search_entities(query, types, limit=limit)


@pytest.mark.parametrize("query", ["", " ", "*"])
async def test_types_without_a_query_list_their_entities_with_and_without_names(query: str) -> None:
    answer = await listed(["Film"], query=query)
    assert [(hit.id, hit.name, hit.match) for hit in answer.result] == [
        ("x:nameless", None, "type"),
        ("x:many", "Yak", "type"),
        ("x:few", "Zebra", "type"),
    ]
    # The blank film is not listed, and told.
    assert (answer.complete, answer.searched) == (False, None)
    assert (await listed(["Film"], GRAPH.replace("[] a x:Film", "x:named a x:Place"), query=query)).complete


async def test_an_entity_of_two_listed_types_is_one_hit() -> None:
    assert [hit.id for hit in (await listed(["Film", "Work"])).result].count("x:nameless") == 1


SUBCLASSES = Profile(size=ROOM, types=TypeSettings(subclass_of=("http://www.w3.org/2000/01/rdf-schema#subClassOf",)))
SEVERAL_TYPES = """
x:Novel rdfs:subClassOf x:Book . x:Poem rdfs:subClassOf x:Book .
x:a a x:Book, x:Rare . x:b a x:Novel, x:Rare . x:c a x:Book, x:Novel .
x:d a x:Poem, x:Novel, owl:Thing . x:e a x:Rare . x:f a x:Poem .
x:a rdfs:label 'one' . x:b rdfs:label 'one' . x:c rdfs:label 'one' .
x:d rdfs:label 'one' . x:e rdfs:label 'one' . x:f rdfs:label 'one' .
"""


@pytest.mark.parametrize("query", ["", "one"])
@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (["Book"], {"x:a": "x:Book", "x:b": "x:Novel", "x:c": "x:Book", "x:d": "x:Poem", "x:f": "x:Poem"}),
        (["Poem"], {"x:d": "x:Poem", "x:f": "x:Poem"}),
        (["Novel", "Rare"], {"x:a": "x:Rare", "x:b": "x:Novel", "x:c": "x:Novel", "x:d": "x:Novel", "x:e": "x:Rare"}),
        (["owl:Thing"], {"x:d": "owl:Thing"}),
    ],
)
async def test_a_hit_shows_the_type_by_which_it_was_selected(
    query: str, types: list[str], expected: dict[str, str]
) -> None:
    async with over(SEVERAL_TYPES, SUBCLASSES) as gateway:
        answer = await gateway.search_entities(query, types)
    assert {hit.id: hit.entity_type for hit in answer.result} == expected


async def test_without_types_a_hit_shows_the_type_that_it_shows_everywhere() -> None:
    async with over(SEVERAL_TYPES, SUBCLASSES) as gateway:
        hits = (await gateway.search_entities("one")).result
        described = (await gateway.describe_entities([hit.id for hit in hits])).result
    assert [hit.entity_type for hit in hits] == [entity.entity_type for entity in described]


async def test_a_star_without_types_is_a_name() -> None:
    async with over("x:star rdfs:label '*' .") as gateway:
        assert [hit.id for hit in (await gateway.search_entities("*")).result] == ["x:star"]


async def test_neither_a_query_nor_a_type_is_an_error_that_says_what_both_do() -> None:
    with pytest.raises(InputError, match="node_types lists all entities of these types"):
        await listed([])


@pytest.mark.parametrize("types", [["untyped"], ["Film", "untyped"]])
async def test_entities_without_a_type_are_not_listed(types: list[str]) -> None:
    with pytest.raises(InputError, match='"untyped" in node_types needs a query'):
        await listed(types)


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(1, 120), st.integers(1, 100))
async def test_every_entity_is_counted_and_as_many_are_shown_as_were_asked_for(count: int, limit: int) -> None:
    turtle = "".join(f"x:n{number:03} a x:Film .\n" for number in range(count))
    answer = await listed(["Film"], turtle, limit=limit)
    assert [hit.id for hit in answer.result] == [f"x:n{number:03}" for number in range(min(count, limit))]
    assert (answer.found or len(answer.result)) == count
    assert answer.complete
    assert (f"{limit} of {count} {'is' if limit == 1 else 'are'} listed" in (answer.next_steps or "")) == (
        count > limit
    )
    assert ("a larger limit" in (answer.next_steps or "")) == (count > limit and limit < MAX_HITS)


async def test_a_list_that_was_cut_is_not_complete() -> None:
    turtle = "".join(f"x:n{number} a x:Film .\n" for number in range(5_001))
    answer = await listed(["Film"], turtle)
    assert not answer.complete
    assert answer.searched is not None
    assert (answer.searched.truncated, answer.found) == (True, 5_000)


async def test_a_list_from_a_part_of_a_graph_is_not_complete() -> None:
    endpoint = EndpointSettings(other_graph="the graph of articles")
    async with over(GRAPH, Profile(endpoint=endpoint)) as gateway:
        answer = await gateway.search_entities(node_types=["Work"])
        assert not answer.complete
        assert any("the graph of articles" in warning for warning in answer.warnings or ())
