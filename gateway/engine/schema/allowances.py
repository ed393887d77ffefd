"""What the readings of a schema may spend."""

from __future__ import annotations

from gateway.graph.call import Call
from gateway.graph.deadline import Clock, Deadline
from gateway.settings.profile import Profile
from gateway.telemetry.tally import Tally

_QUICK_REQUESTS = 50
"""Requests of a quick reading, whatever time it has left."""

_ENUMERATION_SECONDS = 600.0
"""Time for an enumeration if the profile sets none."""

_ENUMERATION_REQUESTS = 5_000
"""Requests of an enumeration, whatever time it has left."""


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
