"""A call's own computing, which must not hold the event loop: in another thread, in slices, and once.

In a thread is what can be computed apart. What changes data that the event loop shares stays on it, in slices. Calls
whose computations end at the same time go on one after the other, each in a pass of the event loop of its own.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, ClassVar, Final, Generic, Self, TypeVar, overload
from weakref import WeakKeyDictionary

from gateway.graph.call import NEVER, Call, Deadline, deadline_passed
from gateway.telemetry.tally import Clock

Result = TypeVar("Result")
Item = TypeVar("Item")

_THREADS: Final = 1
"""Computations of all calls that run at once. One interpreter runs one at a time: two threads would pass it to each
other, and the event loop would wait for both."""

FEW_FOR_A_THREAD: Final = 2_000
"""Nodes and edges of a traversal that are looked at in a millisecond or two: too little work for a thread."""

_GRACE_SECONDS: Final = 0.5
"""Time after its deadline for which a call waits for work that has begun to end."""

_SLICE_SECONDS: Final = 0.01
"""CPU time after which others get a turn on the event loop."""


def _new_executor() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_THREADS, thread_name_prefix="computing")


_executors = [_new_executor()]


def _replace_executor() -> None:
    """Begin with another executor in a forked process, which has no thread of the first one."""
    _executors[:] = [_new_executor()]


# Windows does not fork.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_replace_executor)


async def in_thread(call: Call, work: Callable[[Deadline], Result], *, unless: bool = False) -> Result:
    """Return what work returns that runs in a thread while answers arrive; `unless` it is too little for that.

    Work must not change what others can see, and must look at the deadline that it is given where it takes long: it
    passes with the call's time, and as soon as nobody waits for the result any more.

    Raises:
        DeadlinePassed: The time was not enough.
    """
    if unless:
        return work(NEVER)
    # The clock of the call's deadline may be that of the event loop, which no other thread may look at.
    passed = threading.Event()
    deadline = Deadline(1.0, lambda: float(passed.is_set()))
    loop = asyncio.get_running_loop()
    timer = loop.call_later(call.call_deadline.seconds_left, passed.set)
    working = loop.run_in_executor(_executors[0], partial(contextvars.copy_context().run, _begun, work, deadline))
    try:
        # The thread may be at work for another call, and not look at any deadline for a while.
        await asyncio.wait([working], timeout=call.call_deadline.seconds_left + _GRACE_SECONDS)
    finally:
        # Where the time is up, or the task is cancelled, the thread is still at work.
        passed.set()
        timer.cancel()
        working.cancel()
    if working.cancelled():
        raise deadline_passed()
    result = working.result()
    await Passes.of(loop).own()
    return result


def _begun(work: Callable[[Deadline], Result], deadline: Deadline) -> Result:
    """Work, unless the time was up before the thread was free."""
    deadline.check()
    return work(deadline)


class Passes:
    """The passes of one event loop, of which each long call gets one of its own, in the order in which they ask."""

    _of_loops: ClassVar[WeakKeyDictionary[asyncio.AbstractEventLoop, Passes]] = WeakKeyDictionary()

    def __init__(self) -> None:
        self._is_taken = False
        self._waiting: deque[asyncio.Future[None]] = deque()

    @classmethod
    def of(cls, loop: asyncio.AbstractEventLoop) -> Passes:
        """Return the passes of a loop."""
        if loop not in cls._of_loops:
            cls._of_loops[loop] = cls()
        return cls._of_loops[loop]

    async def own(self) -> None:
        """Wait for a pass in which no other long call goes on; at once if there is none in this one."""
        loop = asyncio.get_running_loop()
        if not self._is_taken:
            self._is_taken = True
            loop.call_soon(self._next, loop)
            return
        turn = loop.create_future()
        self._waiting.append(turn)
        await turn

    def _next(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin a pass: the next that waits goes on in the one after it."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                loop.call_soon(self._next, loop)
                return
        self._is_taken = False


class Slices:
    """The slices of a long computation on the event loop.

    Attributes:
        turns: How often others had a turn.
    """

    def __init__(self, clock: Clock = time.thread_time) -> None:
        self.turns = 0
        self._clock = clock
        self._since = clock()

    async def begin(self) -> None:
        """Begin in a pass in which no other long call goes on: calls may all have waited for the same answer."""
        await Passes.of(asyncio.get_running_loop()).own()
        self._since = self._clock()

    async def over(self, items: Iterable[Item], at_once: int = FEW_FOR_A_THREAD // 2) -> AsyncIterator[Item]:
        """Yield items, and give others a turn after some of them if that slice has taken long enough."""
        for number, item in enumerate(items, 1):
            yield item
            if not number % at_once:
                await self.end_one()

    async def end_one(self) -> None:
        """Give others a turn if this slice has taken long enough."""
        if self._clock() - self._since >= _SLICE_SECONDS:
            self.turns += 1
            await asyncio.sleep(0)
            await self.begin()


Value = TypeVar("Value")


class computed_once(Generic[Value]):  # noqa: N801 - a decorator, as `functools.cached_property` is
    """A property that is computed when first asked for and stored with its object.

    Unlike `functools.cached_property`, which before Python 3.12 holds one lock for all objects while it computes: the
    event loop would wait until a thread has computed the value of another object. Two threads that ask for one value at
    once may both compute it.
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        """Note under which name the value is stored."""
        self._name = name

    @overload
    def __get__(self, owner: None, kind: type) -> Self: ...
    @overload
    def __get__(self, owner: object, kind: type | None = None) -> Value: ...
    def __get__(self, owner: object | None, kind: type | None = None) -> Value | Self:
        """Return the value; stored under this name, it stands before this descriptor from then on."""
        if owner is None:
            return self
        value = vars(owner)[self._name] = self._compute(owner)
        return value
