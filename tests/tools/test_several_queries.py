"""Several names in one search (`queries` of `search_entities`)."""

from typing import Any

import pytest

from gateway.answers.models import SearchResult
from gateway.arguments import MAX_QUERIES, MAX_QUERY
from gateway.errors import EndpointFault, InputError
from gateway.escaping import json_text
from gateway.expand_compact import expand
from gateway.settings.limits import SizeSettings
from gateway.settings.profile import Profile, ShapeName
from gateway.settings.vocabulary import NameSettings
from gateway.tools.gateway import Gateway
from tests.small import ROOM, Watched, WatchedElsewhere, engine, over

pytestmark = pytest.mark.anyio

GRAPH = """
x:ann a x:Person ; rdfs:label 'Ann Ley' ; x:knows x:bob, x:book . x:bob a x:Person ; rdfs:label 'Bob Ley' .
x:ann2 a x:Person ; rdfs:label 'Ann Ley' ; x:born 1984 . x:book a x:Book ; rdfs:label 'Ann of Ley' .
x:other a x:Book ; rdfs:label 'Great Expectations' ; skos:altLabel 'GE' .
"""
QUERIES = ["Ann Ley", "bob", "ge", "great expectation", "Ann Lay", "zebra", "ann of the ley"]


SHAPES: tuple[ShapeName, ...] = ("compact", "reference")


async def alone(gateway: Gateway, query: str, **given: Any) -> dict[str, Any]:
    """Return the answer to one query."""
    return (await gateway.search_entities(query, **given)).as_json()


def each_of(answer: SearchResult) -> dict[str, dict[str, Any]]:
    """Return the answer to each query."""
    assert answer.result == []
    return {
        one.query: {key: said for key, said in one.as_json().items() if key != "query"} for one in answer.queries or ()
    }


@pytest.mark.parametrize("elsewhere", [False, True])
@pytest.mark.parametrize("query", QUERIES)
async def test_each_of_several_queries_is_answered_as_by_itself(query: str, elsewhere: bool) -> None:
    async def hook(_: str) -> None:
        return None

    graph = WatchedElsewhere(engine(GRAPH), hook) if elsewhere else engine(GRAPH)
    async with over(graph) as gateway:
        answer = await gateway.search_entities(queries=[query, "nonesuch"], limit=3)
        expected = await alone(gateway, query, limit=3)
    found = each_of(answer)
    assert list(found) == [query, "nonesuch"]
    mine, theirs = (one | {"next_steps": ""} for one in (found[query], expected))
    assert mine == theirs
    assert found["nonesuch"] == {"result": [], "complete": True, "next_steps": "No name has the word 'nonesuch'."}
    for sentence in (expected.get("next_steps") or "").split(". "):
        assert sentence in f"{found[query].get('next_steps', '')} {answer.next_steps}"


async def test_the_answers_stand_in_the_order_of_the_queries_each_text_once() -> None:
    async with over(GRAPH) as gateway:
        answer = await gateway.search_entities(queries=["bob", "Ann Ley", "bob", "ge"])
    assert [one.query for one in answer.queries or ()] == ["bob", "Ann Ley", "ge"]
    assert answer.complete is True


async def test_of_each_query_fewer_hits_are_shown_than_of_one_but_all_of_the_name() -> None:
    graph = "".join(f'x:n{number} rdfs:label "Spain {number}" .' for number in range(9))
    same = "".join(f'x:m{number} rdfs:label "Chad" .' for number in range(4)) + 'x:m rdfs:label "Chad basin" .'
    async with over(graph + same) as gateway:
        answer = await gateway.search_entities(queries=["spain", "chad", "spain 1"])
        more = await gateway.search_entities(queries=["spain", "chad"], limit=20)
    assert [len(one.result) for one in answer.queries or ()] == [5, 4, 1]
    assert [one.found for one in answer.queries or ()] == [9, 5, None]
    assert [len(one.result) for one in more.queries or ()] == [9, 5]


@pytest.mark.parametrize("bad", [None, "", " ", "\u0301", "x" * (MAX_QUERY + 1)])
async def test_a_query_that_says_nothing_or_is_too_long_is_told_and_left_out(bad: Any) -> None:
    async with over(GRAPH) as gateway:
        answer = await gateway.search_entities(queries=["bob", bad])
        assert [one.query for one in answer.queries or ()] == ["bob"]
        (warning,) = answer.warnings or [""]
        assert warning.startswith("queries[1] has ")
        assert warning.endswith("It was left out.")
        assert answer.complete is True
        with pytest.raises(InputError, match=r"queries\[0\].*queries\[1\]"):
            await gateway.search_entities(queries=[bad, "  "])


@pytest.mark.parametrize("given", [{}, {"queries": []}, {"queries": None, "query": ""}])
async def test_a_search_for_nothing_names_every_argument_that_says_what_is_searched(given: dict[str, Any]) -> None:
    async with over(GRAPH) as gateway:
        with pytest.raises(InputError, match="query must not be empty without queries or node_types"):
            await gateway.call("search_entities", given)


async def test_queries_go_with_types_a_language_and_a_limit_only() -> None:
    async with over(GRAPH) as gateway:
        answer = await gateway.search_entities(queries=["Ann Ley", "ge"], node_types=["Book"], language="de")
        assert [[hit.id for hit in one.result] for one in answer.queries or ()] == [["x:book"], ["x:other"]]
        with pytest.raises(InputError, match="query and queries exclude each other"):
            await gateway.search_entities("bob", queries=["ge"])
        with pytest.raises(InputError, match="queries does not go with where, sort_by, offset"):
            await gateway.search_entities(queries=["ge"], where=["name exists"], sort_by="name", offset=1)
        with pytest.raises(InputError, match="queries has 21 entries, but it takes 20 at most"):
            await gateway.search_entities(queries=[f"name {number}" for number in range(MAX_QUERIES + 1)])
        # Some clients send every argument that there is.
        empty: dict[str, Any] = {"query": "", "where": [], "offset": 0, "values": None, "edges": True, "show": "both"}
        one = (await gateway.call("search_entities", {"queries": "bob", **empty})).as_json()
        assert [query["query"] for query in one["queries"]] == ["bob"]


async def test_the_compact_shape_says_the_same() -> None:
    async with over(GRAPH) as gateway:
        given = {"queries": [*QUERIES, ""]}
        compact = (await gateway.call("search_entities", given, shape="compact")).as_json()
        reference = (await gateway.call("search_entities", given)).as_json()
    assert expand(compact) == reference
    first = compact["queries"][0]["result"][0]
    assert first == ["x:ann Ann Ley", "x:Person", "label", 2, None, None, {"x:knows": "Bob Ley"}]


async def test_names_of_types_stand_once_for_all_queries() -> None:
    opaque = Profile(names=NameSettings(on_stubs=True), size=ROOM)
    graph = GRAPH + "x:Person rdfs:label 'human' . x:Book rdfs:label 'book' ."
    async with over(graph, opaque) as gateway:
        compact = (await gateway.call("search_entities", {"queries": ["bob", "ann"]}, shape="compact")).as_json()
        reference = await gateway.search_entities(queries=["bob", "ann"])
    rows = [row[1] for one in compact["queries"] for row in one["result"]]
    assert [kind for kind in rows if " " in kind] == ["x:Person human", "x:Book book"]
    assert reference.labels == {"x:Book": "book", "x:Person": "human"}


async def test_an_answer_to_twenty_queries_is_bounded_and_every_query_keeps_a_hit() -> None:
    text = "long words " * 40
    graph = "".join(
        f"x:n{query}-{number} rdfs:label 'name{chr(97 + query)} {number} {text}' ; rdfs:comment '{text}' ."
        for query in range(MAX_QUERIES)
        for number in range(12)
    )
    profile = Profile(size=SizeSettings(max_tokens=3_000))
    queries = [f"name{chr(97 + query)}" for query in range(MAX_QUERIES)]
    async with over(graph, profile) as gateway:
        for shape in SHAPES:
            given = {"queries": queries, "limit": 100}
            written = (await gateway.call("search_entities", given, shape=shape)).as_json()
            assert len(json_text(written).encode()) <= 12_000
            assert [len(one["result"]) >= 1 for one in written["queries"]] == [True] * MAX_QUERIES
            assert {one["found"] for one in written["queries"]} == {12}


async def test_a_query_that_fails_says_so_and_the_others_are_answered() -> None:
    async def hook(query: str) -> None:
        if "東" in query:
            raise EndpointFault("Down.")

    async with over(Watched(engine(GRAPH), hook)) as gateway:
        answer = await gateway.search_entities(queries=["bob", "東京"])
        assert answer.queries is not None
        good, bad = answer.queries
        assert (good.complete, [hit.id for hit in good.result]) == (True, ["x:bob"])
        assert (bad.complete, bad.result, bad.warnings) == (False, [], ["Down."])
        assert answer.complete is False
        with pytest.raises(EndpointFault):
            await gateway.search_entities(queries=["東京", "東"])


async def test_what_is_known_of_the_hits_of_all_queries_is_asked_at_once() -> None:
    asked: list[str] = []

    async def hook(query: str) -> None:
        asked.append(query)

    async with over(WatchedElsewhere(engine(GRAPH), hook)) as gateway:
        await gateway.search_entities("Great")
        asked.clear()
        await gateway.search_entities("bob")
        one = len(asked)
        asked.clear()
        await gateway.search_entities(queries=["bob", "ann of", "ge"])
    assert len(asked) - one == 2 * (one - 1)
