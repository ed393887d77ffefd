"""The types and edge predicates of a graph, enumerated exactly by two scans of bounded length."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from gateway.errors import EndpointFault
from gateway.graph.budget import Budget
from gateway.graph.values import Iri, Schema, Term
from gateway.settings.profile import Profile
from gateway.sparql.asking import Asker, Overflow
from gateway.sparql.edge_rule import EdgeRule
from gateway.sparql.nodes import NodeReader
from gateway.sparql.results import Row
from gateway.sparql.template import Parameter
from gateway.terms.vocabulary import SCHEMA_TERM_CLASSES


class SchemaReader:
    """Enumerates the schema of a graph."""

    def __init__(self, asker: Asker, rule: EdgeRule, nodes: NodeReader, profile: Profile) -> None:
        self._asker = asker
        self._rule = rule
        self._nodes = nodes
        self._profile = profile

    async def glance(self, budget: Budget) -> Schema:
        """Return what is among the first triples; exact where the graph has no others.

        Raises:
            Fault: The graph could not be asked.
        """
        return await self._read(budget, min(self._profile.limits.scan_rows, self._profile.orientation.glance_triples))

    async def read(self, budget: Budget) -> Schema:
        """Return the schema; exact unless the graph is larger than the scans may read.

        Raises:
            Fault: The graph could not be asked.
        """
        return await self._read(budget, self._profile.limits.scan_rows)

    async def _read(self, budget: Budget, limit: int) -> Schema:
        types, all_types = await self._scan(
            "schema_types", "t", budget, limit, {"types": self._profile.edges.types, "markers": self._rule.markers}
        )
        predicates, all_predicates = await self._scan(
            "schema_predicates", "p", budget, limit, {"excepted": self._rule.excepted, "markers": self._rule.markers}
        )
        types = {iri: count for iri, count in types.items() if iri not in SCHEMA_TERM_CLASSES}
        predicates = {iri: count for iri, count in predicates.items() if self._rule.allows(iri)}
        found, labelled = await self._nodes.labels([*types, *predicates], budget)
        labels = dict(found)
        if self._profile.names.predicate_entity:
            via = self._profile.names.predicate_entity
            further, whole = await self._nodes.labels(list(predicates), budget, via=via)
            labels |= further
            labelled = labelled and whole
        exact = all_types and all_predicates
        return Schema(
            types=_terms(types, labels),
            predicates=_terms(predicates, labels),
            exact=exact,
            labelled=labelled,
            reason=""
            if exact
            else f"the enumeration stopped after {limit:,} triples, or at more terms than one query may return",
            version=_version(types, predicates),
        )

    async def _scan(
        self, template: str, variable: str, budget: Budget, limit: int, parameters: Mapping[str, Parameter]
    ) -> tuple[dict[Iri, int], bool]:
        """Run one scan and return counts by IRI, and whether it read everything."""
        rows: Sequence[Row]
        try:
            rows, whole = await self._asker.rows(template, budget, {**parameters, "scan": limit + 1}), True
        except Overflow as cut:
            rows, whole = cut.rows, False
        try:
            # A scan that finds nothing is one empty group on some engines, and no row on others.
            if len(rows) == 1 and variable not in rows[0] and int(rows[0]["count"].value) == 0:
                rows = ()
            counts = {row[variable].value: int(row["count"].value) for row in rows}
        except (KeyError, ValueError) as error:
            raise EndpointFault("The endpoint's rows lack what the query asked for.") from error
        return counts, whole and sum(counts.values()) <= limit


def _terms(counts: Mapping[Iri, int], labels: Mapping[Iri, str]) -> tuple[Term, ...]:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(Term(iri, count, labels.get(iri, "")) for iri, count in ordered)


def _version(types: Mapping[Iri, int], predicates: Mapping[Iri, int]) -> str:
    content = repr((sorted(types.items()), sorted(predicates.items())))
    return hashlib.sha256(content.encode()).hexdigest()[:12]
