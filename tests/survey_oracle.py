"""What could be followed from a node, counted naively over plain triples."""

from collections import Counter
from collections.abc import Sequence

from tests.oracle import OracleGraph

Kind = tuple[str, bool]
"""A predicate, and whether its edges come in."""


def edge_counts(graph: OracleGraph, node: str) -> Counter[Kind]:
    """Count the edges of a node by predicate and direction; a self loop goes both ways."""
    kinds: Counter[Kind] = Counter()
    for subject, predicate, target in graph.edges_of(node):
        kinds[predicate, False] += subject == node
        kinds[predicate, True] += target == node
    return +kinds


def in_order(kinds: Counter[Kind]) -> Sequence[Kind]:
    """Return the kinds of edges, the most frequent first, then by predicate, outgoing ones first."""
    return sorted(kinds, key=lambda kind: (-kinds[kind], kind))


def neighbours(graph: OracleGraph, node: str, kind: Kind) -> set[str]:
    """Return the nodes at the other ends of the edges of a kind."""
    predicate, incoming = kind
    return {
        subject if incoming else target
        for subject, used, target in graph.edges_of(node)
        if used == predicate and (target if incoming else subject) == node
    }
