"""The whole answer to a question, before filters and pages: nodes and edges in their order, and paths to the seeds."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, pairwise
from sys import getsizeof
from typing import NamedTuple

from gateway.engine.traversal.breadth_first import Exploration
from gateway.engine.traversal.gaps import Gap
from gateway.graph.deadline import Deadline
from gateway.graph.values import Degree, Edge, EdgeSelection, Iri, NodeFacts, other_end
from gateway.terms.prefixes import PrefixMap


class PathStep(NamedTuple):
    """One step of a path.

    Attributes:
        predicate: The predicate of the edge.
        is_inverse: Whether the edge leads against the step, which is written `^p`.
        node: Where the step ends.
    """

    predicate: Iri
    is_inverse: bool
    node: Iri


Path = tuple[PathStep, ...]
"""The steps from a node to a seed; none for the seed itself."""

_FACTS_BYTES = getsizeof(NodeFacts())
_EDGE_BYTES = getsizeof(Edge("", "", ""))


@dataclass(frozen=True)
class Topology:
    """Nodes, edges and what is missing; a snapshot stores it.

    Attributes:
        seeds: The seeds that are among the nodes, in the order given.
        nodes: Every node with its distance: the seeds as given, then by distance, then by code points of the ID.
        edges: Edges by subject, predicate and object, by code points of the IDs.
        facts: Types, and names where the profile puts them on stubs.
        missing: Seeds that do not exist.
        gaps: Why the topology is not whole; empty when it is.
        blank_edges: Triples left out because their other end is a blank node.
        paths: For an intersection: a shortest path to each seed, from all nodes or some.
        via: Whether paths were asked for: from all nodes, from none, or, if None, from the first.
        partial: Nodes that were reached and are no part of it, because no walk through all hops leads over them.
        other_way: For seeds without an edge that was followed: what the other direction selects, and how many edges.
    """

    seeds: tuple[Iri, ...]
    nodes: Mapping[Iri, int]
    edges: tuple[Edge, ...]
    facts: Mapping[Iri, NodeFacts]
    missing: tuple[Iri, ...]
    gaps: tuple[Gap, ...]
    blank_edges: int
    paths: Mapping[Iri, tuple[Path, ...]] = field(default_factory=dict)
    via: bool | None = False
    partial: int = 0
    other_way: Mapping[Iri, tuple[EdgeSelection, Degree]] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether nothing was cut."""
        return not self.gaps

    @cached_property
    def types(self) -> frozenset[Iri]:
        """The types that its nodes have."""
        return frozenset(iri for facts in self.facts.values() for iri in facts.types)

    @cached_property
    def predicates(self) -> frozenset[Iri]:
        """The predicates that its edges have."""
        return frozenset(edge.predicate for edge in self.edges)

    @cached_property
    def content(self) -> str:
        """A hash of nodes, edges and gaps; only an answer of several pages needs it."""
        digest = hashlib.sha256()
        # No IRI has a line break, and every edge has three, so two topologies never read alike.
        for part in (self.nodes, map(str, self.nodes.values()), chain.from_iterable(self.edges)):
            digest.update("\n".join(part).encode())
            digest.update(b"\n\n")
        for gap in self.gaps:
            digest.update(f"{gap.cause} {sorted(gap.ids)}\n".encode())
        return digest.hexdigest()[:12]

    @cached_property
    def size_bytes(self) -> int:
        """About how much memory it takes: each object once, IRIs as if no other answer had them."""
        iris = {*self.nodes, *self.missing, *self.types, *self.predicates}
        names = (text for facts in self.facts.values() for text in (facts.name, facts.description) if text)
        containers: list[object] = [self.nodes, self.edges, self.facts, self.paths]
        containers += [facts.types for facts in self.facts.values() if facts.types]
        containers += [path for paths in self.paths.values() for path in (paths, *paths)]
        containers += [step for paths in self.paths.values() for path in paths for step in path]
        containers += [part for gap in self.gaps for part in (gap.ids, gap.degrees)]
        parts = _FACTS_BYTES * len(self.facts) + _EDGE_BYTES * len(self.edges)
        return parts + sum(map(getsizeof, chain(iris, names, containers)))


def in_order(
    seeds: Sequence[Iri],
    distance: Mapping[Iri, int],
    found: Exploration,
    prefixes: PrefixMap,
    deadline: Deadline,
    among: Collection[Edge] | None = None,
) -> tuple[dict[Iri, int], tuple[Edge, ...]]:
    """Return nodes and edges in their order, which is always the same for the same graph and question.

    No other thread may change them meanwhile. Without `among`, these are all edges found; with it, the edges of both
    that have both ends among the nodes.

    Raises:
        DeadlinePassed: The time was not enough.
    """
    edges = deadline.checking(chain(found.edges, among or ()))
    wanted = list(
        edges if among is None else {edge for edge in edges if edge.subject in distance and edge.object in distance}
    )
    # Every IRI is placed once: then nodes need no further comparison, and an edge becomes one number, which sorts
    # in half the time of its three texts.
    terms = {*distance, *chain.from_iterable(wanted)}
    short = {iri: prefixes.declared_form(iri) for iri in deadline.checking(terms)}
    ordered = sorted(short, key=short.__getitem__)
    nodes = {seed: distance[seed] for seed in seeds if seed in distance}
    by_distance: dict[int, list[Iri]] = defaultdict(list)
    for node in ordered:
        if node in distance:
            by_distance[distance[node]].append(node)
    for steps in sorted(by_distance):
        # A seed stays where it is.
        nodes |= dict.fromkeys(by_distance[steps], steps)
    return nodes, _edges_in_order(wanted, ordered, deadline)


def _edges_in_order(edges: Sequence[Edge], ordered: Sequence[Iri], deadline: Deadline) -> tuple[Edge, ...]:
    """Return distinct edges by subject, predicate and object, as their IRIs are ordered."""
    many = len(ordered)
    place = dict(zip(ordered, range(many), strict=True))
    placed = {
        (place[s] * many + place[p]) * many + place[o]: edge for edge in deadline.checking(edges) for s, p, o in [edge]
    }
    return tuple(placed[key] for key in deadline.checking(sorted(placed)))


def paths_to_seeds(nodes: Iterable[Iri], found: Exploration, deadline: Deadline) -> dict[Iri, tuple[Path, ...]]:
    """Return one shortest path from each node to each seed.

    Of several shortest paths it is the one whose steps come first by IRI, counted from the node. Every seed reaches the
    nodes.

    Raises:
        DeadlinePassed: The time was not enough.
    """
    wanted = list(nodes)
    distinct = {id(part): part for part in found.parts}
    neighbours = {key: part.neighbours for key, part in distinct.items()}
    to_each = [
        _paths_to_seed(wanted, distance, part, neighbours[id(part)], deadline)
        for distance, part in zip(found.distances, found.parts, strict=True)
    ]
    return {node: tuple(paths[node] for paths in to_each) for node in wanted}


def _paths_to_seed(
    nodes: Sequence[Iri],
    distance: Mapping[Iri, int],
    found: Exploration,
    neighbours: Mapping[Iri, Collection[Iri]],
    deadline: Deadline,
) -> dict[Iri, Path]:
    nearer = _nearer(distance, neighbours, deadline)
    walks = {node: _walk(node, nearer) for node in deadline.checking(nodes)}
    pairs = {pair for walk in walks.values() for pair in pairwise(walk)}
    edges = _edges_between(pairs, found, deadline)
    return {node: tuple(edges[pair] for pair in pairwise(walk)) for node, walk in walks.items()}


def _edges_between(
    pairs: Collection[tuple[Iri, Iri]], found: Exploration, deadline: Deadline
) -> dict[tuple[Iri, Iri], PathStep]:
    """Return, for a node and its neighbour one step nearer to a seed, the first edge between the two that was followed.

    An edge that a capped node leaves out may be among the edges of its other end.
    """
    steps: dict[tuple[Iri, Iri], PathStep] = {}
    both = found.selection.is_all
    ends = {end for pair in pairs for end in pair[not both :]}
    for end in deadline.checking(ends & found.known.keys()):
        for edge in found.known[end].edges:
            other = other_end(end, edge)
            for pair in ((other, end), (end, other)) if both else ((other, end),):
                if pair in pairs:
                    step = PathStep(edge.predicate, edge.subject == pair[1], pair[1])
                    steps[pair] = min(step, steps.get(pair, step))
    return steps


def _nearer(
    distance: Mapping[Iri, int], neighbours: Mapping[Iri, Collection[Iri]], deadline: Deadline
) -> dict[Iri, Iri]:
    """Return, for each node, its first expanded neighbour that is one step nearer to the seed."""
    first: dict[Iri, Iri] = {}
    for node, others in deadline.checking(neighbours.items()):
        steps = distance.get(node)
        if steps is None:
            continue
        for other in others:
            if distance.get(other) == steps + 1 and node < first.get(other, "\U0010ffff"):
                first[other] = node
    return first


def _walk(node: Iri, nearer: Mapping[Iri, Iri]) -> list[Iri]:
    walk = [node]
    while walk[-1] in nearer:
        walk.append(nearer[walk[-1]])
    return walk
