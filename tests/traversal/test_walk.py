"""Walks with edges of their own at each step, against every walk followed one by one."""

import asyncio
from collections.abc import Sequence
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.errors import Fault
from gateway.graph.store import GraphStore
from gateway.graph.values import ALL_EDGES, Edge, EdgeSelection
from gateway.traversal.breadth_first import Exploration
from gateway.traversal.expander import HubRule, NodeExpander
from gateway.traversal.steering import WalkSearch
from tests.examples import examples
from tests.small import over
from tests.traversal.test_breadth_first import Graph, Store, call, graphs, rules, selections, several_seeds

NO_RULE = HubRule()
several_steps = st.lists(selections, min_size=2, max_size=3)


def search(graph: Graph, seeds: Sequence[str], steps: Sequence[EdgeSelection], rule: HubRule = NO_RULE) -> Exploration:
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
    found = search(graph, seeds, steps)
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
    gaps = search(graph, ["a"], [ALL_EDGES, ALL_EDGES]).gaps.entries
    assert {(gap.cause, gap.ids) for gap in gaps} == {("endpoint_failed", frozenset("b"))}
    # Where the next step does not ask for it, nothing is missing.
    assert not search(graph, ["a"], [ALL_EDGES, EdgeSelection(None, ())]).gaps.entries


@settings(max_examples=examples(300))
@given(graph=graphs(), seeds=several_seeds, steps=several_steps, rule=rules)
def test_what_could_not_be_read_is_told_and_nothing_is_shown_that_is_not_there(
    graph: Graph, seeds: list[str], steps: list[EdgeSelection], rule: HubRule
) -> None:
    try:
        found = search(graph, seeds, steps, rule)
    except Fault:
        return
    whole = search(Graph(graph.edges), [seed for seed in seeds if graph.of(seed, ALL_EDGES)] or seeds, steps)
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
