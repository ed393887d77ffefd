"""A call's own computing in a thread: it ends with the call, and holds up nobody."""

import asyncio
import threading

import pytest

from gateway.errors import DeadlinePassed
from gateway.graph.call import Call, Deadline
from gateway.graph.computing import in_thread

pytestmark = pytest.mark.anyio

PATIENCE = 60.0


def call(seconds: float = PATIENCE) -> Call:
    return Call(Deadline.after(seconds), requests=1, rows=1, nodes=1)


class Work:
    """Work that looks at its deadline until it passes.

    Attributes:
        began: Set when it runs.
        ended: Set when it has ended.
    """

    def __init__(self) -> None:
        self.began = threading.Event()
        self.ended = threading.Event()

    def __call__(self, deadline: Deadline) -> None:
        """Work without an end."""
        self.began.set()
        try:
            while True:
                deadline.check()
                # Lets other threads run; nothing is measured.
                self.ended.wait(0.001)
        finally:
            self.ended.set()


async def waited(event: threading.Event) -> bool:
    return await asyncio.to_thread(event.wait, PATIENCE)


async def test_work_runs_in_another_thread_and_its_result_comes_back() -> None:
    assert await in_thread(call(), lambda _: threading.get_ident()) != threading.get_ident()


async def test_an_error_of_the_work_is_raised_as_it_is() -> None:
    def fail(_: Deadline) -> None:
        raise KeyError("x")

    with pytest.raises(KeyError, match="x"):
        await in_thread(call(), fail)


async def test_work_ends_when_the_time_of_the_call_is_up() -> None:
    work = Work()
    with pytest.raises(DeadlinePassed):
        await in_thread(call(0.01), work)
    assert await waited(work.ended)


async def test_work_of_a_call_that_was_given_up_stops() -> None:
    work = Work()
    task = asyncio.create_task(in_thread(call(), work))
    assert await waited(work.began)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await waited(work.ended)


async def test_work_that_waits_for_a_thread_when_its_call_is_given_up_never_runs() -> None:
    busy = Work()
    running = asyncio.create_task(in_thread(call(), busy))
    assert await waited(busy.began)
    waiting = Work()
    task = asyncio.create_task(in_thread(call(), waiting))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert await in_thread(call(), lambda _: True)
    assert not waiting.began.is_set()


async def test_a_call_whose_time_is_up_does_not_wait_for_the_work_of_another_that_looks_at_no_deadline() -> None:
    began, go_on = threading.Event(), threading.Event()

    def busy(_: Deadline) -> bool:
        began.set()
        return go_on.wait(PATIENCE)

    running = asyncio.create_task(in_thread(call(), busy))
    assert await waited(began)
    waiting = Work()
    with pytest.raises(DeadlinePassed):
        await in_thread(call(0.01), waiting)
    assert not running.done()
    go_on.set()
    assert await running
    assert not waiting.began.is_set()
