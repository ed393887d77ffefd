"""The first hop is read while it is looked up whether seeds were merged; what it brings is that of a traversal."""

import asyncio
import itertools
from typing import Any

import pytest

from gateway.errors import EndpointFault
from gateway.settings.profile import Profile
from tests.small import ROOM, Watched, X, engine, ids, over, triples

pytestmark = pytest.mark.anyio

GRAPH = "x:old x:went x:a . x:a x:p x:b ; x:q x:c . x:b x:p x:d . x:d x:q x:a . x:e x:p x:a ."
WENT: dict[str, Any] = {"edges": {"redirects": (f"{X}went",)}}


def profile(**tables: object) -> Profile:
    return Profile.model_validate({"size": ROOM, **WENT, **tables})


def reads_edges_of(node: str, query: str) -> bool:
    return f"?s {{ <{X}{node}> }}" in query


def asks_what_is_said_of(node: str, query: str) -> bool:
    return f"?n {{ <{X}{node}> }}" in query and "isLiteral" in query


async def test_neither_question_waits_for_the_other() -> None:
    asked = {"edges": asyncio.Event(), "merged": asyncio.Event()}

    async def waits_for_the_other(query: str) -> None:
        if reads_edges_of("a", query):
            asked["edges"].set()
            await asyncio.wait_for(asked["merged"].wait(), 60)
        elif asks_what_is_said_of("a", query):
            asked["merged"].set()
            await asyncio.wait_for(asked["edges"].wait(), 60)

    answer = await over(Watched(engine(GRAPH), waits_for_the_other), profile()).bfs_query(["x:a"], 1)
    assert (ids(answer), answer.complete) == (["x:a", "x:b", "x:c", "x:d", "x:e"], True)
    assert asked["edges"].is_set()
    assert asked["merged"].is_set()


@pytest.mark.parametrize("seeds", [["x:a"], ["x:old"], ["x:old", "x:b"], ["x:a", "x:old"], ["x:absent", "x:a"]])
async def test_an_answer_is_that_of_the_seeds_that_others_were_merged_into(seeds: list[str]) -> None:
    ahead = over(GRAPH, profile())
    plain = over(GRAPH, Profile.model_validate({"size": ROOM, "edges": {"excepted": (f"{X}went",)}}))
    merged = list(dict.fromkeys({"x:old": "x:a"}.get(seed, seed) for seed in seeds))
    ways: tuple[dict[str, Any], ...] = (
        *({}, {"max_degree": 1}, {"max_edges_per_node": 1}),
        *({"only_predicates": ["x:p"]}, {"only_predicates": ["^x:p"]}, {"direction": "out"}),
    )
    for hops, way in itertools.product((1, 2, 3), ways):
        one, other = await ahead.bfs_query(seeds, hops, **way), await plain.bfs_query(merged, hops, **way)
        assert (ids(one), triples(one)) == (ids(other), triples(other))
        assert (one.complete, one.missing_seeds) == (other.complete, other.missing_seeds)


@pytest.mark.parametrize("predicates", [["x:p", "^x:p"], ["x:q", "x:q"], ["x:p", "x:p"]])
async def test_a_seed_that_a_walk_comes_back_to_is_read_again_by_the_next_step(predicates: list[str]) -> None:
    steps = [[one] for one in predicates]
    ahead = await over(GRAPH, profile()).bfs_query(["x:a"], 2, only_predicates=steps)
    plain = await over(GRAPH, Profile(size=ROOM)).bfs_query(["x:a"], 2, only_predicates=steps)
    assert (ids(ahead), triples(ahead), ahead.complete) == (ids(plain), triples(plain), plain.complete)


async def test_the_edges_of_a_seed_are_asked_for_once_and_not_for_a_page_that_is_stored() -> None:
    asked: list[str] = []

    async def note(query: str) -> None:
        asked.extend(node for node in ("a", "b") if reads_edges_of(node, query))

    gateway = over(Watched(engine(GRAPH), note), profile())
    for offset in (0, 1):
        answer = await gateway.bfs_query(["x:a"], 1, limit=1, offset=offset)
        assert answer.complete
    assert asked == ["a"]


async def test_edges_that_could_not_be_read_are_missing_as_without_reading_ahead() -> None:
    async def failing(query: str) -> None:
        if reads_edges_of("a", query):
            raise EndpointFault("The endpoint failed.")

    graph = engine(GRAPH)
    gaps = [
        (await over(Watched(graph, failing), settings).bfs_query(["x:a", "x:b"], 1)).incomplete
        for settings in (profile(), Profile(size=ROOM))
    ]
    assert gaps[0] == gaps[1]


async def test_a_merge_that_could_not_be_read_is_told_with_what_was_read_ahead() -> None:
    async def failing(query: str) -> None:
        if asks_what_is_said_of("a", query):
            raise EndpointFault("The endpoint failed.")

    answer = await over(Watched(engine(GRAPH), failing), profile()).bfs_query(["x:a"], 1, topology_only=True)
    assert ids(answer) == ["x:a", "x:b", "x:c", "x:d", "x:e"]
    assert any("merged" in warning for warning in answer.warnings or ())
