"""Many IDs, few queries: batches that are split where an answer is too long or one ID spoils the rest."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, filterfalse
from typing import Any, Generic, TypeVar, cast

from gateway.errors import DeadlinePassed, Fault, QueryRefused, Throttled
from gateway.flow.control import BatchSize
from gateway.graph.call import Call
from gateway.graph.computing import Slices, in_thread
from gateway.graph.values import WHOLE, Mark, Marked
from gateway.sparql.client import SparqlClient
from gateway.sparql.learned import has_escape, is_doubtful, refused_iri
from gateway.sparql.table import EMPTY, EndedEarly, EndUnproven, Overflow, Table, UnexpectedRows
from gateway.sparql.template import Parameter
from gateway.terms.iri import are_ordinary, is_iri, is_plain_iri

Key = TypeVar("Key", bound="str | tuple[str, ...]")
Answer = TypeVar("Answer", bound=Marked)

BatchReader = Callable[[Sequence[Key], Table, Mark], dict[Key, Answer]]
"""Turns the rows of a batch into one answer for each key, under a mark; a KeyError says that a row is about another.

It runs in a thread where there are many rows, so it changes nothing but what it returns.
"""

Splitter = Callable[[Sequence[Key], Call], Awaitable[Sequence[Sequence[Key]]]]
"""Takes a batch apart whose answer has too many rows."""

_TERMS = 4_000
"""IRIs of keys, and of what stands beside them, in one query at most: one engine breaks above 4,096 terms."""

_FEW_ROWS = 4_000
"""Rows that are read in some milliseconds."""

_FEW_KEYS = 10_000
"""Keys that are looked at in a millisecond or two."""

_LONG_TEXT = 50_000
"""Characters of IRIs that take some milliseconds to write into a query."""

_HOPELESS = 12
"""Parts of a batch that fail in a row before the rest of it is given up: more than it takes to get down to one ID."""


async def in_halves(batch: Sequence[Key], _: Call) -> Sequence[Sequence[Key]]:
    """Split a batch of two or more in the middle."""
    middle = len(batch) // 2
    return [batch[:middle], batch[middle:]]


@dataclass(frozen=True)
class BatchedQuery(Generic[Key, Answer]):
    """A question about many keys, which one template asks in batches.

    Attributes:
        client: Sends the queries.
        template: The template.
        first_size: Keys in one query before anything was learnt.
        parameters: Returns the template's parameters for a batch.
        read: Reads the answers.
        split: Takes a batch apart whose answer has too many rows.
        beside: IRIs that stand in every query beside the keys, one for each time that it stands there.
        beside_each_key: Whether they stand there once for each key.
        bindings: Returns the blank nodes that are bound beside the query of a batch, by variable.
    """

    client: SparqlClient
    template: str
    first_size: int
    parameters: Callable[[Sequence[Key]], Mapping[str, Parameter]]
    read: BatchReader[Key, Answer]
    split: Splitter[Key] = in_halves
    beside: Sequence[str] = ()
    beside_each_key: bool = False
    bindings: Callable[[Sequence[Key]], Mapping[str, str]] | None = None

    @property
    def most_keys(self) -> int:
        """Keys in one query at most; each stands there twice at most."""
        if self.beside_each_key:
            return max(1, _TERMS // (2 + len(self.beside)))
        return max(1, (_TERMS - len(self.beside)) // 2)

    def run(
        self, keys: Iterable[Key], call: Call, on_answers: Callable[[Mapping[Key, Answer]], None] | None = None
    ) -> Coroutine[Any, Any, dict[Key, Answer]]:
        """Ask about all keys, several batches at once; a fault ends up in the marks of its keys.

        `on_answers` receives the answers that come once the last batch has been sent.
        """
        # A question about some predicates has other answers than one about all, and each learns from its own.
        name = f"{self.template}, steered" if self.beside else self.template
        size = self.client.flow.batch_size(name, self.first_size)
        return _Run(self, call, size).all(list(dict.fromkeys(keys)), on_answers)


def about_nodes(
    client: SparqlClient,
    template: str,
    first_size: int,
    given: Mapping[str, Parameter],
    read: BatchReader[str, Answer],
    *,
    split: Splitter[str] = in_halves,
    beside: Sequence[str] = (),
    beside_each_key: bool = False,
) -> BatchedQuery[str, Answer]:
    """Return a question about nodes, which the template has as `nodes` beside what is given."""
    return BatchedQuery(
        client, template, first_size, lambda batch: {"nodes": batch, **given}, read, split, beside, beside_each_key
    )


@dataclass(frozen=True, slots=True)
class _Run(Generic[Key, Answer]):
    """A batched query while it is asked for one call; `size` learns from what happens."""

    query: BatchedQuery[Key, Answer]
    call: Call
    size: BatchSize

    async def all(
        self, keys: Sequence[Key], on_answers: Callable[[Mapping[Key, Answer]], None] | None
    ) -> dict[Key, Answer]:
        """Ask about distinct keys."""
        slices = Slices()
        try:
            doubts_escapes = self.query.client.doubts_escapes
            legal, doubtful = await in_thread(
                self.call, lambda _: _checked(keys, doubts_escapes=doubts_escapes), unless=len(keys) <= _FEW_KEYS
            )
            answers = await self._rewritten(legal, doubtful)
        except DeadlinePassed as late:
            return self._failed(keys, late)
        waiting = deque(filterfalse(answers.__contains__, legal))
        at_once = self.query.client.flow.at_once
        part = self.size.part(len(waiting), at_once)

        async def work() -> None:
            late: Fault | None = None
            while waiting:
                # Where the time is used up, no batch waits for anything.
                await slices.end_one()
                if not waiting:
                    break
                batch = self._next_batch(waiting, part)
                if sum(map(len, _iris_of(batch))) > _LONG_TEXT:
                    # Other queries about the same nodes are written at the same time.
                    await slices.begin()
                # To write a query that can only fail takes longer than all else.
                came = await self._one(batch, []) if late is None else self._failed(batch, late)
                answers.update(came)
                late = late or self._late(came)
                if on_answers is not None and not waiting:
                    on_answers(came)

        async with asyncio.TaskGroup() as tasks:
            for _ in range(min(at_once, self._batches(waiting, part))):
                tasks.create_task(work())
        if len(legal) < len(keys):
            refused = QueryRefused("An IRI of the graph is none by the SPARQL grammar, so it cannot be asked for.")
            answers |= self._failed([key for key in keys if not _is_legal(key)], refused)
        return answers

    def _late(self, came: Mapping[Key, Answer]) -> Fault | None:
        """Return why a batch failed if the time is used up, so that the next ones fail for the same reason."""
        fault = next(iter(came.values())).mark.fault
        is_over = self.call.deadline.seconds_left <= 0
        return fault if is_over and isinstance(fault, DeadlinePassed | Throttled) else None

    async def _rewritten(self, keys: Sequence[Key], doubtful: Sequence[Key]) -> dict[Key, Answer]:
        """Return the answers about keys that have an IRI which the engine reads as another; no query can ask for it.

        Args:
            keys: All keys.
            doubtful: Those of them that may have such an IRI.

        Raises:
            DeadlinePassed: The time was not enough to look at them.
        """
        beside = self.query.beside
        if not keys or not (beside or doubtful):
            return {}
        rewritten = await self.query.client.rewritten(chain(beside, _iris_of(doubtful)), self.call)
        answers: dict[Key, Answer] = {}
        if rewritten and (odd := next((iri for iri in beside if iri in rewritten), None)) is not None:
            return self._failed(keys, rewritten[odd])
        for key in doubtful if rewritten else ():
            faults = [rewritten[iri] for iri in _iris(key) if iri in rewritten]
            if faults:
                answers |= self._failed([key], faults[0])
        return answers

    def _batches(self, waiting: deque[Key], part: int) -> int:
        return math.ceil(len(waiting) / min(part, self.size.now, self.query.most_keys)) if waiting else 0

    def _next_batch(self, waiting: deque[Key], part: int) -> Sequence[Key]:
        """Take keys for one query; the remaining batches get the same size."""
        batches = self._batches(waiting, part)
        return [waiting.popleft() for _ in range(math.ceil(len(waiting) / batches))]

    async def _one(self, batch: Sequence[Key], failures: list[Fault]) -> dict[Key, Answer]:
        """Ask about a batch; `failures` are those of the parts before it, back to the last that was answered."""
        if len(failures) >= _HOPELESS:
            return self._failed(batch, failures[-1])
        query, clock = self.query, self.query.client.flow.clock
        begun = clock()
        try:
            parameters = query.parameters(batch)
            if query.bindings is None:
                answer = await query.client.rows(query.template, self.call, parameters)
            else:
                bindings = query.bindings(batch)
                answer = await query.client.rows(query.template, self.call, parameters, bindings=bindings)
            rows, is_cut = answer.part()
            answers = None
            if not is_cut:
                answers = await self._read(batch, rows, WHOLE)
        except Fault as fault:
            return await self._after(fault, batch, failures)
        if isinstance(answer.missing, EndedEarly):
            return await self._after_early_end(batch, rows, answer.missing, failures)
        if isinstance(answer.missing, EndUnproven):
            return await self._under(Mark(answer.missing, at_least=len(rows)), batch, rows)
        if answers is None:
            return await self._after_cut(batch, rows, failures)
        failures.clear()
        self.size.worked(len(batch), len(rows), clock() - begun)
        return answers

    async def _after(self, fault: Fault, batch: Sequence[Key], failures: list[Fault]) -> dict[Key, Answer]:
        """Do what a fault leaves to be done about a batch."""
        if fault.smaller:
            return await self._in_parts(batch, fault, failures)
        if isinstance(fault, QueryRefused | UnexpectedRows):
            return await self._without_the_refused(batch, fault, failures)
        return self._failed(batch, fault)

    async def _after_cut(self, batch: Sequence[Key], rows: Table, failures: list[Fault]) -> dict[Key, Answer]:
        """Ask about fewer at once where not all rows came; one key has those that came, under a mark that says so."""
        if len(batch) > 1:
            self.size.failed(len(batch))
            return await self._each(await self.query.split(batch, self.call), failures)
        return await self._under(Mark(Overflow(about_one=True), at_least=len(rows) + 1), batch, rows)

    async def _after_early_end(
        self, batch: Sequence[Key], rows: Table, fault: EndedEarly, failures: list[Fault]
    ) -> dict[Key, Answer]:
        """Ask about fewer at once where an answer ended without its last row; one key has what came, marked as cut."""
        if len(batch) > 1 or not rows:
            return await self._in_parts(batch, fault, failures)
        failures.append(fault)
        return await self._under(Mark(fault, at_least=len(rows)), batch, rows)

    async def _under(self, mark: Mark, batch: Sequence[Key], rows: Table) -> dict[Key, Answer]:
        """Read the rows that came, under a mark that says why these may not be all."""
        try:
            return await self._read(batch, rows, mark)
        except (UnexpectedRows, DeadlinePassed) as unread:
            return self._failed(batch, unread)

    async def _in_parts(self, batch: Sequence[Key], fault: Fault, failures: list[Fault]) -> dict[Key, Answer]:
        """Ask about fewer at once what was too much, as long as some of it succeeds."""
        self.size.failed(len(batch))
        failures.append(fault)
        if len(batch) == 1:
            return self._failed(batch, fault)
        return await self._each(await in_halves(batch, self.call), failures)

    async def _without_the_refused(
        self, batch: Sequence[Key], refused: Fault, failures: list[Fault]
    ) -> dict[Key, Answer]:
        """Find the IDs that the engine refuses or rewrites, and answer the others of the batch.

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
        return await self._each(await in_halves(batch, self.call), failures)

    async def _each(self, parts: Iterable[Sequence[Key]], failures: list[Fault]) -> dict[Key, Answer]:
        self.call.tally.splits += 1
        answers: dict[Key, Answer] = {}
        for part in parts:
            answers |= await self._one(part, failures)
        return answers

    async def _read(self, batch: Sequence[Key], rows: Table, mark: Mark) -> dict[Key, Answer]:
        try:
            return await in_thread(
                self.call, lambda _: self.query.read(batch, rows, mark), unless=len(rows) <= _FEW_ROWS
            )
        except KeyError as error:
            raise UnexpectedRows from error

    def _failed(self, keys: Sequence[Key], fault: Fault) -> dict[Key, Answer]:
        return self.query.read(keys, EMPTY, Mark(fault))


def _checked(keys: Sequence[Key], *, doubts_escapes: bool) -> tuple[Sequence[Key], Sequence[Key]]:
    """Return the legal ones of some keys, and those of them that an engine may read as others."""
    if are_ordinary(_iris_of(keys)) and not (doubts_escapes and has_escape(_iris_of(keys))):
        return keys, ()
    legal = [key for key in keys if _is_legal(key)]
    return legal, [key for key in legal if any(is_doubtful(iri, doubts_escapes=doubts_escapes) for iri in _iris(key))]


def _is_legal(key: str | tuple[str, ...]) -> bool:
    return is_iri(key) if isinstance(key, str) else all(map(is_iri, key))


def _iris_of(keys: Sequence[Key]) -> Iterable[str]:
    """Return the IRIs of keys, which are all of one kind."""
    return cast("Sequence[str]", keys) if not keys or isinstance(keys[0], str) else chain.from_iterable(keys)


def _iris(key: str | tuple[str, ...]) -> tuple[str, ...]:
    return (key,) if isinstance(key, str) else key
