"""A call's own computing in another thread: what takes longer than a moment must not hold the event loop."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, TypeVar

from gateway.graph.call import Call
from gateway.graph.deadline import Deadline

Result = TypeVar("Result")

_THREADS: Final = 2
"""Computations of all calls that run at once. One interpreter runs one at a time: more would only make the event loop
wait longer for its turn. A second lets short ones pass a long one."""

_executor = ThreadPoolExecutor(_THREADS, thread_name_prefix="computing")


async def in_thread(call: Call, work: Callable[[Deadline], Result], *, unless: bool = False) -> Result:
    """Return what work returns that runs in a thread while answers arrive; `unless` it is too little for that.

    Work must not change what others can see, and must look at the deadline that it is given where it takes long: it
    passes with the call's time, and as soon as nobody waits for the result any more.

    Raises:
        DeadlinePassed: The time was not enough.
    """
    if unless:
        return work(call.call_deadline)
    # The clock of the call's deadline may be that of the event loop, which no other thread may look at.
    passed = threading.Event()
    deadline = Deadline(1.0, lambda: float(passed.is_set()))
    loop = asyncio.get_running_loop()
    timer = loop.call_later(call.call_deadline.seconds_left, passed.set)
    try:
        return await loop.run_in_executor(_executor, partial(contextvars.copy_context().run, _begun, work, deadline))
    finally:
        # Where the task is cancelled, the thread is still at work.
        passed.set()
        timer.cancel()


def _begun(work: Callable[[Deadline], Result], deadline: Deadline) -> Result:
    """Work, unless the time was up before the thread was free."""
    deadline.check()
    return work(deadline)
