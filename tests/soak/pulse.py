"""How long this process could do nothing: a late call on a busy machine says less than on a free one."""

import asyncio
import time
from typing import Self

_BEAT_S = 0.05
_WORTH_TELLING_S = 0.1


class Pulse:
    """Beats on the event loop and notes when it came late."""

    def __init__(self) -> None:
        self._missed: list[tuple[float, float]] = []
        self._beating: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Begin to beat."""
        self._beating = asyncio.create_task(self._beat())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop."""
        if self._beating is not None:
            self._beating.cancel()
            await asyncio.wait([self._beating])

    @property
    def worst(self) -> float:
        """The longest time in which nothing was done, in seconds."""
        return max((late for _, late in self._missed), default=0.0)

    def missed_since(self, begun: float) -> float:
        """Return for how many seconds in all nothing was done since a moment of the monotonic clock."""
        return sum(late for at, late in self._missed if at > begun)

    async def _beat(self) -> None:
        while True:
            due = time.monotonic() + _BEAT_S
            await asyncio.sleep(_BEAT_S)
            late = time.monotonic() - due
            if late > _WORTH_TELLING_S:
                self._missed.append((time.monotonic(), late))
