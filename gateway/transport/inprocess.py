"""Queries to Oxigraph in this process, each in a thread that can be left.

`concurrent.futures` would wait for such work when the process exits.

Why not through ``Dataset.query``: docs/notes/embedded-engines.md, "Queries", and decision record 0002. The
engine has no time-out and no cancel: a query is stopped by an output that refuses further bytes, in a daemon thread,
and its slot is free again when it has really ended.
"""

from __future__ import annotations

import asyncio
import io
import logging
import os
import queue
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import IO, TypeVar, cast

import pyoxigraph
from typing_extensions import Buffer

from gateway.errors import DeadlinePassed, EndpointFault, QueryRefused
from gateway.graph.call import Deadline, Spend, deadline_passed, unpaid
from gateway.transport.base import IN_PROCESS_AT_ONCE, TextRow, TextRows
from gateway.transport.first_rows import FirstRows

IDLE_SECONDS = 10.0
"""How long a thread waits for more work. Starting one takes twice as long as a short query."""


class DaemonThreads:
    """Runs each function at once, in a thread that does not keep the process alive.

    There are as many threads as functions run at the same time: who calls bounds them.

    Args:
        name: The name of each thread.
        idle_seconds: How long a thread without work stays.

    Attributes:
        spare: Threads that wait, less the functions that are in the queue for them.
    """

    def __init__(self, name: str, *, idle_seconds: float = IDLE_SECONDS) -> None:
        self._name = name
        self._idle_seconds = idle_seconds
        self.start_afresh()

    def start_afresh(self) -> None:
        """Know of no thread, as in a forked process, which has none of those of the other."""
        self._lock = threading.Lock()
        self._waiting: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self.spare = 0

    def run(self, work: Callable[[], None]) -> None:
        """Run a function that raises nothing.

        Raises:
            RuntimeError: The system has no room for another thread.
        """
        with self._lock:
            if self.spare:
                self.spare -= 1
                self._waiting.put(work)
                return
        # In a list that the thread empties, because a thread keeps its arguments until it ends.
        threading.Thread(target=self._work, args=([work],), name=self._name, daemon=True).start()

    def _work(self, first: list[Callable[[], None]]) -> None:
        work: Callable[[], None] | None = first.pop()
        while work is not None:
            work()
            # What it holds is let go before the wait.
            work = None
            work = self._next()

    def _next(self) -> Callable[[], None] | None:
        """Return what to run next; None if nothing came in time."""
        with self._lock:
            self.spare += 1
        try:
            return self._waiting.get(timeout=self._idle_seconds)
        except queue.Empty:
            with self._lock:
                try:
                    return self._waiting.get_nowait()
                except queue.Empty:
                    self.spare -= 1
                    return None


_log = logging.getLogger(__name__)

_THREADS = DaemonThreads("sparql")

# Windows does not fork.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_THREADS.start_afresh)


_ROWS = 1_000
"""Rows between two looks at whether anybody waits for them."""

_TEXT_BYTES = 384 * 1024 * 1024
"""Some 1.4 million names with their entities; those of a store on a disk may be any number, and are read in parts."""

_Answer = TypeVar("_Answer")


class _StoppedError(Exception):
    """The output takes no more bytes."""


class _Output(io.RawIOBase):
    """Collects an answer until it is stopped, too late or too long."""

    def __init__(self, deadline: Deadline, max_bytes: int) -> None:
        super().__init__()
        self._deadline = deadline
        self._max_bytes = max_bytes
        self.chunks = bytearray()
        self.stopped = threading.Event()
        self.too_long = False

    def writable(self) -> bool:
        return True

    def check(self) -> None:
        """Raise `_StoppedError` if nobody waits for more."""
        if self.stopped.is_set() or self._deadline.seconds_left <= 0:
            raise _StoppedError

    def write(self, data: Buffer, /) -> int:
        self.check()
        view = memoryview(data)
        if len(self.chunks) + view.nbytes > self._max_bytes:
            self.too_long = True
            raise _StoppedError
        self.chunks += view
        return view.nbytes


class InProcess:
    """A transport to an Oxigraph store in this process.

    Args:
        engine: The store.
        max_bytes: The longest answer.
        max_text_bytes: Memory that the rows of `select_texts` may take.
        workers: Queries that run at once.
        lease: What is held as long as the store is in use.
        threads: Where they run.
    """

    def __init__(
        self,
        engine: pyoxigraph.Store,
        *,
        max_bytes: int,
        max_text_bytes: int = _TEXT_BYTES,
        workers: int = IN_PROCESS_AT_ONCE,
        lease: object = None,
        threads: DaemonThreads = _THREADS,
    ) -> None:
        self._engine = engine
        self._lease = lease
        self._max_bytes = max_bytes
        self._max_text_bytes = max_text_bytes
        self._slots = asyncio.Semaphore(workers)
        self._threads = threads

    @property
    def engine(self) -> pyoxigraph.Store:
        """The graph."""
        return self._engine

    async def select(self, query: str, deadline: Deadline, _spend: Spend = unpaid, /) -> bytes:
        """Run a query; see `Transport.select`."""
        return await self._in_thread(partial(self._written, query), deadline)

    async def select_texts(self, query: str, keeps: Callable[[str], bool], deadline: Deadline, /) -> TextRows:
        """Run a query; see `WithTexts.select_texts`."""
        return await self._in_thread(partial(self._texts, query, keeps), deadline)

    async def _in_thread(self, run: Callable[[_Output], _Answer], deadline: Deadline) -> _Answer:
        deadline.check()
        try:
            async with asyncio.timeout(deadline.seconds_left):
                await self._slots.acquire()
        except TimeoutError as error:
            raise DeadlinePassed(
                "The embedded graph was busy with other queries until the time of this call was used up.",
                next_step="Try again.",
            ) from error
        output = _Output(deadline, self._max_bytes)
        loop = asyncio.get_running_loop()
        done: asyncio.Future[_Answer] = loop.create_future()

        def settle(result: _Answer | BaseException) -> None:
            self._slots.release()
            if done.done():
                return
            if isinstance(result, BaseException):
                done.set_exception(result)
            else:
                done.set_result(result)

        def work() -> None:
            result = self._run(run, output)
            try:
                loop.call_soon_threadsafe(settle, result)
            except RuntimeError:
                _log.debug("a query ended after its event loop was closed")

        try:
            self._threads.run(work)
        except RuntimeError as error:
            self._slots.release()
            raise EndpointFault("This machine has no room for another query now.", next_step="Try again.") from error
        try:
            async with asyncio.timeout(deadline.seconds_left):
                return await done
        except TimeoutError as error:
            raise deadline_passed() from error
        finally:
            output.stopped.set()

    def _written(self, query: str, output: _Output) -> bytes:
        # No name holds the results: they must end in this thread, and a logged traceback would keep them.
        cast("pyoxigraph.QuerySolutions", self._engine.query(query)).serialize(
            cast("IO[bytes]", output), pyoxigraph.QueryResultsFormat.JSON
        )
        return bytes(output.chunks)

    def _texts(self, query: str, keeps: Callable[[str], bool], output: _Output) -> TextRows:
        rows = FirstRows(self._max_text_bytes, output.check)
        for number, solution in enumerate(cast("pyoxigraph.QuerySolutions", self._engine.query(query))):
            if not number % _ROWS:
                output.check()
            if (texts := _texts_of(solution)) is not None and keeps(texts[0]):
                rows.add(texts)
        return rows.found()

    def _run(self, run: Callable[[_Output], _Answer], output: _Output) -> _Answer | BaseException:
        """Run the query in this thread and return its answer, or the error that the waiting task shall see."""
        try:
            return run(output)
        except _StoppedError:
            if output.too_long:
                return EndpointFault("One answer is larger than this gateway reads.")
            return deadline_passed()
        except EndpointFault as fault:
            return fault
        except SyntaxError as error:
            _log.debug("query refused: %s", error)
            return QueryRefused("The engine refused a query; an ID in it may be no IRI by the engine's rules.")
        except BaseException:  # noqa: BLE001 - a panic in the engine is no Exception, and its slot must come free
            _log.exception("query failed in the embedded engine")
            return EndpointFault("The embedded engine failed to answer a query.")

    async def close(self) -> None:
        """Nothing to let go of: a query that still runs ends in its own thread."""


def _texts_of(solution: pyoxigraph.QuerySolution) -> TextRow | None:
    texts: list[str] = []
    for term in solution:
        if isinstance(term, pyoxigraph.NamedNode):
            texts.append(term.value)
        elif isinstance(term, pyoxigraph.Literal):
            # Of thousands of texts, many are in one language.
            texts += term.value, sys.intern((term.language or "").lower())
        else:
            return None
    return tuple(texts)
