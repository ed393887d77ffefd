"""Warns of edges that class expressions deny or leave open (docs/contract.md, "Class expressions")."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from gateway.errors import Fault
from gateway.graph.call import Call
from gateway.graph.store import GraphStore
from gateway.graph.values import Assertion, Edge, EdgeSelection, Evidence, Iri
from gateway.graph.walks import Step, Walk
from gateway.schema.view import SchemaView
from gateway.terms.iri import COMPLEMENT_OF, NEGATED, ONE_OF, OWL, RESTRICTED, is_path, path_steps
from gateway.terms.literals import Literal
from gateway.terms.prefixes import PrefixMap

_CLASSES = (f"{OWL}Class", f"{OWL}Restriction")
_SAYING_SO = (COMPLEMENT_OF, f"{OWL}unionOf")
_NAMED = 5
"""Edges that one warning names."""

_OPEN = ("only", "max", "not ")
"""How restrictions begin by which there may be no edge at all; `exactly 0` and `max 0` are denied besides."""

_NODES = 200
_EDGES_OF_NODE = 200
"""Nodes at one step of walks whose edges are looked at, and edges of each."""


async def may_have_expressions(store: GraphStore, view: SchemaView, call: Call) -> bool:
    """Return whether edges of a graph may be those of class expressions.

    In a file or a database these have become edges, and nothing in the schema shows them. A server has their classes.

    Args:
        store: The graph.
        view: The schema.
        call: The call that asks.
    """
    return says_edges_unseen(store, view) or (store.has_degrees_at_hand() and await store.may_have_expressions(call))


def says_edges_unseen(store: GraphStore, view: SchemaView) -> bool:
    """Return whether class expressions may say edges of predicates that the schema of a server does not know.

    Args:
        store: The graph.
        view: The schema.
    """
    return not store.has_degrees_at_hand() and view.types.has_any(_CLASSES)


async def about_axioms(store: GraphStore, view: SchemaView, prefixes: PrefixMap, call: Call) -> list[str]:
    """Return a warning: the counts of the schema have no axiom that has become edges of other predicates.

    At a server its triples are counted, which it says itself.

    Args:
        store: The graph.
        view: The schema.
        prefixes: The prefixes of IDs.
        call: The call that asks.
    """
    if not (store.has_degrees_at_hand() and view.types.has_any(_CLASSES)):
        return []
    equivalent = prefixes.shorten(f"{OWL}equivalentClass")
    return [axioms_uncounted(equivalent)] if await store.may_have_expressions(call) else []


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
    except Fault:
        return [UNREAD]
    edges = list(dict.fromkeys(edge for one in around.values() for edge in one.edges if not _says_so(edge)))
    of_others = [not_all_looked_at(most)] if any(not one.mark.whole for one in around.values()) else []
    return await _warnings_of(store, prefixes, edges, call, may_not_hold, of_others)


async def steps_that_may_not_hold(
    store: GraphStore, prefixes: PrefixMap, nodes: Sequence[Iri], walks: Iterable[Walk], call: Call
) -> list[str]:
    """Return a warning of edges on walks from some nodes of which no expression and no triple says that they hold.

    Conditions, columns, orders, groups and figures follow them. Those that are denied have other predicates.

    Args:
        store: The graph.
        prefixes: The prefixes of IDs.
        nodes: The nodes that are shown.
        walks: The walks that were followed.
        call: The call that asks.
    """
    is_whole = len(nodes) <= _NODES
    frontiers = {walk: list(nodes[:_NODES]) for walk in walks}
    edges: dict[Edge, None] = {}
    while frontiers:
        following: dict[Walk, list[Iri]] = {}
        for (step, *rest), frontier in frontiers.items():
            if isinstance(step.predicates, str) or not frontier:
                continue
            try:
                around = await store.edges(frontier, call, selection=_selection(step), per_id=_EDGES_OF_NODE)
            except Fault:
                return [UNREAD]
            found = list(chain.from_iterable(one.edges for one in around.values()))
            edges |= dict.fromkeys(found)
            ends = list(dict.fromkeys(edge.subject if step.is_inverse else edge.object for edge in found))
            is_whole = is_whole and len(ends) <= _NODES and all(one.mark.whole for one in around.values())
            if rest:
                following[tuple(rest)] = list(dict.fromkeys([*following.get(tuple(rest), ()), *ends]))[:_NODES]
        frontiers = following
    return await followed_edges(store, prefixes, list(edges), call, are_all=is_whole)


async def followed_edges(
    store: GraphStore, prefixes: PrefixMap, edges: Sequence[Edge], call: Call, *, are_all: bool = True
) -> list[str]:
    """Return a warning of those of some edges that were followed of which nothing says that they hold.

    Args:
        store: The graph.
        prefixes: The prefixes of IDs.
        edges: The edges.
        call: The call that asks.
        are_all: Whether these are all that were followed.
    """
    return await _warnings_of(store, prefixes, edges, call, followed, [] if are_all else [NOT_ALL_FOLLOWED])


async def _warnings_of(
    store: GraphStore,
    prefixes: PrefixMap,
    edges: Sequence[Edge],
    call: Call,
    written: Callable[[str, int], str],
    of_others: list[str],
) -> list[str]:
    """Return a warning of edges of which nothing says that they hold, and that of the edges not looked at."""
    try:
        with call.tally.stage("metadata"):
            evidence = await store.edge_metadata(edges, call) if edges else {}
    except Fault:
        return [UNREAD]
    if any(not one.mark.whole for one in evidence.values()):
        return [UNREAD]
    doubtful = [(edge, said) for edge in edges if (said := _doubt(evidence[edge]))]
    if not doubtful:
        return of_others if any(map(_is_restricted, evidence.values())) else []
    named = [_written(edge, said, prefixes) for edge, said in doubtful[:_NAMED]]
    return [written("; ".join(named), len(doubtful) - len(named)), *of_others]


def _selection(step: Step) -> EdgeSelection:
    """Return the edges of one step of a walk."""
    predicates = () if isinstance(step.predicates, str) else step.predicates
    return EdgeSelection((), predicates) if step.is_inverse else EdgeSelection(predicates, ())


def about_paths(
    predicates: Iterable[Iri], view: SchemaView, prefixes: PrefixMap, *, are_unseen: bool = False
) -> list[str]:
    """Return a warning: what class expressions deny, or say of each other, has other predicates than are followed.

    Args:
        predicates: The predicates that are followed.
        view: The schema.
        prefixes: The prefixes of IDs.
        are_unseen: Whether the schema does not know which there are.
    """
    named = frozenset(predicates)
    steps = named.difference(_SAYING_SO)
    beside = [
        term.iri
        for term in view.schema.predicates
        if term.iri not in named and is_path(term.iri) and any(step in steps for step, _ in path_steps(term.iri))
    ]
    if beside:
        return [not_followed(prefixes.listed(sorted(beside)))]
    return [MAY_STAND_UNDER_OTHERS] if are_unseen and any(not is_path(iri) for iri in steps) else []


def _says_so(edge: Edge) -> bool:
    """Return whether the predicate of an edge says that it is denied, or one of several."""
    return is_path(edge.predicate) and any(step in _SAYING_SO for step, _ in path_steps(edge.predicate))


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


def followed(edges: str, more: int) -> str:
    """Return a warning: what is shown was found, or computed, by edges that class expressions leave open."""
    others = f"; and {more} more" if more else ""
    return f"Followed, and not said to hold: {edges}{others}. bfs_query says how each edge is said."


NOT_ALL_FOLLOWED = (
    "How class expressions say edges was not looked at for all that was followed, and some may not be said to "
    "hold. bfs_query says how each edge is said."
)


def not_followed(predicates: str) -> str:
    """Return a warning: class expressions say edges of predicates of their own beside those that are followed."""
    return (
        f"What class expressions deny, or say within each other, is not followed: it stands under {predicates}, "
        "which are followed where they are named."
    )


MAY_STAND_UNDER_OTHERS = (
    "What class expressions deny, or say within each other, is not followed: it stands under predicates of its own, "
    "such as (owl:complementOf/p) and (p/q), which bfs_query without only_predicates shows."
)


def axioms_uncounted(predicate: str) -> str:
    """Return a warning: axioms with class expressions are not among the edges of their predicate."""
    return (
        "Axioms with class expressions are counted as the edges that they say, not by their own predicates, such as "
        f"{predicate}: the condition '{predicate} exists' finds all classes that have one."
    )


def denied_edges(edges: int, predicates: str) -> str:
    """Return a warning: an answer that shows no edges followed some that class expressions deny."""
    are = "1 edge that was followed is" if edges == 1 else f"{edges:,} edges that were followed are"
    return f"negated: {are} denied by class expressions: {predicates}. Do not read these as facts."
