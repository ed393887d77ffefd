"""How fast one endpoint is asked: the size of batches, queries at once, pauses. Learnt, and kept for the process.

Batch sizes and why they adapt: docs/notes/endpoints.md, "Batch sizes".
"""

from __future__ import annotations

import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio

from gateway.errors import DeadlinePassed, Throttled
from gateway.graph.deadline import Clock, Deadline, deadline_passed
from gateway.settings.endpoint import EndpointSettings
from gateway.transport.quota import Quota, Sleep

_GROWTH = 4
"""How many times its first size a batch may reach."""

_LARGEST = 2_000
"""IDs in one query at most: one engine breaks above 4,096 terms, and each stands in a query twice at most."""

_SMALLEST = 10
"""A size below this is not remembered; single IDs are asked where nothing else works."""

_MANY_ROWS = 4_000
"""Rows from which an answer is better asked for in parts: several come and are read at once. About 1 MB.

It is also no reason to ask for more at once, which would end above the rows that one query may return.
"""

_ENOUGH_SECONDS = 10.0
"""With so much time left, a query is sent however long others took."""

_QUICK_SECONDS = 1.0
"""An answer that took longer is no reason to ask for more at once."""


@dataclass(slots=True)
class BatchSize:
    """How many IDs one kind of query asks about.

    Attributes:
        now: The present size.
        most: The size it may grow to.
        rows_for_an_id: How many rows there are to expect for one ID, by the last answers; the latest counts most.
    """

    now: int
    most: int
    rows_for_an_id: float = 0.0
    _weight: float = 0.0

    @classmethod
    def starting_at(cls, size: int) -> BatchSize:
        """Return a size that may grow."""
        return cls(size, max(size, min(_LARGEST, size * _GROWTH)))

    @classmethod
    def fixed(cls, size: int) -> BatchSize:
        """Return a size that never grows."""
        return cls(size, size)

    def part(self, ids: int, at_once: int) -> int:
        """Return how many of some IDs to ask about in one query, so that a long answer comes in parts, at once."""
        parts = math.ceil(ids * self.rows_for_an_id / _MANY_ROWS)
        return math.ceil(ids / max(1, min(ids, at_once, parts)))

    def worked(self, asked: int, rows: int, seconds: float) -> None:
        """Note that a batch was answered whole, and how long that took: twice as many may be asked about next."""
        before = self._weight / 2
        self._weight = before + asked
        self.rows_for_an_id = (self.rows_for_an_id * before + rows) / self._weight
        # Keys are spread evenly over batches, so even the first of many is hardly ever full.
        if seconds <= _QUICK_SECONDS and rows <= _MANY_ROWS:
            self.now = max(self.now, min(self.most, asked * 2))

    def failed(self, asked: int) -> None:
        """Note that a batch was too much."""
        self.now = max(min(_SMALLEST, self.now), min(self.now, asked // 2))


class Pace:
    """One endpoint's pace.

    Args:
        endpoint: The profile's section.
        quota: What the endpoint grants this gateway; nothing is counted by default.
        clock: A monotonic clock, in seconds.
        sleep: Waits some seconds of it.

    Attributes:
        clock: The clock.
        sleep: Waits some seconds.
        quota: What the endpoint grants this gateway.
    """

    def __init__(
        self,
        endpoint: EndpointSettings,
        quota: Quota | None = None,
        *,
        clock: Clock = time.monotonic,
        sleep: Sleep = anyio.sleep,
    ) -> None:
        self.quota = quota or Quota(EndpointSettings(), clock=clock, sleep=sleep)
        self._most_at_once = endpoint.concurrency
        self._delay = endpoint.delay_seconds
        self.clock = clock
        self.sleep = sleep
        self._slots = anyio.CapacityLimiter(endpoint.concurrency)
        self._answered_in_turn = 0
        self._free_at = clock()
        self._sizes: dict[str, BatchSize] = {}

    def size(self, template: str, start: int) -> BatchSize:
        """Return what was learnt about how many IDs one query of a kind may have; `start` where nothing was yet."""
        return self._sizes.setdefault(template, BatchSize.starting_at(start))

    @property
    def at_once(self) -> int:
        """Queries in flight at most: the profile's `concurrency`, unless the endpoint wanted fewer."""
        return int(self._slots.total_tokens)

    @asynccontextmanager
    async def turn(self, deadline: Deadline) -> AsyncIterator[None]:
        """Wait for a free slot, for the end of a pause, and until the endpoint grants another request.

        Raises:
            Throttled: The endpoint asked for a pause that lasts longer than this call may.
            QuotaSpent: What it grants is used up for longer than that.
            Banned: It shuts this gateway out for longer.
        """
        # Nobody stands in line for what will not be there in time.
        self.quota.check(deadline)
        # One object a query: the limiter counts borrowers, and a task may have several queries under way.
        borrower = object()
        await self._slots.acquire_on_behalf_of(borrower)
        try:
            await self._wait_for_turn(deadline)
            await self.quota.opened(deadline)
            yield
        finally:
            self._slots.release_on_behalf_of(borrower)

    async def _wait_for_turn(self, deadline: Deadline) -> None:
        wait = self._free_at - self.clock()
        if wait > deadline.seconds_left:
            raise Throttled(
                "The endpoint asked this gateway to wait for longer than one call may take.",
                next_step="Try again later.",
                retry_after=wait,
            )
        if self._delay:
            self._free_at = max(self._free_at, self.clock()) + self._delay
        if wait > 0:
            await self.sleep(wait)

    def check_worth(self, deadline: Deadline) -> None:
        """Raise where a query would most likely be given up before it is answered, and be charged all the same.

        Raises:
            DeadlinePassed: So little time is left.
        """
        if self.quota.is_limited and deadline.seconds_left < min(_ENOUGH_SECONDS, 2 * self.quota.typical_seconds):
            raise self.too_late()

    def too_late(self) -> DeadlinePassed:
        """Return the error of a call whose time was up before it was answered; where requests are counted, with a time.

        It is the time for those that stand in line before it, as long as such queries take here.
        """
        if not self.quota.is_limited:
            return deadline_passed()
        in_line = self._slots.statistics().tasks_waiting / self.at_once
        seconds = math.ceil(max(1.0, self.quota.seconds_to_wait(), in_line * self.quota.typical_seconds))
        return DeadlinePassed(
            f"The time of this call is used up; the endpoint may be asked again in {seconds} s.",
            next_step=f"Ask for fewer seeds or hops, or call again in {seconds} s.",
        )

    def answered(self) -> None:
        """Note an answer: after as many in a row as are allowed at once, one more is."""
        self._answered_in_turn += 1
        if self._answered_in_turn >= self.at_once and self.at_once < self._most_at_once:
            self._slots.total_tokens = self.at_once + 1
            self._answered_in_turn = 0

    def throttled(self, fault: Throttled) -> None:
        """Note that the endpoint wants fewer requests: half as many at once, and none before it said."""
        self._slots.total_tokens = max(1, self.at_once // 2)
        self._answered_in_turn = 0
        if fault.retry_after is not None:
            self._free_at = max(self._free_at, self.clock() + fault.retry_after)
