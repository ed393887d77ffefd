"""The blank nodes beside nodes with an IRI of an endpoint: their keys, and how many edges lead to and from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.graph.call import Call
from gateway.graph.values import Degree, EdgeSelection, Iri, Mark, Neighbourhood
from gateway.sparql.batches import about_nodes
from gateway.sparql.blank.contents import BlankEnds, blank_ends_in, read_beside
from gateway.sparql.blank.probes import NUMBERED
from gateway.sparql.blank.walks import AnchoredReader
from gateway.sparql.client import SparqlClient
from gateway.sparql.degrees import DegreeReader
from gateway.sparql.edges import EdgeReader, edges_reader
from gateway.sparql.rule import EdgeRule, selected_predicates, selection_parameters
from gateway.sparql.table import Table, integer, iri, read
from gateway.terms.iri import RDF_FIRST, RDF_NIL, RDF_REST

_SCAN: Final = 20_000
"""Edges with a blank node that are counted in one query."""


@dataclass(frozen=True, slots=True)
class Around:
    """The edges of a node with an IRI: those with others, and the blank ends of the rest.

    Attributes:
        named: The edges with other nodes with an IRI, and how many others there are.
        blank: The ends of those.
    """

    named: Neighbourhood
    blank: BlankEnds

    @property
    def mark(self) -> Mark:
        """Whether these are all."""
        return self.named.mark


class BesideReader:
    """Reads the blank ends of the edges of nodes with an IRI.

    Args:
        client: Sends the queries.
        rule: Says what is an edge.
        batch: Nodes in one query.

    Attributes:
        walks: Reads blank nodes that have no keys.
    """

    def __init__(self, client: SparqlClient, rule: EdgeRule, batch: int) -> None:
        self._client = client
        self._rule = rule
        self._batch = batch
        self.walks: AnchoredReader | None = None

    async def ends(self, nodes: Sequence[Iri], selection: EdgeSelection, call: Call) -> Mapping[Iri, BlankEnds]:
        """Return the blank ends of edges of nodes with an IRI."""
        if self.walks is not None:
            return await self.walks.blank_ends(nodes, selection, call)
        given = {**await self._rule.refreshed(call), **selection_parameters(selection)}
        if not self._rule.may_have_evidence:
            # What a blank node says is read anyway, and shows whether it states evidence.
            given |= dict.fromkeys(self._rule.evidence, ())
        beside = selected_predicates(selection)
        query = about_nodes(self._client, "blank_nodes/beside", self._batch, given, read_beside, beside=beside)
        return await query.run(nodes, call)

    async def around(
        self, nodes: Sequence[Iri], selection: EdgeSelection, call: Call, *, are_labels: bool
    ) -> Mapping[Iri, Around]:
        """Return the edges of nodes with an IRI, those with blank nodes by the keys of these.

        Args:
            nodes: The nodes.
            selection: Which edges.
            call: The call that asks.
            are_labels: Whether the keys are what the engine calls the nodes in its answers.
        """
        read_named = edges_reader(selection)

        def read_around(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, Around]:
            found = read_named(batch, rows, mark)
            ends = blank_ends_in(batch, rows, mark)
            return {node: Around(one, ends[node]) for node, one in found.items()}

        given = {**await self._rule.refreshed(call), **selection_parameters(selection)}
        template, beside = "edges" if are_labels else "blank_nodes/edges", selected_predicates(selection)
        return await about_nodes(self._client, template, self._batch, given, read_around, beside=beside).run(
            nodes, call
        )

    async def counts(
        self, ids: Sequence[Iri], selection: EdgeSelection, call: Call, *, rule: EdgeRule | None = None
    ) -> Mapping[Iri, Degree]:
        """Return how many edges with blank nodes some nodes have, by the rule of the profile or another one."""

        def read_counts(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, Degree]:
            counts = dict.fromkeys(batch, 0)
            for node, count in read(rows, iri("n"), integer("degree")):
                counts[node] += count
            whole = sum(counts.values()) < _SCAN
            return {node: Degree(count, whole, mark) for node, count in counts.items()}

        given = {"scan": _SCAN, **await (rule or self._rule).refreshed(call), **selection_parameters(selection)}
        beside = selected_predicates(selection)
        query = about_nodes(self._client, "blank_nodes/count", self._batch, given, read_counts, beside=beside)
        return await query.run(ids, call)


_PARTS: Final = (RDF_FIRST, RDF_REST, *NUMBERED)
"""Predicates of cells and containers, which may have an IRI."""


async def beside_lists(
    nodes: Sequence[Iri], edges: EdgeReader, degrees: DegreeReader, selection: EdgeSelection, call: Call
) -> dict[Iri, int]:
    """Return those of some nodes with an IRI whose edges lists change, with how many triples lead to empty lists."""
    parts = await degrees.degrees(nodes, 1, call, selection=EdgeSelection(_PARTS, _PARTS))
    found = {node: 0 for node, one in parts.items() if one.count or not one.mark.whole}
    if selection.outgoing != ():
        read = await edges.among(nodes, frozenset((RDF_NIL,)), call, predicates=selection.outgoing)
        found |= {node: len(one.edges) for node, one in read.items() if one.edges or not one.mark.whole}
    return found
