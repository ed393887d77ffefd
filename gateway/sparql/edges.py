"""Which triples are edges, and one hop of them."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from gateway.graph.budget import Budget
from gateway.graph.values import Edge, Iri, Mark, Neighbourhood
from gateway.settings.profile import NAMESPACE_MARK, Edges
from gateway.sparql.asking import Asker
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

        return await Batches(ask, _read_both_ways, self._batch).run(ids)

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

        return await Batches(ask, read, self._batch).run(ids)


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
