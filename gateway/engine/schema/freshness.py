"""When the lists of a schema were read, and when they expire."""

from __future__ import annotations

from gateway.graph.deadline import Clock
from gateway.graph.values import Schema
from gateway.settings.profile import Profile

_RETRY_SECONDS = 60.0
"""Time between two readings of a schema that could not be read; otherwise every call would wait for one."""

_LONGEST_RETRY_SECONDS = 3600.0
"""Lists whose reading failed in part expire after this time at the latest."""

_MOST_DOUBLINGS = 10
"""Bounds the power of two: six doublings of the first time exceed the longest one."""


class Freshness:
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

    def note_reading(self, schema: Schema) -> None:
        """Note that a reading succeeded; lists without labels or name predicates expire earlier."""
        self._failures = 0
        seconds = self._seconds if schema.labelled else _RETRY_SECONDS
        self._expire_in(seconds if schema.names is not None else min(seconds, _LONGEST_RETRY_SECONDS))

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
