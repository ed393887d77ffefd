"""Finds the types of the nodes that have very many edges."""

from __future__ import annotations

from collections import Counter

from gateway.errors import Fault
from gateway.graph.call import Call
from gateway.graph.values import Iri
from gateway.sparql.client import SparqlClient
from gateway.sparql.edges.rule import EdgeRule
from gateway.sparql.nodes.reader import NodeReader
from gateway.sparql.schema.counting import counts_in
from gateway.sparql.template import Parameter
from gateway.terms.iri import is_sendable
from gateway.terms.known_iris import GENERIC_TYPES, SCHEMA_TERM_CLASSES

_LEAST = 100
"""Edges, of those that were read, that make a node a hub: the `max_degree` that the tools advise."""

_HUBS = 20
_TYPES = 5
"""Hubs whose types are read, and types of hubs that the schema lists."""


class HubFinder:
    """Looks for hubs among the edges of a graph."""

    def __init__(self, client: SparqlClient, rule: EdgeRule, nodes: NodeReader) -> None:
        self._client = client
        self._rule = rule
        self._nodes = nodes

    async def find(self, triples: int, call: Call) -> tuple[Iri, ...]:
        """Return the types of the largest hubs, those of the largest first; none if they could not be read.

        Args:
            triples: Edges that are read.
            call: Pays for it.
        """
        # Leaving out the edges of evidence nodes would read every triple, and change no hub.
        given: dict[str, Parameter] = {
            "excepted": self._rule.excepted,
            "markers": (),
            "associations": (),
            "singletons": (),
            **self._rule.ends,
            "scan": triples,
            "least": _LEAST,
        }
        try:
            # The largest come first, so those that came are enough.
            rows, _ = (await self._client.rows("schema/pointed_to", call, given, at_most=_HUBS)).part()
            hubs = counts_in(rows, "o")
            facts = await self._nodes.facts(list(hubs), call, names=False, descriptions=False)
        except Fault:
            return ()
        weights: Counter[Iri] = Counter()
        for hub, count in hubs.items():
            for iri in set(facts[hub].types) - SCHEMA_TERM_CLASSES - GENERIC_TYPES:
                if is_sendable(iri):
                    weights[iri] += count
        return tuple(sorted(weights, key=lambda iri: (-weights[iri], iri)))[:_TYPES]
