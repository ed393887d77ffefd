"""Finds nodes by a whole local name, and those that are called like an ID that a graph does not have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

from gateway.errors import Fault, quoted
from gateway.graph.call import Call
from gateway.graph.store import GraphStore
from gateway.graph.values import Hit, Iri, SearchTerms
from gateway.members.expression_notes import says_edges_unseen
from gateway.schema.cache import SchemaCache
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


async def learn_properties(
    names: Iterable[str], known: SchemaView, store: GraphStore, schema_cache: SchemaCache, call: Call
) -> bool:
    """Add to the schema the properties with some local names of which class expressions alone may say edges.

    A server says of its properties which there are, and the schema which have edges in its triples.

    Args:
        names: The local names.
        known: The schema.
        store: The graph.
        schema_cache: Has the schema.
        call: The call that asks.

    Returns:
        Whether the schema has more predicates now.
    """
    wanted = frozenset(map(fold, names))
    if not (wanted and says_edges_unseen(store, known)):
        return False
    try:
        with call.tally.stage("schema"):
            listed = await store.of_types([f"{OWL}ObjectProperty"], call, at_most=_PROPERTIES)
    except Fault:
        # The name is then unknown, as it was.
        return False
    found = {hit.iri for hit in listed.hits if is_sendable(hit.iri) and fold(local_name(hit.iri)) in wanted}
    await schema_cache.observe((), sorted(found))
    return bool(found)


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
