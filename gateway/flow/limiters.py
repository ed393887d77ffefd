"""Slots for requests, and who gets the next one.

How long a call will take is not known before, but one that has had much is likely to want much more, so short ones pass
long ones (Nuyens and Wierman, "The Foreground-Background queue: A survey", Performance Evaluation 65, 2008). By itself
that could starve long ones, and a slot that a long one holds is not free when a short one comes. So now and then the
one that has waited longest is next, and long ones leave a slot free while there are short ones.

First come, first served would have a requester with one request wait behind all requests of a requester with many.
Here each waiting requester gets one slot a round, in the order in which they began to wait; within a requester, the
first request goes first (Nagle, RFC 970, section "Fairness in packet switching systems").
"""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import AsyncIterator, Hashable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count, islice
from typing import Final, Generic, Literal, TypeVar
from weakref import WeakKeyDictionary

from gateway.graph.call import Requester
from gateway.telemetry.tally import Clock

AnyRequester = TypeVar("AnyRequester", bound=Hashable)


@dataclass(frozen=True, slots=True)
class _Request:
    """A request that waits for a slot: its place among all that came, and what wakes it."""

    number: int
    turn: asyncio.Future[None]


class Limiter(ABC, Generic[AnyRequester]):
    """A limited number of slots, of one event loop.

    Args:
        total: Slots in all.

    Attributes:
        total: Slots in all.
        in_use: Slots that are held; more than `total` for a while, if that was lowered.
    """

    def __init__(self, total: int) -> None:
        self.in_use = 0
        self.total = total
        self._numbers = count()
        # By requester, each requester's first request first; no queue is empty.
        self._queues: dict[AnyRequester, deque[_Request]] = {}

    def resize(self, total: int) -> None:
        """Have another number of slots in all, and grant those that are free now."""
        self.total = total
        self._grant()

    @property
    def waiting(self) -> int:
        """Requests that wait for a slot."""
        return sum(not request.turn.cancelled() for queue in self._queues.values() for request in queue)

    @asynccontextmanager
    async def slot(self, requester: AnyRequester) -> AsyncIterator[None]:
        """Hold a slot during the block, after a wait for it."""
        await self.acquire(requester)
        try:
            yield
        finally:
            self.release(requester)

    async def acquire(self, requester: AnyRequester) -> None:
        """Wait for a slot, and hold it until `release`; a wait that is cancelled holds none."""
        request = _Request(next(self._numbers), asyncio.get_running_loop().create_future())
        self._queues.setdefault(requester, deque()).append(request)
        self._grant()
        try:
            await request.turn
        except asyncio.CancelledError:
            if request.turn.done() and not request.turn.cancelled():
                # The slot was granted before the task could wake.
                self.release(requester)
            else:
                self._leave(requester, request)
            raise

    def release(self, requester: AnyRequester) -> None:
        """Give a slot back, to the next that waits."""
        self.in_use -= 1
        self._changed(requester, -1)
        self._grant()

    def _grant(self) -> None:
        while requesters := self._next():
            [requester] = requesters
            queue = self._queues[requester]
            turn = queue.popleft().turn
            if not queue:
                del self._queues[requester]
            if not turn.cancelled():
                turn.set_result(None)
                self.in_use += 1
                self._changed(requester, 1)

    def _leave(self, requester: AnyRequester, request: _Request) -> None:
        queue = self._queues.get(requester, deque())
        if request in queue:
            queue.remove(request)
            if not queue:
                del self._queues[requester]

    @abstractmethod
    def _next(self) -> Sequence[AnyRequester]:
        """Return the one requester whose first request is next; none where no slot is free for those that wait."""

    @abstractmethod
    def _changed(self, requester: AnyRequester, by: Literal[1, -1]) -> None:
        """Note that a requester holds one slot more, or one less."""


LONG_SECONDS: Final = 0.25
"""Slots held for so long in all make a call a long one."""

PRESENT_SECONDS: Final = 1.0
"""There are short calls as long as one asked for a slot this recently."""

EVERY: Final = 4
"""One of so many slots goes to whoever has waited longest."""


@dataclass(slots=True)
class _Share:
    """What a requester has had: seconds of slots until a time, the slots it holds since then, and the latest one."""

    seconds: float = 0.0
    held: int = 0
    since: float = 0.0
    latest: int = 0

    def at(self, now: float) -> float:
        return self.seconds + self.held * (now - self.since)


class LeastServedLimiter(Limiter[Requester]):
    """Slots that requesters acquire and release, of one event loop.

    A requester's service is the time for which it has held slots. A request waits for `EVERY` slots at most to each
    request that was there before it. Of two slots and more, long requesters hold one less while there are short ones;
    else no slot is free while anybody waits.

    Args:
        total: Slots in all.
        clock: A monotonic clock, in seconds.
    """

    def __init__(self, total: int, clock: Clock = time.monotonic) -> None:
        super().__init__(total)
        self._clock = clock
        self._grants = 0
        # A requester is forgotten with its call.
        self._shares: WeakKeyDictionary[Requester, _Share] = WeakKeyDictionary()
        self._holding: set[Requester] = set()
        # When each short requester asked last, the earliest first.
        self._latest_short: WeakKeyDictionary[Requester, float] = WeakKeyDictionary()
        self._wake: asyncio.TimerHandle | None = None

    async def acquire(self, requester: Requester) -> None:
        """Wait for a slot, and hold it until `release`; a wait that is cancelled holds none."""
        now = self._clock()
        self._shares.setdefault(requester, _Share(since=now))
        self._latest_short.pop(requester, None)
        if not self._is_long(requester, now):
            self._latest_short[requester] = now
        for other, asked in list(self._latest_short.items()):
            if now - asked < PRESENT_SECONDS:
                break
            del self._latest_short[other]
        await super().acquire(requester)

    def forgive(self, requester: Requester, seconds: float) -> None:
        """Do not count some seconds for which a requester held a slot: it waited there for something else."""
        self._shares[requester].seconds -= seconds

    def _changed(self, requester: Requester, by: Literal[1, -1]) -> None:
        share, now = self._shares[requester], self._clock()
        share.seconds, share.since = share.at(now), now
        share.held += by
        if by > 0:
            self._grants += 1
            share.latest = self._grants
        (self._holding.add if share.held else self._holding.discard)(requester)

    def _grant(self) -> None:
        super()._grant()
        if self._wake is not None:
            self._wake.cancel()
            self._wake = None
        # A free slot that is left to short requesters is granted when there may be none any more.
        if self.in_use < self.total and self._queues and self._latest_short:
            seconds = max(self._latest_short.values()) + PRESENT_SECONDS - self._clock()
            self._wake = asyncio.get_running_loop().call_later(max(seconds, 0.0), self._grant)

    def _next(self) -> Sequence[Requester]:
        if self.in_use >= self.total or not self._queues:
            return ()
        now = self._clock()
        may_have = [*self._eligible(now)]
        if not may_have:
            return ()
        if self._grants % EVERY == EVERY - 1:
            return [min(may_have, key=lambda requester: self._queues[requester][0].number)]
        return [min(may_have, key=lambda requester: self._served(requester, now))]

    def _served(self, requester: Requester, now: float) -> tuple[float, int, int]:
        """Return what a requester has had; of equals, the one goes first whose latest slot is longest ago."""
        share = self._shares[requester]
        return (share.at(now), share.latest, self._queues[requester][0].number)

    def _eligible(self, now: float) -> Iterable[Requester]:
        """Return the requesters that wait and may have a free slot."""
        by_long = sum(self._shares[requester].held for requester in self._holding if self._is_long(requester, now))
        for requester in self._queues:
            if (
                by_long < max(1, self.total - 1)
                or not self._is_long(requester, now)
                or not self._others(requester, now)
            ):
                yield requester

    def _is_long(self, requester: Requester, now: float) -> bool:
        return self._shares[requester].at(now) >= LONG_SECONDS

    def _others(self, requester: Requester, now: float) -> bool:
        """Return whether there are short requesters beside a long one."""
        return any(
            other is not requester and now - asked < PRESENT_SECONDS and not self._is_long(other, now)
            for other, asked in self._latest_short.items()
        )


class RoundRobinLimiter(Limiter[Hashable]):
    """Slots that requesters acquire and release, of one event loop.

    No requester waits for more than one slot to each other requester that waits and may have more. A slot is never free
    while such a requester waits.

    Args:
        total: Slots in all.
        most_each: Slots that one requester may hold at once; by default all.
    """

    def __init__(self, total: int, most_each: int | None = None) -> None:
        super().__init__(total)
        self._most_each = most_each
        self._held: Counter[Hashable] = Counter()

    def _next(self) -> Sequence[Hashable]:
        if self.in_use >= self.total:
            return ()
        most = self.total if self._most_each is None else self._most_each
        # The queues are in the order of the next round.
        return [*islice((one for one in self._queues if self._held[one] < most), 1)]

    def _changed(self, requester: Hashable, by: Literal[1, -1]) -> None:
        self._held[requester] += by
        if not self._held[requester]:
            del self._held[requester]
        elif by > 0 and requester in self._queues:
            # Behind all others, for the next round.
            self._queues[requester] = self._queues.pop(requester)
