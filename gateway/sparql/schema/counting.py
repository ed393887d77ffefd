"""Counting every type and every predicate, in queries none of which reads too much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gateway.errors import Fault, quoted
from gateway.graph.call import Call
from gateway.graph.values import Iri
from gateway.settings.profile import Profile
from gateway.sparql.client import SparqlClient
from gateway.sparql.edges.rule import EdgeRule
from gateway.sparql.results.columns import integer, read, term
from gateway.sparql.results.rows import Row
from gateway.sparql.results.terms import IriTerm
from gateway.sparql.template import Parameter
from gateway.terms import iri as iris
from gateway.terms.known_iris import is_entity_type

_TRIPLES = 500_000
"""Triples that one counting query should read: a second or a few, below the time-out of most servers."""

_TERMS = 200
"""Types or predicates in one counting query at most."""

_COUNT = integer("count")


@dataclass(slots=True)
class Counts:
    """How often types and predicates occur.

    Attributes:
        types: Nodes by type.
        predicates: Edges by predicate.
        missing: Why these are not all; empty where they are.
        left_out: Types and predicates that are left out because they are not sendable.
        is_part: Whether a scan failed or was cut, so that not all triples were counted.
        is_cut: Whether terms are known to be missing for another reason than the number of triples.
    """

    types: dict[Iri, int] = field(default_factory=dict)
    predicates: dict[Iri, int] = field(default_factory=dict)
    missing: str = ""
    left_out: int = 0
    is_part: bool = False
    is_cut: bool = False

    def cut(self, limit: int, found: Mapping[Iri, int], *, whole: bool) -> None:
        """Note that a scan did not read everything, unless it did."""
        if not whole:
            self.missing = self.missing or stopped(limit, found)
            self.is_part = True
            self.is_cut = self.is_cut or not is_at(limit, found)


class Counter:
    """Counts the types and predicates of a graph."""

    def __init__(self, client: SparqlClient, rule: EdgeRule, profile: Profile) -> None:
        self._client = client
        self._rule = rule
        self._types = profile.edges.types

    async def totals(self, limit: int, call: Call) -> tuple[Mapping[Iri, int], bool]:
        """Return how many triples each predicate has, whatever stands at their ends, and whether that is all of them.

        Args:
            limit: Triples that may be read.
            call: Pays for it.

        Raises:
            Fault: The graph could not be asked.
        """
        return await self._scan("schema/totals", "p", limit, call, {})

    async def count(self, totals: Mapping[Iri, int], limit: int, call: Call, *, partly: bool) -> Counts:
        """Count the nodes of each type and the edges of each predicate.

        Args:
            totals: All predicates of the graph, with how many triples each has.
            limit: Triples that one query may read at most.
            call: Pays for it.
            partly: Whether some counts are better than none: where the others cost minutes.

        Returns:
            The counts; where some could not be had, the others, and why.

        Raises:
            Fault: Some could not be had, and only all of them are of use.
        """
        counts = Counts()
        try:
            await self._count_types(counts, sum(totals.get(iri, 0) for iri in self._types), limit, call)
            await self._count_predicates(counts, totals, limit, call)
        except Fault as fault:
            if not partly:
                raise
            counts.missing = fault.wrong
            counts.is_part = counts.is_cut = True
        return counts

    async def _count_types(self, counts: Counts, triples: int, limit: int, call: Call) -> None:
        given: dict[str, Parameter] = {"types": self._types, **_only_nodes(self._rule)}
        if triples <= _TRIPLES:
            found, whole = await self._scan("schema/types", "t", limit, call, given)
            counts.types = _sendable(counts, _entity_types(found))
            counts.cut(limit, found, whole=whole)
            return
        totals, whole = await self._scan("schema/type_totals", "t", limit, call, {"types": self._types})
        counts.cut(limit, totals, whole=whole)
        for wanted in _batches(await self._askable(counts, _entity_types(totals), call)):
            found, whole = await self._scan("schema/nodes_of", "t", limit, call, {**given, "wanted": wanted})
            counts.types |= found
            counts.cut(limit, found, whole=whole)

    async def _count_predicates(self, counts: Counts, totals: Mapping[Iri, int], limit: int, call: Call) -> None:
        excepted = set(self._rule.excepted)
        wanted = {iri: total for iri, total in totals.items() if iri not in excepted and self._rule.allows(iri)}
        given: dict[str, Parameter] = {
            "excepted": self._rule.excepted,
            **self._rule.evidence,
            **self._rule.ends,
        }
        for predicates in _batches(await self._askable(counts, wanted, call)):
            found, whole = await self._scan("schema/edges", "p", limit, call, {**given, "predicates": predicates})
            counts.predicates |= found
            counts.cut(limit, found, whole=whole)

    async def _askable(self, counts: Counts, totals: Mapping[Iri, int], call: Call) -> Mapping[Iri, int]:
        """Return those terms that a query can name; where there are others, the counts are not all."""
        legal = _sendable(counts, totals)
        rewritten = await self._client.rewritten(legal, call)
        if rewritten:
            counts.is_cut = True
            counts.missing = counts.missing or f"no query can ask for {quoted(min(rewritten))}, which the graph has"
        return {iri: total for iri, total in legal.items() if iri not in rewritten}

    async def _scan(
        self, template: str, variable: str, limit: int, call: Call, parameters: Mapping[str, Parameter]
    ) -> tuple[dict[Iri, int], bool]:
        """Run one scan and return counts by IRI, and whether it read everything."""
        rows, is_cut = (await self._client.rows(template, call, {**parameters, "scan": limit + 1})).part()
        counts = counts_in(rows, variable)
        return counts, not is_cut and sum(_COUNT(rows)) <= limit


def counts_in(rows: Sequence[Row], variable: str) -> dict[Iri, int]:
    """Return the counts of an answer by the IRI that a variable is bound to, without those of literals and blank nodes.

    Raises:
        UnexpectedRows: A row lacks what the query asked for.
    """
    # A scan that finds nothing is one empty group on some engines, and no row on others.
    if len(rows) == 1 and variable not in rows[0] and [*_COUNT(rows)] == [0]:
        return {}
    return {bound.value: count for bound, count in read(rows, term(variable), _COUNT) if isinstance(bound, IriTerm)}


def _entity_types(counts: Mapping[Iri, int]) -> dict[Iri, int]:
    return {iri: count for iri, count in counts.items() if is_entity_type(iri)}


def _sendable(counts: Counts, found: Mapping[Iri, int]) -> dict[Iri, int]:
    """Return the terms that are sendable, and count the others."""
    kept = {iri: count for iri, count in found.items() if iris.is_sendable(iri)}
    counts.left_out += len(found) - len(kept)
    return kept


def is_at(limit: int, found: Mapping[Iri, int]) -> bool:
    """Tell whether a scan that did not read everything ended at the triples that it could read; see `stopped`."""
    return sum(found.values()) > limit


def stopped(limit: int, found: Mapping[Iri, int]) -> str:
    """Return why a scan did not read everything, by what it found.

    Args:
        limit: Triples that it could read.
        found: The counts of the terms that it returned.
    """
    if is_at(limit, found):
        return f"the enumeration stopped after {limit:,} triples"
    return f"the graph has more types or predicates than one query may return ({len(found):,})"


def _batches(totals: Mapping[Iri, int]) -> list[list[Iri]]:
    """Put terms together so that no query reads too many triples; a term that has more has a query of its own."""
    batches: list[list[Iri]] = []
    room = 0
    for iri, total in sorted(totals.items(), key=lambda item: (item[1], item[0])):
        if not batches or total > room or len(batches[-1]) == _TERMS:
            batches.append([])
            room = _TRIPLES
        batches[-1].append(iri)
        room -= total
    return batches


def _only_nodes(rule: EdgeRule) -> Mapping[str, Parameter]:
    """Return what makes nodes evidence."""
    return {name: value for name, value in rule.evidence.items() if name != "singletons"}
