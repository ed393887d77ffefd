"""Tool calls: one after the other for each client, answered or failed.

Slots are handed out to clients in turn. A client has a share of them, so that calls of one that take long leave slots
to others.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from gateway.answers.models import CompactAnswer, ToolAnswer
from gateway.errors import DeadlinePassed, GatewayError
from gateway.flow.limiters import RoundRobinLimiter
from gateway.graph.call import OtherGraphs
from gateway.server.client import SOLE, Client, Origin
from gateway.server.gateway_opener import GatewayOpener, OnProgress, ignore_progress
from gateway.telemetry.record import concerning
from gateway.telemetry.tally import Tally

if TYPE_CHECKING:
    from gateway.tools.gateway import Gateway

MOST_RUNNING = 16
MOST_WAITING = 112
"""Calls beyond the sum of both get an error, unless their client has no other under way."""

_CANCEL_SECONDS = 1.0
"""The time in which cancelled calls must end."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Share:
    """What one of several clients may have.

    Attributes:
        running: Calls that run at once.
        under_way: Calls that run or wait.
    """

    running: int
    under_way: int


SHARE = Share(MOST_RUNNING // 2, (MOST_RUNNING + MOST_WAITING) // 2)
"""Half, so that one client leaves as much to all others."""


class Calls:
    """Runs a limited number of calls at once, and queues a limited number of others.

    Args:
        seconds: The time that a call waits in the queue at most.
        running: Calls that run at once.
        waiting: Calls in the queue.
        share: What one client may have; by default all, because there is no other.
    """

    def __init__(
        self, seconds: float, *, running: int = MOST_RUNNING, waiting: int = MOST_WAITING, share: Share | None = None
    ) -> None:
        self._seconds = seconds
        self._running = running
        self._most = running + waiting
        self._share = share or Share(running, running + waiting)
        self._slots = RoundRobinLimiter(running, self._share.running)
        self._tasks: set[asyncio.Task[object]] = set()
        self._under_way: Counter[Hashable] = Counter()
        self._stopping = asyncio.Event()

    @property
    def is_idle(self) -> bool:
        """Whether no call runs or waits."""
        return not self._tasks

    async def run(self, work: Callable[[], Awaitable[Result]], origin: Origin = SOLE) -> Result:
        """Return the result of a call, or raise its error.

        Args:
            work: Does what the call wants.
            origin: Where it comes from. When the connection is closed, the call ends.

        Raises:
            DeadlinePassed: It waited too long in the queue.
            GatewayError: The queue is full, the server stops, or the client has gone.
        """
        if self._stopping.is_set():
            raise _stopping()
        self._check_room(origin.client)
        task = asyncio.create_task(self._in_turn(work, origin.client))
        self._tasks.add(task)
        self._under_way[origin.client] += 1
        task.add_done_callback(partial(self._ended, origin.client))
        if origin.disconnect is not None:
            origin.disconnect.on(task.cancel)
        try:
            return await task
        except asyncio.CancelledError:
            own = asyncio.current_task()
            if own is None or own.cancelling():
                raise
            if self._stopping.is_set():
                raise _stopping() from None
            raise GatewayError(
                "The client closed the connection before it was answered.", next_step="Call again."
            ) from None

    def _check_room(self, client: Hashable) -> None:
        """Raise if a client may have no other call under way; one that has none may always have one."""
        under_way = self._under_way[client]
        if under_way and len(self._tasks) >= self._most:
            raise GatewayError(
                f"The server is busy: {self._running} calls are running and {self._most - self._running} are waiting.",
                next_step="Call again in a few seconds, and send fewer calls at once.",
            )
        if under_way >= self._share.under_way:
            raise GatewayError(
                f"This client has {under_way} calls under way, and may have no more.",
                next_step="Wait for their answers before you call again, and send fewer calls at once.",
            )

    def _ended(self, client: Hashable, task: asyncio.Task[object]) -> None:
        self._tasks.discard(task)
        self._under_way[client] -= 1
        if not self._under_way[client]:
            del self._under_way[client]

    async def _in_turn(self, work: Callable[[], Awaitable[Result]], client: Hashable) -> Result:
        try:
            async with asyncio.timeout(self._seconds):
                await self._slots.acquire(client)
        except TimeoutError:
            raise DeadlinePassed(
                "The server is busy: this call waited too long for others to finish.",
                next_step="Call again in a few seconds, and send fewer calls at once.",
            ) from None
        try:
            return await work()
        finally:
            self._slots.release(client)

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


_log = logging.getLogger(__name__)

_UNEXPECTED = (
    "This gateway has a defect; the details are in its log. Try once more. If it fails again, tell the operator of the "
    "gateway."
)


OthersOf = Callable[[Client | None], OtherGraphs]


class ToolCaller:
    """Calls tools by name; tools, resources and completions share it and its limits.

    Args:
        opener: The gateway.
        calls: The limits of calls that run at once.
        others: Returns the other graphs of the server that a client may see; None where it has one graph.
    """

    def __init__(self, opener: GatewayOpener, calls: Calls, others: OthersOf | None = None) -> None:
        self._opener = opener
        self._calls = calls
        self._others = others

    async def answer(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        progress: OnProgress = ignore_progress,
        origin: Origin = SOLE,
    ) -> ToolAnswer | CompactAnswer:
        """Return the answer of a tool, in the shape that the server sends.

        Raises:
            GatewayError: The call failed, whatever the cause; the text is for the caller.
        """
        shape = self._opener.profile.server.shape

        def call(gateway: Gateway) -> Awaitable[ToolAnswer | CompactAnswer]:
            others = {} if self._others is None else self._others(origin.authenticated)
            return gateway.call(tool, arguments, progress, shape=shape, others=others)

        return await self.run(tool, call, progress, origin)

    async def run(
        self,
        tool: str,
        work: Callable[[Gateway], Awaitable[Result]],
        progress: OnProgress = ignore_progress,
        origin: Origin = SOLE,
    ) -> Result:
        """Return the result of a call to a tool, after the gateway is open.

        Args:
            tool: The tool that `work` calls.
            work: Calls it.
            progress: Receives how much of the graph is loaded.
            origin: Where the call comes from.

        Raises:
            GatewayError: The call failed, whatever the cause; the text is for the caller.
        """
        concerning(self._opener.name)
        # The gateway records the calls that reach it; this records the others.
        unrecorded: Tally | None = Tally(tool)

        async def answered() -> Result:
            nonlocal unrecorded
            gateway = await self._opener.gateway(progress)
            unrecorded = None
            return await work(gateway)

        try:
            return await self._calls.run(answered, origin)
        except BaseException as error:
            if unrecorded is not None:
                unrecorded.failed(error)
            if isinstance(error, GatewayError):
                # Not logged above debugging: the text quotes the caller, and the record of the call has the class of
                # the error.
                _log.debug("%s: %s", tool, error)
                raise
            if isinstance(error, Exception):
                _log.exception("%s failed", tool)
                # A defect must not reach a model as silence or as a traceback.
                raise GatewayError(_UNEXPECTED) from error
            raise
