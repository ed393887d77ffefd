"""Types and predicates with their numbers: counted, or seen in samples."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Self

from gateway.errors import DeadlinePassed, Fault, GaveUp, quoted
from gateway.graph.call import Call, Deadline, together
from gateway.graph.computing import FEW_FOR_A_THREAD, in_thread
from gateway.graph.counts import entity_types
from gateway.graph.values import Iri
from gateway.settings.profile import Profile
from gateway.sparql.client import SparqlClient
from gateway.sparql.engines import TRAITS
from gateway.sparql.rule import EdgeRule
from gateway.sparql.table import IriTerm, LiteralTerm, Table, UnexpectedRows, binding, integer, iri, read, term
from gateway.sparql.template import Parameter
from gateway.terms import iri as iris
from gateway.terms.iri import is_iri

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
    """What one counting query returned, which could read so many triples (`limit`), and of blank nodes alone."""

    counts: Mapping[Iri, int]
    limit: int
    is_whole: bool
    blank: Mapping[Iri, int] = field(default_factory=dict)

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
        blank_types: Blank nodes by type, which are not among the nodes.
        blank_predicates: Triples that would be edges if no end were a blank node, by predicate.
    """

    types: dict[Iri, int] = field(default_factory=dict)
    predicates: dict[Iri, int] = field(default_factory=dict)
    reason: str = ""
    left_out: int = 0
    is_part: bool = False
    is_cut: bool = False
    blank_types: dict[Iri, int] = field(default_factory=dict)
    blank_predicates: dict[Iri, int] = field(default_factory=dict)

    def note(self, scan: Scan) -> None:
        """Take over from a scan why the counts are not all."""
        self.reason = self.reason or scan.reason
        self.is_part = self.is_part or not scan.is_whole
        self.is_cut = self.is_cut or scan.has_cut_terms

    def with_predicates(self, other: Counts) -> Counts:
        """Return these with the predicates of others, and why any of them are not all."""
        return replace(
            self,
            predicates=other.predicates,
            reason=self.reason or other.reason,
            left_out=self.left_out + other.left_out,
            is_part=self.is_part or other.is_part,
            is_cut=self.is_cut or other.is_cut,
            blank_predicates=other.blank_predicates,
        )

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
                return await self.has_at_most(_SMALL, call)
        except Fault:
            return False

    async def has_at_most(self, triples: int, call: Call) -> bool:
        """Return whether the graph has no more than so many triples; no more are read."""
        return await self._triples(triples + 1, call) <= triples

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
        if not partly:
            types = Counts()
            async with together() as tasks:
                tasks.create_task(self._count_types(types, totals, call))
                await self._count_predicates(counts := Counts(), totals, call)
            return types.with_predicates(counts)
        counts = Counts()
        try:
            await self._count_types(counts, totals, call)
            await self._count_predicates(counts, totals, call)
        except Fault as fault:
            counts.reason = fault.wrong
            counts.is_part = counts.is_cut = True
        return counts

    async def _count_types(self, counts: Counts, totals: Scan, call: Call) -> None:
        limit = totals.limit
        given: dict[str, Parameter] = {"types": self._types, **self._rule.scanned_evidence_of_nodes}
        if sum(totals.counts.get(iri, 0) for iri in self._types) <= _TRIPLES:
            scan = await self._scan("schema/types", "t", limit, call, given)
            are_few = len(scan.counts) <= FEW_FOR_A_THREAD
            counts.types = await in_thread(call, lambda _: counts.sendable(entity_types(scan.counts)), unless=are_few)
            counts.blank_types = entity_types(scan.blank)
            counts.note(scan)
            return
        type_totals = await self._scan("schema/type_totals", "t", limit, call, {"types": self._types})
        counts.note(type_totals)
        for wanted in await self._batches(counts, entity_types(type_totals.counts), call):
            scan = await self._scan("schema/nodes_of", "t", limit, call, {**given, "wanted": wanted})
            counts.types |= scan.counts
            counts.blank_types |= scan.blank
            counts.note(scan)

    async def _count_predicates(self, counts: Counts, totals: Scan, call: Call) -> None:
        excepted = set(self._rule.excepted)
        wanted = {iri: total for iri, total in totals.counts.items() if iri not in excepted and self._rule.allows(iri)}
        given: dict[str, Parameter] = {
            "excepted": self._rule.excepted,
            **self._rule.scanned_evidence,
            **self._rule.ends,
        }
        for predicates in await self._batches(counts, wanted, call):
            scan = await self._scan("schema/edges", "p", totals.limit, call, {**given, "predicates": predicates})
            counts.predicates |= scan.counts
            counts.blank_predicates |= scan.blank
            counts.note(scan)

    async def _batches(self, counts: Counts, totals: Mapping[Iri, int], call: Call) -> list[list[Iri]]:
        """Return those terms that a query can name, in batches; if there are others, the counts are not all."""
        are_few = len(totals) <= FEW_FOR_A_THREAD
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

        def counted(_: Deadline) -> Scan:
            are_blank = [isinstance(kind, LiteralTerm) and kind.value == "blank" for kind in rows.terms("kind")]
            of_nodes = counts_in(rows.where([not is_blank for is_blank in are_blank]), variable)
            is_whole = not is_cut and sum(_COUNT(rows)) <= limit
            return Scan(of_nodes, limit, is_whole, counts_in(rows.where(are_blank), variable))

        return await in_thread(call, counted, unless=len(rows) <= FEW_FOR_A_THREAD)


def counts_in(rows: Table, variable: str) -> dict[Iri, int]:
    """Return the counts of an answer by the IRI of a variable, without those of literals and blank nodes."""
    # A scan that finds nothing is one empty group on some engines, and no row on others.
    if len(rows) == 1 and rows.terms(variable)[0] is None and [*_COUNT(rows)] == [0]:
        return {}
    return {bound.value: count for bound, count in read(rows, term(variable), _COUNT) if isinstance(bound, IriTerm)}


def _batches(totals: Mapping[Iri, int]) -> list[list[Iri]]:
    """Return terms in batches whose queries read few enough triples; a term that has more is a batch by itself."""
    batches: list[list[Iri]] = []
    room = 0
    for one, total in sorted(totals.items(), key=lambda item: (item[1], item[0])):
        if not batches or total > room or len(batches[-1]) == _TERMS:
            batches.append([])
            room = _TRIPLES
        batches[-1].append(one)
        room -= total
    return batches


_SAMPLED_TRIPLES = 2_000
"""Triples of one sample."""

FIRST_TRIPLES = 1_000
"""Triples of the first sample, which even a server that has just started must return in time."""

_PLACES = (20_000, 200_000, 2_000_000)
"""Triples before each further sample. Engines skip them one by one, so the last one takes most of a second."""

_CLASSES = 10
_NODES = 50
"""Nodes of each of the most frequent classes whose predicates are read."""


@dataclass(slots=True)
class Sample:
    """How often types and edge predicates of nodes were seen in some triples; `is_cut` if not all of them came."""

    types: Counter[Iri] = field(default_factory=Counter)
    predicates: Counter[Iri] = field(default_factory=Counter)
    triples: int = 0
    is_cut: bool = False

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> Self:
        """Return several samples as one."""
        return cls(
            sum((sample.types for sample in samples), Counter()),
            sum((sample.predicates for sample in samples), Counter()),
            sum(sample.triples for sample in samples),
            any(sample.is_cut for sample in samples),
        )


class Sampler:
    """Reads samples."""

    def __init__(self, client: SparqlClient, rule: EdgeRule, profile: Profile) -> None:
        self._client = client
        self._rule = rule
        self._types = profile.edges.types

    async def of_classes(self, classes: Sequence[Iri], call: Call) -> Counter[Iri]:
        """Return the predicates of a few nodes of each of the first classes, also of evidence; none if that fails."""
        first = list(islice(filter(is_iri, classes), _CLASSES))
        if not first:
            return Counter()
        given: dict[str, Parameter] = {"types": self._types, "classes": first, "nodes": _NODES, **self._rule.ends}
        try:
            answer = await self._client.rows("schema/of_classes", call, given)
            return self._edges(counts_in(answer.whole(), "p"))
        except Fault:
            return Counter()

    async def at(self, place: int, triples: int, call: Call) -> Sample:
        """Return a sample of so many triples after a place."""
        return await self._sample("schema/sample", {"skip": place}, triples, call)

    async def at_random(self, call: Call) -> Sample:
        """Return a sample of triples that the engine draws at random; an empty one if it cannot."""
        if await self._client.engine(call) != "blazegraph":
            return Sample()
        return await self._sample("schema/random_blazegraph", {}, _SAMPLED_TRIPLES, call)

    async def _sample(self, template: str, more: Mapping[str, Parameter], triples: int, call: Call) -> Sample:
        given = {"types": self._types, "scan": triples, **self._rule.evidence_as_found, **self._rule.ends, **more}
        rows, is_cut = (await self._client.rows(template, call, given)).part()
        sample = Sample(triples=triples if rows else 0, is_cut=is_cut)
        predicates: dict[Iri, int] = {}
        for predicate, counted, count in read(binding(rows, "p"), iri("p"), iri("t"), integer("count")):
            counts = sample.types if predicate in self._types else predicates
            counts[counted] = count
        sample.types = Counter(entity_types(sample.types))
        sample.predicates = self._edges(predicates)
        return sample

    def _edges(self, counts: dict[Iri, int]) -> Counter[Iri]:
        excepted = self._rule.excepted
        return Counter({iri: count for iri, count in counts.items() if iri not in excepted and self._rule.allows(iri)})


class StartedSamples:
    """Samples that are read in the background of a block; at its end, what is still under way is cancelled.

    The first one is small. It comes early even from a cold server, so a graph that turns out to be large has an answer
    in time.

    Args:
        sampler: Reads them.
        call: Pays for them.
        first: The first one, if it was read.
    """

    def __init__(self, sampler: Sampler, call: Call, first: Sample | None = None) -> None:
        self._sampler = sampler
        self._call = call
        self._first = first
        self._tasks: list[asyncio.Task[Sample]] = []

    async def __aenter__(self) -> Self:
        self._tasks.append(asyncio.create_task(self._read_first()))
        return self

    async def _read_first(self) -> Sample:
        return self._first or await self._sampler.at(0, FIRST_TRIPLES, self._call)

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)
        for task in self._tasks:
            # A fault of a sample that nobody waited for must not be logged as never retrieved.
            if not task.cancelled():
                task.exception()

    async def finish(self, seconds: float) -> Sample:
        """Read further samples at several places, and return as one those that came in time.

        A graph lies in its engine in the order of its load or of an index, so neighbours are alike: a sample of one
        place would have the types of one file. If none came in these seconds, the first one that comes is enough.

        Raises:
            Fault: None came.
        """
        self._tasks += [asyncio.create_task(self._sampler.at(place, _SAMPLED_TRIPLES, self._call)) for place in _PLACES]
        self._tasks.append(asyncio.create_task(self._sampler.at_random(self._call)))
        await asyncio.wait(self._tasks, timeout=seconds)
        pending = {task for task in self._tasks if not task.done()}
        while pending and not any(map(_has_triples, self._tasks)):
            _, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        samples = [task.result() for task in self._tasks if _has_triples(task)]
        if not samples:
            faults = (error for task in self._tasks if task.done() and (error := task.exception()) is not None)
            raise next(faults, DeadlinePassed("The graph could not be sampled in time.", next_step="Try again later."))
        return Sample.of(samples)


def _has_triples(task: asyncio.Task[Sample]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is None and task.result().triples > 0
