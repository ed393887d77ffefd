"""Threads for work that cannot be stopped, each used again while there is work.

`concurrent.futures` would wait for such work when the process exits.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

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
