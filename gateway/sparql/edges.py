"""Which triples are edges, and one hop of them."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from gateway.errors import EndpointFault, Fault
from gateway.graph.budget import Budget
from gateway.graph.values import Edge, Iri, Mark, Neighbourhood
from gateway.settings.profile import NAMESPACE_MARK, Edges
from gateway.sparql.asking import Asker, Overflow
from gateway.sparql.batches import Batches
from gateway.sparql.results import Row, is_blank, is_iri
from gateway.sparql.template import Parameter
from gateway.terms.vocabulary import EVIDENCE_MARKERS

_NAMESPACE_ENDS = ("/", "#", NAMESPACE_MARK)


@dataclass(frozen=True, slots=True)
class EdgeRule:
    """A profile's edge rule, as the templates take it.

    Attributes:
        excepted: Predicates that are no edges.
        allowed: Predicates that alone are edges; with `namespaces` empty too, every predicate is one.
        namespaces: Namespaces whose predicates alone are edges.
        markers: Predicates that make their subject an evidence node.
    """

    excepted: tuple[Iri, ...]
    allowed: tuple[Iri, ...]
    namespaces: tuple[str, ...]
    markers: tuple[Iri, ...]

    @classmethod
    def of(cls, edges: Edges) -> EdgeRule:
        """Return the rule that a profile states."""
        return cls(
            excepted=tuple(dict.fromkeys((*edges.types, *edges.excepted, *edges.also_excepted))),
            allowed=tuple(entry for entry in edges.allowed if not entry.endswith(_NAMESPACE_ENDS)),
            namespaces=tuple(
                entry.removesuffix(NAMESPACE_MARK) for entry in edges.allowed if entry.endswith(_NAMESPACE_ENDS)
            ),
            markers=EVIDENCE_MARKERS if edges.evidence_nodes else (),
        )

    def allows(self, predicate: Iri) -> bool:
        """Tell whether the rule's allow-list, if there is one, has the predicate."""
        if not (self.allowed or self.namespaces):
            return True
        return predicate in self.allowed or predicate.startswith(self.namespaces)

    @property
    def parameters(self) -> dict[str, Parameter]:
        """The rule as template parameters."""
        return {
            "excepted": self.excepted,
            "any_predicate": not (self.allowed or self.namespaces),
            "allowed": self.allowed,
            "namespaces": self.namespaces,
            "markers": self.markers,
        }


class EdgeReader:
    """Asks for the edges of nodes."""

    def __init__(self, asker: Asker, rule: EdgeRule, batch: int) -> None:
        self._asker = asker
        self._rule = rule
        self._batch = batch

    async def around(self, ids: Sequence[Iri], budget: Budget) -> Mapping[Iri, Neighbourhood]:
        """Return the edges of each node, outgoing and incoming."""

        async def ask(batch: Sequence[Iri]) -> Sequence[Row]:
            return await self._asker.rows("edges", budget, {"nodes": batch, **self._rule.parameters})

        answers = await Batches(ask, _read_both_ways, self._batch, self._asker.vetting(budget)).run(ids)
        for node, answer in answers.items():
            if isinstance(answer.mark.fault, Overflow):
                answers[node] = await self._page_by_page(node, answer, budget)
        return answers

    async def _page_by_page(self, node: Iri, cut: Neighbourhood, budget: Budget) -> Neighbourhood:
        """Return all edges of a node that has more than one query may return; what came before, if a page fails."""
        edges: dict[Edge, None] = {}
        try:
            await self._read_pages(node, edges, budget)
            rows = await self._asker.rows("edge_counts", budget, {"node": [node], **self._rule.parameters})
            counts = {row["kind"]["value"]: int(row["count"]["value"]) for row in rows}
            # An engine whose order is not its comparison would skip edges between two pages: the sum tells.
            loops = sum(edge.subject == edge.object for edge in edges)
            if counts.get("out", 0) + counts.get("in", 0) - loops == len(edges):
                return Neighbourhood(list(edges), counts.get("blank", 0))
            fault: Fault = EndpointFault("The pages of a node with many edges do not add up to their number.")
        except Fault as caught:
            fault = caught
        except (KeyError, ValueError):
            fault = EndpointFault("The endpoint's rows are not about what the query asked for.")
        known = list(dict.fromkeys([*cut.edges, *edges]))
        return Neighbourhood(known, cut.blank_edges, Mark(fault, at_least=len(known) + 1))

    async def _read_pages(self, node: Iri, edges: dict[Edge, None], budget: Budget) -> None:
        """Read the edges of a node page by page, in the order of the query."""
        after: list[Edge] = []
        while True:
            parameters: Mapping[str, Parameter] = {"node": [node], "after": after, **self._rule.parameters}
            try:
                rows, more = await self._asker.rows("edges_page", budget, parameters), False
            except Overflow as page:
                rows, more = page.rows, True
            before = len(edges)
            edges.update(dict.fromkeys(_edge(row) for row in rows))
            if not more:
                return
            if len(edges) == before:
                raise EndpointFault("A page of a node with many edges brought none that was not known.")
            after = [_edge(rows[-1])]

    async def among(self, ids: Sequence[Iri], inside: Container[Iri], budget: Budget) -> Mapping[Iri, Neighbourhood]:
        """Return the outgoing edges of each node whose object lies inside a set."""

        async def ask(batch: Sequence[Iri]) -> Sequence[Row]:
            return await self._asker.rows("edges_out", budget, {"nodes": batch, **self._rule.parameters})

        def read(batch: Sequence[Iri], rows: Sequence[Row], mark: Mark) -> dict[Iri, Neighbourhood]:
            found: dict[Iri, dict[Edge, None]] = {node: {} for node in batch}
            for row in rows:
                if row["o"]["value"] in inside:
                    edge = _edge(row)
                    found[edge.subject][edge] = None
            return {node: Neighbourhood(list(edges), 0, mark) for node, edges in found.items()}

        return await Batches(ask, read, self._batch, self._asker.vetting(budget)).run(ids)


def _read_both_ways(batch: Sequence[Iri], rows: Sequence[Row], mark: Mark) -> dict[Iri, Neighbourhood]:
    edges: dict[Iri, dict[Edge, None]] = {node: {} for node in batch}
    blank: dict[Iri, set[Edge]] = {node: set() for node in batch}
    for row in rows:
        subject, value = row["s"], row["o"]
        edge = _edge(row)
        if is_iri(subject) and is_iri(value):
            # An edge between two nodes of the batch comes by both branches and belongs to both. One that touches
            # no node of the batch means that the endpoint writes an IRI otherwise than it was asked: no answer.
            ends = [end for end in (edge.subject, edge.object) if end in edges]
            if not ends:
                raise KeyError(edge)
            for end in ends:
                edges[end][edge] = None
        elif is_blank(subject) or is_blank(value):
            blank[edge.subject if is_iri(subject) else edge.object].add(edge)
    return {node: Neighbourhood(list(found), len(blank[node]), mark) for node, found in edges.items()}


def _edge(row: Row) -> Edge:
    return Edge(row["s"]["value"], row["p"]["value"], row["o"]["value"])
