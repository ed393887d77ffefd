"""Samples of a graph that is too large to be counted during a call."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Self

from gateway.errors import DeadlinePassed, Fault
from gateway.graph.call import Call
from gateway.graph.values import Iri
from gateway.settings.profile import Profile
from gateway.sparql.client import SparqlClient
from gateway.sparql.edges.rule import EdgeRule
from gateway.sparql.results.columns import binding, integer, iri, read
from gateway.sparql.schema.counting import counts_in
from gateway.sparql.template import Parameter
from gateway.terms.iri import is_iri
from gateway.terms.known_iris import is_entity_type

_TRIPLES = 2_000
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
        return await self._sample("schema/random_blazegraph", {}, _TRIPLES, call)

    async def _sample(self, template: str, more: Mapping[str, Parameter], triples: int, call: Call) -> Sample:
        given = {"types": self._types, "scan": triples, **self._rule.evidence_as_found, **self._rule.ends, **more}
        rows, is_cut = (await self._client.rows(template, call, given)).part()
        sample = Sample(triples=triples if rows else 0, is_cut=is_cut)
        predicates: dict[Iri, int] = {}
        for predicate, counted, count in read(binding(rows, "p"), iri("p"), iri("t"), integer("count")):
            counts = sample.types if predicate in self._types else predicates
            counts[counted] = count
        sample.types = Counter({iri: count for iri, count in sample.types.items() if is_entity_type(iri)})
        sample.predicates = self._edges(predicates)
        return sample

    def _edges(self, counts: dict[Iri, int]) -> Counter[Iri]:
        excepted = self._rule.excepted
        return Counter({iri: count for iri, count in counts.items() if iri not in excepted and self._rule.allows(iri)})


class StartedSamples:
    """Samples that are read in the background of a block; at its end, what is still under way is cancelled.

    The first one is small. It comes early even from a cold server, so a graph that turns out to be large has an answer
    in time.
    """

    def __init__(self, sampler: Sampler, call: Call) -> None:
        self._sampler = sampler
        self._call = call
        self._tasks: list[asyncio.Task[Sample]] = []

    async def __aenter__(self) -> Self:
        self._tasks.append(asyncio.create_task(self._sampler.at(0, FIRST_TRIPLES, self._call)))
        return self

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
        self._tasks += [asyncio.create_task(self._sampler.at(place, _TRIPLES, self._call)) for place in _PLACES]
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
