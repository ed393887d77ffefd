"""The calls of tools that are under way: a bounded number of them, ended with an error when the server stops."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from gateway.errors import DeadlinePassed, GatewayError

MOST_RUNNING = 16
MOST_WAITING = 112
"""A client that sends more calls than both at once gets an error for the rest."""

_CANCEL_SECONDS = 1.0

Result = TypeVar("Result")


class Calls:
    """Runs calls, some at a time, and lets a bounded number of others wait.

    Args:
        seconds: How long a call waits until it may run.
        running: How many calls run at once.
        waiting: How many more may wait.
    """

    def __init__(self, seconds: float, *, running: int = MOST_RUNNING, waiting: int = MOST_WAITING) -> None:
        self._seconds = seconds
        self._running = running
        self._most = running + waiting
        self._places = asyncio.Semaphore(running)
        self._tasks: set[asyncio.Task[object]] = set()
        self._stopping = asyncio.Event()

    async def run(self, work: Callable[[], Awaitable[Result]]) -> Result:
        """Return what a call returns, and let pass what it raises.

        Raises:
            DeadlinePassed: It waited too long until it may run.
            GatewayError: Too many calls are under way, or the server stops.
        """
        if self._stopping.is_set():
            raise _stopping()
        if len(self._tasks) >= self._most:
            raise GatewayError(
                f"The server is busy: {self._running} calls are running and {self._most - self._running} are waiting.",
                next_step="Call again in a few seconds, and send fewer calls at once.",
            )
        task = asyncio.create_task(self._in_turn(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            return await task
        except asyncio.CancelledError:
            own = asyncio.current_task()
            if self._stopping.is_set() and own is not None and not own.cancelling():
                raise _stopping() from None
            raise

    async def _in_turn(self, work: Callable[[], Awaitable[Result]]) -> Result:
        try:
            async with asyncio.timeout(self._seconds):
                await self._places.acquire()
        except TimeoutError:
            raise DeadlinePassed(
                "The server is busy: this call waited too long for others to end.",
                next_step="Call again in a few seconds, and send fewer calls at once.",
            ) from None
        try:
            return await work()
        finally:
            self._places.release()

    async def stop(self, seconds: float) -> None:
        """Refuse new calls, and end those under way with an error that have no answer in so many seconds."""
        self._stopping.set()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_CANCEL_SECONDS)


def _stopping() -> GatewayError:
    return GatewayError("The server is stopping.", next_step="Call again when it has been started again.")
