"""Slots that parties acquire and release: what limiters share that differ in who is next."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncIterator, Hashable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from typing import Generic, TypeVar

AnyParty = TypeVar("AnyParty", bound=Hashable)


@dataclass(frozen=True, slots=True)
class _Request:
    """A request that waits for a slot: its place among all that came, and what wakes it."""

    number: int
    turn: asyncio.Future[None]


class Limiter(ABC, Generic[AnyParty]):
    """A limited number of slots, of one event loop.

    Args:
        total: Slots in all.

    Attributes:
        in_use: Slots that are held; more than `total` for a while, if that was lowered.
    """

    def __init__(self, total: int) -> None:
        self.in_use = 0
        self._total = total
        self._numbers = count()
        # By party, each party's first request first; no queue is empty.
        self._queues: dict[AnyParty, deque[_Request]] = {}

    @property
    def total(self) -> int:
        """Slots in all."""
        return self._total

    @total.setter
    def total(self, total: int) -> None:
        self._total = total
        self._grant()

    @property
    def waiting(self) -> int:
        """Requests that wait for a slot."""
        return sum(not request.turn.cancelled() for queue in self._queues.values() for request in queue)

    @asynccontextmanager
    async def slot(self, party: AnyParty) -> AsyncIterator[None]:
        """Hold a slot during the block, after a wait for it."""
        await self.acquire(party)
        try:
            yield
        finally:
            self.release(party)

    async def acquire(self, party: AnyParty) -> None:
        """Wait for a slot, and hold it until `release`; a wait that is cancelled holds none."""
        request = _Request(next(self._numbers), asyncio.get_running_loop().create_future())
        self._queues.setdefault(party, deque()).append(request)
        self._grant()
        try:
            await request.turn
        except asyncio.CancelledError:
            if request.turn.done() and not request.turn.cancelled():
                # The slot was granted before the task could wake.
                self.release(party)
            else:
                self._leave(party, request)
            raise

    def release(self, party: AnyParty) -> None:
        """Give a slot back, to the next that waits."""
        self.in_use -= 1
        self._released(party)
        self._grant()

    def _grant(self) -> None:
        """Grant the free slots."""
        while parties := self._next():
            [party] = parties
            queue = self._queues[party]
            turn = queue.popleft().turn
            if not queue:
                del self._queues[party]
            if not turn.cancelled():
                turn.set_result(None)
                self.in_use += 1
                self._granted(party)

    def _leave(self, party: AnyParty, request: _Request) -> None:
        queue = self._queues.get(party, deque())
        if request in queue:
            queue.remove(request)
            if not queue:
                del self._queues[party]

    @abstractmethod
    def _next(self) -> Sequence[AnyParty]:
        """Return the one party whose first request is next; none where no slot is free for those that wait."""

    @abstractmethod
    def _granted(self, party: AnyParty) -> None:
        """Note that a party holds one slot more."""

    @abstractmethod
    def _released(self, party: AnyParty) -> None:
        """Note that a party holds one slot less."""
