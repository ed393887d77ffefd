"""What is left of a quota at one moment, and where that is stored."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Protocol


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
        return copy.deepcopy(self._state)

    @contextmanager
    def changing(self) -> Iterator[QuotaState]:
        """Give the state to a block that changes it."""
        yield self._state
