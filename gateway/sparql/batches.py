"""Many IDs, few queries: batches that are split where an answer is too long or one ID spoils the rest."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Generic, Protocol, TypeVar

from gateway.errors import Fault, QueryRefused
from gateway.flow.batch_size import BatchSize
from gateway.graph.call import Call
from gateway.graph.deadline import Clock
from gateway.graph.values import Mark
from gateway.sparql.client import SparqlClient, refused_iri
from gateway.sparql.results.columns import UnexpectedRows
from gateway.sparql.results.rows import Overflow, Row, Rows
from gateway.sparql.template import Parameter
from gateway.telemetry import Tally
from gateway.terms.iri import is_iri, is_plain_iri


class Marked(Protocol):
    """An answer about one ID."""

    @property
    def mark(self) -> Mark:
        """Whether it is whole."""
        ...


async def _none_rewritten(_: Iterable[str]) -> Mapping[str, Fault]:
    return {}


Key = TypeVar("Key", bound="str | tuple[str, ...]")
Answer = TypeVar("Answer", bound=Marked)

_HOPELESS = 12
"""Parts of a batch that fail in a row before the rest of it is given up: more than it takes to get down to one ID."""


async def in_halves(batch: Sequence[Key]) -> Sequence[Sequence[Key]]:
    """Split a batch of two or more in the middle."""
    middle = len(batch) // 2
    return [batch[:middle], batch[middle:]]


@dataclass(frozen=True, slots=True)
class Batches(Generic[Key, Answer]):
    """A batched question.

    Attributes:
        ask: Sends one batch and returns its rows.
        read: Turns the rows of a batch into one answer for each key, under a given mark. A KeyError says that a row is
            about something else.
        size: Keys in one query; it learns from what happens.
        at_once: Batches under way at most.
        vet: Tells which IRIs the endpoint would take for others, and why they cannot be asked for.
        split: Takes a batch apart whose answer has too many rows.
        clock: A monotonic clock, in seconds.
        tally: Counts the splits.
    """

    ask: Callable[[Sequence[Key]], Awaitable[Rows]]
    read: Callable[[Sequence[Key], Sequence[Row], Mark], dict[Key, Answer]]
    size: BatchSize
    at_once: int = 4
    vet: Callable[[Iterable[str]], Awaitable[Mapping[str, Fault]]] = _none_rewritten
    split: Callable[[Sequence[Key]], Awaitable[Sequence[Sequence[Key]]]] = in_halves
    clock: Clock = time.monotonic
    tally: Tally = field(default_factory=Tally)

    async def run(
        self, keys: Iterable[Key], told: Callable[[Mapping[Key, Answer]], None] | None = None
    ) -> dict[Key, Answer]:
        """Ask about all keys, several batches at once; a fault ends up in the marks of its keys.

        Args:
            keys: The keys.
            told: Told of the answers that come once the last batch has been sent.
        """
        distinct = list(dict.fromkeys(keys))
        legal = [key for key in distinct if _is_legal(key)]
        rewritten = await self.vet(chain.from_iterable(map(_iris, legal)))
        answers: dict[Key, Answer] = {}
        for key in legal if rewritten else ():
            faults = [rewritten[iri] for iri in _iris(key) if iri in rewritten]
            if faults:
                answers |= self._failed([key], faults[0])
        waiting = deque(key for key in legal if key not in answers)

        part = self.size.part(len(waiting), self.at_once)

        async def work() -> None:
            while waiting:
                came = await self._one(self._next_batch(waiting, part), [])
                answers.update(came)
                if told is not None and not waiting:
                    told(came)

        async with asyncio.TaskGroup() as tasks:
            for _ in range(min(self.at_once, self._batches(waiting, part))):
                tasks.create_task(work())
        if len(answers) < len(distinct):
            illegal = [key for key in distinct if key not in answers]
            refused = QueryRefused("An IRI of the graph is none by the SPARQL grammar, so it cannot be asked for.")
            answers |= self._failed(illegal, refused)
        return answers

    def _batches(self, waiting: deque[Key], part: int) -> int:
        return math.ceil(len(waiting) / min(part, self.size.now)) if waiting else 0

    def _next_batch(self, waiting: deque[Key], part: int) -> Sequence[Key]:
        """Take keys for one query, so that the batches that are left get the same size."""
        batches = self._batches(waiting, part)
        return [waiting.popleft() for _ in range(math.ceil(len(waiting) / batches))]

    async def _one(self, batch: Sequence[Key], failures: list[Fault]) -> dict[Key, Answer]:
        """Ask about a batch.

        Args:
            batch: The keys.
            failures: What became of the parts that were asked before this one, back to the last that was answered.
        """
        if len(failures) >= _HOPELESS:
            return self._failed(batch, failures[-1])
        begun = self.clock()
        try:
            rows, is_cut = (await self.ask(batch)).part()
            answers = None if is_cut else self._read(batch, rows, Mark())
        except Fault as fault:
            return await self._after(fault, batch, failures)
        if answers is None:
            return await self._after_cut(batch, rows, failures)
        failures.clear()
        self.size.worked(len(batch), len(rows), self.clock() - begun)
        return answers

    async def _after(self, fault: Fault, batch: Sequence[Key], failures: list[Fault]) -> dict[Key, Answer]:
        """Do what a fault leaves to be done about a batch."""
        if fault.smaller:
            return await self._in_parts(batch, fault, failures)
        if isinstance(fault, QueryRefused | UnexpectedRows):
            return await self._without_the_refused(batch, fault, failures)
        return self._failed(batch, fault)

    async def _after_cut(self, batch: Sequence[Key], rows: Sequence[Row], failures: list[Fault]) -> dict[Key, Answer]:
        """Ask about fewer at once where not all rows came; one key has those that came, under a mark that says so."""
        if len(batch) > 1:
            self.size.failed(len(batch))
            return await self._each(await self.split(batch), failures)
        try:
            return self._read(batch, rows, Mark(Overflow(about_one=True), at_least=len(rows) + 1))
        except UnexpectedRows as fault:
            return self._failed(batch, fault)

    async def _in_parts(self, batch: Sequence[Key], fault: Fault, failures: list[Fault]) -> dict[Key, Answer]:
        """Ask about fewer at once what was too much, as long as some of it succeeds."""
        self.size.failed(len(batch))
        failures.append(fault)
        if len(batch) == 1:
            return self._failed(batch, fault)
        return await self._each(await in_halves(batch), failures)

    async def _without_the_refused(
        self, batch: Sequence[Key], refused: Fault, failures: list[Fault]
    ) -> dict[Key, Answer]:
        """Find the IDs that the engine refuses or rewrites, so that the others of the batch are still answered.

        Only an ID that some engine may refuse is suspected; where none is, the refusal is about the query itself.
        """
        suspects = [key for key in batch if not all(is_plain_iri(iri) for iri in _iris(key))]
        if suspects and len(batch) == 1 and isinstance(refused, QueryRefused):
            odd = next(iri for iri in _iris(batch[0]) if not is_plain_iri(iri))
            return self._failed(batch, refused_iri(odd, refused))
        if not suspects or len(batch) == 1:
            return self._failed(batch, refused)
        if len(suspects) < len(batch):
            plain = [key for key in batch if key not in set(suspects)]
            return await self._each([plain, suspects], failures)
        return await self._each(await in_halves(batch), failures)

    async def _each(self, parts: Iterable[Sequence[Key]], failures: list[Fault]) -> dict[Key, Answer]:
        self.tally.splits += 1
        answers: dict[Key, Answer] = {}
        for part in parts:
            answers |= await self._one(part, failures)
        return answers

    def _read(self, batch: Sequence[Key], rows: Sequence[Row], mark: Mark) -> dict[Key, Answer]:
        try:
            return self.read(batch, rows, mark)
        except KeyError as error:
            raise UnexpectedRows from error

    def _failed(self, keys: Sequence[Key], fault: Fault) -> dict[Key, Answer]:
        return self.read(keys, (), Mark(fault))


def batched(
    client: SparqlClient,
    call: Call,
    template: str,
    start: int,
    parameters: Callable[[Sequence[Key]], Mapping[str, Parameter]],
    read: Callable[[Sequence[Key], Sequence[Row], Mark], dict[Key, Answer]],
    split: Callable[[Sequence[Key]], Awaitable[Sequence[Sequence[Key]]]] = in_halves,
) -> Batches[Key, Answer]:
    """Return the batched question that a template asks.

    Args:
        client: Sends it.
        call: The call that asks.
        template: The template.
        start: Keys in one query before anything was learnt.
        parameters: The template's parameters for one batch.
        read: See `Batches`.
        split: See `Batches`.
    """
    return Batches(
        lambda batch: client.rows(template, call, parameters(batch)),
        read,
        client.flow.batch_size(template, start),
        client.flow.at_once,
        client.vetting(call),
        split,
        client.flow.clock,
        tally=call.tally,
    )


def _is_legal(key: str | tuple[str, ...]) -> bool:
    return is_iri(key) if isinstance(key, str) else all(map(is_iri, key))


def _iris(key: str | tuple[str, ...]) -> tuple[str, ...]:
    return (key,) if isinstance(key, str) else key
