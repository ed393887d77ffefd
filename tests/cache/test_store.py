"""Which answers a cache stores, and which never."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from gateway.cache.store import CachedStore, CacheStatistics
from gateway.errors import AnswerCut, BudgetSpent, EndpointFault, Fault
from gateway.graph.call import Call, deadline_passed
from gateway.graph.counts import EdgeCount, EdgeCounts
from gateway.graph.values import (
    ALL_EDGES,
    BlankNode,
    Degree,
    Description,
    Edge,
    EdgeSelection,
    Existence,
    Hits,
    Iri,
    Mark,
    Neighbourhood,
    NodeFacts,
    SearchTerms,
)
from gateway.terms.literals import Literal
from tests.cache.fake_store import FakeStore, call, capped

pytestmark = pytest.mark.anyio

A, B, C = "urn:a", "urn:b", "urn:c"
P = "urn:p"

FAULTS = (
    EndpointFault("Down."),
    AnswerCut("Cut."),
    deadline_passed(),
    BudgetSpent("Spent."),
)

Primitive = Callable[[CachedStore, list[Any]], Awaitable[Mapping[Any, Any]]]

PRIMITIVES: dict[str, Primitive] = {
    "edges": lambda store, ids: store.edges(ids, call()),
    "some edges": lambda store, ids: store.edges(ids, call(), per_id=5),
    "edges out": lambda store, ids: store.edges(ids, call(), selection=EdgeSelection(incoming=())),
    "some edges out": lambda store, ids: store.edges(ids, call(), selection=EdgeSelection(incoming=()), per_id=5),
    "degrees out": lambda store, ids: store.degrees(ids, 10, call(), selection=EdgeSelection(incoming=())),
    "degrees": lambda store, ids: store.degrees(ids, 10, call()),
    "other degrees": lambda store, ids: store.degrees(ids, 20, call()),
    "edge counts": lambda store, ids: store.edge_counts(ids, call()),
    "reach": lambda store, ids: store.reach(ids, 2, call()),
    "further reach": lambda store, ids: store.reach(ids, 3, call()),
    "existing": lambda store, ids: store.existing(ids, call()),
    "nodes": lambda store, ids: store.nodes(ids, call(), names=False),
    "nodes and names": lambda store, ids: store.nodes(ids, call(), names=True),
    "mentions": lambda store, ids: store.mentions(ids, call()),
    "metadata": lambda store, ids: store.node_metadata(ids, call(), blank_nodes=False),
    "metadata and blank nodes": lambda store, ids: store.node_metadata(ids, call(), blank_nodes=True),
    "edge metadata": lambda store, ids: store.edge_metadata(ids, call()),
}
"""Every primitive that is asked about single IDs, with parameters that make it another question."""


def cached(
    inner: FakeStore, *, megabytes: int = 1, ttl: float = 60.0, clock: Callable[[], float] = lambda: 0.0
) -> CachedStore:
    return CachedStore(inner, megabytes=megabytes, ttl_seconds=ttl, clock=clock)


def edge(subject: str, target: str) -> Edge:
    return Edge(subject, P, target)


class Graph(FakeStore):
    """A store with given neighbourhoods, and nothing else to say."""

    def __init__(self, **known: Neighbourhood) -> None:
        super().__init__()
        self._known = {f"urn:{name}": neighbourhood for name, neighbourhood in known.items()}

    async def edges(
        self,
        ids: Any,
        call: Any,
        *,
        selection: EdgeSelection = ALL_EDGES,
        per_id: int | None = None,
        on_answers: Any = None,  # noqa: ARG002 - part of the port
    ) -> Mapping[str, Neighbourhood]:
        """Return the given edges, or those selected."""
        await self._ask(("edges", per_id) if selection.is_all else ("edges", per_id, selection), ids, call)
        return {
            node: replace(known, edges=selection.selected(node, known.edges))
            for node, known in self._known.items()
            if node in ids
        }


@pytest.mark.parametrize("primitive", PRIMITIVES.values(), ids=PRIMITIVES)
async def test_only_what_is_not_known_is_asked_for(primitive: Primitive) -> None:
    inner = FakeStore()
    store = cached(inner)
    first = await primitive(store, [A, B])
    second = await primitive(store, [C, B, A])
    assert [keys for _, keys in inner.asked] == [(A, B), (C,)]
    assert list(second) == [C, B, A]
    assert {key: second[key] for key in (A, B)} == first


RICHER: dict[str, tuple[Primitive, Primitive]] = {
    "types after names": (PRIMITIVES["nodes and names"], PRIMITIVES["nodes"]),
    "types after descriptions in a language": (
        lambda store, ids: store.nodes(ids, _in_german(), names=True, descriptions=True),
        lambda store, ids: store.nodes(ids, _in_german(), names=False),
    ),
    "properties after contents": (PRIMITIVES["metadata and blank nodes"], PRIMITIVES["metadata"]),
    "imprecise properties after precise ones": (
        PRIMITIVES["metadata and blank nodes"],
        lambda store, ids: store.node_metadata(ids, call(), blank_nodes=False, precise=False),
    ),
}


def _in_german() -> Call:
    german = call()
    german.language = "de"
    return german


@pytest.mark.parametrize("which", RICHER)
async def test_a_richer_answer_serves_a_question_for_less_and_not_the_other_way(which: str) -> None:
    richer, poorer = RICHER[which]
    inner = FakeStore()
    store = cached(inner)
    await richer(store, [A])
    await poorer(store, [A, B])
    assert [keys for _, keys in inner.asked] == [(A,), (B,)]
    await richer(store, [B])
    assert [keys for _, keys in inner.asked] == [(A,), (B,), (B,)]


@pytest.mark.parametrize("which", RICHER)
async def test_a_richer_answer_that_is_not_whole_serves_no_other_question(which: str) -> None:
    richer, poorer = RICHER[which]
    inner = FakeStore()
    inner.marks = {A: Mark(EndpointFault("Down."))}
    store = cached(inner)
    await richer(store, [A])
    inner.marks = {}
    assert (await poorer(store, [A]))[A].mark.whole
    assert len(inner.fetches) == 2


async def test_what_a_richer_answer_says_beyond_a_question_is_not_in_the_answer() -> None:
    class Named(FakeStore):
        async def nodes(self, ids: Sequence[Iri], call: Call, **_: bool) -> Mapping[Iri, NodeFacts]:
            await self._ask(("nodes",), ids, call)
            return dict.fromkeys(ids, NodeFacts(("urn:T",), "a name", description="text", is_deprecated=True))

    inner = Named()
    store = cached(inner)
    await store.nodes([A], call(), names=True, descriptions=True)
    assert await store.nodes([A], call(), names=False) == {A: NodeFacts(("urn:T",))}
    assert len(inner.fetches) == 1


async def test_a_description_in_which_blank_nodes_speak_serves_no_question_without_them() -> None:
    class WithBlank(FakeStore):
        async def node_metadata(self, ids: Sequence[Iri], call: Call, **_: bool) -> Mapping[Iri, Description]:
            await self._ask(("node_metadata",), ids, call)
            return dict.fromkeys(ids, Description({P: (BlankNode({P: (Literal("1"),)}),)}))

    inner = WithBlank()
    store = cached(inner)
    await PRIMITIVES["metadata and blank nodes"](store, [A])
    await PRIMITIVES["metadata"](store, [A])
    assert len(inner.fetches) == 2


async def test_another_primitive_and_other_parameters_are_another_question() -> None:
    inner = FakeStore()
    for primitive in PRIMITIVES.values():
        # Each by itself: the edges of a node answer other questions about it too.
        store = cached(inner)
        before = len(inner.fetches)
        await primitive(store, [A])
        for other in PRIMITIVES.values():
            if (
                other is not primitive
                and PRIMITIVES["edges"] not in (primitive, other)
                and PRIMITIVES["some edges"] not in (primitive, other)
            ):
                await other(store, [A])
        assert len(inner.fetches) > before
    store = cached(inner)
    del inner.fetches[:]
    for primitive in [primitive for name, primitive in PRIMITIVES.items() if "edges" not in name]:
        await primitive(store, [A])
    assert len(inner.fetches) == len(PRIMITIVES) - 4


@pytest.mark.parametrize("primitive", PRIMITIVES.values(), ids=PRIMITIVES)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
async def test_a_fault_is_returned_and_never_stored(primitive: Primitive, fault: Fault) -> None:
    inner = FakeStore()
    store = cached(inner)
    inner.marks = {A: Mark(fault)}
    first = await primitive(store, [A, B])
    assert first[A].mark.fault is fault
    assert first[B].mark.whole
    inner.marks = {}
    second = await primitive(store, [A, B])
    assert second[A].mark.whole
    assert [keys for _, keys in inner.asked] == [(A, B), (A,)]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
async def test_what_an_endpoint_cut_is_asked_for_again(fault: Fault) -> None:
    inner = FakeStore()
    store = cached(inner)
    inner.marks = {A: Mark(fault, at_least=2)}
    first = await store.edges([A], call())
    second = await store.edges([A], call())
    assert len(inner.fetches) == 2
    assert not first[A].mark.whole
    assert not second[A].mark.whole


async def test_edges_cut_by_a_limit_are_stored_under_that_limit_only() -> None:
    inner = FakeStore()
    store = cached(inner)
    inner.marks = {A: capped(3)}
    first = await store.edges([A], call(), per_id=3)
    assert (await store.edges([A], call(), per_id=3))[A] is first[A]
    assert first[A].mark.at_least == 4
    assert len(inner.fetches) == 1
    await store.edges([A], call(), per_id=5)
    inner.marks = {}
    whole = await store.edges([A], call())
    assert whole[A].mark.whole
    assert [name for name, _ in inner.asked] == [("edges", 3), ("edges", 5), ("edges", None)]


async def test_edges_that_turn_out_to_be_all_are_stored_as_all() -> None:
    inner = FakeStore()
    store = cached(inner)
    first = await store.edges([A], call(), per_id=3)
    second = await store.edges([A], call())
    assert second[A] is first[A]
    assert len(inner.fetches) == 1


async def test_all_edges_of_a_node_serve_a_question_after_some_only_where_they_are_few_enough() -> None:
    inner = Graph(a=Neighbourhood((edge(A, B), edge(A, C))))
    store = cached(inner)
    await store.edges([A], call())
    assert (await store.edges([A], call(), per_id=2))[A].mark.whole
    assert len(inner.fetches) == 1
    await store.edges([A], call(), per_id=1)
    assert inner.asked[-1] == (("edges", 1), (A,))


@pytest.mark.parametrize(
    ("at_most", "degree"), [(4, Degree(3)), (3, Degree(3)), (2, Degree(3, exact=False)), (1, Degree(2, exact=False))]
)
async def test_the_degree_of_a_node_follows_from_its_edges(at_most: int, degree: Degree) -> None:
    # A self loop counts once; triples with blank nodes are no edges.
    inner = Graph(a=Neighbourhood((edge(A, A), edge(A, B), edge(C, A)), blank_edges=7))
    store = cached(inner)
    await store.edges([A], call())
    assert await store.degrees([A], at_most, call()) == {A: degree}
    assert len(inner.fetches) == 1


async def test_a_node_with_an_edge_or_a_blank_one_exists_and_of_others_the_graph_is_asked() -> None:
    inner = Graph(a=Neighbourhood((edge(A, B),)), b=Neighbourhood(blank_edges=1), c=Neighbourhood())
    store = cached(inner)
    await store.edges([A, B, C], call())
    answers = await store.existing([A, B, C], call())
    assert answers == dict.fromkeys([A, B, C], Existence(exists=True))
    assert inner.asked[1:] == [(("existing",), (C,))]


async def test_edges_among_nodes_follow_from_their_edges_and_the_rest_is_asked_for_each_time() -> None:
    inner = Graph(a=Neighbourhood((edge(A, A), edge(A, B), edge(A, C), edge(B, A)), blank_edges=2))
    store = cached(inner)
    await store.edges([A], call())
    for _ in range(2):
        answers = await store.edges_among([B, A], frozenset([A, B]), call())
        assert list(answers) == [B, A]
        assert answers[A] == Neighbourhood((edge(A, A), edge(A, B)))
    assert [keys for _, keys in inner.asked] == [(A,), (B,), (B,)]


Q = "urn:q"
SELECTIONS = (
    EdgeSelection((P,), (P,)),
    EdgeSelection((P,), ()),
    EdgeSelection((), (P,)),
    EdgeSelection((P,), None),
    EdgeSelection(None, ()),
    EdgeSelection((P, Q), (P,)),
)
NEAR_A = (edge(A, A), edge(A, B), edge(C, A), Edge(A, Q, C), Edge(B, Q, A), Edge(A, Q, A))


@pytest.mark.parametrize("selection", SELECTIONS, ids=str)
async def test_selected_edges_and_their_number_follow_from_all_edges_of_a_node(selection: EdgeSelection) -> None:
    expected = tuple(one for one in NEAR_A if selection.selects(A, one))
    inner = Graph(a=Neighbourhood(NEAR_A))
    store = cached(inner)
    await store.edges([A], call())
    assert await store.edges([A], call(), selection=selection) == {A: Neighbourhood(expected)}
    assert await store.edges([A], call(), selection=selection, per_id=len(expected)) == {A: Neighbourhood(expected)}
    for at_most in (1, len(expected), 10):
        degree = Degree(min(len(expected), at_most + 1), len(expected) <= at_most)
        assert await store.degrees([A], at_most, call(), selection=selection) == {A: degree}
    assert len(inner.fetches) == 1
    await store.edges([A], call(), selection=selection, per_id=1)
    assert inner.asked[1:] == ([(("edges", 1, selection), (A,))] if len(expected) > 1 else [])


@pytest.mark.parametrize("predicates", [None, (P,), (Q,), (P, Q), ()])
async def test_edges_among_nodes_of_some_predicates_follow_from_all_edges(predicates: tuple[str, ...] | None) -> None:
    inner = Graph(a=Neighbourhood(NEAR_A, blank_edges=2))
    store = cached(inner)
    await store.edges([A], call())
    answers = await store.edges_among([A], frozenset([A, B]), call(), predicates=predicates)
    known = [edge(A, A), edge(A, B), Edge(A, Q, A)]
    assert set(answers[A].edges) == {one for one in known if predicates is None or one.predicate in predicates}
    assert len(inner.fetches) == 1


@pytest.mark.parametrize(
    "whole",
    [Neighbourhood(NEAR_A, blank_edges=1), Neighbourhood(NEAR_A, left_out=frozenset([7]))],
    ids=["blank", "out"],
)
async def test_selected_edges_are_asked_for_where_it_is_not_known_which_others_there_are(whole: Neighbourhood) -> None:
    inner = Graph(a=whole)
    store = cached(inner)
    await store.edges([A], call())
    for _ in range(2):
        answers = await store.edges([A], call(), selection=SELECTIONS[0])
        assert set(answers[A].edges) == {one for one in NEAR_A if one.predicate == P}
    assert [name for name, _ in inner.asked] == [("edges", None), ("edges", None, SELECTIONS[0])]


async def test_selected_edges_answer_the_question_that_they_were_asked_for_and_no_other() -> None:
    inner = Graph(a=Neighbourhood(NEAR_A))
    store = cached(inner)
    first = await store.edges([A], call(), selection=SELECTIONS[0])
    assert (await store.edges([A], call(), selection=EdgeSelection((P,), (P,))))[A] is first[A]
    assert (await store.edges([A], call(), selection=SELECTIONS[0], per_id=5))[A] is first[A]
    assert len(inner.fetches) == 1
    for selection in SELECTIONS[1:]:
        answers = await store.edges([A], call(), selection=selection)
        assert answers[A].edges == tuple(one for one in NEAR_A if selection.selects(A, one))
    assert len(inner.fetches) == len(SELECTIONS)
    before = len(inner.fetches)
    await store.degrees([A], 10, call())
    await store.degrees([A], 10, call(), selection=SELECTIONS[0])
    await store.existing([A], call())
    await store.edges_among([A], frozenset([A]), call(), predicates=(P,))
    assert (await store.edges([A], call()))[A].edges == NEAR_A
    assert len(inner.fetches) == before + 5


async def test_degrees_of_selected_edges_are_stored_by_selection() -> None:
    inner = FakeStore()
    store = cached(inner)
    for selection in (*SELECTIONS, ALL_EDGES, *SELECTIONS):
        await store.degrees([A], 10, call(), selection=selection)
    assert len(inner.fetches) == len(SELECTIONS) + 1


async def test_selected_edges_that_were_cut_are_stored_under_their_selection_and_limit() -> None:
    inner = FakeStore()
    store = cached(inner)
    inner.marks = {A: capped(3)}
    for selection in (*SELECTIONS, *SELECTIONS):
        assert not (await store.edges([A], call(), selection=selection, per_id=3))[A].mark.whole
    assert len(inner.fetches) == len(SELECTIONS)
    await store.edges([A], call(), selection=SELECTIONS[0], per_id=4)
    assert len(inner.fetches) == len(SELECTIONS) + 1


async def test_edges_that_are_not_whole_answer_no_other_question() -> None:
    inner = FakeStore()
    store = cached(inner)
    inner.marks = {A: capped(3)}
    await store.edges([A], call(), per_id=3)
    inner.marks = {}
    await store.degrees([A], 10, call())
    await store.existing([A], call())
    await store.edges_among([A], frozenset([A]), call())
    assert len(inner.fetches) == 4


async def test_an_answer_lives_for_its_time_and_no_longer_however_often_it_is_used() -> None:
    now = 0.0
    inner = FakeStore()
    store = cached(inner, ttl=60.0, clock=lambda: now)
    await store.edges([A], call())
    now = 30.0
    await store.edges([A], call())
    now = 59.0
    await store.degrees([A], 10, call())
    assert len(inner.fetches) == 1
    now = 60.0
    await store.degrees([A], 10, call())
    await store.edges([A], call())
    assert [name for name, _ in inner.asked] == [("edges", None), ("degrees", 10), ("edges", None)]


async def test_the_cache_is_bounded_and_removes_first_what_was_not_used_for_longest() -> None:
    inner = FakeStore()
    store = cached(inner)
    ids = [f"urn:{number:04}:{'x' * 1_000}" for number in range(700)]
    for node in ids:
        await store.edges([node], call())
        await store.edges(ids[:1], call())
    statistics = store.statistics()
    assert statistics.bytes <= 1 << 20
    assert statistics.evicted > 0
    before = len(inner.fetches)
    await store.edges([ids[0], *ids[-10:]], call())
    assert len(inner.fetches) == before
    await store.edges(ids[1:3], call())
    assert inner.fetches[-1].keys == tuple(ids[1:3])


async def test_an_answer_larger_than_the_cache_is_returned_and_displaces_none() -> None:
    inner = Graph(a=Neighbourhood((edge(A, B),)), b=Neighbourhood((edge(B, "urn:" + "x" * (1 << 20)),)))
    store = cached(inner)
    await store.edges([A], call())
    assert len((await store.edges([B], call()))[B].edges) == 1
    await store.edges([A], call())
    assert [keys for _, keys in inner.asked] == [(A,), (B,)]
    assert store.statistics().evicted == 0


async def test_forgetting_forgets_all_here_and_below() -> None:
    inner = FakeStore()
    store = cached(inner)
    for primitive in PRIMITIVES.values():
        await primitive(store, [A])
    store.forget()
    assert store.statistics().bytes == 0
    assert inner.forgotten == 1
    before = len(inner.fetches)
    await store.nodes([A], call(), names=True)
    assert len(inner.fetches) == before + 1


async def test_another_version_of_the_schema_means_another_graph() -> None:
    inner = FakeStore()
    store = cached(inner)
    await store.schema(call())
    await store.edges([A], call())
    await store.schema(call())
    await store.edges([A], call())
    assert len([name for name, _ in inner.asked if name[0] == "edges"]) == 1
    inner.schema_version = "2"
    await store.schema(call())
    await store.edges([A], call())
    assert len([name for name, _ in inner.asked if name[0] == "edges"]) == 2


async def test_a_search_is_stored_by_its_text_and_types() -> None:
    inner = FakeStore()
    store = cached(inner)
    asked: list[tuple[SearchTerms, list[str]]] = [
        (SearchTerms("x y", ("x", "y")), []),
        (SearchTerms("y x", ("y", "x")), []),
        (SearchTerms("x y", ("x", "y")), [A]),
    ]
    first: list[Hits] = []
    for terms, types in asked:
        first.append(await store.search(terms, types, call()))
    for (terms, types), hits in zip(asked, first, strict=True):
        assert await store.search(terms, types, call()) is hits
    assert len(inner.fetches) == len(asked)


async def test_a_search_that_fails_raises_and_is_not_stored() -> None:
    inner = FakeStore()
    store = cached(inner)
    inner.fault = EndpointFault("Down.")
    with pytest.raises(EndpointFault, match="Down"):
        await store.search(SearchTerms("x", ("x",)), [], call())
    inner.fault = None
    assert (await store.search(SearchTerms("x", ("x",)), [], call())).hits


async def test_what_was_done_is_counted_for_all_calls_and_for_each() -> None:
    inner = FakeStore()
    store = cached(inner)
    mine = call()
    await store.nodes([A, B], mine, names=False)
    await store.nodes([A, B, C, C], mine, names=False)
    await store.edges_among([A], frozenset(), mine)
    assert (mine.tally.cache_hits, mine.tally.cache_misses) == (2, 4)
    statistics = store.statistics()
    assert statistics == CacheStatistics(hits=2, misses=4, shared=0, evicted=0, bytes=statistics.bytes)
    assert statistics.bytes > 0


async def test_a_question_about_nothing_asks_nothing() -> None:
    inner = FakeStore()
    for primitive in PRIMITIVES.values():
        assert await primitive(cached(inner), []) == {}
    assert inner.fetches == []


async def test_a_caller_that_changes_its_answer_does_not_change_what_is_stored() -> None:
    store = cached(FakeStore())
    answer = (await store.edges([A], call()))[A]
    assert isinstance(answer.edges, tuple)
    answers = await store.node_metadata([A], call(), blank_nodes=False)
    assert isinstance(answers, dict)
    answers[A] = Description()
    assert (await store.node_metadata([A], call(), blank_nodes=False))[A] != Description()


async def test_counts_of_edges_follow_from_a_stored_neighbourhood_as_a_query_counts_them() -> None:
    graph = Graph(a=Neighbourhood((edge(A, B), edge(A, C), edge(A, "urn:d"), edge(A, A)), blank_edges=2))
    store = cached(graph)
    await store.edges([A], call())
    counts = (await store.edge_counts([A], call()))[A]
    assert counts == EdgeCounts(
        (EdgeCount(P, incoming=False, count=4, neighbours=(A, "urn:d")), EdgeCount(P, True, 1, (A,))), blank_edges=2
    )
    assert "edge_counts" not in [name for (name, *_), _ in graph.asked]


READING: dict[str, Callable[[CachedStore, Call], Awaitable[object]]] = {
    "edges": lambda store, of: store.edges([A], of),
    "some edges": lambda store, of: store.edges([A], of, per_id=5),
    "edges out": lambda store, of: store.edges([A], of, selection=EdgeSelection(incoming=())),
    "degrees": lambda store, of: store.degrees([A], 10, of),
    "edge counts": lambda store, of: store.edge_counts([A], of),
    "reach": lambda store, of: store.reach([A], 2, of),
    "existing": lambda store, of: store.existing([A], of),
    "subjects": lambda store, of: store.subjects([A], of),
    "nodes": lambda store, of: store.nodes([A], of, names=True),
    "predicates": lambda store, of: store.predicates([P], of),
    "narrower": lambda store, of: store.narrower([A], of),
    "mentions": lambda store, of: store.mentions([A], of),
    "node metadata": lambda store, of: store.node_metadata([A], of, blank_nodes=False),
    "edge metadata": lambda store, of: store.edge_metadata([edge(A, B)], of),
    "search": lambda store, of: store.search(SearchTerms("a", ("a",)), (), of),
}


async def test_a_call_knows_until_when_what_it_has_read_holds_whatever_it_reads() -> None:
    async def check(primitive: str, *, derived: bool) -> None:
        now = 0.0
        store = cached(FakeStore(), clock=lambda: now)
        if derived:
            await store.edges([A], call())
        fetching, reading = call(), call()
        await READING[primitive](store, fetching)
        now = 30.0
        await READING[primitive](store, reading)
        assert reading.freshness.holds(), primitive
        now = 60.0
        assert not reading.freshness.holds(), primitive
        now = 30.0
        store.forget_answers()
        assert not reading.freshness.holds(), primitive
        if not derived:
            assert not fetching.freshness.is_of_stored, primitive

    for primitive in READING:
        for derived in (False, True):
            await check(primitive, derived=derived)
