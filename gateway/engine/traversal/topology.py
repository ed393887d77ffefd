"""The whole answer to a question, before filters and pages: what a snapshot stores."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from sys import getsizeof

from gateway.engine.traversal.gaps import Gap
from gateway.engine.traversal.paths import Path
from gateway.graph.values import Edge, Iri, NodeFacts


@dataclass(frozen=True)
class Topology:
    """Nodes, edges and what is missing.

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

    @property
    def size_bytes(self) -> int:
        """About how much memory it takes; IRIs are shared between nodes and edges."""
        texts = sum(map(getsizeof, self.nodes)) + sum(map(getsizeof, self.missing))
        # Types and predicates are shared by many nodes and edges.
        texts += sum(map(getsizeof, self.types)) + sum(map(getsizeof, self.predicates))
        texts += sum(getsizeof(facts.name) + getsizeof(facts.description) for facts in self.facts.values())
        types = sum(8 * len(facts.types) for facts in self.facts.values())
        steps = sum(100 + 8 * len(path) for paths in self.paths.values() for path in paths)
        missing = sum(100 + 100 * len(gap.ids) for gap in self.gaps)
        return 800 * len(self.nodes) + 250 * len(self.edges) + texts + types + steps + missing + 2_000
