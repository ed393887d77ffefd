"""A topology: its edges by position, types asked for while edges still come, and the first hop read ahead."""

import asyncio
import itertools
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.errors import BudgetSpent, EndpointFault
from gateway.graph.call import Deadline
from gateway.graph.computing import computed_once
from gateway.graph.values import Edge, Mark, Neighbourhood, NodeFacts
from gateway.settings.profile import Profile
from gateway.terms.prefixes import PrefixMap
from gateway.traversal.breadth_first import Exploration
from gateway.traversal.builder import FactsPrefetch
from gateway.traversal.edge_table import EdgeTable
from gateway.traversal.topology import in_order
from tests.examples import examples
from tests.small import ROOM, Watched, X, engine, ids, over, triples

pytestmark = pytest.mark.anyio

NODES = [f"urn:n{number}" for number in range(8)]
OUTSIDE = ["urn:outside", "urn:n0outside"]
PREDICATES = ["urn:p", "urn:q", "urn:n3"]
IN_TIME = Deadline.after(3_600.0)

orders = st.lists(st.sampled_from(NODES), unique=True)
edges = st.builds(Edge, *map(st.sampled_from, (NODES + OUTSIDE, PREDICATES, NODES + OUTSIDE)))
edge_lists = st.lists(edges, unique=True, max_size=40)


def table(nodes: list[str], listed: list[Edge]) -> EdgeTable:
    return EdgeTable.of(nodes, listed, IN_TIME)


def later_end(nodes: list[str], edge: Edge) -> int | None:
    """Return where an edge ends, if both of its ends are among the nodes."""
    if edge.subject in nodes and edge.object in nodes:
        return max(nodes.index(edge.subject), nodes.index(edge.object))
    return None


@given(nodes=orders, listed=edge_lists)
def test_a_table_has_the_edges_that_were_put_in_by_place_by_slice_and_one_by_one(
    nodes: list[str], listed: list[Edge]
) -> None:
    found = table(nodes, listed)
    assert len(found) == len(listed)
    assert list(found) == listed == [found[place] for place in range(len(listed))]
    assert found[3:30:2] == listed[3:30:2]
    assert found == listed
    assert found == tuple(listed)
    assert found != [*listed, Edge("urn:n0", "urn:p", "urn:another")]
    assert (list(found.nodes[: found.node_count]), set(found.subjects)) == (nodes, {edge.subject for edge in listed})
    assert found.predicate_counts == {
        predicate: sum(edge.predicate == predicate for edge in listed)
        for predicate in {edge.predicate for edge in listed}
    }


@settings(max_examples=examples(300))
@given(nodes=orders, listed=edge_lists, data=st.data())
def test_an_edge_ends_where_the_later_of_its_two_ends_is(
    nodes: list[str], listed: list[Edge], data: st.DataObject
) -> None:
    found = table(nodes, listed)
    start = data.draw(st.integers(0, len(nodes)))
    stop = data.draw(st.integers(start, len(nodes)))
    assert [(position, list(places)) for position, places in found.ending(start, stop)] == [
        (position, [place for place, edge in enumerate(listed) if later_end(nodes, edge) == position])
        for position in range(start, stop)
    ]


@settings(max_examples=examples(300))
@given(nodes=orders, listed=edge_lists, data=st.data())
def test_edges_that_begin_on_a_page_and_end_after_it_are_counted(
    nodes: list[str], listed: list[Edge], data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(nodes)))
    stop = data.draw(st.integers(start, len(nodes)))
    inside, before = set(nodes[start:stop]), set(nodes[:start])
    later = [
        edge
        for edge in listed
        if (edge.subject in inside) != (edge.object in inside) and not before & {edge.subject, edge.object}
    ]
    assert table(nodes, listed).begun_in(start, stop) == len(later)


@given(nodes=orders, listed=edge_lists)
def test_a_node_has_an_edge_where_one_begins_or_ends_at_it(nodes: list[str], listed: list[Edge]) -> None:
    ends = {end for edge in listed for end in (edge.subject, edge.object)}
    assert [table(nodes, listed).has_any_at(position) for position in range(len(nodes))] == [
        node in ends for node in nodes
    ]


@given(nodes=orders, listed=edge_lists, removed=st.sets(st.sampled_from(NODES)))
def test_without_some_nodes_a_table_is_the_one_of_the_others(
    nodes: list[str], listed: list[Edge], removed: set[str]
) -> None:
    left = [node for node in nodes if node not in removed]
    between = [edge for edge in listed if not removed & {edge.subject, edge.object}]
    found, expected = table(nodes, listed).without(removed, IN_TIME), table(left, between)
    assert found == expected
    assert found.nodes[: found.node_count] == left
    assert found.predicate_counts == expected.predicate_counts
    assert found.begun_in(0, len(left)) == expected.begun_in(0, len(left))
    assert [list(places) for _, places in found.ending(0, len(left))] == [
        list(places) for _, places in expected.ending(0, len(left))
    ]


@settings(max_examples=examples(300))
@given(
    distance=st.dictionaries(st.sampled_from(NODES), st.integers(0, 3)),
    listed=st.lists(edge_lists, max_size=4),
    among=st.none() | st.sets(edges),
    seeds=st.lists(st.sampled_from(NODES), unique=True, max_size=2),
)
def test_nodes_and_edges_stand_in_the_order_of_their_ids(
    distance: dict[str, int], listed: list[list[Edge]], among: set[Edge] | None, seeds: list[str]
) -> None:
    prefixes = PrefixMap({"x": "urn:n", "a": "urn:out"})
    short = prefixes.declared_form
    known = {str(number): Neighbourhood(tuple(some)) for number, some in enumerate(listed)}
    others = None if among is None else [Neighbourhood(tuple(among)), Neighbourhood(tuple(among)[:2])]
    nodes, found = in_order(seeds, distance, Exploration([], known=known), prefixes, IN_TIME, others)
    every = {edge for some in listed for edge in some}
    if among is not None:
        every = {edge for edge in every | among if {edge.subject, edge.object} <= distance.keys()}
    farther = sorted(distance.keys() - set(seeds), key=lambda node: (distance[node], short(node)))
    assert nodes == distance
    assert list(nodes) == [*(seed for seed in seeds if seed in distance), *farther]
    assert found == sorted(every, key=lambda edge: (short(edge.subject), short(edge.predicate), short(edge.object)))
    assert list(found.nodes[: found.node_count]) == list(nodes)


class Graph:
    """Answers about nodes, and keeps what it was asked."""

    def __init__(self, *marks: Mark) -> None:
        self.asked: list[list[str]] = []
        self._marks = list(marks)

    async def __call__(self, nodes: Sequence[str]) -> Mapping[str, NodeFacts]:
        """Return the facts of some nodes, under the next mark."""
        self.asked.append(list(nodes))
        mark = self._marks.pop(0) if self._marks else Mark()
        return {node: NodeFacts((f"{node}-type",), mark=mark) for node in nodes}


def part(*edges: tuple[str, str]) -> Mapping[str, Neighbourhood]:
    return {"urn:a": Neighbourhood(tuple(Edge(start, "urn:p", end) for start, end in edges))}


async def test_nodes_are_asked_about_once_there_are_enough_and_the_rest_at_the_end() -> None:
    graph = Graph()
    ahead = FactsPrefetch(graph, 3)
    ahead.add(part(("urn:a", "urn:b")))
    assert graph.asked == []
    ahead.add(part(("urn:a", "urn:c"), ("urn:c", "urn:b")))
    ahead.add(part(("urn:a", "urn:d")))
    nodes = ["urn:seed", "urn:a", "urn:b", "urn:c", "urn:d"]
    facts = await ahead.facts(nodes)
    assert graph.asked == [["urn:a", "urn:b", "urn:c"], ["urn:seed", "urn:d"]]
    assert facts == {node: NodeFacts((f"{node}-type",)) for node in nodes}


async def test_nobody_is_asked_where_nothing_is_wanted() -> None:
    graph = Graph()
    assert await FactsPrefetch(graph, 3).facts([]) == {}
    assert graph.asked == []


async def test_what_the_allowance_of_expansion_did_not_pay_for_is_asked_again() -> None:
    graph = Graph(Mark(BudgetSpent("Too many queries.")))
    ahead = FactsPrefetch(graph, 1)
    ahead.add(part(("urn:a", "urn:b")))
    facts = await ahead.facts(["urn:a", "urn:b"])
    assert graph.asked == [["urn:a", "urn:b"]] * 2
    assert all(one.mark.whole for one in facts.values())


async def test_any_other_fault_stays_with_its_nodes() -> None:
    fault = EndpointFault("The endpoint failed.")
    graph = Graph(Mark(fault))
    ahead = FactsPrefetch(graph, 1)
    ahead.add(part(("urn:a", "urn:b")))
    facts = await ahead.facts(["urn:a", "urn:b", "urn:c"])
    assert [one.mark.fault for one in facts.values()] == [fault, fault, None]
    assert graph.asked == [["urn:a", "urn:b"], ["urn:c"]]


async def test_nothing_is_under_way_after_the_block() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def never(nodes: Sequence[str]) -> Mapping[str, NodeFacts]:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return {node: NodeFacts() for node in nodes}

    async with FactsPrefetch(never, 1) as ahead:
        ahead.add(part(("urn:a", "urn:b")))
        await begun.wait()
    assert ended.is_set()


async def test_edges_that_come_after_the_block_ask_for_nothing() -> None:
    graph = Graph()
    async with FactsPrefetch(graph, 1) as ahead:
        pass
    ahead.add(part(("urn:a", "urn:b")))
    await asyncio.sleep(0)
    assert graph.asked == []


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


class Circle:
    """An object whose area is computed, and may wait meanwhile."""

    def __init__(self, started: threading.Event | None = None, go_on: threading.Event | None = None) -> None:
        self.computed = 0
        self.started = started
        self.go_on = go_on

    @computed_once
    def area(self) -> int:
        """Return its area."""
        self.computed += 1
        if self.started is not None and self.go_on is not None:
            self.started.set()
            assert self.go_on.wait(60.0)
        return 3


def test_a_value_is_computed_when_first_asked_for_and_only_then() -> None:
    circle = Circle()
    assert circle.computed == 0
    assert (circle.area, circle.area, circle.computed) == (3, 3, 1)
    assert Circle.area.__doc__ == "Return its area."


def test_the_value_of_one_object_does_not_wait_for_that_of_another() -> None:
    slow = Circle(threading.Event(), threading.Event())
    assert slow.started is not None
    assert slow.go_on is not None
    thread = threading.Thread(target=lambda: slow.area)
    thread.start()
    assert slow.started.wait(60.0)
    assert Circle().area == 3
    slow.go_on.set()
    thread.join(60.0)
    assert slow.computed == 1
