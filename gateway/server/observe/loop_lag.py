"""How late the event loop is: the time for which every client waits beside its own work."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

_SECONDS = 0.5
"""How often it is measured."""


@asynccontextmanager
async def measured_lag(observe: Callable[[float], object]) -> AsyncIterator[None]:
    """Measure while the block runs how many seconds late the loop wakes a task.

    Args:
        observe: Receives each measurement, in seconds.
    """

    async def measure() -> None:
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + _SECONDS
            await asyncio.sleep(_SECONDS)
            observe(max(0.0, loop.time() - due))

    task = asyncio.create_task(measure())
    try:
        yield
    finally:
        task.cancel()
