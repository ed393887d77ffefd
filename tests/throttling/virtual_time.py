"""An event loop whose time passes only while nothing else is to be done: an hour of sleeps takes a second.

Sockets on loopback and threads work as ever. What is on its way through the kernel is waited for before time goes on;
who uses the loop says whether there is something.
"""

import asyncio
import selectors
import time
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Protocol, TypeVar, TypeVarTuple

_Arguments = TypeVarTuple("_Arguments")
_Result = TypeVar("_Result")

_A_MOMENT = 0.0002
"""Real seconds that are waited for what nobody knows of, such as the end of a connection."""

_LOST = 0.5
"""Real seconds after which what is on its way is given up; nothing takes so long on loopback."""

_Ready = list[tuple[selectors.SelectorKey, int]]


class Traffic(Protocol):
    """What is sent on sockets."""

    @property
    def on_its_way(self) -> bool:
        """Whether something was sent and has not arrived."""
        ...

    def lost(self) -> None:
        """Note that what is on its way never arrives."""
        ...


class _Selector(selectors.DefaultSelector):
    """Waits for sockets, and lets time pass where none is ready."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.traffic: Traffic | None = None
        self.threads = 0

    def select(self, timeout: float | None = None) -> _Ready:
        ready = super().select(0)
        if ready or (timeout is not None and timeout <= 0):
            return ready
        if timeout is None:
            return super().select(None)
        if self.threads:
            # It wakes the loop at its end.
            return super().select(None)
        if self.traffic is None:
            ready = []
        elif self.traffic.on_its_way:
            ready = super().select(_LOST)
            if not ready:
                self.traffic.lost()
        else:
            # A selector waits for whole milliseconds; a test has thousands of moments.
            time.sleep(_A_MOMENT)
            ready = super().select(0)
        if not ready:
            self.now += timeout
        return ready


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An event loop with a time of its own, which begins at 0."""

    def __init__(self) -> None:
        self._in_between = _Selector()
        super().__init__(self._in_between)

    def watch(self, traffic: Traffic) -> None:
        """Let no time pass while something is on its way."""
        self._in_between.traffic = traffic

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*_Arguments], _Result], *args: *_Arguments
    ) -> "asyncio.Future[_Result]":
        """Let no time pass while a thread works."""
        self._in_between.threads += 1
        future = super().run_in_executor(executor, func, *args)
        future.add_done_callback(self._returned)
        return future

    def _returned(self, _: object) -> None:
        self._in_between.threads -= 1

    def time(self) -> float:
        """Return the seconds that have passed."""
        return self._in_between.now
