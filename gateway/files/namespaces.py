"""The namespaces of a graph in this process, from which prefixes that were coined before are read back."""

from __future__ import annotations

from collections.abc import Iterable

import pyoxigraph

from gateway.graph.call import Deadline
from gateway.terms.coined_prefixes import namespace_of
from gateway.terms.iri import OWN


def namespaces_in(engine: pyoxigraph.Store, deadline: Deadline) -> Iterable[str]:
    """Return the namespaces of the IRIs of a graph.

    Raises:
        DeadlinePassed: The time was not enough.
    """
    found: set[str] = set()
    for quad in deadline.checking(engine):
        for term in (quad.subject, quad.predicate, quad.object):
            if isinstance(term, pyoxigraph.NamedNode):
                found.add(namespace_of(term.value))
    return sorted(namespace for namespace in found if namespace and not namespace.startswith(OWN))
