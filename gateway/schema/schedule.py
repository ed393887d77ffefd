"""When a schema is read, what that may take, and who waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from math import inf

from gateway.graph.call import Call, Deadline
from gateway.graph.values import Schema
from gateway.settings.profile import Profile
from gateway.telemetry.tally import Clock, Tally

_QUICK_REQUESTS = 50
"""Requests of a quick reading, whatever time it has left."""

_ENUMERATION_SECONDS = 600.0
"""Time for an enumeration if the profile sets none."""

_ENUMERATION_REQUESTS = 5_000
"""Requests of an enumeration, whatever time it has left."""

_RETRY_SECONDS = 60.0
"""Time between two readings of a schema that could not be read; otherwise every call would wait for one."""

_LONGEST_RETRY_SECONDS = 3600.0
"""Lists whose reading failed in part expire after this time at the latest."""

_MOST_DOUBLINGS = 10
"""Bounds the power of two: six doublings of the first time exceed the longest one."""


class ReadingAllowances:
    """The budgets of readings, which are not those of the calls that wait for them."""

    def __init__(self, profile: Profile, clock: Clock) -> None:
        self._limits = profile.limits
        self._clock = clock
        seconds = profile.orientation.enumeration_seconds
        self._enumeration_seconds = _ENUMERATION_SECONDS if seconds is None else seconds
        self._reads_more = profile.limits.scan_rows > profile.orientation.glance_triples

    @property
    def has_enumeration(self) -> bool:
        """Whether a graph that is too large for the quick reading may be enumerated, and would give longer lists."""
        return self._enumeration_seconds > 0 and self._reads_more

    def quick(self, tally: Tally) -> Call:
        """Return the budget of a quick reading."""
        return self._call(self._limits.schema_seconds, _QUICK_REQUESTS, tally)

    def enumeration(self) -> Call:
        """Return the budget of an enumeration, which no caller pays for."""
        return self._call(self._enumeration_seconds, _ENUMERATION_REQUESTS, Tally("schema", self._clock))

    def _call(self, seconds: float, requests: int, tally: Tally) -> Call:
        deadline = Deadline.after(seconds, self._clock)
        return Call(deadline, requests, self._limits.rows, self._limits.nodes, tally=tally)


class SchemaAge:
    """The times of the last reading and of the next one, on a clock."""

    def __init__(self, profile: Profile, clock: Clock) -> None:
        self._clock = clock
        self._seconds = profile.limits.schema_hours * 3600.0
        self._has_quota = profile.endpoint.quota.is_limited
        self._failures = 0
        self._read_at = 0.0
        self._expires_at = 0.0

    @property
    def is_expired(self) -> bool:
        """Whether the lists have to be read again."""
        return self._clock() > self._expires_at

    @property
    def is_recent(self) -> bool:
        """Whether the last reading is so recent that doubts about the lists are no reason for another one."""
        return self._clock() - self._read_at <= _RETRY_SECONDS

    def note_reading(self, schema: Schema, *, ago: float | None = None) -> None:
        """Note that a reading succeeded; lists without labels or name predicates expire earlier.

        Args:
            schema: What was read.
            ago: How many seconds ago an earlier process read it; None where this one did so now. The first doubt about
                what an earlier one read is a reason for another reading, however recent it is.
        """
        self._failures = 0
        seconds = self._seconds if schema.labelled else _RETRY_SECONDS
        self._expire_in(seconds if schema.names is not None else min(seconds, _LONGEST_RETRY_SECONDS))
        if ago is not None:
            self._read_at = -inf
            self._expires_at -= ago

    def note_loading(self) -> None:
        """Note that stored lists were loaded, which a reading will replace."""
        self._expire_in(_RETRY_SECONDS)

    def note_failure(self) -> None:
        """Note that a reading failed, and that another one is due later.

        An endpoint with a quota is asked at doubling intervals, because each attempt uses up what calls need.
        """
        self._failures += 1
        seconds = _RETRY_SECONDS * 2 ** min(self._failures - 1, _MOST_DOUBLINGS)
        self._expire_in(min(_LONGEST_RETRY_SECONDS, seconds) if self._has_quota else _RETRY_SECONDS)

    def _expire_in(self, seconds: float) -> None:
        self._read_at = self._clock()
        self._expires_at = self._read_at + seconds


class Waiters:
    """Lets calls wait until the first lists are there, and a little longer for better ones."""

    def __init__(self, profile: Profile, clock: Clock) -> None:
        self._longest_seconds = profile.limits.schema_seconds
        self._patience_seconds = profile.orientation.patience_seconds
        self._clock = clock
        self._patient_until = 0.0
        self._has_lists = asyncio.Event()
        self._count = 0

    def reading_began(self, *, has_lists: bool) -> None:
        """Let calls wait for the first result of a reading, unless there are lists from before."""
        self._patient_until = self._clock() + self._patience_seconds
        if not has_lists:
            self._has_lists = asyncio.Event()

    def lists_changed(self) -> None:
        """Wake the calls that have nothing to work with."""
        self._has_lists.set()

    async def wait(self, reading: asyncio.Task[None], call: Call, is_abandonable: Callable[[], bool]) -> None:
        """Wait for the first lists, and for the end of the reading no longer than the profile's patience.

        A reading that is abandonable stops when the last call that waits for it is cancelled.
        """
        left = min(call.deadline.seconds_left, self._longest_seconds)
        has_lists = asyncio.ensure_future(self._has_lists.wait())
        self._count += 1
        with call.tally.waiting():
            try:
                await asyncio.wait({reading, has_lists}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
                patience = min(call.deadline.seconds_left, self._patient_until - self._clock())
                if patience > 0:
                    await asyncio.wait({reading}, timeout=patience)
            except asyncio.CancelledError:
                if self._count == 1 and is_abandonable():
                    reading.cancel()
                    # The record of the caller is written after this, so it includes what became of the query.
                    await asyncio.wait({reading})
                raise
            finally:
                self._count -= 1
                has_lists.cancel()
