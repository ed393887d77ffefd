"""Finds nodes by a whole local name, and those that are called like an ID that a graph does not have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from gateway.errors import Fault, quoted
from gateway.graph.call import Call
from gateway.graph.store import GraphStore
from gateway.graph.values import Hit, Iri, SearchTerms
from gateway.members.expression_notes import says_edges_unseen
from gateway.schema.view import SchemaView
from gateway.terms.iri import OWL, is_sendable, local_name
from gateway.terms.names import fold, words_of
from gateway.terms.prefixes import PrefixMap
from gateway.tools.ranking import ranked

_PROPERTIES = 5_000
"""Properties of an ontology that are looked at: of 19 the largest had some hundreds."""

_NEAREST = 3
"""Entities that an error about an ID names."""


async def with_local_name(
    text: str, prefixes: PrefixMap, store: GraphStore, call: Call, beside: Iterable[Iri] = ()
) -> Sequence[Iri]:
    """Return the nodes that a text is the local name of, behind a declared prefix.

    Search compares local names of nodes without a name alone (docs/profiles.md, "Codes and local names").

    Args:
        text: The text.
        prefixes: The prefixes of IDs.
        store: The graph.
        call: The call that asks.
        beside: IRIs in whose namespaces it is looked for too.

    Raises:
        Fault: Whether the graph has one could not be found out.
    """
    candidates = prefixes.with_local_name(text.strip(), beside)
    found = await store.existing(candidates, call) if candidates else {}
    if fault := next((one.mark.fault for one in found.values() if one.mark.fault is not None), None):
        raise fault
    return [iri for iri in candidates if found[iri].exists]


@dataclass(frozen=True, slots=True)
class OtherProperties:
    """The properties that are called by some local names, and that the schema does not know.

    Attributes:
        iris: The properties, sorted.
        doubts: Which names may have others.
    """

    iris: Sequence[Iri] = ()
    doubts: tuple[str, ...] = ()


async def other_properties(names: Iterable[str], known: SchemaView, store: GraphStore, call: Call) -> OtherProperties:
    """Return the properties with some local names of which class expressions alone may say edges.

    A server says of its properties which there are, and the schema which have edges in its triples. The schema does not
    gain what is found here: nothing says that an expression names it.

    Args:
        names: The names that a call uses, of which IDs mean what they are.
        known: The schema.
        store: The graph.
        call: The call that asks.
    """
    if not says_edges_unseen(store, known):
        return _NO_OTHERS
    wanted = {fold(name): name for name in names if not known.predicates.as_iris([name])}
    if not wanted:
        return _NO_OTHERS
    try:
        with call.tally.stage("schema"):
            listed = await store.of_types([f"{OWL}ObjectProperty"], call, at_most=_PROPERTIES)
    except Fault:
        listed = None
    hits = () if listed is None else listed.hits
    found = {hit.iri for hit in hits if is_sendable(hit.iri) and fold(local_name(hit.iri)) in wanted}
    is_whole = listed is not None and not listed.truncated and listed.fault is None
    # A name that nothing has is an error already.
    doubtful = [] if is_whole else [name for name in wanted.values() if known.predicates.found_or_aliased(name)]
    doubts = tuple(may_have_others(quoted(name)) for name in sorted(doubtful))
    return OtherProperties(known.predicates.unlisted(found), doubts)


_NO_OTHERS = OtherProperties()


async def nearest_by_name(iri: Iri, prefixes: PrefixMap, store: GraphStore, call: Call) -> list[str]:
    """Return the IDs and names of the entities that are called like an IRI that the graph does not have.

    Args:
        iri: The IRI.
        prefixes: The prefixes of IDs.
        store: The graph.
        call: The call that asks.
    """
    words = words_of(local_name(iri))
    hits: Sequence[Hit] = ()
    # The entity is absent whatever the search would have said.
    with suppress(Fault), call.tally.stage("search"):
        hits = (await store.search(SearchTerms(local_name(iri), tuple(words)), (), call)).hits if words else ()
    # An API of names may know the very entity that the graph has not.
    others = [hit for hit in hits if hit.iri != iri and is_sendable(hit.iri)]
    best = [one.hit for one in ranked(others, " ".join(words))[:_NEAREST]]
    return [f"{prefixes.in_prose(hit.iri)} ({quoted(hit.text)})" for hit in best]


# --- sentences that a model reads ---


def may_have_others(name: str) -> str:
    """Return a doubt: a local name may be that of a property too of which only class expressions say edges."""
    return (
        f"Not all properties could be looked up, and another one may be called {name}. Write the ID of the predicate."
    )
