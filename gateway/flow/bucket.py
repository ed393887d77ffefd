"""A token bucket that is refilled evenly."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gateway.flow.ban import DAY


@dataclass(frozen=True, slots=True)
class TokenBucket:
    """How many tokens there may be, and how fast they come back.

    Attributes:
        capacity: Tokens at most; infinite where nothing is limited.
        a_second: Tokens that come back in a second.
    """

    capacity: float
    a_second: float

    @classmethod
    def of(cls, burst: float, per_minute: float) -> TokenBucket:
        """Return a bucket that never holds more than one of a server that refills once a minute, at one go."""
        return cls(burst - per_minute, per_minute / 60.0) if per_minute else cls(math.inf, 0.0)

    @property
    def is_limited(self) -> bool:
        """Whether it can be empty."""
        return math.isfinite(self.capacity)

    @property
    def full(self) -> float:
        """The level of a full bucket."""
        return self.capacity if self.is_limited else 0.0

    def level(self, before: float, seconds: float) -> float:
        """Return the level some seconds after another level."""
        return min(self.capacity, before + seconds * self.a_second) if self.is_limited else 0.0

    @property
    def largest_debt(self) -> float:
        """What a day grants; a larger debt would block requests for longer."""
        return DAY * self.a_second

    def seconds_until(self, wanted: float, level: float) -> float:
        """Return how long it takes until a level has risen to the wanted one."""
        return max(0.0, wanted - level) / self.a_second if self.is_limited else 0.0
