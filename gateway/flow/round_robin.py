"""Round-robin scheduling of a limited number of slots: parties that wait get them in turn.

First come, first served would have a party with one request wait behind all requests of a party with many. Here each
waiting party gets one slot a round, in the order in which they began to wait; within a party, the first request goes
first (Nagle, RFC 970, section "Fairness in packet switching systems").
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from itertools import islice


class RoundRobinLimiter:
    """Slots that parties acquire and release, of one event loop.

    No party waits for more than one slot to each other party that waits and may have more. A slot is never free while
    such a party waits.

    Args:
        total: Slots in all.
        most_each: Slots that one party may hold at once; by default all.

    Attributes:
        in_use: Slots that are held; more than `total` for a while, if that was lowered.
    """

    def __init__(self, total: int, most_each: int | None = None) -> None:
        self._total = total
        self._most_each = most_each
        self.in_use = 0
        self._held: Counter[Hashable] = Counter()
        # In the order of the next round; no queue is empty.
        self._queues: dict[Hashable, deque[asyncio.Future[None]]] = {}

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
        return sum(not turn.cancelled() for queue in self._queues.values() for turn in queue)

    @asynccontextmanager
    async def slot(self, party: Hashable) -> AsyncIterator[None]:
        """Hold a slot during the block, after a wait for it."""
        await self.acquire(party)
        try:
            yield
        finally:
            self.release(party)

    async def acquire(self, party: Hashable) -> None:
        """Wait for a slot, and hold it until `release`; a wait that is cancelled holds none."""
        if party not in self._queues and self._may_have_slot(party):
            self._take(party)
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(party, deque()).append(turn)
        # All others that wait for this party may have been cancelled, and a slot be free.
        self._grant()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                # The slot was granted before the task could wake.
                self.release(party)
            else:
                self._leave(party, turn)
            raise

    def release(self, party: Hashable) -> None:
        """Give a slot back, to the next that waits."""
        self.in_use -= 1
        self._held[party] -= 1
        if not self._held[party]:
            del self._held[party]
        self._grant()

    def _may_have_slot(self, party: Hashable) -> bool:
        if self.in_use >= self._total:
            return False
        return self._most_each is None or self._held[party] < self._most_each

    def _take(self, party: Hashable) -> None:
        self.in_use += 1
        self._held[party] += 1

    def _grant(self) -> None:
        """Grant free slots, one to each waiting party a round."""
        while parties := [*islice(filter(self._may_have_slot, self._queues), 1)]:
            [party] = parties
            queue = self._queues[party]
            turn = queue.popleft()
            if not turn.cancelled():
                turn.set_result(None)
                self._take(party)
                # Behind all others, for the next round. After a request that was cancelled, it stays in its place.
                del self._queues[party]
                self._queues[party] = queue
            if not queue:
                del self._queues[party]

    def _leave(self, party: Hashable, turn: asyncio.Future[None]) -> None:
        queue = self._queues.get(party, deque())
        if turn in queue:
            queue.remove(turn)
            if not queue:
                del self._queues[party]
