"""What could be followed from a node, counted naively over plain triples."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

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


Rows = Mapping[str, Sequence[int | str]]
"""The rows of an answer."""


def counts_shown(rows: Rows, expand: Callable[[str], str] = str) -> tuple[dict[Kind, int], bool]:
    """Return the counts that an answer shows, and whether they are exact."""
    counts = {}
    exact = True
    for key, (count, *_) in rows.items():
        predicate = key.removeprefix("^").partition(" ")[0]
        exact = exact and isinstance(count, int)
        counts[expand(predicate), key.startswith("^")] = int(str(count).removeprefix("at least "))
    return counts, exact


def are_wrong(
    rows: Rows, right: Mapping[Kind, int], *, total: int | None, failed: object, expand: Callable[[str], str] = str
) -> bool:
    """Return whether rows are not right: a count too high, or, where nothing failed, one that is too low or missing."""
    shown, exact = counts_shown(rows, expand)
    if any(count > right.get(kind, 0) or (not failed and count < right[kind]) for kind, count in shown.items()):
        return True
    return not failed and (not exact or (total or len(shown)) != len(right))
