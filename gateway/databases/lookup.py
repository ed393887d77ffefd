"""What is looked up in a database once in a while: what its graph is made of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from gateway.graph.deadline import Clock

Found = TypeVar("Found")


class Lookup(Generic[Found]):
    """One thing that is looked up and stored for some time.

    Args:
        seconds: How long it is used.
        clock: A monotonic clock, in seconds.
    """

    def __init__(self, seconds: float, clock: Clock) -> None:
        self._seconds = seconds
        self._clock = clock
        self._stored: tuple[Found, float] | None = None
        self._forgotten = 0

    async def found(self, look_up: Callable[[], Awaitable[Found]]) -> Found:
        """Return what was found, looked up again where that was too long ago or has been forgotten."""
        began = self._clock()
        if self._stored is not None and began < self._stored[1]:
            return self._stored[0]
        forgotten = self._forgotten
        found = await look_up()
        # Between question and answer it may have changed, which is why somebody said to forget it.
        if forgotten == self._forgotten:
            self._stored = found, began + self._seconds
        return found

    def forget(self) -> None:
        """Look it up again with the next question, also where a look-up is under way."""
        self._stored = None
        self._forgotten += 1
