"""Single flight: two callers never fetch the same key at once; the second waits for the first one's fetch."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Hashable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from gateway.errors import BudgetSpent, DeadlinePassed, QuotaSpent
from gateway.graph.call import Call, deadline_passed
from gateway.graph.computing import Slices
from gateway.graph.values import Mark, Marked

_AT_ONCE = 100
"""Answers that are looked up or stored between two looks at the clock."""

Key = TypeVar("Key", bound=Hashable)
Answer = TypeVar("Answer", bound=Marked)


@dataclass(frozen=True, slots=True)
class Lookup(Generic[Key, Answer]):
    """How the answers of one primitive are found, fetched and stored, key by key.

    Attributes:
        name: The primitive and its parameters. Two lookups with equal names have equal answers.
        cached: Returns the stored answer about a key, or None.
        fetch: Asks the graph about keys, on the budget of the caller.
        store: Stores answers, those of them that are stored.
        failed: Returns an answer that has only a mark.
    """

    name: Hashable
    cached: Callable[[Key], Answer | None]
    fetch: Callable[[Sequence[Key]], Awaitable[Mapping[Key, Answer]]]
    store: Callable[[Mapping[Key, Answer]], None]
    failed: Callable[[Mark], Answer]


@dataclass(slots=True, eq=False)
class _Fetch:
    """One fetch, its waiting callers, and whether it was cancelled because none waited any more."""

    task: asyncio.Task[Mapping[Any, Any]]
    waiters: int = 0
    is_cancelled: bool = False


class SingleFlight:
    """All fetches in progress.

    Attributes:
        hits: Answers so far that were stored, or followed from stored ones.
        misses: Answers so far that were fetched.
        shared: Answers so far that another caller's fetch brought.
    """

    def __init__(self) -> None:
        self.hits = 0
        self.misses = 0
        self.shared = 0
        self._in_progress: dict[Hashable, dict[Hashable, _Fetch]] = {}
        self._generation = 0

    async def answers(self, lookup: Lookup[Key, Answer], keys: Collection[Key], call: Call) -> dict[Key, Answer]:
        """Return an answer for each key: stored, from another caller's fetch in progress, or fetched.

        The caller pays for its own fetch only, and waits for others no longer than its own deadline.
        """
        found: dict[Key, Answer] = {}
        left: Sequence[Key] = list(dict.fromkeys(keys))
        while left:
            unknown, turns = await self._without_stored(lookup, left, found, call)
            # While others had a turn, one of them may have stored an answer.
            own, others = self._begin(lookup, unknown, found, call, is_stored=bool(turns))
            async with _waiting_for([*others] if own is None else [*others, own]):
                if own is not None:
                    # No deadline here: the store has the caller's, and marks what it could not ask in time.
                    await asyncio.wait({own.task})
                if others:
                    with call.tally.waiting():
                        await asyncio.wait({fetch.task for fetch in others}, timeout=call.deadline.seconds_left)
            if own is not None:
                found.update(own.task.result())
            left = self._take_shared(lookup, others, found, call)
        return {key: found[key] for key in keys}

    def forget(self) -> None:
        """Detach the fetches in progress: they are not stored, and later callers do not wait for them."""
        self._generation += 1
        self._in_progress = {}

    async def _without_stored(
        self, lookup: Lookup[Key, Answer], keys: Sequence[Key], found: dict[Key, Answer], call: Call
    ) -> tuple[Sequence[Key], int]:
        """Add stored answers to `found`; return the other keys, and how often others had a turn meanwhile."""
        unknown: list[Key] = []
        slices = Slices()
        for at in range(0, len(keys), _AT_ONCE):
            if at:
                await slices.end_one()
            for key in keys[at : at + _AT_ONCE]:
                answer = lookup.cached(key)
                if answer is None:
                    unknown.append(key)
                else:
                    found[key] = answer
        self.count(call, hits=len(keys) - len(unknown), misses=0)
        return unknown, slices.turns

    def _begin(
        self,
        lookup: Lookup[Key, Answer],
        keys: Sequence[Key],
        found: dict[Key, Answer],
        call: Call,
        *,
        is_stored: bool,
    ) -> tuple[_Fetch | None, dict[_Fetch, list[Key]]]:
        """Return a fetch of keys, and the fetches of others with theirs; answers may be stored by now."""
        own: list[Key] = []
        others: dict[_Fetch, list[Key]] = {}
        in_progress = self._in_progress.get(lookup.name, {})
        if not in_progress and not is_stored:
            own += keys
        for key in () if own else keys:
            answer = lookup.cached(key) if is_stored else None
            if answer is not None:
                found[key] = answer
                continue
            fetch = in_progress.get(key)
            if fetch is None or fetch.task.done():
                own.append(key)
            else:
                others.setdefault(fetch, []).append(key)
        if own or others:
            call.freshness.asked()
        self.count(call, hits=len(keys) - len(own) - sum(map(len, others.values())), misses=len(own))
        return self._start_fetch(lookup, own) if own else None, others

    def _start_fetch(self, lookup: Lookup[Key, Answer], keys: Sequence[Key]) -> _Fetch:
        task = asyncio.create_task(self._fetch(lookup, keys, self._generation))
        fetch = _Fetch(task)
        # `forget` puts another mapping in its place, which this fetch must leave alone.
        all_in_progress = self._in_progress
        in_progress = all_in_progress.setdefault(lookup.name, {})
        in_progress.update(dict.fromkeys(keys, fetch))

        def remove(task: asyncio.Task[Mapping[Any, Any]]) -> None:
            for key in keys:
                if in_progress.get(key) is fetch:
                    del in_progress[key]
            if not in_progress and all_in_progress.get(lookup.name) is in_progress:
                del all_in_progress[lookup.name]
            if not task.cancelled():
                # All waiters may have left; asyncio logs an exception that nobody retrieves.
                task.exception()

        task.add_done_callback(remove)
        return fetch

    async def _fetch(self, lookup: Lookup[Key, Answer], keys: Sequence[Key], generation: int) -> Mapping[Key, Answer]:
        answers = await lookup.fetch(keys)
        slices = Slices()
        for at in range(0, len(keys), _AT_ONCE):
            if generation != self._generation:
                break
            lookup.store({key: answers[key] for key in keys[at : at + _AT_ONCE]})
            await slices.end_one()
        return answers

    def _take_shared(
        self,
        lookup: Lookup[Key, Answer],
        others: Mapping[_Fetch, Sequence[Key]],
        found: dict[Key, Answer],
        call: Call,
    ) -> list[Key]:
        """Add the answers of others' fetches to `found`; return the keys that this caller has to ask about itself."""
        left: list[Key] = []
        for fetch, keys in others.items():
            if not fetch.task.done():
                late = lookup.failed(Mark(deadline_passed()))
                found.update(dict.fromkeys(keys, late))
                continue
            if fetch.task.cancelled() or fetch.task.exception() is not None:
                left += keys
                continue
            answers: Mapping[Key, Answer] = fetch.task.result()
            shared = {key: answers[key] for key in keys if not _concerns_its_caller_only(answers[key].mark)}
            found |= shared
            left += [key for key in keys if key not in shared]
            self.shared += len(shared)
            call.note_cache(hits=len(shared), misses=0)
        return left

    def count(self, call: Call, *, hits: int, misses: int) -> None:
        """Count hits and misses, for all calls and for this one."""
        self.hits += hits
        self.misses += misses
        call.note_cache(hits=hits, misses=misses)


def _concerns_its_caller_only(mark: Mark) -> bool:
    """Return whether the answer is missing because that caller's own time, budget or quota was used up."""
    return isinstance(mark.fault, DeadlinePassed | BudgetSpent | QuotaSpent)


@asynccontextmanager
async def _waiting_for(fetches: Collection[_Fetch]) -> AsyncIterator[None]:
    """Count the caller as a waiter; a fetch without waiters is cancelled."""
    for fetch in fetches:
        fetch.waiters += 1
    try:
        yield
    finally:
        for fetch in fetches:
            fetch.waiters -= 1
        deserted = {fetch for fetch in fetches if not fetch.waiters and not fetch.task.done()}
        for fetch in deserted:
            if not fetch.is_cancelled:
                fetch.is_cancelled = True
                fetch.task.cancel()
        if deserted:
            # When a call has ended, nothing of it is in progress.
            await asyncio.wait({fetch.task for fetch in deserted})
