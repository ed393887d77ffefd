"""Distances, walks and paths fit the edges that were read, whichever of them caps, cuts and failures left out."""

import asyncio
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gateway.errors import BudgetSpent, EdgesCapped, EndpointFault, Fault
from gateway.graph.call import Call, Deadline
from gateway.graph.store import GraphStore
from gateway.graph.values import ALL_EDGES, WHOLE, Degree, Edge, EdgeSelection, Existence, Mark, Neighbourhood
from gateway.settings.limits import LimitSettings
from gateway.settings.profile import Profile
from gateway.terms.prefixes import PrefixMap
from gateway.traversal.breadth_first import BreadthFirstSearch, Exploration
from gateway.traversal.edge_table import EdgeTable
from gateway.traversal.expander import HubRule, NodeExpander
from gateway.traversal.steering import PredicateChoice, Steering, WalkSearch, nodes_on_the_way
from gateway.traversal.topology import Topology, paths_to_seeds
from tests.examples import examples
from tests.small import ROOM, Watched, X, engine, over

NODES = "abcdefgh"


@dataclass(frozen=True)
class Graph:
    """A graph whose store may leave out edges.

    Attributes:
        edges: The edges, in the order in which each node shows them.
        failed: Nodes whose edges cannot be read.
        cut: Nodes whose edges the endpoint cuts, with how many it leaves.
        lost: Edges that the answer about a node lacks, and that it says nothing about.
    """

    edges: tuple[Edge, ...]
    failed: frozenset[str] = frozenset()
    cut: tuple[tuple[str, int], ...] = ()
    lost: frozenset[tuple[str, Edge]] = frozenset()

    def of(self, node: str, selection: EdgeSelection = ALL_EDGES) -> tuple[Edge, ...]:
        """Return the edges of a node that are selected, in an order that differs from node to node."""
        own = [edge for edge in self.edges if selection.selects(node, edge)]
        return tuple(own if NODES.index(node) % 2 else reversed(own))

    async def edges_(self, node: str, per_id: int | None, selection: EdgeSelection) -> Neighbourhood:
        """Return what the store says about one node."""
        own = tuple(edge for edge in self.of(node, selection) if (node, edge) not in self.lost)
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

    def forget(self) -> None:
        """Forget nothing: nothing is stored."""

    async def edges(
        self,
        ids: Sequence[str],
        _budget: Call,
        *,
        selection: EdgeSelection = ALL_EDGES,
        per_id: int | None = None,
        **_: object,
    ) -> Mapping[str, Neighbourhood]:
        """Return the edges of each node."""
        return {node: await self._graph.edges_(node, per_id, selection) for node in ids}

    async def degrees(
        self, ids: Sequence[str], _at_most: int, _budget: Call, *, selection: EdgeSelection = ALL_EDGES
    ) -> Mapping[str, Degree]:
        """Count the edges of each node."""
        return {node: Degree(len(self._graph.of(node, selection))) for node in ids}

    async def existing(self, ids: Sequence[str], _budget: Call) -> Mapping[str, Existence]:
        """Tell which nodes exist."""
        return {node: Existence(exists=bool(self._graph.of(node)), mark=WHOLE) for node in ids}


def call() -> Call:
    return Call(Deadline.after(60.0, lambda: 0.0), 1_000, 1_000_000, 1_000_000)


def naive_distances(found: Exploration, seed: str, hops: int) -> dict[str, int]:
    """Return the distances from a seed by going over all edges once for each step."""
    distance = {seed: 0}
    for steps, (one, other) in itertools.product(range(hops), naive_steps(found)):
        if distance.get(one) == steps:
            distance.setdefault(other, steps + 1)
    return distance


def naive_steps(found: Exploration) -> set[tuple[str, str]]:
    """Return the steps from expanded nodes: along every edge that was read, or, if steered, along a node's own rows."""
    steps = set()
    for node, neighbourhood in found.known.items():
        for edge in neighbourhood.edges:
            for one, other in ((edge.subject, edge.object), (edge.object, edge.subject)):
                if one in found.known if found.selection.is_all else one == node:
                    steps.add((one, other))
    return steps


def search(
    graph: Graph, sources: Sequence[Sequence[str]], hops: int, rule: HubRule, selection: EdgeSelection = ALL_EDGES
) -> Exploration:
    store, asking = cast("GraphStore", Store(graph)), call()
    expander = NodeExpander(store, rule, asking, [seed for seeds in sources for seed in seeds])
    return asyncio.run(BreadthFirstSearch(store, sources, hops, expander, asking, selection).run())


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    ends = st.sampled_from(NODES)
    pairs = draw(st.lists(st.tuples(ends, ends), max_size=18, unique=True))
    failed = draw(st.sets(ends, max_size=2))
    cut = draw(st.dictionaries(ends, st.integers(0, 3), max_size=2))
    edges = tuple(Edge(one, draw(st.sampled_from("ppq")), other) for one, other in pairs)
    return Graph(edges, frozenset(failed), tuple(sorted(cut.items())))


several_seeds = st.lists(st.sampled_from(NODES), min_size=2, max_size=4, unique=True)
rules = st.builds(HubRule, st.none() | st.integers(1, 5), st.none() | st.integers(1, 4))
chosen = st.none() | st.sampled_from([(), ("p",), ("q",), ("p", "q")])
selections = st.just(ALL_EDGES) | st.builds(EdgeSelection, chosen, chosen)
star = Graph((Edge("a", "p", "h"), Edge("h", "p", "b")))


@settings(max_examples=examples(500))
@given(graph=graphs(), seeds=several_seeds, hops=st.integers(2, 4), selection=selections, data=st.data())
def test_a_node_whose_answer_lacks_an_edge_by_which_it_was_reached_is_told_as_not_whole(
    graph: Graph, seeds: list[str], hops: int, selection: EdgeSelection, data: st.DataObject
) -> None:
    graph = Graph(graph.edges)
    found = search(graph, [seeds], hops, HubRule(), selection)
    (distance,) = found.distances
    returned = [
        (node, edge)
        for node, steps in distance.items()
        for edge in graph.of(node, selection)
        for other in (edge.subject, edge.object)
        if 0 < steps < hops and distance.get(other) == steps - 1 and edge in found.known[other].edges
    ]
    if not returned:
        return
    node, edge = data.draw(st.sampled_from(returned))
    lossy = search(Graph(graph.edges, lost=frozenset({(node, edge)})), [seeds], hops, HubRule(), selection)
    assert {(gap.cause, gap.ids) for gap in lossy.gaps.entries} == {("endpoint_failed", frozenset({node}))}
    assert "lacks an edge" in next(iter(lossy.gaps.entries)).detail


@pytest.mark.slow
@settings(max_examples=examples(500))
@given(graph=graphs(), seeds=several_seeds, hops=st.integers(1, 4), rule=rules, selection=selections)
@example(graph=star, seeds=["a", "b"], hops=2, rule=HubRule(None, 1), selection=ALL_EDGES)
def test_a_path_leads_from_its_node_to_its_seed_over_edges_that_were_followed_in_as_many_steps_as_the_distance(
    graph: Graph, seeds: list[str], hops: int, rule: HubRule, selection: EdgeSelection
) -> None:
    try:
        found = search(graph, [[seed] for seed in seeds], hops, rule, selection)
    except Fault:
        return
    steps = naive_steps(found)
    for seed, distance in zip(seeds, found.distances, strict=True):
        if seed in distance:
            assert distance == naive_distances(found, seed, hops)
        else:
            assert not distance
            assert not any(seed in step for step in steps)
    common = set.intersection(*map(set, found.distances))
    paths = paths_to_seeds(common, found, call().deadline)
    assert paths.keys() == common
    for node, to_seeds in paths.items():
        for seed, distance, path in zip(seeds, found.distances, to_seeds, strict=True):
            places = [node, *(step.node for step in path)]
            assert places[-1] == seed
            assert len(path) == distance[node]
            assert {(nearer, farther) for farther, nearer in itertools.pairwise(places)} <= steps
            for (start, end), step in zip(itertools.pairwise(places), path, strict=True):
                edge = Edge(end, step.predicate, start) if step.is_inverse else Edge(start, step.predicate, end)
                assert edge in found.edges
                assert selection.is_all or edge in found.known[end].edges


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
    try:
        found = search(graph, [seeds], hops, rule)
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
        "x:s1": [["x:s1"], ["x:s1", "x:p", "x:h", "x:p", "x:s2"]],
        "x:s2": [["x:s2", "^x:p", "x:h", "^x:p", "x:s1"], ["x:s2"]],
        "x:h": [["x:h", "^x:p", "x:s1"], ["x:h", "x:p", "x:s2"]],
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


NO_RULE = HubRule()
several_steps = st.lists(selections, min_size=2, max_size=3)


def walk(graph: Graph, seeds: Sequence[str], steps: Sequence[EdgeSelection], rule: HubRule = NO_RULE) -> Exploration:
    store, asking = cast("GraphStore", Store(graph)), call()
    expander = NodeExpander(store, rule, asking, seeds)
    return asyncio.run(WalkSearch(store, seeds, steps, expander, asking).run())


def walks(graph: Graph, node: str, steps: Sequence[EdgeSelection]) -> list[list[tuple[Edge, str]]]:
    """Return every walk from a node, the unfinished ones too, as edges and the nodes where they end."""
    found: list[list[tuple[Edge, str]]] = [[]]
    for edge in graph.edges if steps else ():
        if steps[0].selects(node, edge):
            other = edge.object if edge.subject == node else edge.subject
            found += [[(edge, other), *rest] for rest in walks(graph, other, steps[1:])]
    return found


@settings(max_examples=examples(300))
@given(graph=graphs(), seeds=several_seeds, steps=several_steps)
def test_what_is_shown_lies_on_a_walk_through_all_steps_and_is_as_far_as_its_first_arrival(
    graph: Graph, seeds: list[str], steps: list[EdgeSelection]
) -> None:
    graph = Graph(graph.edges)
    seeds = [seed for seed in seeds if graph.of(seed)]
    if not seeds:
        return
    found = walk(graph, seeds, steps)
    every = [(seed, walk) for seed in seeds for walk in walks(graph, seed, steps)]
    through = {edge for _, walk in every if len(walk) == len(steps) for edge, _ in walk}
    arrivals = [(node, step) for _, walk in every for step, (_, node) in enumerate(walk, 1)]
    first = {node: min(step for other, step in arrivals if other == node) for node, _ in arrivals}
    first |= dict.fromkeys(seeds, 0)
    shown = {end for edge in through for end in (edge.subject, edge.object)} | set(seeds)
    assert not found.gaps.entries
    assert found.edges == through
    assert found.distances == [{node: step for node, step in first.items() if node in shown}]
    assert found.partial == len(first.keys() - shown)


def test_a_step_whose_answer_lacks_the_edge_that_the_step_before_came_over_is_told_as_not_whole() -> None:
    there, on = Edge("a", "p", "b"), Edge("b", "p", "c")
    graph = Graph((there, on), lost=frozenset({("b", there)}))
    gaps = walk(graph, ["a"], [ALL_EDGES, ALL_EDGES]).gaps.entries
    assert {(gap.cause, gap.ids) for gap in gaps} == {("endpoint_failed", frozenset("b"))}
    # Where the next step does not ask for it, nothing is missing.
    assert not walk(graph, ["a"], [ALL_EDGES, EdgeSelection(None, ())]).gaps.entries


@settings(max_examples=examples(300))
@given(graph=graphs(), seeds=several_seeds, steps=several_steps, rule=rules)
def test_what_could_not_be_read_is_told_and_nothing_is_shown_that_is_not_there(
    graph: Graph, seeds: list[str], steps: list[EdgeSelection], rule: HubRule
) -> None:
    try:
        found = walk(graph, seeds, steps, rule)
    except Fault:
        return
    whole = walk(Graph(graph.edges), [seed for seed in seeds if graph.of(seed, ALL_EDGES)] or seeds, steps)
    assert found.edges <= whole.edges
    if not found.gaps.entries:
        assert found.edges == whole.edges


@pytest.mark.anyio
async def test_a_hub_on_the_way_is_told_by_the_edges_that_its_hop_follows() -> None:
    graph = "x:a x:p x:hub . x:hub x:q x:b ; x:r " + ", ".join(f"x:n{number}" for number in range(20)) + " ."
    async with over(graph) as gateway:
        narrow = await gateway.bfs_query(["x:a"], 2, only_predicates=[["p"], ["q"]], max_degree=5)
        wide = await gateway.bfs_query(["x:a"], 2, only_predicates=[["p"], ["q", "r"]], max_degree=5)
    assert narrow.complete
    assert [node.id for node in narrow.nodes] == ["x:a", "x:hub", "x:b"]
    assert not wide.complete
    assert [(gap.cause, gap.ids) for gap in wide.incomplete or ()] == [("hub_not_expanded", ["x:hub"])]


@pytest.mark.anyio
async def test_a_blank_node_that_two_hops_read_is_counted_once() -> None:
    graph = "x:a x:p x:b , [] ; x:q x:c , [] ; x:r x:c . x:b x:p x:a ."
    async with over(graph) as gateway:
        counts = [
            (await gateway.bfs_query(["x:a"], 3, only_predicates=hops, direction="out")).blank_node_edges
            for hops in ([["p"], ["p"], ["q"]], [["p"], ["p"], ["p", "q"]], [["p", "r"], ["p"], ["p", "q"]])
        ]
    assert counts == [2, 2, 2]


ends = st.sampled_from(NODES)
edge_lists = st.lists(st.builds(Edge, ends, st.sampled_from("pq"), ends), max_size=14, unique=True)
names = st.lists(st.builds(PredicateChoice, st.sampled_from("pq"), st.booleans()), max_size=2, unique=True).map(tuple)
steerings = st.builds(Steering, names.map(lambda one: (one,)), st.sampled_from(["both", "out", "in"])) | st.builds(
    Steering,
    st.tuples(names, names) | st.tuples(names, names, names),
    st.sampled_from(["both", "out", "in"]),
    st.just(value=True),
)


def paths(edges: Sequence[Edge], path: Sequence[str], steps: Sequence[EdgeSelection]) -> list[list[str]]:
    """Return every walk that goes on from a path, as the nodes where it is."""
    found = [list(path)]
    for edge in edges if steps else ():
        if steps[0].selects(path[-1], edge):
            other = edge.object if edge.subject == path[-1] else edge.subject
            found += paths(edges, [*path, other], steps[1:])
    return found


@settings(max_examples=examples(300))
@given(edges=edge_lists, seeds=st.lists(ends, min_size=1, max_size=2, unique=True), steering=steerings)
def test_the_way_to_a_node_is_the_first_of_the_shortest_paths_by_id_counted_from_its_end(
    edges: list[Edge], seeds: list[str], steering: Steering
) -> None:
    steps = steering.selections if steering.is_listed else steering.selections * 3
    every = [path for seed in seeds for path in paths(edges, [seed], steps)]
    distance = dict.fromkeys(seeds, 0)
    for path in sorted(every, key=len):
        distance.setdefault(path[-1], len(path) - 1)
    between = (edge for edge in edges if edge.subject in distance and edge.object in distance)
    shown = EdgeTable.of(distance, between, call().deadline)
    topology = Topology(tuple(seeds), distance, shown, {}, (), (), 0)
    for goal in distance:
        shortest = [path for path in every if path[-1] == goal and len(path) == distance[goal] + 1]
        (*before, _) = min(shortest, key=lambda path: path[::-1])
        found = nodes_on_the_way(topology, steering, [goal], PrefixMap({}), call().deadline)
        assert found == set(before)
