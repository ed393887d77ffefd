"""The whole answer to a question, before filters and pages: nodes and edges in their order, and paths to the seeds."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from sys import getsizeof

from gateway.engine.traversal.breadth_first import Exploration
from gateway.engine.traversal.gaps import Gap
from gateway.graph.deadline import Deadline
from gateway.graph.values import Edge, Iri, NodeFacts
from gateway.terms.prefixes import PrefixMap

Path = tuple[Iri, ...]

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
        paths: For an intersection, where asked for: the shortest path from each node to each seed.
    """

    seeds: tuple[Iri, ...]
    nodes: Mapping[Iri, int]
    edges: tuple[Edge, ...]
    facts: Mapping[Iri, NodeFacts]
    missing: tuple[Iri, ...]
    gaps: tuple[Gap, ...]
    blank_edges: int
    paths: Mapping[Iri, tuple[Path, ...]] = field(default_factory=dict)

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
        containers = [self.nodes, self.edges, self.facts, self.paths]
        containers += [facts.types for facts in self.facts.values() if facts.types]
        containers += [path for paths in self.paths.values() for path in (paths, *paths)]
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


def paths_to_seeds(
    nodes: Iterable[Iri],
    distances: Sequence[Mapping[Iri, int]],
    neighbours: Mapping[Iri, Collection[Iri]],
    deadline: Deadline,
) -> dict[Iri, tuple[Path, ...]]:
    """Return one shortest path from each node to each seed, both ends included.

    Of several shortest paths it is the one whose steps come first by IRI, counted from the node. Every seed reaches the
    nodes. `neighbours` are those of the expanded nodes, over the edges that the distances count: an edge that a capped
    node leaves out may be among the edges of its other end.

    Raises:
        DeadlinePassed: The time was not enough.
    """
    nearer = [_nearer(distance, neighbours, deadline) for distance in distances]
    return {node: tuple(_walk(node, steps) for steps in nearer) for node in deadline.checking(nodes)}


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


def _walk(node: Iri, nearer: Mapping[Iri, Iri]) -> Path:
    path = [node]
    while path[-1] in nearer:
        path.append(nearer[path[-1]])
    return tuple(path)
