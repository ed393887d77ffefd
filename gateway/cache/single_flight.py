"""Single flight: what one caller is being told, another waits for instead of asking as well."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Hashable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from gateway.errors import BudgetSpent, DeadlinePassed, QuotaSpent
from gateway.graph.call import Call
from gateway.graph.deadline import deadline_passed
from gateway.graph.values import Mark, Marked


Key = TypeVar("Key", bound=Hashable)
Answer = TypeVar("Answer", bound=Marked)


@dataclass(frozen=True, slots=True)
class Question(Generic[Key, Answer]):
    """A question about several keys, each of which has an answer of its own.

    Attributes:
        name: What makes two questions about the same key one: the primitive and its parameters.
        known: Returns what is known about a key without asking, or None.
        fetch: Asks about keys, on the budget of the caller.
        keep: Remembers an answer, if it is one to be remembered.
        failed: Makes an answer that is nothing but a mark.
    """

    name: Hashable
    known: Callable[[Key], Answer | None]
    fetch: Callable[[Sequence[Key]], Awaitable[Mapping[Key, Answer]]]
    keep: Callable[[Key, Answer], None]
    failed: Callable[[Mark], Answer]


@dataclass(slots=True, eq=False)
class _Fetch:
    """One fetch, and how many callers want what it brings.

    Attributes:
        task: The fetch. Its answers are those to the question under which it was begun.
        waiters: Callers that wait for it.
        given_up: Whether it was cancelled because there were none.
    """

    task: asyncio.Task[Mapping[Any, Any]]
    waiters: int = 0
    given_up: bool = False


@dataclass(slots=True)
class _Plan(Generic[Key]):
    """Who answers what of a call: its own fetch, and those of others."""

    own: _Fetch | None = None
    others: dict[_Fetch, list[Key]] = field(default_factory=dict)


@dataclass(slots=True)
class Counts:
    """Answers so far: known before, fetched, and taken from another caller's fetch."""

    hits: int = 0
    misses: int = 0
    waited: int = 0


class SingleFlight:
    """All fetches that are under way."""

    def __init__(self) -> None:
        self.counts = Counts()
        self._under_way: dict[Hashable, dict[Hashable, _Fetch]] = {}
        self._generation = 0

    async def ask(self, question: Question[Key, Answer], keys: Collection[Key], call: Call) -> dict[Key, Answer]:
        """Return an answer for each key: what is known, what another caller is being told, and the rest by asking.

        The caller pays for what it asks itself, and waits for others no longer than its own deadline.
        """
        found: dict[Key, Answer] = {}
        left: Sequence[Key] = list(dict.fromkeys(keys))
        while left:
            now = self._begin(question, left, found, call)
            async with self._waiting_for(now):
                if now.own is not None:
                    # No deadline here: the store keeps the caller's, and marks what it could not ask in time.
                    await asyncio.wait({now.own.task})
                if now.others:
                    with call.tally.waiting():
                        await asyncio.wait({flight.task for flight in now.others}, timeout=call.deadline.seconds_left)
            if now.own is not None:
                found.update(now.own.task.result())
            left = self._take(question, now.others, found, call)
        return {key: found[key] for key in keys}

    def forget(self) -> None:
        """Let no fetch that is under way be remembered, or be waited for by anyone else."""
        self._generation += 1
        self._under_way = {}

    def _begin(
        self, question: Question[Key, Answer], keys: Sequence[Key], found: dict[Key, Answer], call: Call
    ) -> _Plan[Key]:
        """Find what is known, who is being told what else, and ask for the rest."""
        now: _Plan[Key] = _Plan()
        mine: list[Key] = []
        under_way = self._under_way.get(question.name, {})
        for key in keys:
            answer = question.known(key)
            if answer is not None:
                found[key] = answer
                continue
            flight = under_way.get(key)
            if flight is None or flight.task.done():
                mine.append(key)
            else:
                now.others.setdefault(flight, []).append(key)
        if mine:
            now.own = self._start_fetch(question, mine)
        self.count(call, hits=len(keys) - len(mine) - sum(map(len, now.others.values())), misses=len(mine))
        return now

    def _start_fetch(self, question: Question[Key, Answer], keys: Sequence[Key]) -> _Fetch:
        task = asyncio.create_task(self._fetch(question, keys, self._generation))
        flight = _Fetch(task)
        everyones = self._under_way
        under_way = everyones.setdefault(question.name, {})
        under_way.update(dict.fromkeys(keys, flight))

        def finish(task: asyncio.Task[Mapping[Any, Any]]) -> None:
            for key in keys:
                if under_way.get(key) is flight:
                    del under_way[key]
            if not under_way and everyones.get(question.name) is under_way:
                del everyones[question.name]
            if not task.cancelled():
                # Whoever waited may have left; an error that nobody looks at would be reported as lost.
                task.exception()

        task.add_done_callback(finish)
        return flight

    async def _fetch(
        self, question: Question[Key, Answer], keys: Sequence[Key], generation: int
    ) -> Mapping[Key, Answer]:
        answers = await question.fetch(keys)
        if generation == self._generation:
            for key in keys:
                question.keep(key, answers[key])
        return answers

    @asynccontextmanager
    async def _waiting_for(self, now: _Plan[Key]) -> AsyncIterator[None]:
        """Wait for some fetches; one that nobody waits for any more is cancelled."""
        flights = [*now.others, *([now.own] if now.own is not None else [])]
        for flight in flights:
            flight.waiters += 1
        try:
            yield
        finally:
            for flight in flights:
                flight.waiters -= 1
            deserted = {flight for flight in flights if not flight.waiters and not flight.task.done()}
            for flight in deserted:
                if not flight.given_up:
                    flight.given_up = True
                    flight.task.cancel()
            if deserted:
                # A call that is over has nothing under way.
                await asyncio.wait({flight.task for flight in deserted})

    def _take(
        self,
        question: Question[Key, Answer],
        others: Mapping[_Fetch, Sequence[Key]],
        found: dict[Key, Answer],
        call: Call,
    ) -> list[Key]:
        """Take over what others were told; return the keys about which they were told nothing that concerns us."""
        left: list[Key] = []
        for flight, keys in others.items():
            if not flight.task.done():
                late = question.failed(Mark(deadline_passed()))
                found.update(dict.fromkeys(keys, late))
                continue
            if flight.task.cancelled() or flight.task.exception() is not None:
                left += keys
                continue
            answers: Mapping[Key, Answer] = flight.task.result()
            taken = {key: answers[key] for key in keys if not _is_of_its_caller(answers[key].mark)}
            found |= taken
            left += [key for key in keys if key not in taken]
            self.counts.waited += len(taken)
            call.note_cache(hits=len(taken), misses=0)
        return left

    def count(self, call: Call, *, hits: int, misses: int) -> None:
        """Count answers that were known, and such as were not, for all calls and for this one."""
        self.counts.hits += hits
        self.counts.misses += misses
        call.note_cache(hits=hits, misses=misses)


def _is_of_its_caller(mark: Mark) -> bool:
    """Tell whether what is missing is missing because that caller's allowance was used up."""
    return isinstance(mark.fault, DeadlinePassed | BudgetSpent | QuotaSpent)
