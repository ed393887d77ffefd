"""How long an event loop is held: the thread CPU time of its passes, from one look at its selector to the next.

CPU time and not the clock: what other processes do on a busy machine is not the loop's. So the time that another thread
holds the interpreter is not in it either.
"""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

LONG: Final = 0.02
"""Seconds from which a pass counts as long: a call's own work comes in slices of at most that."""


@dataclass(slots=True)
class Holds:
    """What the passes of a loop took, in seconds of its thread's CPU time.

    Attributes:
        longest: The longest pass.
        long: The passes that took longer than `LONG`.
        passes: How many there were.
        total: What all took together.
    """

    longest: float = 0.0
    long: list[float] = field(default_factory=list)
    passes: int = 0
    total: float = 0.0

    def add(self, seconds: float) -> None:
        """Count one pass."""
        self.passes += 1
        self.total += seconds
        self.longest = max(self.longest, seconds)
        if seconds > LONG:
            self.long.append(seconds)

    def clear(self) -> None:
        """Forget the passes so far."""
        self.longest, self.long, self.passes, self.total = 0.0, [], 0, 0.0


class TimedSelector(selectors.DefaultSelector):
    """A selector that notes how long the loop works between two looks at it."""

    def __init__(self, holds: Holds, clock: Callable[[], float] = time.thread_time) -> None:
        super().__init__()
        self._holds = holds
        self._clock = clock
        self._since: float | None = None

    def select(self, timeout: float | None = None) -> Sequence[tuple[selectors.SelectorKey, int]]:  # type: ignore[override]
        """Wait for events, and note the pass that ends here."""
        if self._since is not None:
            self._holds.add(self._clock() - self._since)
        ready = super().select(timeout)
        self._since = self._clock()
        return ready


def timed_loop(holds: Holds) -> asyncio.AbstractEventLoop:
    """Return an event loop that notes its passes: `asyncio.Runner(loop_factory=partial(timed_loop, holds))`."""
    return asyncio.SelectorEventLoop(TimedSelector(holds))
