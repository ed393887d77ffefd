"""The time by which an answer is wanted, checked wherever a loop may be long."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import TypeVar

from gateway.errors import DeadlinePassed
from gateway.telemetry.tally import Clock

__all__ = ["NEVER", "Clock", "Deadline", "deadline_passed"]

Item = TypeVar("Item")

_EARLY = 0.01
"""Seconds by which a timer that was set for a deadline may come before it, and more."""

_UNCHECKED = 1_000
"""Items of a long loop between two looks at the clock: some milliseconds."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """A point in time by which an answer is wanted.

    Attributes:
        at: The point, in seconds of the clock.
        clock: A monotonic clock, in seconds.
    """

    at: float
    clock: Clock = time.monotonic

    @classmethod
    def after(cls, seconds: float, clock: Clock = time.monotonic) -> Deadline:
        """Return the deadline that many seconds from now."""
        return cls(clock() + seconds, clock)

    def within(self, seconds: float) -> Deadline:
        """Return the deadline that many seconds from now, or this one where it comes first."""
        return replace(self, at=min(self.at, self.clock() + max(0.0, seconds)))

    @property
    def seconds_left(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self.at - self.clock())

    @property
    def is_over(self) -> bool:
        """Whether a timer that has just ended may be that of this deadline, and not of something shorter."""
        return self.seconds_left <= _EARLY

    def check(self) -> None:
        """Raise when the time is up.

        Raises:
            DeadlinePassed: No time is left.
        """
        if self.seconds_left <= 0:
            raise deadline_passed()

    def checking(self, items: Iterable[Item], at_once: int = _UNCHECKED) -> Iterator[Item]:
        """Return an iterator over items, for a long loop that has to end when the time is up.

        Args:
            items: The items.
            at_once: Items between two looks at the clock; fewer where one item may take long.

        Raises:
            DeadlinePassed: No time is left, at the first item or at a later one.
        """
        return chain.from_iterable(self.slices(items, at_once))

    def slices(self, items: Iterable[Item], at_once: int = _UNCHECKED) -> Iterator[list[Item]]:
        """Return an iterator over items, some at a time; see `checking`, which costs more for each item."""
        iterator = iter(items)
        while some := list(islice(iterator, at_once)):
            self.check()
            yield some


NEVER = Deadline(math.inf, lambda: 0.0)
"""For work that takes no time worth a look at the clock: what is known is told even where the time is used up."""


def deadline_passed() -> DeadlinePassed:
    """Return the error that says the time of this call is up."""
    return DeadlinePassed(
        "The time of this call is used up.",
        next_step="Ask for fewer seeds or hops, or try again later.",
    )
