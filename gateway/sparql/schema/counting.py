"""Counts every type, every predicate and all triples of a graph, in queries none of which reads too much."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gateway.errors import DeadlinePassed, Fault, GaveUp, quoted
from gateway.graph.call import Call
from gateway.graph.computing import FEW, in_thread
from gateway.graph.values import Iri
from gateway.settings.profile import Profile
from gateway.sparql.client import SparqlClient
from gateway.sparql.edges.rule import EdgeRule
from gateway.sparql.engines.traits import TRAITS
from gateway.sparql.results.columns import UnexpectedRows, integer, read, term
from gateway.sparql.results.table import Table
from gateway.sparql.results.terms import IriTerm
from gateway.sparql.template import Parameter
from gateway.terms import iri as iris
from gateway.terms.known_iris import is_entity_type

_TRIPLES = 500_000
"""Triples that one counting query should read: a second or a few, below the time-out of most servers."""

_TERMS = 200
"""Types or predicates in one counting query at most."""

_COUNT = integer("count")

_TOTALS_SECONDS = 0.7
"""Time for counting the triples of a graph; one that takes longer is not small."""

_SMALL = 30_000
_SMALL_SECONDS = 0.25
"""A graph with at most so many triples says so in this time, even if its engine is busy."""

_UNBOUNDED = 1_000_000_000_000
"""More triples than any graph has: the query needs a bound."""


@dataclass(frozen=True, slots=True)
class Scan:
    """What one counting query returned, which could read so many triples (`limit`)."""

    counts: Mapping[Iri, int]
    limit: int
    is_whole: bool

    @property
    def triples(self) -> int:
        """Triples that were counted."""
        return sum(self.counts.values())

    @property
    def has_cut_terms(self) -> bool:
        """Whether there are more terms than one query may return, rather than more triples than it may read."""
        return not self.is_whole and self.triples <= self.limit

    @property
    def reason(self) -> str:
        """Why it did not read everything; empty if it did."""
        if self.is_whole:
            return ""
        if self.has_cut_terms:
            return f"the graph has more types or predicates than one query may return ({len(self.counts):,})"
        return f"the enumeration stopped after {self.limit:,} triples"


@dataclass(slots=True)
class Counts:
    """How often types and predicates occur.

    Attributes:
        types: Nodes by type.
        predicates: Edges by predicate.
        reason: Why these are not all; empty if they are.
        left_out: Types and predicates that are left out because they are not sendable.
        is_part: Whether a scan failed or was cut, and not all triples were counted.
        is_cut: Whether terms are known to be missing for another reason than the number of triples.
    """

    types: dict[Iri, int] = field(default_factory=dict)
    predicates: dict[Iri, int] = field(default_factory=dict)
    reason: str = ""
    left_out: int = 0
    is_part: bool = False
    is_cut: bool = False

    def note(self, scan: Scan) -> None:
        """Take over from a scan why the counts are not all."""
        self.reason = self.reason or scan.reason
        self.is_part = self.is_part or not scan.is_whole
        self.is_cut = self.is_cut or scan.has_cut_terms

    def sendable(self, found: Mapping[Iri, int]) -> dict[Iri, int]:
        """Return the terms that are sendable, and count the others."""
        sendable = {iri: count for iri, count in found.items() if iris.is_sendable(iri)}
        self.left_out += len(found) - len(sendable)
        return sendable


class TermCounter:
    """Counts the types, the predicates and the triples of a graph."""

    def __init__(self, client: SparqlClient, rule: EdgeRule, profile: Profile) -> None:
        self._client = client
        self._rule = rule
        self._types = profile.edges.types

    async def totals(self, limit: int, call: Call) -> Scan:
        """Return how many triples each predicate has, whatever their ends are, from so many triples at most."""
        return await self._scan("schema/totals", "p", limit, call, {})

    async def totals_at_once(self, limit: int, call: Call) -> Scan:
        """Return the triples of each predicate; nothing for a graph that takes too long."""
        totals = await self._totals_within(_TOTALS_SECONDS, limit, call)
        if not totals.is_whole and not totals.counts and await self._is_small(call):
            # The engine is slow or busy; the graph is not large.
            return await self._totals_within(call.deadline.seconds_left, limit, call)
        return totals

    async def _totals_within(self, seconds: float, limit: int, call: Call) -> Scan:
        try:
            with call.within(seconds):
                return await self.totals(limit, call)
        except (DeadlinePassed, GaveUp):
            call.deadline.check()
            return Scan({}, limit, is_whole=False)

    async def _is_small(self, call: Call) -> bool:
        try:
            with call.within(_SMALL_SECONDS):
                return await self._triples(_SMALL + 1, call) <= _SMALL
        except Fault:
            return False

    async def triples(self, call: Call) -> int | None:
        """Return the number of all triples if the engine knows it without counting, else None."""
        if not TRAITS[await self._client.engine(call)].counts_at_once:
            return None
        try:
            return await self._triples(_UNBOUNDED, call)
        except Fault:
            return None

    async def _triples(self, at_most: int, call: Call) -> int:
        answer = await self._client.rows("check/triples", call, {"most": at_most})
        counts = [*_COUNT(answer.whole())]
        if len(counts) != 1:
            raise UnexpectedRows
        return counts[0]

    async def count(self, totals: Scan, call: Call, *, partly: bool) -> Counts:
        """Count the nodes of each type and the edges of each predicate.

        Args:
            totals: All predicates of the graph with their triples; each query reads as many triples as theirs could.
            call: Pays for it.
            partly: Whether, after a fault, some counts and the reason are better than none, because they cost minutes.

        Raises:
            Fault: Some could not be had, and only all of them are of use.
        """
        counts = Counts()
        try:
            await self._count_types(counts, totals, call)
            await self._count_predicates(counts, totals, call)
        except Fault as fault:
            if not partly:
                raise
            counts.reason = fault.wrong
            counts.is_part = counts.is_cut = True
        return counts

    async def _count_types(self, counts: Counts, totals: Scan, call: Call) -> None:
        limit = totals.limit
        given: dict[str, Parameter] = {"types": self._types, **self._rule.evidence_of_nodes}
        if sum(totals.counts.get(iri, 0) for iri in self._types) <= _TRIPLES:
            scan = await self._scan("schema/types", "t", limit, call, given)
            counts.types = counts.sendable(_entity_types(scan.counts))
            counts.note(scan)
            return
        type_totals = await self._scan("schema/type_totals", "t", limit, call, {"types": self._types})
        counts.note(type_totals)
        for wanted in await self._batches(counts, _entity_types(type_totals.counts), call):
            scan = await self._scan("schema/nodes_of", "t", limit, call, {**given, "wanted": wanted})
            counts.types |= scan.counts
            counts.note(scan)

    async def _count_predicates(self, counts: Counts, totals: Scan, call: Call) -> None:
        excepted = set(self._rule.excepted)
        wanted = {iri: total for iri, total in totals.counts.items() if iri not in excepted and self._rule.allows(iri)}
        given: dict[str, Parameter] = {"excepted": self._rule.excepted, **self._rule.evidence, **self._rule.ends}
        for predicates in await self._batches(counts, wanted, call):
            scan = await self._scan("schema/edges", "p", totals.limit, call, {**given, "predicates": predicates})
            counts.predicates |= scan.counts
            counts.note(scan)

    async def _batches(self, counts: Counts, totals: Mapping[Iri, int], call: Call) -> list[list[Iri]]:
        """Return those terms that a query can name, in batches; if there are others, the counts are not all."""
        are_few = len(totals) <= FEW
        legal = await in_thread(call, lambda _: counts.sendable(totals), unless=are_few)
        rewritten = await self._client.rewritten(legal, call)
        if rewritten:
            counts.is_cut = True
            counts.reason = counts.reason or f"no query can ask for {quoted(min(rewritten))}, which the graph has"
        askable = {iri: total for iri, total in legal.items() if iri not in rewritten}
        return await in_thread(call, lambda _: _batches(askable), unless=are_few)

    async def _scan(
        self, template: str, variable: str, limit: int, call: Call, parameters: Mapping[str, Parameter]
    ) -> Scan:
        rows, is_cut = (await self._client.rows(template, call, {**parameters, "scan": limit + 1})).part()
        counts = counts_in(rows, variable)
        return Scan(counts, limit, not is_cut and sum(_COUNT(rows)) <= limit)


def counts_in(rows: Table, variable: str) -> dict[Iri, int]:
    """Return the counts of an answer by the IRI of a variable, without those of literals and blank nodes."""
    # A scan that finds nothing is one empty group on some engines, and no row on others.
    if len(rows) == 1 and rows.terms(variable)[0] is None and [*_COUNT(rows)] == [0]:
        return {}
    return {bound.value: count for bound, count in read(rows, term(variable), _COUNT) if isinstance(bound, IriTerm)}


def _entity_types(counts: Mapping[Iri, int]) -> dict[Iri, int]:
    return {iri: count for iri, count in counts.items() if is_entity_type(iri)}


def _batches(totals: Mapping[Iri, int]) -> list[list[Iri]]:
    """Return terms in batches whose queries read few enough triples; a term that has more is a batch by itself."""
    batches: list[list[Iri]] = []
    room = 0
    for iri, total in sorted(totals.items(), key=lambda item: (item[1], item[0])):
        if not batches or total > room or len(batches[-1]) == _TERMS:
            batches.append([])
            room = _TRIPLES
        batches[-1].append(iri)
        room -= total
    return batches
