"""Finds nodes by a whole local name, and those that are called like an ID that a graph does not have."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from gateway.errors import Fault, quoted
from gateway.graph.call import Call
from gateway.graph.store import GraphStore
from gateway.graph.values import Hit, Iri, SearchTerms
from gateway.terms.iri import is_sendable, local_name
from gateway.terms.names import words_of
from gateway.terms.prefixes import PrefixMap
from gateway.tools.ranking import ranked

_NEAREST = 3
"""Entities that an error about an ID names."""


async def with_local_name(text: str, prefixes: PrefixMap, store: GraphStore, call: Call) -> Sequence[Iri]:
    """Return the nodes that a text is the local name of, behind a declared prefix.

    Search compares local names of nodes without a name alone (docs/profiles.md, "Codes and local names").

    Args:
        text: The text.
        prefixes: The prefixes of IDs.
        store: The graph.
        call: The call that asks.

    Raises:
        Fault: Whether the graph has one could not be found out.
    """
    candidates = prefixes.with_local_name(text.strip())
    found = await store.existing(candidates, call) if candidates else {}
    if fault := next((one.mark.fault for one in found.values() if one.mark.fault is not None), None):
        raise fault
    return [iri for iri in candidates if found[iri].exists]


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
