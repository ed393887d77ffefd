"""What `open_gateway` returns: a gateway to be awaited, from which `with` makes one that is not."""

from __future__ import annotations

import weakref
from collections.abc import AsyncIterator
from contextlib import ExitStack
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any, Self

from gateway.errors import UsageError
from gateway.python.loop_thread import LoopThread
from gateway.python.pending_call import said_if_not_awaited
from gateway.python.sync_gateway import SyncGateway
from gateway.python.wrong_call import begun_call
from gateway.tools.gateway import Gateway


class AsyncGateway(Gateway):
    """A gateway whose calls are awaited. Opened by `with`, or by `synchronous`, it has calls that return answers.

    It is opened once: what it keeps belongs to one event loop, and is closed with that.
    """

    _entered: ExitStack | None = None
    _is_taken = False

    def synchronous(self, thread: LoopThread | None = None) -> SyncGateway:
        """Return one whose calls are not awaited, for a notebook whose cells share it; close that in the end.

        Args:
            thread: Where its calls run, and what closes this gateway; by default a thread of its own.

        Raises:
            UsageError: The gateway was opened before, by this, `with` or `async with`.
        """
        self._take()
        if thread is not None:
            return SyncGateway(self, thread)
        gateway = SyncGateway(self, thread := LoopThread(self.close))
        # A cell of a notebook that is run again opens another one, and closes none.
        weakref.finalize(gateway, thread.stop).atexit = False
        return gateway

    def __enter__(self) -> SyncGateway:
        with ExitStack() as stack:
            gateway = stack.enter_context(self.synchronous())
            self._entered = stack.pop_all()
        return gateway

    def __exit__(self, *_: object) -> None:
        if self._entered is not None:
            self._entered.close()

    async def __aenter__(self) -> Self:
        self._take()
        return self

    def _take(self) -> None:
        if self._is_taken:
            raise UsageError(
                "This gateway was opened before, and what it keeps belongs to the event loop of that.",
                valid="A gateway is opened once: by `with`, by `async with` or by `synchronous()`.",
                next_step="Use the gateway that was opened, or call `open_gateway` again for another one.",
            )
        self._is_taken = True


def _pages(name: str) -> Any:
    method = getattr(Gateway, name)

    @wraps(method)
    def begun(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        pages: AsyncIterator[Any] = begun_call(method, args, kwargs)
        return pages

    return begun


for _name in ("pages", "search_pages"):
    setattr(AsyncGateway, _name, _pages(_name))
for _name, _call in vars(Gateway).items():
    if iscoroutinefunction(_call) and not _name.startswith("_"):
        setattr(AsyncGateway, _name, said_if_not_awaited(_call))
