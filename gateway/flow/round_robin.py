"""Round-robin scheduling of a limited number of slots: parties that wait get them in turn.

First come, first served would have a party with one request wait behind all requests of a party with many. Here each
waiting party gets one slot a round, in the order in which they began to wait; within a party, the first request goes
first (Nagle, RFC 970, section "Fairness in packet switching systems").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import islice

from gateway.flow.limiter import Limiter


class RoundRobinLimiter(Limiter[Hashable]):
    """Slots that parties acquire and release, of one event loop.

    No party waits for more than one slot to each other party that waits and may have more. A slot is never free while
    such a party waits.

    Args:
        total: Slots in all.
        most_each: Slots that one party may hold at once; by default all.
    """

    def __init__(self, total: int, most_each: int | None = None) -> None:
        super().__init__(total)
        self._most_each = most_each
        self._held: Counter[Hashable] = Counter()

    def _next(self) -> Sequence[Hashable]:
        # The queues are in the order of the next round.
        return [*islice(filter(self._may_have_slot, self._queues), 1)]

    def _may_have_slot(self, party: Hashable) -> bool:
        if self.in_use >= self._total:
            return False
        return self._most_each is None or self._held[party] < self._most_each

    def _granted(self, party: Hashable) -> None:
        self._held[party] += 1
        if party in self._queues:
            # Behind all others, for the next round.
            self._queues[party] = self._queues.pop(party)

    def _released(self, party: Hashable) -> None:
        self._held[party] -= 1
        if not self._held[party]:
            del self._held[party]
