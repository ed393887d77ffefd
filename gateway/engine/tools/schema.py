"""Answers `describe_schema`: the types and predicates of the graph, as many as fit."""

from __future__ import annotations

from datetime import UTC, datetime

from gateway.engine import advice
from gateway.engine.answers import SchemaBasis, SchemaResult
from gateway.engine.arguments import DescribeSchema
from gateway.engine.presentation.size import size_of
from gateway.engine.presentation.size_limit import limit_schema, max_bytes
from gateway.engine.schema.cache import SchemaCache
from gateway.engine.schema.view import SchemaView, labels_of
from gateway.errors import BudgetSpent, DeadlinePassed
from gateway.graph.call import Call
from gateway.graph.values import Basis, Schema
from gateway.settings.profile import Profile
from gateway.terms.prefixes import PrefixMap

LISTED = (200, 100, 50, 20, 5, 1, 0)
"""Types, and predicates, that are listed: as many as fit."""


class SchemaDescriber:
    """Answers `describe_schema` for one graph."""

    def __init__(self, profile: Profile, prefixes: PrefixMap, schema_cache: SchemaCache) -> None:
        self._profile = profile
        self._prefixes = prefixes
        self._schema_cache = schema_cache

    async def describe(self, arguments: DescribeSchema, call: Call) -> SchemaResult:
        """Return the schema, the most frequent types and predicates where not all fit.

        Raises:
            Fault: The graph could not be asked. A graph that is too large to be read in time has empty lists instead.
        """
        view = await self._schema_cache.view(call, in_full=True)
        if view.fault is not None and not isinstance(view.fault, DeadlinePassed | BudgetSpent):
            raise view.fault
        answer = self._fitting(view, explain=arguments.explain)
        limit_schema(answer, max_bytes(self._profile.size, None, explain=arguments.explain)[0])
        return answer

    def latest(self) -> SchemaResult | None:
        """Return the latest schema without asking the graph; None before it was read."""
        view = self._schema_cache.latest
        return None if view is None or view.fault is not None else self._fitting(view, explain=False)

    def _fitting(self, view: SchemaView, *, explain: bool) -> SchemaResult:
        limit, _ = max_bytes(self._profile.size, None, explain=explain)
        answers = (self._answer(view, count) for count in LISTED)
        answer = next(answers)
        while size_of(answer.as_json()) > limit and (smaller := next(answers, None)) is not None:
            answer = smaller
        return answer

    def _answer(self, view: SchemaView, count: int) -> SchemaResult:
        """Return the answer with at most so many types and as many predicates."""
        schema = view.schema
        types, predicates = schema.types[:count], schema.predicates[:count]
        listed_all = len(types) == len(schema.types) and len(predicates) == len(schema.predicates)
        listed = [*types, *predicates]
        shorten = self._prefixes.shorten
        ids = [shorten(term.iri) for term in listed]
        labels = labels_of(view, self._prefixes, [term.iri for term in listed])
        return SchemaResult(
            graph_description=advice.description(self._profile, schema, self._prefixes),
            complete=view.comprehensive and listed_all,
            comprehensive=view.comprehensive and listed_all,
            entity_types=ids[: len(types)],
            predicates=ids[len(types) :],
            entity_types_total=len(schema.types),
            predicates_total=len(schema.predicates),
            counts={shorten(term.iri): term.count for term in listed if term.count is not None},
            labels=labels if self._profile.names.on_stubs else None,
            names=None if schema.names is None else [shorten(iri) for iri in schema.names],
            basis=_basis(schema.basis),
            prefixes=self._prefixes.prefixes if count == LISTED[0] else self._prefixes.used_by(ids),
            schema_version=schema.version,
            warnings=[*([] if view.comprehensive else [self._incompleteness(schema)]), *_cut_lists(schema, count)]
            or None,
            next_steps=advice.next_steps(
                self._profile, schema, self._prefixes, closed=view.comprehensive and listed_all
            ),
            tool_usage_notes=advice.TOOL_USAGE_NOTES,
        )

    def _incompleteness(self, schema: Schema) -> str:
        later = (
            " All of it is being read in the background: ask again in a while." if self._schema_cache.is_reading else ""
        )
        return f"The lists are not complete: {schema.reason.rstrip('.')}.{later}"


def _cut_lists(schema: Schema, count: int) -> list[str]:
    """Return a warning for each list that is cut to fit."""
    totals = {"entity_types": len(schema.types), "predicates": len(schema.predicates)}
    return [
        f"{name} lists the {count} most frequent of {total:,}. Filters take the others too, by ID, local name or "
        "label; schema_summary of bfs_query shows those of a neighborhood."
        for name, total in totals.items()
        if total > count
    ]


def _basis(basis: Basis) -> SchemaBasis:
    read_at = None if basis.read_at is None else datetime.fromtimestamp(basis.read_at, UTC)
    share = min(1.0, basis.sampled / basis.triples) if basis.sampled and basis.triples else None
    return SchemaBasis(
        methods=list(basis.methods),
        read_at=None if read_at is None else f"{read_at:%Y-%m-%dT%H:%MZ}",
        sampled_triples=basis.sampled or None,
        share=None if share is None else float(f"{share:.2g}"),
    )
