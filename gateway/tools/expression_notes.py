"""Warns of edges in a description that class expressions deny or leave open (docs/contract.md, "Class expressions")."""

from __future__ import annotations

from collections.abc import Sequence

from gateway.errors import Fault
from gateway.graph.call import Call
from gateway.graph.store import GraphStore
from gateway.graph.values import Assertion, Edge, Evidence, Iri
from gateway.schema.view import SchemaView
from gateway.terms.iri import NEGATED, ONE_OF, OWL, RESTRICTED, is_path, path_steps
from gateway.terms.literals import Literal
from gateway.terms.prefixes import PrefixMap

_CLASSES = (f"{OWL}Class", f"{OWL}Restriction")
_SAYING_SO = (f"{OWL}complementOf", f"{OWL}unionOf")
_NAMED = 5
"""Edges that one warning names."""

_OPEN = ("only", "max", "not ")
"""How restrictions begin by which there may be no edge at all; `exactly 0` and `max 0` are denied besides."""


def may_have_expressions(store: GraphStore, view: SchemaView, url: str) -> bool:
    """Return whether edges of a graph may be those of class expressions.

    In a file these have become edges, and nothing in the schema shows them. A server has their classes.

    Args:
        store: The graph.
        view: The schema.
        url: The URL of the endpoint or the database; empty for a graph in this process.
    """
    return store.may_have_expressions() and (not url.startswith("http") or view.types.has_any(_CLASSES))


async def edges_that_may_not_hold(
    store: GraphStore, prefixes: PrefixMap, nodes: Sequence[Iri], most: int, call: Call
) -> list[str]:
    """Return a warning of edges of some nodes of which no expression and no triple says that they hold.

    A description counts edges without their evidence.

    Args:
        store: The graph.
        prefixes: The prefixes of IDs.
        nodes: The nodes that are described.
        most: Edges of a node that are read at most.
        call: The call that asks.
    """
    if not nodes:
        return []
    try:
        around = await store.edges(nodes, call, per_id=most)
        edges = list(dict.fromkeys(edge for one in around.values() for edge in one.edges if not _says_so(edge)))
        with call.tally.stage("metadata"):
            evidence = await store.edge_metadata(edges, call) if edges else {}
    except Fault:
        return [UNREAD]
    if any(not one.mark.whole for one in evidence.values()):
        return [UNREAD]
    doubtful = [(edge, said) for edge in edges if (said := _doubt(evidence[edge]))]
    of_others = [not_all_looked_at(most)] if any(not one.mark.whole for one in around.values()) and evidence else []
    if not doubtful:
        return of_others if any(_is_restricted(one) for one in evidence.values()) else []
    named = [_written(edge, said, prefixes) for edge, said in doubtful[:_NAMED]]
    more = len(doubtful) - len(named)
    return [may_not_hold("; ".join(named), more), *of_others]


def _says_so(edge: Edge) -> bool:
    """Return whether the predicate of an edge says that it is denied, or one of several."""
    return is_path(edge.predicate) and path_steps(edge.predicate)[-1][0] in _SAYING_SO


def _doubt(evidence: Evidence) -> str:
    """Return how an edge is said that may not hold; empty for one that holds."""
    said = [_how(one) for one in evidence.assertions]
    return "" if not said or "" in said else ", ".join(dict.fromkeys(said))


def _is_restricted(evidence: Evidence) -> bool:
    return any(RESTRICTED in one.properties for one in evidence.assertions)


def _how(assertion: Assertion) -> str:
    """Return how an assertion denies an edge or leaves it open; empty where it states it."""
    words = [one.value for one in assertion.properties.get(RESTRICTED, ()) if isinstance(one, Literal)]
    one_of = [one.value for one in assertion.properties.get(ONE_OF, ()) if isinstance(one, Literal)]
    is_denied = NEGATED in assertion.properties
    is_open = any(part.startswith(_OPEN) for word in words for part in word.split("/"))
    if not (is_denied or one_of or is_open):
        return ""
    return " ".join([*words, *(f"one of {number}" for number in one_of)]) or "not"


def _written(edge: Edge, said: str, prefixes: PrefixMap) -> str:
    subject, predicate, value = map(prefixes.in_prose, (edge.subject, edge.predicate, edge.object))
    return f"{subject} {predicate} {value} ({said})"


UNREAD = (
    "edges: how class expressions say these edges could not be read, so some may be denied. Call bfs_query for them."
)


def not_all_looked_at(most: int) -> str:
    """Return a warning: a node has more edges than are read, so that more of them may be denied or left open."""
    return f"edges: of more than {most:,} edges of a node, some were not looked at, and may not be said to hold either."


def may_not_hold(edges: str, more: int) -> str:
    """Return a warning: some edges of a description are denied, or left open, by class expressions."""
    others = f"; and {more} more" if more else ""
    return f"edges: not said to hold, and counted: {edges}{others}. bfs_query says how each edge is said."
