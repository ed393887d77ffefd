"""The order of nodes and edges, which is always the same for the same graph and question."""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain

from gateway.engine.traversal.breadth_first import Exploration
from gateway.graph.deadline import Deadline
from gateway.graph.values import Edge, Iri
from gateway.terms.prefixes import PrefixMap


@dataclass(frozen=True, slots=True)
class OrderedGraph:
    """Nodes and edges in their order; see `Topology`."""

    seeds: tuple[Iri, ...] = ()
    nodes: Mapping[Iri, int] = field(default_factory=dict)
    edges: tuple[Edge, ...] = ()


def in_order(
    seeds: Sequence[Iri],
    distance: Mapping[Iri, int],
    found: Exploration,
    prefixes: PrefixMap,
    deadline: Deadline,
    among: Collection[Edge] | None = None,
) -> OrderedGraph:
    """Put nodes and edges in their order; no other thread may change them meanwhile.

    Args:
        seeds: The seeds.
        distance: The nodes, each with its distance.
        found: What was explored; its edges.
        prefixes: Short forms of IRIs, by which they are sorted.
        deadline: When the call must have answered.
        among: Further edges, where only those with both ends among the nodes are wanted; None: all are.

    Raises:
        DeadlinePassed: The time was not enough.
    """
    edges = deadline.checking(chain(found.edges, among or ()))
    distinct = list(
        edges if among is None else {edge for edge in edges if edge.subject in distance and edge.object in distance}
    )
    # Every IRI is placed once: then nodes need no further comparison, and an edge becomes one number, which sorts
    # in half the time of its three texts.
    terms = {*distance, *chain.from_iterable(distinct)}
    short = {iri: prefixes.shorten(iri) for iri in deadline.checking(terms)}
    ordered = sorted(short, key=short.__getitem__)
    present = [seed for seed in seeds if seed in distance]
    nodes = {node: distance[node] for node in present}
    by_distance: dict[int, list[Iri]] = defaultdict(list)
    for node in ordered:
        if node in distance:
            by_distance[distance[node]].append(node)
    for steps in sorted(by_distance):
        # A seed stays where it is.
        nodes |= dict.fromkeys(by_distance[steps], steps)
    return OrderedGraph(tuple(present), nodes, _edges_in_order(distinct, ordered, deadline))


@contextmanager
def deadline_for_a_thread(deadline: Deadline) -> Iterator[Deadline]:
    """Return a deadline that another thread may look at: the clock may be that of the event loop."""
    passed = threading.Event()
    timer = asyncio.get_running_loop().call_later(deadline.seconds_left, passed.set)
    try:
        yield Deadline(1.0, lambda: float(passed.is_set()))
    finally:
        timer.cancel()


def _edges_in_order(edges: Sequence[Edge], ordered: Sequence[Iri], deadline: Deadline) -> tuple[Edge, ...]:
    """Return distinct edges by subject, predicate and object, as their IRIs are ordered."""
    many = len(ordered)
    place = dict(zip(ordered, range(many), strict=True))
    placed = {
        (place[s] * many + place[p]) * many + place[o]: edge for edge in deadline.checking(edges) for s, p, o in [edge]
    }
    return tuple(placed[key] for key in deadline.checking(sorted(placed)))
