"""Limits the tool calls that run at once, and ends them with an error when the server stops."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from gateway.errors import DeadlinePassed, GatewayError

MOST_RUNNING = 16
MOST_WAITING = 112
"""Calls beyond the sum of both get an error."""

_CANCEL_SECONDS = 1.0
"""The time in which cancelled calls must end."""

Result = TypeVar("Result")


class Calls:
    """Runs a limited number of calls at once, and queues a limited number of others.

    Args:
        seconds: The time that a call waits in the queue at most.
        running: Calls that run at once.
        waiting: Calls in the queue.
    """

    def __init__(self, seconds: float, *, running: int = MOST_RUNNING, waiting: int = MOST_WAITING) -> None:
        self._seconds = seconds
        self._running = running
        self._most = running + waiting
        self._slots = asyncio.Semaphore(running)
        self._tasks: set[asyncio.Task[object]] = set()
        self._stopping = asyncio.Event()

    async def run(self, work: Callable[[], Awaitable[Result]]) -> Result:
        """Return the result of a call, or raise its error.

        Raises:
            DeadlinePassed: It waited too long in the queue.
            GatewayError: The queue is full, or the server stops.
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
                await self._slots.acquire()
        except TimeoutError:
            raise DeadlinePassed(
                "The server is busy: this call waited too long for others to finish.",
                next_step="Call again in a few seconds, and send fewer calls at once.",
            ) from None
        try:
            return await work()
        finally:
            self._slots.release()

    async def stop(self, seconds: float) -> None:
        """Refuse new calls, and cancel running ones after so many seconds; each of them ends in an error."""
        self._stopping.set()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_CANCEL_SECONDS)


def _stopping() -> GatewayError:
    return GatewayError("The server is stopping.", next_step="Call again after it has been restarted.")
