from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import RawIOBase
from typing import cast

import pyoxigraph
import pytest

from gateway.errors import DeadlinePassed, EndpointFault, QueryRefused
from gateway.graph.call import Deadline
from gateway.transport.inprocess import DaemonThreads, InProcess
from tests.clocks import Clock

pytestmark = pytest.mark.anyio

PATIENCE = 10
NAME = "daemon threads, of this file"


def alive(name: str = NAME) -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == name]


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
    with gate(NAME) as opened:

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


MAX_BYTES = 1 << 30
SMALL = "SELECT ?value { <http://example.org/7> ?p ?value }"
ENDLESS = "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n ?o . ?p ?q ?r }"
"""60 to the power of 6 rows, one after the other."""

Body = Callable[[RawIOBase], None]


@pytest.fixture(scope="module")
def engine() -> pyoxigraph.Store:
    store = pyoxigraph.Store()
    predicate = pyoxigraph.NamedNode("http://example.org/value")
    store.extend(
        pyoxigraph.Quad(pyoxigraph.NamedNode(f"http://example.org/{n}"), predicate, pyoxigraph.Literal(n))
        for n in range(60)
    )
    return store


class Acting:
    """Stands in for an engine, to do what no query makes the real one do.

    Attributes:
        began: Queries that began.
    """

    def __init__(self, act: Body) -> None:
        self.began = threading.Semaphore(0)
        self._act = act

    def query(self, _: str) -> Acting:
        """Return something to serialize."""
        return self

    def serialize(self, output: RawIOBase, _: object) -> None:
        """Do what the test wants."""
        self.began.release()
        self._act(output)

    def as_store(self) -> pyoxigraph.Store:
        """Return this, as the transport wants it."""
        return cast("pyoxigraph.Store", self)

    async def wait_until_began(self) -> None:
        """Wait for a query to be in the engine."""
        assert await asyncio.to_thread(self.began.acquire, timeout=PATIENCE)


class Started:
    """The real engine, which tells when a query is handed to it, and in which thread.

    Attributes:
        began: Set by each query.
        thread: That of the last query.
    """

    def __init__(self, engine: pyoxigraph.Store) -> None:
        self._engine = engine
        self.began = threading.Event()
        self.thread = threading.main_thread()

    def query(self, text: str) -> object:
        """Run a query."""
        self.thread = threading.current_thread()
        self.began.set()
        return self._engine.query(text)

    def as_store(self) -> pyoxigraph.Store:
        """Return this, as the transport wants it."""
        return cast("pyoxigraph.Store", self)


def in_time() -> Deadline:
    return Deadline.after(PATIENCE)


THREADS = "sparql, of this file"


def transport_to(engine: pyoxigraph.Store, *, workers: int, max_bytes: int = MAX_BYTES) -> InProcess:
    """Return a transport whose threads end with their queries."""
    return InProcess(engine, max_bytes=max_bytes, workers=workers, threads=DaemonThreads(THREADS, idle_seconds=0))


@pytest.fixture(autouse=True)
def _no_thread_outlives_its_test() -> Iterator[None]:
    """Wait for the threads: an answer is there before its thread ends, and the next test counts threads."""
    yield
    for thread in alive(THREADS):
        thread.join(PATIENCE)


@contextmanager
def gate(threads: str) -> Iterator[threading.Event]:
    """A gate that is open in the end, so that no thread outlives its test."""
    event = threading.Event()
    try:
        yield event
    finally:
        event.set()
        for thread in alive(threads):
            thread.join(PATIENCE)


def waiting_for(opened: threading.Event) -> Acting:
    """Return an engine whose queries wait for a gate, and have an empty answer."""

    def act(output: RawIOBase) -> None:
        opened.wait(PATIENCE)
        output.write(b"{}")

    return Acting(act)


# Answers


async def test_an_answer_is_the_bytes_of_sparql_json(engine: pyoxigraph.Store) -> None:
    body = await InProcess(engine, max_bytes=MAX_BYTES).select(SMALL, in_time())
    assert json.loads(body) == {
        "head": {"vars": ["value"]},
        "results": {
            "bindings": [
                {"value": {"type": "literal", "value": "7", "datatype": "http://www.w3.org/2001/XMLSchema#integer"}}
            ]
        },
    }


async def test_many_rows_come_whole(engine: pyoxigraph.Store) -> None:
    body = await InProcess(engine, max_bytes=MAX_BYTES).select("SELECT * { ?a ?b ?c . ?d ?e ?f }", in_time())
    assert len(json.loads(body)["results"]["bindings"]) == 60**2


@pytest.mark.parametrize(
    "query",
    [
        "SELECT ?x {",
        "",
        "SELECT * { <http://x/%zz> ?p ?o }",
        "SELECT * { <relative> ?p ?o }",
        "DELETE WHERE { ?s ?p ?o }",
    ],
    ids=["cut", "empty", "bad escape in an IRI", "relative IRI", "update"],
)
async def test_a_query_that_the_engine_will_not_run_is_refused(engine: pyoxigraph.Store, query: str) -> None:
    transport = transport_to(engine, workers=1)
    with pytest.raises(QueryRefused) as caught:
        await transport.select(query, in_time())
    assert "http" not in str(caught.value)
    assert json.loads(await transport.select(SMALL, in_time()))["results"]["bindings"]


async def test_an_answer_may_be_as_large_as_the_limit_and_no_larger(engine: pyoxigraph.Store) -> None:
    body = await InProcess(engine, max_bytes=MAX_BYTES).select(SMALL, in_time())
    assert await InProcess(engine, max_bytes=len(body)).select(SMALL, in_time()) == body
    with pytest.raises(EndpointFault, match="larger than this gateway reads"):
        await InProcess(engine, max_bytes=len(body) - 1).select(SMALL, in_time())


async def test_an_endless_answer_is_stopped_at_the_limit_of_bytes(engine: pyoxigraph.Store) -> None:
    transport = transport_to(engine, workers=1, max_bytes=10_000)
    with pytest.raises(EndpointFault, match="larger than this gateway reads"):
        await transport.select(ENDLESS, in_time())
    assert await transport.select(SMALL, in_time())


class _Panic(BaseException):
    """As the engine's panics: no Exception."""


@pytest.mark.parametrize("error", [TypeError, ValueError, RuntimeError, OSError, MemoryError, _Panic])
async def test_whatever_fails_in_the_engine_is_reported_and_its_slot_comes_free(error: type[BaseException]) -> None:
    def act(output: RawIOBase) -> None:
        if failing:
            failing.pop()
            raise error("at /home/alice/graph")
        output.write(b"{}")

    failing = [True]
    transport = InProcess(Acting(act).as_store(), max_bytes=MAX_BYTES, workers=1)
    with pytest.raises(EndpointFault, match="failed to answer") as caught:
        await transport.select(SMALL, in_time())
    assert "alice" not in str(caught.value)
    assert await transport.select(SMALL, in_time()) == b"{}"


async def test_a_query_of_another_form_is_reported_and_its_slot_comes_free(engine: pyoxigraph.Store) -> None:
    transport = transport_to(engine, workers=1)
    with pytest.raises(EndpointFault, match="failed to answer"):
        await transport.select("CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }", in_time())
    assert await transport.select(SMALL, in_time())


# Stopping


async def test_cancelling_stops_a_query_at_its_next_rows(engine: pyoxigraph.Store) -> None:
    started = Started(engine)
    transport = transport_to(started.as_store(), workers=1)
    async with asyncio.timeout(PATIENCE):
        for _ in range(3):
            started.began.clear()
            task = asyncio.create_task(transport.select(ENDLESS, Deadline.after(1000)))
            assert await asyncio.to_thread(started.began.wait, PATIENCE)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.to_thread(started.thread.join, PATIENCE)
            assert not started.thread.is_alive()
        assert await transport.select(SMALL, in_time())


async def test_a_deadline_stops_a_query(engine: pyoxigraph.Store) -> None:
    transport = transport_to(engine, workers=1)
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(DeadlinePassed, match="time of this call"):
            await transport.select(ENDLESS, Deadline.after(0.05))
        assert await transport.select(SMALL, in_time())


async def test_a_query_sees_by_itself_that_its_deadline_passed(engine: pyoxigraph.Store) -> None:
    clock = Clock()
    started = Started(engine)
    transport = transport_to(started.as_store(), workers=1)
    async with asyncio.timeout(PATIENCE):
        task = asyncio.create_task(transport.select(ENDLESS, Deadline.after(1000, clock)))
        assert await asyncio.to_thread(started.began.wait, PATIENCE)
        clock.now += 1000
        with pytest.raises(DeadlinePassed, match="time of this call"):
            await task


async def test_a_query_that_ends_too_late_does_not_disturb() -> None:
    with gate(THREADS) as opened:
        acting = waiting_for(opened)
        transport = transport_to(acting.as_store(), workers=1)
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(DeadlinePassed, match="time of this call"):
                await transport.select(SMALL, Deadline.after(0.05))
            opened.set()
            assert await transport.select(SMALL, in_time()) == b"{}"


async def test_nothing_runs_when_no_time_is_left() -> None:
    acting = Acting(lambda _: None)
    with pytest.raises(DeadlinePassed):
        await InProcess(acting.as_store(), max_bytes=MAX_BYTES).select(SMALL, Deadline.after(0, Clock()))
    assert not acting.began.acquire(blocking=False)


# Slots


async def test_a_cancelled_query_keeps_its_slot_until_its_thread_has_ended() -> None:
    with gate(THREADS) as opened:
        acting = waiting_for(opened)
        transport = transport_to(acting.as_store(), workers=1)
        async with asyncio.timeout(PATIENCE):
            task = asyncio.create_task(transport.select(SMALL, in_time()))
            await acting.wait_until_began()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            with pytest.raises(DeadlinePassed, match="busy with other queries"):
                await transport.select(SMALL, Deadline.after(0.05))
            assert len(alive(THREADS)) == 1
            opened.set()
            assert await transport.select(SMALL, in_time()) == b"{}"


async def test_a_query_cancelled_while_it_waits_for_a_slot_never_runs() -> None:
    with gate(THREADS) as opened:
        acting = waiting_for(opened)
        transport = transport_to(acting.as_store(), workers=1)
        async with asyncio.timeout(PATIENCE):
            first = asyncio.create_task(transport.select(SMALL, in_time()))
            await acting.wait_until_began()
            waiting = asyncio.create_task(transport.select(SMALL, in_time()))
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            opened.set()
            assert await first == b"{}"
            assert await transport.select(SMALL, in_time()) == b"{}"
        await acting.wait_until_began()
        assert not acting.began.acquire(blocking=False)


async def test_two_queries_run_at_once_and_the_third_waits() -> None:
    with gate(THREADS) as opened:
        acting = waiting_for(opened)
        transport = transport_to(acting.as_store(), workers=2)
        async with asyncio.timeout(PATIENCE):
            tasks = [asyncio.create_task(transport.select(SMALL, in_time())) for _ in range(3)]
            await acting.wait_until_began()
            await acting.wait_until_began()
            assert len(alive(THREADS)) == 2
            assert not acting.began.acquire(blocking=False)
            opened.set()
            assert await asyncio.gather(*tasks) == [b"{}"] * 3


def test_a_query_may_outlive_its_event_loop() -> None:
    with gate(THREADS) as opened:
        acting = waiting_for(opened)

        async def leave() -> None:
            task = asyncio.create_task(
                transport_to(acting.as_store(), workers=1).select(SMALL, Deadline.after(PATIENCE))
            )
            await acting.wait_until_began()
            task.cancel()

        asyncio.run(leave())
        (thread,) = alive(THREADS)
        opened.set()
        thread.join(PATIENCE)
        # An error in the thread would be a warning, and a warning fails the test.
        assert not thread.is_alive()


async def test_closing_leaves_nothing_to_do(engine: pyoxigraph.Store) -> None:
    transport = transport_to(engine, workers=1)
    await transport.close()
    await transport.close()
    assert alive(THREADS) == []


# Exit

EXIT_SCRIPT = """
import asyncio, sys, threading
import pyoxigraph
from gateway.graph.call import Deadline
from gateway.transport.inprocess import InProcess
from tests.clocks import Clock

store = pyoxigraph.Store()
p = pyoxigraph.NamedNode("http://example.org/p")
store.extend(pyoxigraph.Quad(pyoxigraph.NamedNode(f"http://example.org/{n}"), p, p) for n in range(60))

async def main():
    task = asyncio.create_task(InProcess(store, max_bytes=1 << 30).select(sys.argv[1], Deadline.after(1000)))
    while not any(thread.name == "sparql" for thread in threading.enumerate()):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    print(task.cancelled())

asyncio.run(main())
"""


@pytest.mark.process
@pytest.mark.parametrize(
    "query",
    [ENDLESS, ENDLESS.replace("*", "(COUNT(*) AS ?count)", 1)],
    ids=["a query that produces rows", "a query that produces none"],
)
def test_a_running_query_does_not_keep_the_process_alive(query: str) -> None:
    command = [sys.executable, "-W", "error", "-c", EXIT_SCRIPT, query]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")
