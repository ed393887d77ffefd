from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gateway.transport.inprocess import DaemonThreads

PATIENCE = 10
NAME = "daemon threads, of this file"


@contextmanager
def gate() -> Iterator[threading.Event]:
    """A gate that is open in the end, so that no thread outlives its test."""
    event = threading.Event()
    try:
        yield event
    finally:
        event.set()
        for thread in alive():
            thread.join(PATIENCE)


def alive() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == NAME]


def thread_of(threads: DaemonThreads) -> int | None:
    """Return the identity of the thread that runs a function, after it has run."""
    seen: list[int] = []
    done = threading.Event()

    def work() -> None:
        seen.append(threading.get_ident())
        done.set()

    threads.run(work)
    assert done.wait(PATIENCE)
    return seen[0]


def until(condition: Callable[[], bool]) -> None:
    """Wait until another thread has come to a place that it does not tell of."""
    waiting = threading.Event()
    for _ in range(PATIENCE * 1000):
        if condition():
            return
        waiting.wait(0.001)
    raise AssertionError("it never came")


def test_a_thread_that_is_free_is_used_again() -> None:
    threads = DaemonThreads(NAME, idle_seconds=0.5)
    first = thread_of(threads)
    (thread,) = alive()
    until(lambda: threads.spare == 1)
    assert thread_of(threads) == first
    thread.join(PATIENCE)
    assert alive() == []


def test_no_function_waits_for_another() -> None:
    threads = DaemonThreads(NAME, idle_seconds=0)
    began = threading.Semaphore(0)
    with gate() as opened:

        def work() -> None:
            began.release()
            opened.wait(PATIENCE)

        for _ in range(5):
            threads.run(work)
        assert all(began.acquire(timeout=PATIENCE) for _ in range(5))
        assert len(alive()) == 5


def test_every_function_runs_once_however_threads_come_and_go() -> None:
    threads = DaemonThreads(NAME, idle_seconds=0)
    ran: list[int] = []
    done = threading.Semaphore(0)

    def work(number: int) -> Callable[[], None]:
        def run() -> None:
            ran.append(number)
            done.release()

        return run

    for number in range(2_000):
        threads.run(work(number))
    assert all(done.acquire(timeout=PATIENCE) for _ in range(2_000))
    for thread in alive():
        thread.join(PATIENCE)
    assert sorted(ran) == list(range(2_000))
    assert threads.spare == 0


class _Held:
    pass


def test_a_waiting_thread_holds_nothing_of_what_it_ran() -> None:
    threads = DaemonThreads(NAME, idle_seconds=0.5)
    held = _Held()
    seen = weakref.ref(held)

    def work(held: _Held = held) -> None:
        assert held is not None

    threads.run(work)
    until(lambda: threads.spare == 1)
    del held, work
    gc.collect()
    assert seen() is None
    for thread in alive():
        thread.join(PATIENCE)
