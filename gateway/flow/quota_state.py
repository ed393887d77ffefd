"""What is left of a quota at one moment, how fast it comes back, and where it is stored."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Protocol

DAY = 86_400.0
"""Seconds; no refusal blocks requests for longer, whatever a server or a file says."""


@dataclass(frozen=True, slots=True)
class TokenBucket:
    """How many tokens there may be, and how fast they come back; they come back evenly.

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

    def seconds_until(self, wanted: float, level: float) -> float:
        """Return how long it takes until a level has risen to the wanted one."""
        return max(0.0, wanted - level) / self.a_second if self.is_limited else 0.0


@dataclass(slots=True)
class QuotaState:
    """What is left, at one moment; the names are those in the file that processes share.

    Attributes:
        at: The moment, in seconds of the quota's clock.
        query_seconds: Seconds of query time; negative where the last query took more than there was.
        errors: Failed requests.
        closed_until: Nothing is sent before: the end of a pause or of a ban.
        banned: Whether it is the end of a ban.
        overloads: Refusals in a row that did not say for how long.
        given_up: When abandoned requests have ended at the latest, one after the other.
    """

    at: float
    query_seconds: float
    errors: float
    closed_until: float = 0.0
    banned: bool = False
    overloads: int = 0
    given_up: list[float] = field(default_factory=list)

    def copy(self) -> QuotaState:
        """Return a copy that shares nothing with this one; every request makes several."""
        return replace(self, given_up=[*self.given_up])


class QuotaStorage(Protocol):
    """Stores the state of a quota."""

    def read(self) -> QuotaState:
        """Return a copy of the state."""
        ...

    def changing(self) -> AbstractContextManager[QuotaState]:
        """Lock the state for a block that changes it, and store it when the block ends."""
        ...


class MemoryStorage:
    """Stores the state in this process."""

    def __init__(self, state: QuotaState) -> None:
        self._state = state

    def read(self) -> QuotaState:
        """Return a copy of the state."""
        return self._state.copy()

    @contextmanager
    def changing(self) -> Iterator[QuotaState]:
        """Give the state to a block that changes it."""
        yield self._state
