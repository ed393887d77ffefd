"""Least attained service: of the parties that wait for a slot, the one that has been served least goes next.

How long a call will take is not known before, but one that has had much is likely to want much more, so short ones pass
long ones (Nuyens and Wierman, "The Foreground-Background queue: A survey", Performance Evaluation 65, 2008). By itself
that could starve long ones, and a slot that a long one holds is not free when a short one comes. So now and then the
one that has waited longest is next, and long ones leave a slot free while there are short ones.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final
from weakref import WeakKeyDictionary

from gateway.flow.limiter import Limiter
from gateway.graph.call import Party
from gateway.graph.deadline import Clock

LONG_SECONDS: Final = 0.25
"""Slots held for so long in all make a call a long one."""

PRESENT_SECONDS: Final = 1.0
"""There are short calls as long as one asked for a slot this recently."""

EVERY: Final = 4
"""One of so many slots goes to whoever has waited longest."""


@dataclass(slots=True)
class _Share:
    """What a party has had: seconds of slots until a time, the slots that it holds since then, and the latest one."""

    seconds: float = 0.0
    held: int = 0
    since: float = 0.0
    latest: int = 0

    def at(self, now: float) -> float:
        return self.seconds + self.held * (now - self.since)

    def change(self, by: int, now: float) -> None:
        self.seconds, self.since = self.at(now), now
        self.held += by


class LeastServedLimiter(Limiter[Party]):
    """Slots that parties acquire and release, of one event loop.

    A party's service is the time for which it has held slots. A request waits for `EVERY` slots at most to each request
    that was there before it. Of two slots and more, long parties hold one less while there are short ones; else no slot
    is free while anybody waits.

    Args:
        total: Slots in all.
        clock: A monotonic clock, in seconds.
    """

    def __init__(self, total: int, clock: Clock = time.monotonic) -> None:
        super().__init__(total)
        self._clock = clock
        self._grants = 0
        # A party is forgotten with its call.
        self._shares: WeakKeyDictionary[Party, _Share] = WeakKeyDictionary()
        self._holding: set[Party] = set()
        # When each short party asked last, the earliest first.
        self._latest_short: WeakKeyDictionary[Party, float] = WeakKeyDictionary()
        self._wake: asyncio.TimerHandle | None = None

    async def acquire(self, party: Party) -> None:
        """Wait for a slot, and hold it until `release`; a wait that is cancelled holds none."""
        self._shares.setdefault(party, _Share(since=self._clock()))
        self._note_short(party)
        await super().acquire(party)

    def forgive(self, party: Party, seconds: float) -> None:
        """Do not count some seconds for which a party held a slot: it waited there for something else."""
        self._shares[party].seconds -= seconds

    def _granted(self, party: Party) -> None:
        self._grants += 1
        self._shares[party].latest = self._grants
        self._change(party, 1)

    def _released(self, party: Party) -> None:
        self._change(party, -1)

    def _change(self, party: Party, slots: int) -> None:
        share = self._shares[party]
        share.change(slots, self._clock())
        (self._holding.add if share.held else self._holding.discard)(party)

    def _grant(self) -> None:
        super()._grant()
        self._wake_later()

    def _wake_later(self) -> None:
        """Grant again when there may be no short party any more, if a free slot is left to these until then."""
        if self._wake is not None:
            self._wake.cancel()
            self._wake = None
        if self.in_use < self._total and self._queues and self._latest_short:
            seconds = max(self._latest_short.values()) + PRESENT_SECONDS - self._clock()
            self._wake = asyncio.get_running_loop().call_later(max(seconds, 0.0), self._grant)

    def _next(self) -> Sequence[Party]:
        if self.in_use >= self._total or not self._queues:
            return ()
        now = self._clock()
        may_have = [*self._eligible(now)]
        if not may_have:
            return ()
        if self._grants % EVERY == EVERY - 1:
            return [min(may_have, key=self._came)]
        return [min(may_have, key=lambda party: self._served(party, now))]

    def _served(self, party: Party, now: float) -> tuple[float, int, int]:
        """Return what a party has had; of equals, the one goes first whose latest slot is longest ago."""
        share = self._shares[party]
        return (share.at(now), share.latest, self._came(party))

    def _came(self, party: Party) -> int:
        return self._queues[party][0].number

    def _eligible(self, now: float) -> Iterable[Party]:
        """Return the parties that wait and may have a free slot."""
        by_long = sum(self._shares[party].held for party in self._holding if self._is_long(party, now))
        for party in self._queues:
            if by_long < max(1, self._total - 1) or not self._is_long(party, now) or not self._others(party, now):
                yield party

    def _is_long(self, party: Party, now: float) -> bool:
        return self._shares[party].at(now) >= LONG_SECONDS

    def _note_short(self, party: Party) -> None:
        now = self._clock()
        self._latest_short.pop(party, None)
        if not self._is_long(party, now):
            self._latest_short[party] = now
        for other, asked in list(self._latest_short.items()):
            if now - asked < PRESENT_SECONDS:
                break
            del self._latest_short[other]

    def _others(self, party: Party, now: float) -> bool:
        """Return whether there are short parties beside a long one."""
        return any(
            other is not party and now - asked < PRESENT_SECONDS and not self._is_long(other, now)
            for other, asked in self._latest_short.items()
        )
