"""An event loop in a thread of its own, which runs the calls of threads that do not await them."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

from gateway.errors import UsageError

T = TypeVar("T")

_NAME = "bfsql-gateway"


class LoopThread:
    """Runs coroutines of any thread in one event loop, until it is closed.

    Args:
        closing: Called in the loop when it ends.
    """

    def __init__(self, closing: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._closing = closing
        self._process = os.getpid()
        # A finalizer may come at any place of its thread, also where that thread has the lock.
        self._lock = threading.RLock()
        self._is_closed = False
        self._running: set[Future[Any]] = set()
        self._loop = asyncio.new_event_loop()
        self._stopped = asyncio.Event()
        self._thread = threading.Thread(target=self._serve, name=_NAME, daemon=True)
        self._thread.start()

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        """Return what a coroutine returns; an exception in this thread meanwhile, such as that of Ctrl-C, cancels it.

        Raises:
            UsageError: The thread is closed, belongs to the process that this one was forked from, or is this one.
        """
        future = self._begin(call)
        try:
            return future.result()
        except CancelledError:
            raise _closed() from None
        finally:
            future.cancel()
            self._running.discard(future)

    def stop(self) -> None:
        """End all calls and begin to close; return at once."""
        if os.getpid() != self._process:
            return
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            running = list(self._running)
            self._loop.call_soon_threadsafe(self._stopped.set)
        for future in running:
            future.cancel()

    def close(self) -> None:
        """End all calls, close, and wait until the thread has ended."""
        self.stop()
        if os.getpid() == self._process and threading.current_thread() is not self._thread:
            self._thread.join()

    def _begin(self, call: Coroutine[Any, Any, T]) -> Future[T]:
        try:
            # Before the lock: in a forked process it may be locked for ever.
            self._check_caller()
            with self._lock:
                self._check_open()
                future = asyncio.run_coroutine_threadsafe(call, self._loop)
                self._running.add(future)
                return future
        except UsageError:
            call.close()
            raise

    def _check_caller(self) -> None:
        if os.getpid() != self._process:
            raise UsageError(
                "This gateway was opened before the process was forked, and its threads and connections stayed with the"
                " other process.",
                next_step="Open a gateway in each process, after the fork, or start processes by `spawn`.",
            )
        if threading.current_thread() is self._thread:
            raise UsageError(
                "A function that a call reports to (`progress`, `on_record`) called the gateway, which would wait for"
                " itself.",
                next_step="Call it after the other call has returned, or from another thread.",
            )

    def _check_open(self) -> None:
        if self._is_closed:
            raise _closed()

    def _serve(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._until_stopped())

    async def _until_stopped(self) -> None:
        await self._stopped.wait()
        await self._closing()


def _closed() -> UsageError:
    return UsageError(
        "This gateway is closed.",
        next_step="Call it inside the `with` block, or open it by `synchronous()` and close it later.",
    )
