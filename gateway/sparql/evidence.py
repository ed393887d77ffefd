"""Statements about edges: RDF 1.2 annotations and classic reification, every assertion kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from gateway.errors import EndpointFault, Fault
from gateway.graph.budget import Budget
from gateway.graph.values import Edge, Evidence, Iri, Mark, Resource, Value
from gateway.sparql.asking import Asker
from gateway.sparql.batches import batched
from gateway.sparql.results import Row, Term, is_iri, value
from gateway.terms.vocabulary import RDF, RDF_TYPE

_TEMPLATES = {"annotation": "evidence_annotations", "statement": "evidence_statements"}
_STATEMENT = Resource(f"{RDF}Statement")
_FRESH_SECONDS = 300.0
"""How long the answer to "which ways of stating evidence are there" is believed."""


@dataclass(slots=True)
class _Found:
    """The statements of one edge by their node, which may be named or blank."""

    statements: dict[Term, dict[Iri, dict[Value, None]]] = field(default_factory=dict)
    mark: Mark = field(default_factory=Mark)


class EvidenceReader:
    """Asks what is stated about edges, in the ways that the graph is found to use."""

    def __init__(self, asker: Asker, batch: int) -> None:
        self._asker = asker
        self._batch = batch
        self._kinds: tuple[float, tuple[str, ...]] | None = None

    async def about(self, edges: Sequence[Edge], budget: Budget) -> Mapping[Edge, Evidence]:
        """Return the statements about each edge."""
        if not edges:
            return {}
        try:
            kinds = await self._kinds_in_use(budget)
        except Fault as fault:
            return {edge: Evidence(mark=Mark(fault)) for edge in edges}
        answers = [await self._one_way(kind, edges, budget) for kind in kinds]
        return {edge: _merged([answer[edge] for answer in answers]) for edge in edges}

    async def _kinds_in_use(self, budget: Budget) -> tuple[str, ...]:
        now = budget.deadline.clock()
        if self._kinds is None or now - self._kinds[0] > _FRESH_SECONDS:
            rows = await self._asker.rows("evidence_kinds", budget, {})
            if not all("kind" in row for row in rows):
                raise EndpointFault("The endpoint's rows are not about what the query asked for.")
            # An engine that knows no RDF 1.2 finds no rdf:reifies, and is never sent the syntax it would refuse.
            self._kinds = (now, tuple(sorted({row["kind"].value for row in rows} & _TEMPLATES.keys())))
        return self._kinds[1]

    async def _one_way(self, kind: str, edges: Sequence[Edge], budget: Budget) -> Mapping[Edge, _Found]:
        asking = batched(self._asker, budget, _TEMPLATES[kind], self._batch, lambda batch: {"edges": batch}, _read)
        return await asking.run(edges)


def _read(batch: Sequence[Edge], rows: Sequence[Row], mark: Mark) -> dict[Edge, _Found]:
    found = {edge: _Found(mark=mark) for edge in batch}
    for row in rows:
        edge = Edge(row["s"].value, row["p"].value, row["o"].value)
        properties = found[edge].statements.setdefault(row["r"], {})
        item = value(row["v"])
        if item is not None and not (row["k"].value == RDF_TYPE and item == _STATEMENT):
            properties.setdefault(row["k"].value, {})[item] = None
    return found


def _merged(answers: Iterable[_Found]) -> Evidence:
    """Put the ways together; a named node that states the same edge in both ways is one statement."""
    statements: dict[object, dict[Iri, dict[Value, None]]] = {}
    mark = Mark()
    for way, answer in enumerate(answers):
        mark = mark if answer.mark.whole else answer.mark
        for node, properties in answer.statements.items():
            statements.setdefault(node if is_iri(node) else (way, node), {}).update(properties)
    return Evidence(
        tuple(
            {predicate: tuple(values) for predicate, values in properties.items()}
            for properties in statements.values()
            if properties
        ),
        mark,
    )
