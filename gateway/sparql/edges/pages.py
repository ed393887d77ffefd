"""Reads the edges of a node in pages where it has more than one query may return."""

from __future__ import annotations

from collections.abc import Mapping

from gateway.errors import EndpointFault, Fault
from gateway.graph.call import Call
from gateway.graph.values import Edge, Iri, Mark, Neighbourhood
from gateway.sparql.client import SparqlClient
from gateway.sparql.edges.rule import EdgeRule
from gateway.sparql.results.columns import edge, integer, literal, read
from gateway.sparql.template import Parameter


class EdgePages:
    """Reads all edges of one node, page by page, and counts them to be sure."""

    def __init__(self, client: SparqlClient, rule: EdgeRule) -> None:
        self._client = client
        self._rule = rule

    async def all_of(self, node: Iri, cut: Neighbourhood, call: Call) -> Neighbourhood:
        """Return all edges of a node that has more than one query may return; what came before, if a page fails."""
        edges: dict[Edge, None] = {}
        try:
            await self._read(node, edges, call)
            counts = await self._counts(node, call)
            # An engine whose order is not its comparison would skip edges between two pages; the sum shows it.
            loops = sum(subject == target for subject, _, target in edges)
            if counts.get("out", 0) + counts.get("in", 0) - loops == len(edges):
                return Neighbourhood(tuple(edges), counts.get("blank", 0))
            fault: Fault = EndpointFault("The pages of a node with many edges do not add up to their number.")
        except Fault as caught:
            fault = caught
        known = tuple(dict.fromkeys([*cut.edges, *edges]))
        return Neighbourhood(known, cut.blank_edges, Mark(fault, at_least=len(known) + 1))

    async def _read(self, node: Iri, edges: dict[Edge, None], call: Call) -> None:
        """Read the edges of a node page by page, in the order of the query."""
        after: list[Edge] = []
        while True:
            parameters: Mapping[str, Parameter] = {"node": [node], "after": after, **self._rule.parameters}
            rows, more = (await self._client.rows("edges_page", call, parameters)).part()
            before = len(edges)
            page = list(edge(rows))
            edges.update(dict.fromkeys(page))
            if not more:
                return
            if len(edges) == before:
                raise EndpointFault("A page of a node with many edges brought none that was not known.")
            after = page[-1:]

    async def _counts(self, node: Iri, call: Call) -> Mapping[str, int]:
        """Return how many edges a node has, by their direction, and how many with blank nodes."""
        answer = await self._client.rows("edge_counts", call, {"node": [node], **self._rule.parameters})
        return {kind.value: count for kind, count in read(answer.whole(), literal("kind"), integer("count"))}
