"""What one tool call may spend: time, requests, rows and nodes (contract, "Saying what is missing", Budgets)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TypeVar

from gateway.errors import BudgetSpent, DeadlinePassed
from gateway.telemetry import Tally

Clock = Callable[[], float]

Item = TypeVar("Item")

_UNCHECKED = 1_000
"""Items of a long loop between two looks at the clock: some milliseconds."""


def _free() -> None:
    """Spend nothing."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """A point in time by which an answer is wanted.

    Attributes:
        at: The point, in seconds of the clock.
        clock: A monotonic clock, in seconds.
        resend: Called before a transport sends a request once more; it spends from a budget, and raises where nothing
            is left.
    """

    at: float
    clock: Clock = time.monotonic
    resend: Callable[[], None] = _free

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
        iterator = iter(items)
        while some := list(islice(iterator, at_once)):
            self.check()
            yield from some


def deadline_passed() -> DeadlinePassed:
    """Return the error that says the time of this call is up."""
    return DeadlinePassed(
        "The time of this call is used up.",
        next_step="Ask for fewer seeds or hops, or try again later.",
    )


@dataclass(slots=True)
class Budget:
    """What is left of one tool call's allowance.

    Attributes:
        deadline: When the call must have answered.
        requests: Queries that may still be sent.
        rows: Rows that may still be read.
        nodes: Nodes that a traversal may reach in all.
        sent: Queries sent so far.
        tally: What the call has cost.
        call_deadline: When the call must have answered; `deadline` may be before that, where time is kept for later.
    """

    deadline: Deadline
    requests: int
    rows: int
    nodes: int
    sent: int = field(default=0)
    tally: Tally = field(default_factory=Tally)
    call_deadline: Deadline = field(init=False)

    def __post_init__(self) -> None:
        """Take the deadline for that of the call."""
        self.call_deadline = self.deadline

    @property
    def paid_deadline(self) -> Deadline:
        """The deadline for a request that was spent; one that is sent once more is spent too."""
        return replace(self.deadline, resend=self.spend_request)

    def spend_request(self) -> None:
        """Count one query, before it is sent.

        Raises:
            DeadlinePassed: No time is left.
            BudgetSpent: No request is left.
        """
        self.deadline.check()
        if self.requests <= 0:
            raise _spent(f"requests ({self.sent})")
        self.requests -= 1
        self.sent += 1

    @contextmanager
    def reserving(self, *, requests: float, time: float) -> Iterator[None]:
        """Keep a share of the requests and of the time that are left for what comes after the block."""
        kept, deadline = int(self.requests * requests), self.deadline
        self.requests -= kept
        self.deadline = Deadline(deadline.at - deadline.seconds_left * time, deadline.clock)
        try:
            yield
        finally:
            self.requests += kept
            self.deadline = deadline

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Give the block so many seconds at most, of the time that is left."""
        deadline = self.deadline
        self.deadline = deadline.within(seconds)
        try:
            yield
        finally:
            self.deadline = deadline

    def note_cache(self, *, hits: int, misses: int) -> None:
        """Count answers about single IDs that a cache had, and such as it had not."""
        self.tally.cache_hits += hits
        self.tally.cache_misses += misses

    def spend_rows(self, count: int) -> None:
        """Count rows that were read; the call that reads past the limit still keeps them.

        Raises:
            BudgetSpent: The limit was already reached before.
        """
        if self.rows <= 0:
            raise _spent("rows")
        self.rows -= count


def _spent(what: str) -> BudgetSpent:
    return BudgetSpent(
        f"The {what} that one call may use are used up.",
        next_step="Ask for fewer seeds or hops.",
    )
