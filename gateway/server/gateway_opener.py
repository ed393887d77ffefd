"""Opens a gateway in the background, while the server already answers.

It is opened in a thread, because to parse a file and to import the libraries for it can take seconds or minutes. This
module imports none of them: a client waits for it before `initialize` and `tools/list`.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from gateway.answers.models import SchemaResult
from gateway.errors import DeadlinePassed, GatewayError
from gateway.files.graph_files import LOOK_SECONDS
from gateway.settings.profile import Profile

if TYPE_CHECKING:
    from gateway.tools.gateway import Gateway

_log = logging.getLogger(__name__)

OnProgress = Callable[[float, float, str], Awaitable[None]]
"""Receives progress: the amount done, the whole amount, and a message."""

OnFileRead = Callable[[Path, int, int], None]
"""Receives progress while a file is loaded: the file, its bytes read so far, and its size in bytes."""

_PROGRESS_SECONDS = 0.5
"""Between two reports of progress."""

_GRACE_SECONDS = 2.0
"""For a load that has to stop: it notices that with the next megabyte."""


async def ignore_progress(_done: float, _total: float, _message: str) -> None:
    """Report to nobody."""


class _StoppedError(Exception):
    """The server ends; the load must stop."""


class GatewayOpener:
    """Opens a gateway in the background, and returns it to every call that waits for it.

    Where the profile says so (`files.reload`), it opens another one when the files of the graph have changed, and puts
    that in its place.

    Args:
        profile: The profile of the gateway.
        make: Opens the gateway, in a thread. It calls its argument while it loads, and ends if that raises.
        name: What the log calls the graph.
        look_seconds: Between two looks at the files, where a change of them is followed.

    Attributes:
        profile: The profile in force.
        name: The name of the graph among those of one server; empty if it is the only one.
    """

    def __init__(
        self,
        profile: Profile,
        make: Callable[[OnFileRead], Gateway],
        name: str = "the graph",
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        self.profile = profile
        self._look_seconds = look_seconds
        self._name = name
        self.name = ""
        self._make = make
        self._gateway: Gateway | None = None
        self._failure: GatewayError | None = None
        self._settled: asyncio.Future[None] | None = None
        self._read: dict[Path, tuple[int, int]] = {}
        self._is_closed = threading.Event()
        self._thread: threading.Thread | None = None
        self._watching: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._listeners: list[Callable[[], None]] = []

    @classmethod
    def over(cls, gateway: Gateway) -> Self:
        """Return the opener of a gateway that is open already."""
        return cls(gateway.profile, lambda _: gateway)

    @property
    def is_busy(self) -> bool:
        """Whether the thread that opens the gateway still runs, even after `close`."""
        return self._thread is not None and self._thread.is_alive()

    @property
    def opened(self) -> Gateway | None:
        """The gateway, if it is open."""
        return self._gateway

    @property
    def failure(self) -> GatewayError | None:
        """Why the gateway cannot be opened; None while that is not known, and if it is open."""
        return None if self._failure is None else self._error()

    def open_gateway(self) -> Gateway:
        """Return the gateway if it is open.

        Raises:
            GatewayError: It is not yet, or cannot be.
        """
        if self._gateway is not None:
            return self._gateway
        raise self.failure or GatewayError(f"The graph is still {self._stage()}.", next_step="Call again later.")

    def start(self) -> None:
        """Begin to open the gateway, in the running event loop, unless that has begun."""
        if self._settled is not None:
            return
        self._settled = asyncio.get_running_loop().create_future()
        self._begin(self._settle)

    async def gateway(self, progress: OnProgress) -> Gateway:
        """Return the gateway when it is open; wait no longer than a call may take.

        Meanwhile `progress` receives the share of the graph's files that is read.

        Raises:
            DeadlinePassed: It is not open in time.
            GatewayError: It cannot be opened.
        """
        self.start()
        until = time.monotonic() + self.profile.limits.deadline_seconds
        reported = -1.0
        while self._settled is not None and not self._settled.done():
            share = self._share()
            if share > reported:
                reported = share
                await progress(share, 1, f"The graph is {self._stage()}.")
            left = until - time.monotonic()
            if left <= 0:
                raise DeadlinePassed(f"The graph is still {self._stage()}.", next_step="Call again later.")
            await asyncio.wait([self._settled], timeout=min(left, _PROGRESS_SECONDS))
        if self._gateway is None:
            raise self._error()
        return self._gateway

    async def wait_for_schema(self, seconds: float) -> None:
        """Wait until the schema is read as far as it will be, or cannot be, but no longer than some seconds."""
        with suppress(GatewayError, TimeoutError):
            async with asyncio.timeout(seconds):
                gateway = await self.gateway(ignore_progress)
                await gateway.wait_for_schema()

    def known_schema(self) -> SchemaResult | None:
        """Return the schema as it is known now; None if nothing is known."""
        return None if self._gateway is None else self._gateway.known_schema()

    def on_schema(self, listener: Callable[[], None]) -> None:
        """Register a function that is called, in the event loop, whenever `known_schema` changes."""
        self._listeners.append(listener)

    async def close(self) -> None:
        """Close the gateway, or stop opening it; a load that does not stop in time continues (see `is_busy`)."""
        self._is_closed.set()
        if self._watching is not None:
            self._watching.cancel()
        if self._settled is not None and not self._settled.done():
            await asyncio.wait([self._settled], timeout=_GRACE_SECONDS)
        if self._thread is not None and self._settled is not None and self._settled.done():
            # Mostly to settle it was the last that the thread did; but it may also be reading changed files.
            await asyncio.to_thread(self._thread.join, _GRACE_SECONDS)
        for ending in self._ending:
            ending.cancel()
        await asyncio.gather(*self._ending, return_exceptions=True)
        if self._gateway is not None:
            await self._gateway.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _begin(self, settle: Callable[[Gateway | GatewayError], None]) -> None:
        arguments = (asyncio.get_running_loop(), settle)
        self._thread = threading.Thread(target=self._open, args=arguments, name="opening", daemon=True)
        self._thread.start()

    def _open(self, loop: asyncio.AbstractEventLoop, settle: Callable[[Gateway | GatewayError], None]) -> None:
        """Open a gateway in this thread, and hand it to the event loop."""
        result: Gateway | GatewayError
        try:
            result = self._make(self._on_file_read)
        except GatewayError as error:
            result = error
        except _StoppedError:
            result = GatewayError("The server is stopping.")
        except BaseException:  # noqa: BLE001 - a panic in the engine is not an Exception, and calls wait for the result
            _log.exception("%s cannot be opened", self._name)
            result = GatewayError("This gateway has a defect; the details are in its log.")
        try:
            loop.call_soon_threadsafe(settle, result)
        except RuntimeError:
            _log.debug("the graph was opened after its event loop was closed")

    def _on_file_read(self, path: Path, read: int, size: int) -> None:
        self._read[path] = (read, size)
        if self._is_closed.is_set():
            raise _StoppedError

    def _share(self) -> float:
        """Return the share that is read of the files opened so far."""
        known = list(self._read.values())
        size = sum(size for _, size in known)
        return sum(read for read, _ in known) / size if size else 0.0

    def _stage(self) -> str:
        return f"loading: {self._share():.0%} of it is read" if self._read else "being opened"

    def _settle(self, result: Gateway | GatewayError) -> None:
        if self._settled is None or self._settled.done():
            return
        if isinstance(result, GatewayError):
            self._failure = result
            if not self._is_closed.is_set():
                _log.error("%s cannot be opened: %s", self._name, result)
        else:
            self._use(result)
            if self.profile.files.reload and not self._is_closed.is_set():
                self._watching = asyncio.create_task(self._watch(), name="watch files")
        self._settled.set_result(None)

    def _use(self, gateway: Gateway) -> None:
        self._gateway = gateway
        if not self._is_closed.is_set():
            gateway.on_schema(self._notify)
            gateway.start()
            self._notify()

    async def _watch(self) -> None:
        """Open another gateway whenever the files of the graph have changed."""
        while (gateway := self._gateway) is not None:
            await asyncio.sleep(self._look_seconds)
            if not await asyncio.to_thread(gateway.changes.have_settled):
                continue
            _log.info("the files of %s have changed and are read anew", self._name)
            opened: asyncio.Future[Gateway | GatewayError] = asyncio.get_running_loop().create_future()
            self._begin(partial(_set, opened))
            result = await opened
            if isinstance(result, GatewayError):
                _log.warning("the files of %s cannot be read anew, and it stays what it was: %s", self._name, result)
                continue
            self._use(result)
            ending = asyncio.create_task(self._end(gateway), name="end the gateway of old files")
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)

    async def _end(self, gateway: Gateway) -> None:
        """Close a gateway that another one replaced, when no call can run on it any more."""
        try:
            await asyncio.sleep(self.profile.limits.deadline_seconds + _GRACE_SECONDS)
        finally:
            await gateway.close()

    def _notify(self) -> None:
        for listener in self._listeners:
            listener()

    def _error(self) -> GatewayError:
        if self._failure is None:
            return GatewayError("The server is stopping.")
        return GatewayError(
            f"The graph cannot be opened: {self._failure.wrong}",
            valid=self._failure.valid,
            next_step=self._failure.next_step or "Tell the operator of this gateway.",
        )


def _set(opened: asyncio.Future[Gateway | GatewayError], result: Gateway | GatewayError) -> None:
    if not opened.done():
        opened.set_result(result)
