"""How many edges a node has by predicate and direction: what a traversal from it could follow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gateway.graph.values import WHOLE, Iri, Mark, Neighbourhood


@dataclass(frozen=True, slots=True)
class EdgeCount:
    """The edges of one node that have the same predicate and direction.

    Attributes:
        predicate: Their predicate.
        incoming: Whether they lead to the node; otherwise they lead from it. A self loop does both.
        count: How many there are.
        neighbours: The nodes at their other ends, sorted by IRI: all where the edges were read, else some.
    """

    predicate: Iri
    incoming: bool
    count: int
    neighbours: tuple[Iri, ...] = ()


@dataclass(frozen=True, slots=True)
class EdgeCounts:
    """The edges of one node by predicate and direction.

    Attributes:
        counts: One entry for each predicate and direction, the most frequent first, then by predicate. A self loop is
            counted in both directions.
        blank_edges: Triples left out because their other end is a blank node.
        left_out: Edges or entries left out because one of their terms is not an IRI, or is too long for an ID.
        mark: Whether all edges were counted; if not, counts are lower bounds, and entries may be missing.
    """

    counts: tuple[EdgeCount, ...] = ()
    blank_edges: int = 0
    left_out: int = 0
    mark: Mark = WHOLE

    @classmethod
    def of(cls, node: Iri, neighbourhood: Neighbourhood, *, with_ends_only: bool = False) -> EdgeCounts:
        """Return the counts of the edges of a node that were read, under their mark.

        Args:
            node: The node.
            neighbourhood: Its edges.
            with_ends_only: Whether each count has its first and last neighbour, as a query counts them.
        """
        found: dict[tuple[Iri, bool], list[Iri]] = {}
        for edge in neighbourhood.edges:
            if edge.subject == node:
                found.setdefault((edge.predicate, False), []).append(edge.object)
            if edge.object == node:
                found.setdefault((edge.predicate, True), []).append(edge.subject)
        counts = (
            EdgeCount(
                predicate,
                incoming,
                len(others),
                ends(min(others), max(others)) if with_ends_only else tuple(sorted(others)),
            )
            for (predicate, incoming), others in found.items()
        )
        return cls(in_order(counts), neighbourhood.blank_edges, len(neighbourhood.left_out), neighbourhood.mark)

    def covers(self, read: EdgeCounts) -> bool:
        """Return whether these are at least the counts of edges that were read."""
        counts = {(one.predicate, one.incoming): one.count for one in self.counts}
        return all(counts.get((one.predicate, one.incoming), 0) >= one.count for one in read.counts)


def ends(first: Iri, last: Iri) -> tuple[Iri, ...]:
    """Return the first and the last neighbour, or the only one."""
    return tuple(dict.fromkeys((first, last)))


def in_order(counts: Iterable[EdgeCount]) -> tuple[EdgeCount, ...]:
    """Return counts, the highest first, then by predicate, outgoing edges before incoming ones."""
    return tuple(sorted(counts, key=lambda one: (-one.count, one.predicate, one.incoming)))
