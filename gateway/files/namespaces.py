"""The namespaces of a graph in this process, from which prefixes that were coined before are read back."""

from __future__ import annotations

import pyoxigraph

from gateway.errors import DeadlinePassed
from gateway.graph.call import Deadline
from gateway.terms.coined_prefixes import MOST_KNOWN, namespace_of
from gateway.terms.iri import OWN


def namespaces_in(engine: pyoxigraph.Store, deadline: Deadline) -> tuple[list[str], bool]:
    """Return namespaces of the IRIs of a graph, no more than are remembered, and whether these are all."""
    found: set[str] = set()
    try:
        for quads in deadline.slices(engine):
            for quad in quads:
                for term in (quad.subject, quad.predicate, quad.object):
                    if isinstance(term, pyoxigraph.NamedNode):
                        found.add(namespace_of(term.value))
            if len(found) > MOST_KNOWN:
                return _sorted(found)[:MOST_KNOWN], False
    except DeadlinePassed:
        # Raised further, it would take the engine's iterator along, which only its own thread may drop.
        return _sorted(found), False
    return _sorted(found), True


def _sorted(found: set[str]) -> list[str]:
    return sorted(namespace for namespace in found if namespace and not namespace.startswith(OWN))
