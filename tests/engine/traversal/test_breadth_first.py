"""Distances and paths fit the edges that were read, whichever of them caps, cuts and failures left out."""

import asyncio
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gateway.engine.traversal.breadth_first import BreadthFirstSearch, Exploration, HubRule
from gateway.engine.traversal.topology import paths_to_seeds
from gateway.errors import BudgetSpent, EdgesCapped, EndpointFault, Fault
from gateway.graph.call import Call
from gateway.graph.deadline import Deadline
from gateway.graph.store import GraphStore
from gateway.graph.values import WHOLE, Degree, Edge, Existence, Mark, Neighbourhood
from gateway.settings.limits import LimitSettings
from gateway.settings.profile import Profile
from tests.engine.small import ROOM, Watched, X, engine, over
from tests.examples import examples

NODES = "abcdefgh"


@dataclass(frozen=True)
class Graph:
    """A graph whose store may leave out edges.

    Attributes:
        edges: The edges, in the order in which each node shows them.
        failed: Nodes whose edges cannot be read.
        cut: Nodes whose edges the endpoint cuts, with how many it leaves.
    """

    edges: tuple[Edge, ...]
    failed: frozenset[str] = frozenset()
    cut: tuple[tuple[str, int], ...] = ()

    def of(self, node: str) -> tuple[Edge, ...]:
        """Return all edges of a node, in an order that differs from node to node."""
        own = [edge for edge in self.edges if node in (edge.subject, edge.object)]
        return tuple(own if NODES.index(node) % 2 else reversed(own))

    async def edges_(self, node: str, per_id: int | None) -> Neighbourhood:
        """Return what the store says about one node."""
        own = self.of(node)
        if node in self.failed:
            return Neighbourhood(mark=Mark(EndpointFault("The endpoint failed.")))
        room = dict(self.cut).get(node)
        if room is not None and room < len(own):
            return Neighbourhood(own[:room], mark=Mark(EndpointFault("Cut."), at_least=room + 1))
        if per_id is not None and per_id < len(own):
            return Neighbourhood(own[:per_id], mark=Mark(EdgesCapped("More."), at_least=per_id + 1))
        return Neighbourhood(own)


class Store:
    """The part of a graph store that a search asks."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def edges(
        self, ids: Sequence[str], _budget: Call, *, per_id: int | None = None, **_: object
    ) -> Mapping[str, Neighbourhood]:
        """Return the edges of each node."""
        return {node: await self._graph.edges_(node, per_id) for node in ids}

    async def degrees(self, ids: Sequence[str], _at_most: int, _budget: Call, **_: object) -> Mapping[str, Degree]:
        """Count the edges of each node."""
        return {node: Degree(len(self._graph.of(node))) for node in ids}

    async def existing(self, ids: Sequence[str], _budget: Call) -> Mapping[str, Existence]:
        """Tell which nodes exist."""
        return {node: Existence(exists=bool(self._graph.of(node)), mark=WHOLE) for node in ids}


def call() -> Call:
    return Call(Deadline.after(60.0, lambda: 0.0), 1_000, 1_000_000, 1_000_000)


def naive_distances(found: Exploration, seed: str, hops: int) -> dict[str, int]:
    """Return the distances from a seed by going over all edges once for each step."""
    edges = {edge for neighbourhood in found.known.values() for edge in neighbourhood.edges}
    distance = {seed: 0}
    for steps, edge in itertools.product(range(hops), edges):
        for one, other in ((edge.subject, edge.object), (edge.object, edge.subject)):
            if distance.get(one) == steps and one in found.known:
                distance.setdefault(other, steps + 1)
    return distance


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    ends = st.sampled_from(NODES)
    pairs = draw(st.lists(st.tuples(ends, ends), max_size=18, unique=True))
    failed = draw(st.sets(ends, max_size=2))
    cut = draw(st.dictionaries(ends, st.integers(0, 3), max_size=2))
    return Graph(tuple(Edge(one, "p", other) for one, other in pairs), frozenset(failed), tuple(sorted(cut.items())))


several_seeds = st.lists(st.sampled_from(NODES), min_size=2, max_size=4, unique=True)
rules = st.builds(HubRule, st.none() | st.integers(1, 5), st.none() | st.integers(1, 4))
star = Graph((Edge("a", "p", "h"), Edge("h", "p", "b")))


@settings(max_examples=examples(500))
@given(graph=graphs(), seeds=several_seeds, hops=st.integers(1, 4), rule=rules)
@example(graph=star, seeds=["a", "b"], hops=2, rule=HubRule(None, 1))
def test_a_path_leads_from_its_node_to_its_seed_over_edges_that_were_read_in_as_many_steps_as_the_distance(
    graph: Graph, seeds: list[str], hops: int, rule: HubRule
) -> None:
    store = cast("GraphStore", Store(graph))
    try:
        found = asyncio.run(BreadthFirstSearch(store, [[seed] for seed in seeds], hops, rule, call()).run())
    except Fault:
        return
    edges = {edge for neighbourhood in found.known.values() for edge in neighbourhood.edges}
    shown = {pair for edge in edges for pair in ((edge.subject, edge.object), (edge.object, edge.subject))}
    for seed, distance in zip(seeds, found.distances, strict=True):
        if seed in distance:
            assert distance == naive_distances(found, seed, hops)
        else:
            assert not distance
            assert not any(seed in pair for pair in shown)
    common = set.intersection(*map(set, found.distances))
    paths = paths_to_seeds(common, found.distances, found.neighbours, call().deadline)
    assert paths.keys() == common
    for node, to_seeds in paths.items():
        for seed, distance, path in zip(seeds, found.distances, to_seeds, strict=True):
            assert (path[0], path[-1]) == (node, seed)
            assert len(path) - 1 == distance[node]
            assert set(itertools.pairwise(path)) <= shown
            assert set(path[1:-1]) <= found.known.keys()


shown_late = Graph(
    (Edge("a", "p", "f"), Edge("b", "p", "c"), Edge("b", "p", "d"), Edge("b", "p", "f"), Edge("d", "p", "e")),
    failed=frozenset({"a", "c"}),
)


@settings(max_examples=examples(300))
@given(graph=graphs(), seeds=several_seeds, hops=st.integers(1, 3), rule=rules)
@example(graph=shown_late, seeds=["a", "c", "e"], hops=3, rule=HubRule(None, None))
def test_every_seed_of_a_neighbourhood_is_at_distance_0_whatever_could_not_be_read_of_it(
    graph: Graph, seeds: list[str], hops: int, rule: HubRule
) -> None:
    store = cast("GraphStore", Store(graph))
    try:
        found = asyncio.run(BreadthFirstSearch(store, [seeds], hops, rule, call()).run())
    except Fault:
        return
    (distance,) = found.distances
    assert {distance[seed] for seed in seeds if seed in distance} <= {0}
    naive = [naive_distances(found, seed, hops) for seed in seeds if seed in distance]
    assert distance == {node: min(one.get(node, hops) for one in naive) for one in naive for node in one}


@pytest.mark.anyio
async def test_a_path_through_a_capped_node_reaches_its_seed() -> None:
    async with over("x:s1 x:p x:h . x:h x:p x:s2 .") as gateway:
        answer = await gateway.intersect_subgraphs(["x:s1", "x:s2"], 2, via=True, max_edges_per_node=1)
    assert {node.id: node.via for node in answer.nodes} == {
        "x:s1": [["x:s1"], ["x:s1", "x:h", "x:s2"]],
        "x:s2": [["x:s2", "x:h", "x:s1"], ["x:s2"]],
        "x:h": [["x:h", "x:s1"], ["x:h", "x:s2"]],
    }


@pytest.mark.anyio
async def test_a_seed_that_the_budget_left_unexpanded_is_at_level_0() -> None:
    async def spent(query: str) -> None:
        if f"{X}s2>" in query and f"{X}s1>" not in query:
            raise BudgetSpent("The requests that one call may use are used up.")

    profile = Profile(size=ROOM, limits=LimitSettings(batch=1))
    async with over(Watched(engine("x:s1 x:p x:s2 . x:s2 x:p x:z ."), spent), profile) as gateway:
        answer = await gateway.bfs_query(["x:s1", "x:s2"], 2, topology_only=True)
    assert answer.levels == [2]
    assert [(gap.cause, gap.ids) for gap in answer.incomplete or ()] == [("budget", ["x:s2"])]


@pytest.mark.anyio
async def test_a_seed_that_does_not_exist_is_no_node_even_where_the_seeds_are_more_than_the_nodes_allowed() -> None:
    async with over("x:s1 x:p x:s2 .", Profile(size=ROOM, limits=LimitSettings(nodes=1))) as gateway:
        answer = await gateway.bfs_query(["x:s1", "x:nowhere"], 1, topology_only=True)
    assert answer.missing_seeds == ["x:nowhere"]
    assert [node.id for node in answer.nodes] == ["x:s1", "x:s2"]
