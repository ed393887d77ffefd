"""Samples of a graph that is too large to be read while somebody waits."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gateway.errors import EndpointFault, Fault
from gateway.graph.budget import Budget
from gateway.graph.values import Iri
from gateway.settings.profile import Profile
from gateway.sparql.asking import Asker, Overflow
from gateway.sparql.edge_rule import EdgeRule
from gateway.sparql.results import Row
from gateway.sparql.schema.counting import counts_in
from gateway.sparql.template import Parameter
from gateway.terms.vocabulary import SCHEMA_TERM_CLASSES

_TRIPLES = 5_000
"""Triples of one sample."""

_PLACES = (0, 20_000, 200_000, 2_000_000)
"""Triples before each sample. Engines walk to the place, so the farthest takes the better part of a second."""

_CLASSES = 10
_NODES = 50
"""Nodes of each of the most frequent classes whose predicates are looked at."""


@dataclass(slots=True)
class Sample:
    """What some triples of a graph have.

    Attributes:
        types: How often each type was seen.
        predicates: How often each edge predicate was seen.
        triples: Triples that were read.
    """

    types: Counter[Iri] = field(default_factory=Counter)
    predicates: Counter[Iri] = field(default_factory=Counter)
    triples: int = 0


class Sampler:
    """Reads a few triples here and there."""

    def __init__(self, asker: Asker, rule: EdgeRule, profile: Profile) -> None:
        self._asker = asker
        self._rule = rule
        self._types = profile.edges.types

    async def draw(self, seconds: float, budget: Budget) -> Sample:
        """Read samples at several places, and return what came in time.

        A graph lies in its engine in the order of its load or of an index, so neighbours are alike: a sample of one
        place would know one file.

        Args:
            seconds: How long all of them are waited for; after that, the first one that comes is enough.
            budget: Pays for them.

        Raises:
            Fault: None came.
        """
        drawing = {asyncio.create_task(self._at(place, budget)) for place in _PLACES}
        if await self._asker.engine(budget) == "blazegraph":
            drawing.add(asyncio.create_task(self._at_random(budget)))
        try:
            await asyncio.wait(drawing, timeout=seconds)
            pending = {task for task in drawing if not task.done()}
            while pending and not any(map(_came, drawing)):
                _, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in drawing:
                task.cancel()
            await asyncio.wait(drawing)
        samples = [task.result() for task in drawing if _came(task)]
        if not samples:
            raise next(error for task in drawing if (error := task.exception()) is not None)
        return Sample(
            sum((sample.types for sample in samples), Counter()),
            sum((sample.predicates for sample in samples), Counter()),
            sum(sample.triples for sample in samples),
        )

    async def of_classes(self, classes: Sequence[Iri], budget: Budget) -> Counter[Iri]:
        """Return the predicates that a few nodes of each of the first classes have; none where that takes too long."""
        if not classes:
            return Counter()
        given: dict[str, Parameter] = {"types": self._types, "classes": classes[:_CLASSES], "nodes": _NODES}
        try:
            return self._edges(counts_in(await self._asker.rows("schema/of_classes", budget, given), "p"))
        except Fault:
            return Counter()

    async def _at(self, place: int, budget: Budget) -> Sample:
        return await self._drawn("schema/sample", {"types": self._types, "skip": place, "scan": _TRIPLES}, budget)

    async def _at_random(self, budget: Budget) -> Sample:
        return await self._drawn("schema/random_blazegraph", {"types": self._types, "scan": _TRIPLES}, budget)

    async def _drawn(self, template: str, given: Mapping[str, Parameter], budget: Budget) -> Sample:
        rows: Sequence[Row]
        try:
            rows = await self._asker.rows(template, budget, given)
        except Overflow as cut:
            rows = cut.rows
        sample = Sample(triples=_TRIPLES if rows else 0)
        predicates: dict[Iri, int] = {}
        try:
            for row in rows:
                if "p" in row:
                    counts = sample.types if row["p"].value in self._types else predicates
                    counts[row["t"].value] = int(row["count"].value)
        except (KeyError, ValueError) as error:
            raise EndpointFault("The endpoint's rows lack what the query asked for.") from error
        for iri in SCHEMA_TERM_CLASSES & sample.types.keys():
            del sample.types[iri]
        sample.predicates = self._edges(predicates)
        return sample

    def _edges(self, counts: dict[Iri, int]) -> Counter[Iri]:
        excepted = self._rule.excepted
        return Counter({iri: count for iri, count in counts.items() if iri not in excepted and self._rule.allows(iri)})


def _came(task: asyncio.Task[Sample]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is None
