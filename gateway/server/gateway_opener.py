"""A gateway that will be there: opened beside a server that answers meanwhile.

It is opened in a thread, because parsing a file takes seconds or minutes, and so do the imports that it needs. Nothing
of what is imported for it is imported here: `initialize` and `tools/list` wait for none of it.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, Self

from gateway.engine.answers import SchemaResult, ToolAnswer
from gateway.errors import DeadlinePassed, GatewayError
from gateway.settings.profile import Profile

_log = logging.getLogger(__name__)

OnProgress = Callable[[float, float, str], Awaitable[None]]
"""Told how far something is: what is done, of how much, in words."""

OnFileRead = Callable[[Path, int, int], None]
"""Told while a file loads: the file, its bytes read so far, and its size in bytes."""

_TELL_SECONDS = 0.5
_GRACE_SECONDS = 2.0
"""For a load that has to stop: it hears of that with the next megabyte."""


class OpenGateway(Protocol):
    """What a server needs of a gateway; `gateway.engine.gateway.Gateway` is one."""

    @property
    def profile(self) -> Profile:
        """The profile in force."""

    async def call(self, tool: str, arguments: Mapping[str, Any], progress: OnProgress) -> ToolAnswer:
        """Call a tool by name."""

    def start(self) -> None:
        """Begin to read the schema."""

    def known_schema(self) -> SchemaResult | None:
        """Return the schema as it is known now."""

    def on_schema(self, listener: Callable[[], None]) -> None:
        """Have a function called whenever that has changed."""

    async def close(self) -> None:
        """Let go of everything."""


class _StoppedError(Exception):
    """Nobody wants the gateway any more."""


class GatewayOpener:
    """Opens a gateway in the background, once, and hands it to whoever waits for it.

    Args:
        profile: The profile that the gateway will have.
        make: Opens the gateway, in a thread; it passes progress on, and lets pass what that raises.
    """

    def __init__(self, profile: Profile, make: Callable[[OnFileRead], OpenGateway]) -> None:
        self._profile = profile
        self._make = make
        self._gateway: OpenGateway | None = None
        self._failure: GatewayError | None = None
        self._settled: asyncio.Future[None] | None = None
        self._read: dict[Path, tuple[int, int]] = {}
        self._is_unwanted = threading.Event()
        self._thread: threading.Thread | None = None
        self._listeners: list[Callable[[], None]] = []

    @classmethod
    def over(cls, gateway: OpenGateway) -> Self:
        """Return a gateway that is open as one that is opened at once."""
        return cls(gateway.profile, lambda _: gateway)

    @property
    def profile(self) -> Profile:
        """The profile in force."""
        return self._profile

    @property
    def is_busy(self) -> bool:
        """Whether the gateway is being opened now, wanted or not."""
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Begin, in the running event loop; once is enough."""
        if self._settled is not None:
            return
        loop = asyncio.get_running_loop()
        self._settled = loop.create_future()
        self._thread = threading.Thread(target=self._work, args=(loop,), name="opening", daemon=True)
        self._thread.start()

    async def gateway(self, progress: OnProgress) -> OpenGateway:
        """Wait for the gateway, no longer than a call may take.

        Args:
            progress: Told how much of the graph's files is read, as a share of 1.

        Raises:
            DeadlinePassed: It is not there yet.
            GatewayError: It cannot be opened.
        """
        self.start()
        until = time.monotonic() + self._profile.limits.deadline_seconds
        told = -1.0
        while self._settled is not None and not self._settled.done():
            share = self._share()
            if share > told:
                told = share
                await progress(share, 1, f"The graph is {self._stage()}.")
            left = until - time.monotonic()
            if left <= 0:
                raise DeadlinePassed(f"The graph is still {self._stage()}.", next_step="Call again in a while.")
            await asyncio.wait([self._settled], timeout=min(left, _TELL_SECONDS))
        if self._gateway is None:
            raise self._refusal()
        return self._gateway

    def known_schema(self) -> SchemaResult | None:
        """Return the schema as it is known now; None while nothing is."""
        return None if self._gateway is None else self._gateway.known_schema()

    def on_schema(self, listener: Callable[[], None]) -> None:
        """Have a function called, in the event loop, whenever `known_schema` has changed."""
        self._listeners.append(listener)

    async def close(self) -> None:
        """Close the gateway, or stop opening it; what cannot be stopped in time goes on by itself (see `is_busy`)."""
        self._is_unwanted.set()
        if self._settled is not None and not self._settled.done():
            await asyncio.wait([self._settled], timeout=_GRACE_SECONDS)
        if self._gateway is not None:
            await self._gateway.close()

    async def __aenter__(self) -> Self:
        """Return the opening itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close it."""
        await self.close()

    def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        """Open the gateway in this thread."""
        result: OpenGateway | GatewayError
        try:
            result = self._make(self._note)
        except GatewayError as error:
            result = error
        except _StoppedError:
            result = GatewayError("The server is ending.")
        except BaseException:  # noqa: BLE001 - a panic in the engine is no Exception, and who waits must hear of it
            _log.exception("the graph cannot be opened")
            result = GatewayError("This gateway failed in a way it should not; the details are in its log.")
        try:
            loop.call_soon_threadsafe(self._settle, result)
        except RuntimeError:
            _log.debug("the graph was opened after its event loop was closed")

    def _note(self, path: Path, read: int, size: int) -> None:
        self._read[path] = (read, size)
        if self._is_unwanted.is_set():
            raise _StoppedError

    def _share(self) -> float:
        """How much of the files that were begun is read."""
        known = list(self._read.values())
        size = sum(size for _, size in known)
        return sum(read for read, _ in known) / size if size else 0.0

    def _stage(self) -> str:
        return f"loading: {self._share():.0%} of it is read" if self._read else "being opened"

    def _settle(self, result: OpenGateway | GatewayError) -> None:
        if self._settled is None or self._settled.done():
            return
        if isinstance(result, GatewayError):
            self._failure = result
            if not self._is_unwanted.is_set():
                _log.error("the graph cannot be opened: %s", result)
        else:
            self._gateway = result
            if not self._is_unwanted.is_set():
                result.on_schema(self._tell)
                result.start()
                self._tell()
        self._settled.set_result(None)

    def _tell(self) -> None:
        for listener in self._listeners:
            listener()

    def _refusal(self) -> GatewayError:
        """Return why there is no gateway, as an error of its own for each call."""
        if self._failure is None:
            return GatewayError("The server is ending.")
        return GatewayError(
            f"The graph cannot be opened: {self._failure.wrong}",
            valid=self._failure.valid,
            next_step=self._failure.next_step or "Tell whoever runs this gateway.",
        )
