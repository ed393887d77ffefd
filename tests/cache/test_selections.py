"""Whatever was asked before, the cache answers steered questions as the graph does."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.cache.store import CachedStore
from gateway.errors import EdgesCapped
from gateway.graph.call import Call
from gateway.graph.store import OnAnswers
from gateway.graph.values import ALL_EDGES, Degree, Edge, EdgeSelection, Iri, Neighbourhood
from tests.cache.fake_store import FakeStore, call, capped
from tests.examples import examples

NODES = ("urn:a", "urn:b", "urn:c")
PREDICATES = ("urn:p", "urn:q", "urn:r")
BLANK = "_:blank"

Triples = frozenset[tuple[str, str, str]]

triples = st.frozensets(
    st.tuples(st.sampled_from(NODES), st.sampled_from(PREDICATES), st.sampled_from((*NODES, BLANK))), max_size=12
)
some_predicates = st.none() | st.sets(st.sampled_from(PREDICATES), max_size=2).map(lambda some: tuple(sorted(some)))
selections = st.just(ALL_EDGES) | st.builds(EdgeSelection, some_predicates, some_predicates)


@dataclass(frozen=True)
class Asks:
    """One question: edges, degrees or edges among nodes."""

    primitive: str
    nodes: tuple[str, ...]
    selection: EdgeSelection
    bound: int | None


questions = st.builds(
    Asks,
    st.sampled_from(["edges", "degrees", "among"]),
    st.lists(st.sampled_from(NODES), min_size=1, max_size=3, unique=True).map(tuple),
    selections,
    st.none() | st.integers(1, 3),
)


class Naive(FakeStore):
    """A store that looks at each of its triples."""

    def __init__(self, known: Triples) -> None:
        super().__init__()
        self._known = sorted(known)

    def selected(self, node: str, selection: EdgeSelection) -> list[tuple[str, str, str]]:
        """Return the triples that are selected."""
        found = []
        for subject, predicate, target in self._known:
            is_out = subject == node and (selection.outgoing is None or predicate in selection.outgoing)
            is_in = target == node and (selection.incoming is None or predicate in selection.incoming)
            if is_out or is_in:
                found.append((subject, predicate, target))
        return found

    async def edges(
        self,
        ids: Sequence[Iri],
        call: Call,
        *,
        selection: EdgeSelection = ALL_EDGES,
        per_id: int | None = None,
        on_answers: OnAnswers | None = None,
    ) -> Mapping[Iri, Neighbourhood]:
        """Return the edges that are selected."""
        await super().edges(ids, call, selection=selection, per_id=per_id, on_answers=on_answers)
        return {node: self.neighbourhood(node, selection, per_id) for node in ids}

    def neighbourhood(self, node: str, selection: EdgeSelection, per_id: int | None) -> Neighbourhood:
        """Return the edges that are selected, of one node."""
        found = self.selected(node, selection)
        edges = tuple(Edge(*one) for one in found if one[2] != BLANK)
        if per_id is not None and len(edges) > per_id:
            return Neighbourhood(edges[:per_id], mark=capped(per_id))
        return Neighbourhood(edges, len(found) - len(edges))

    async def degrees(
        self, ids: Sequence[Iri], at_most: int, call: Call, *, selection: EdgeSelection = ALL_EDGES
    ) -> Mapping[Iri, Degree]:
        """Count the edges that are selected."""
        await super().degrees(ids, at_most, call, selection=selection)
        return {node: self.degree(node, selection, at_most) for node in ids}

    def degree(self, node: str, selection: EdgeSelection, at_most: int) -> Degree:
        """Count the edges that are selected, of one node."""
        count = sum(target != BLANK for _, _, target in self.selected(node, selection))
        return Degree(min(count, at_most + 1), count <= at_most)

    async def edges_among(
        self, ids: Sequence[Iri], inside: frozenset[Iri], call: Call, *, predicates: tuple[Iri, ...] | None = None
    ) -> Mapping[Iri, Neighbourhood]:
        """Return the outgoing edges that are selected."""
        await super().edges_among(ids, inside, call, predicates=predicates)
        return {node: self.among(node, inside, predicates) for node in ids}

    def among(self, node: str, inside: frozenset[str], predicates: tuple[str, ...] | None) -> Neighbourhood:
        """Return the outgoing edges that are selected, of one node."""
        found = self.selected(node, EdgeSelection(predicates, ()))
        return Neighbourhood(tuple(Edge(*one) for one in found if one[2] in inside))


async def check(store: CachedStore, graph: Naive, asks: Asks) -> None:
    """Ask a question, and compare each answer."""
    bound, selection = asks.bound, asks.selection
    if asks.primitive == "degrees":
        degrees = await store.degrees(asks.nodes, bound or 2, call(), selection=selection)
        assert degrees == {node: graph.degree(node, selection, bound or 2) for node in asks.nodes}
    elif asks.primitive == "among":
        inside = frozenset(NODES[:2])
        among = await store.edges_among(asks.nodes, inside, call(), predicates=selection.outgoing)
        assert among == {node: graph.among(node, inside, selection.outgoing) for node in asks.nodes}
    else:
        edges = await store.edges(asks.nodes, call(), selection=selection, per_id=bound)
        for node in asks.nodes:
            expected = graph.neighbourhood(node, selection, bound)
            assert set(edges[node].edges) == set(expected.edges)
            assert edges[node].blank_edges == expected.blank_edges
            assert isinstance(edges[node].mark.fault, EdgesCapped) == isinstance(expected.mark.fault, EdgesCapped)


@settings(max_examples=examples(500))
@given(triples, st.lists(questions, min_size=2, max_size=8))
def test_every_answer_is_the_naive_one_whatever_was_asked_before(known: Triples, asked: list[Asks]) -> None:
    async def ask() -> None:
        graph = Naive(known)
        store = CachedStore(graph, megabytes=1, ttl_seconds=60.0, clock=lambda: 0.0)
        for asks in asked:
            await check(store, graph, asks)
        before = len([name for name, _ in graph.asked if name[0] != "edges_among"])
        for asks in asked:
            await check(store, graph, asks)
        assert len([name for name, _ in graph.asked if name[0] != "edges_among"]) == before

    asyncio.run(ask())


@pytest.mark.anyio
async def test_calls_that_ask_for_other_edges_at_the_same_time_do_not_share_an_answer() -> None:
    inner = FakeStore(waits=True)
    store = CachedStore(inner, megabytes=1, ttl_seconds=60.0)
    both = EdgeSelection(("urn:p",), ("urn:p",))
    asked = [ALL_EDGES, both, EdgeSelection(("urn:p",), ()), EdgeSelection(("urn:p",), ("urn:p",))]
    tasks = [asyncio.create_task(store.edges(["urn:a"], call(), selection=selection)) for selection in asked]
    for _ in range(25):
        await asyncio.sleep(0)
    for fetch in inner.under_way:
        fetch.answer()
    answers = [(await task)["urn:a"] for task in tasks]
    assert len(inner.fetches) == 3
    assert answers[1] is answers[3]
    assert len({answer.edges for answer in answers}) == 3
