"""Many IDs, few queries: batches that are split where an answer is too long or one ID spoils the rest."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from gateway.errors import EndpointFault, Fault, QueryRefused
from gateway.graph.values import Mark
from gateway.sparql.asking import Overflow
from gateway.sparql.results import Row
from gateway.terms.iri import is_iri, is_plain_iri


class _ForeignRowsError(EndpointFault):
    """The rows lack a variable, or are about IRIs that were not asked for."""

    def __init__(self) -> None:
        super().__init__(
            "The endpoint's rows are not about what the query asked for.",
            next_step="Whoever runs this gateway should check the endpoint.",
        )


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


@dataclass(frozen=True, slots=True)
class Batches(Generic[Key, Answer]):
    """A batched question.

    Attributes:
        ask: Sends one batch and returns its rows.
        read: Turns the rows of a batch into one answer for each key, under a given mark.
        size: Keys in one query at most.
        vet: Tells which IRIs the endpoint would take for others, and why they cannot be asked for.
    """

    ask: Callable[[Sequence[Key]], Awaitable[Sequence[Row]]]
    read: Callable[[Sequence[Key], Sequence[Row], Mark], dict[Key, Answer]]
    size: int
    vet: Callable[[Iterable[str]], Awaitable[Mapping[str, Fault]]] = _none_rewritten

    async def run(self, keys: Iterable[Key]) -> dict[Key, Answer]:
        """Ask about all keys, several batches at once; a fault ends up in the marks of its keys."""
        distinct = list(dict.fromkeys(keys))
        legal = [key for key in distinct if all(is_iri(iri) for iri in _iris(key))]
        rewritten = await self.vet(iri for key in legal for iri in _iris(key))
        answers: dict[Key, Answer] = {}
        for key in legal:
            faults = [rewritten[iri] for iri in _iris(key) if iri in rewritten]
            if faults:
                answers |= self._failed([key], faults[0])
        legal = [key for key in legal if key not in answers]
        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(self._one(batch)) for batch in _chunks(legal, self.size)]
        for task in running:
            answers |= task.result()
        illegal = [key for key in distinct if key not in answers]
        if illegal:
            refused = QueryRefused("An IRI of the graph is none by the SPARQL grammar, so it cannot be asked for.")
            answers |= self._failed(illegal, refused)
        return answers

    async def _one(self, batch: Sequence[Key]) -> dict[Key, Answer]:
        try:
            return self._read(batch, await self.ask(batch), Mark())
        except Overflow as cut:
            if len(batch) > 1:
                return await self._each(_halves(batch))
            return self._read_cut(batch, cut)
        except (QueryRefused, _ForeignRowsError) as fault:
            return await self._without_the_refused(batch, fault)
        except Fault as fault:
            return self._failed(batch, fault)

    async def _without_the_refused(self, batch: Sequence[Key], refused: Fault) -> dict[Key, Answer]:
        """Find the IDs that the engine refuses or rewrites, so that the others of the batch are still answered.

        Only an ID that some engine may refuse is suspected; where none is, the refusal is about the query itself.
        """
        suspects = [key for key in batch if not all(is_plain_iri(iri) for iri in _iris(key))]
        if not suspects or len(batch) == 1:
            return self._failed(batch, refused)
        if len(suspects) < len(batch):
            plain = [key for key in batch if key not in set(suspects)]
            return await self._each([plain, suspects])
        return await self._each(_halves(batch))

    async def _each(self, parts: Iterable[Sequence[Key]]) -> dict[Key, Answer]:
        answers: dict[Key, Answer] = {}
        for part in parts:
            answers |= await self._one(part)
        return answers

    def _read(self, batch: Sequence[Key], rows: Sequence[Row], mark: Mark) -> dict[Key, Answer]:
        try:
            return self.read(batch, rows, mark)
        except (KeyError, TypeError, AttributeError) as error:
            raise _ForeignRowsError from error

    def _read_cut(self, batch: Sequence[Key], cut: Overflow) -> dict[Key, Answer]:
        try:
            return self._read(batch, cut.rows, Mark(cut, at_least=len(cut.rows) + 1))
        except _ForeignRowsError as fault:
            return self._failed(batch, fault)

    def _failed(self, keys: Sequence[Key], fault: Fault) -> dict[Key, Answer]:
        return self.read(keys, (), Mark(fault))


def _iris(key: str | tuple[str, ...]) -> tuple[str, ...]:
    return (key,) if isinstance(key, str) else key


def _chunks(keys: Sequence[Key], size: int) -> Iterator[Sequence[Key]]:
    for start in range(0, len(keys), size):
        yield keys[start : start + size]


def _halves(batch: Sequence[Key]) -> tuple[Sequence[Key], Sequence[Key]]:
    middle = len(batch) // 2
    return batch[:middle], batch[middle:]
