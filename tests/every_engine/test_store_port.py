"""What every store promises, bare and behind the cache: whole answers that are right, and marks on all others."""

from collections.abc import AsyncIterator

import pytest

from gateway.cache.store import CachedStore
from gateway.errors import Fault
from gateway.graph.call import Call, Deadline
from gateway.graph.store import GraphStore
from gateway.graph.values import SearchTerms
from gateway.settings.limits import LimitSettings
from gateway.settings.profile import Profile
from gateway.terms.names import words_of
from tests.columns import Column, declared_prefixes
from tests.shared_data import shared_data

pytestmark = [pytest.mark.anyio, pytest.mark.data]

GRAPH = "medlit"


def call(*, seconds: float = 60, requests: int = 1_000, rows: int = 1_000_000) -> Call:
    """Return a call with these limits."""
    return Call(Deadline.after(seconds), requests, rows, 1_000_000)


@pytest.fixture(params=["bare", "cached"])
async def store(request: pytest.FixtureRequest, engine: Column) -> AsyncIterator[GraphStore]:
    """A new store over the graph at the engine, with nothing in its cache."""
    below = engine.store(GRAPH, Profile())
    opened = below if request.param == "bare" else CachedStore(below, megabytes=16, ttl_seconds=600)
    yield opened
    await opened.close()


@pytest.fixture
async def expected(reference: Column) -> AsyncIterator[GraphStore]:
    """The store over the same files in this process."""
    opened = reference.store(GRAPH, Profile())
    yield opened
    await opened.close()


@pytest.fixture
def seeds() -> list[str]:
    """Two nodes with many edges, and one that is not there."""
    prefixes = declared_prefixes(shared_data("medlit.ttl.gz"))
    return [f"{prefixes['RxNorm']}3251", f"{prefixes['MeSH']}D003480", "urn:x:absent"]


async def test_whole_answers_are_those_of_the_files(store: GraphStore, expected: GraphStore, seeds: list[str]) -> None:
    for _ in range(2):
        around, right = await store.edges(seeds, call()), await expected.edges(seeds, call())
        assert {node: set(around[node].edges) for node in seeds} == {node: set(right[node].edges) for node in seeds}
        assert all(around[node].mark.fault is None for node in seeds)
        counted = await store.degrees(seeds, 1_000, call())
        assert {node: counted[node].count for node in seeds} == {node: len(set(right[node].edges)) for node in seeds}
        facts, right_facts = (
            await store.nodes(seeds, call(), names=True),
            await expected.nodes(seeds, call(), names=True),
        )
        assert [(facts[node].types, facts[node].name) for node in seeds] == [
            (right_facts[node].types, right_facts[node].name) for node in seeds
        ]
        there = await store.existing(seeds, call())
        assert [there[node].exists for node in seeds] == [True, True, False]


@pytest.mark.parametrize("limits", [{"requests": 0}, {"seconds": 0.0}], ids=["requests", "time"])
async def test_without_a_budget_nothing_is_whole_and_no_fault_is_stored(
    store: GraphStore, expected: GraphStore, seeds: list[str], limits: dict[str, int]
) -> None:
    try:
        marks = [answer.mark for answer in (await store.edges(seeds, call(**limits))).values()]
    except Fault:
        marks = []
    assert all(mark.fault is not None for mark in marks)
    around, right = await store.edges(seeds, call()), await expected.edges(seeds, call())
    assert {node: set(around[node].edges) for node in seeds} == {node: set(right[node].edges) for node in seeds}


async def test_a_part_within_the_budget_of_rows_is_marked(
    store: GraphStore, expected: GraphStore, seeds: list[str]
) -> None:
    right = await expected.edges(seeds, call())
    for rows in (1, 5, 20):
        try:
            found = await store.edges(seeds, call(rows=rows))
        except Fault:
            continue
        for node, answer in found.items():
            assert set(answer.edges) <= set(right[node].edges)
            assert answer.mark.fault is not None or set(answer.edges) == set(right[node].edges)


async def test_a_node_with_more_edges_than_a_query_may_return_is_read_in_parts(
    engine: Column, expected: GraphStore, seeds: list[str]
) -> None:
    node = seeds[1]
    store = engine.store(GRAPH, Profile(limits=LimitSettings(query_rows=20)))
    try:
        around = (await store.edges([node], call()))[node]
    finally:
        await store.close()
    right = (await expected.edges([node], call()))[node]
    assert len(right.edges) > 20
    assert set(around.edges) == set(right.edges)
    assert around.mark.fault is None


async def test_some_edges_of_each_node_are_among_its_edges_and_say_that_there_are_more(
    store: GraphStore, expected: GraphStore, seeds: list[str]
) -> None:
    around, right = await store.edges(seeds, call(), per_id=6), await expected.edges(seeds, call())
    for node in seeds:
        assert set(around[node].edges) <= set(right[node].edges)
        is_whole = len(right[node].edges) <= 6
        assert (around[node].mark.fault is None) == is_whole
        assert not is_whole or set(around[node].edges) == set(right[node].edges)


async def test_an_answer_depends_on_no_order_of_what_is_asked(store: GraphStore, seeds: list[str]) -> None:
    there, back = await store.edges(seeds, call()), await store.edges([*reversed(seeds), seeds[0]], call())
    assert {node: set(found.edges) for node, found in there.items()} == {
        node: set(found.edges) for node, found in back.items()
    }


async def test_a_search_finds_the_entities_of_the_files_or_says_that_it_did_not_compare_all(
    store: GraphStore, expected: GraphStore
) -> None:
    for text in ("CUSHING disease", "cushing's", "a.*b%", "'\"`$1 //\\"):
        terms = SearchTerms(text, tuple(words_of(text)))
        found, right = await store.search(terms, (), call()), await expected.search(terms, (), call())
        if found.exhaustive and not found.truncated:
            missed = {hit.iri for hit in right.hits} - {hit.iri for hit in found.hits}
            assert not missed, text
        if right.exhaustive and found.exhaustive:
            assert len(found.hits) == len(right.hits), text
    for text in ("cushing disease", "Cushing%"):
        named, right = await store.named(text, (), call()), await expected.named(text, (), call())
        assert {hit.iri for hit in named.hits} == {hit.iri for hit in right.hits}, text


async def test_a_degree_beyond_its_bound_is_a_lower_bound(store: GraphStore, seeds: list[str]) -> None:
    degrees = await store.degrees(seeds[:2], 2, call())
    assert all(not degree.exact or degree.mark.fault is not None for degree in degrees.values())


async def test_the_schema_has_the_types_of_the_files(store: GraphStore, expected: GraphStore) -> None:
    found, right = await store.schema(call()), await expected.schema(call())
    assert found.types == right.types
