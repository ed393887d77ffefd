"""What `serve` does: it answers at once, and opens the graph meanwhile.

What is imported here is imported before the first answer; `gateway.api` is not.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Awaitable, Mapping
from pathlib import Path
from types import FrameType
from urllib.parse import urlsplit

from gateway.cli.output import flush, louder, print_note
from gateway.cli.prefixes import prefixes
from gateway.cli.profiles import profile_of
from gateway.cli.requests import CommonOptions
from gateway.cli.statuses import INTERRUPTED, TERMINATED
from gateway.errors import ConfigurationError
from gateway.server import run
from gateway.server.gateway_opener import GatewayOpener, OnFileRead, OpenGateway
from gateway.settings.contact import contact_for
from gateway.settings.profile import Profile
from gateway.settings.urls import url_problem
from gateway.transport.files.loading import check_files


def serve(common: CommonOptions, address: tuple[str, int] | None) -> int:
    """Serve until the client goes, or until told to stop; return the exit status.

    What is wrong with the command line is told before anything is served; what is wrong inside a file when it is
    found, on standard error and by every tool.

    Raises:
        ConfigurationError: An option, a file's name or the address is wrong.
    """
    if address is not None:
        with run.listen(*address) as free:
            address = (address[0], free.getsockname()[1])
    louder(common.verbose)
    stop = _Stop()
    opening, what = _opening(common)
    if address is None:
        print_note(f"Serving {what} over stdio, to the program that started this. Stop with Ctrl-C.")
        work = run.serve_stdio(opening, stop.event)
    else:
        host, port = address
        url = f"http://{f'[{host}]' if ':' in host else host}:{port}{run.PATH}"
        print_note(f"Serving {what} at {url} to this machine only (loopback). Stop with Ctrl-C.")
        work = run.serve_http(opening, host, port, stop.event)
    stop.listen()
    try:
        asyncio.run(stop.ending(work))
    except KeyboardInterrupt:
        # It came before there were handlers of signals.
        stop.signal = signal.SIGINT
    status = INTERRUPTED if stop.signal == signal.SIGINT else 0
    if opening.is_busy or stop.signal is not None:
        # The interpreter would wait for no thread that loads, and the engine in it ends the process by a crash.
        # Another Ctrl-C would end in a traceback while the interpreter takes itself apart.
        flush()
        os._exit(status)
    return status


class _Stop:
    """Stops a server by SIGINT or SIGTERM, and at once by a second one.

    Attributes:
        event: Set by the first signal.
        signal: Which that was; None before.
    """

    def __init__(self) -> None:
        self.event = asyncio.Event()
        self.signal: int | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def listen(self) -> None:
        """Handle both signals from now on; only the main thread of a process can."""
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, self._hear)

    async def ending(self, work: Awaitable[None]) -> None:
        """Do some work, whose event loop the first signal wakes."""
        self._loop = asyncio.get_running_loop()
        if self.signal is not None:
            self.event.set()
        await work

    def _hear(self, number: int, _frame: FrameType | None) -> None:
        if self.signal is not None:
            os._exit(INTERRUPTED if number == signal.SIGINT else TERMINATED)
        self.signal = number
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self.event.set)


def _opening(common: CommonOptions) -> tuple[GatewayOpener, str]:
    """Check what can be checked at once; return the gateway to be, and what it is of."""
    profile = profile_of(common)
    if common.graph and common.endpoint:
        raise ConfigurationError("Both a graph and an endpoint were given.", valid="Give one of them.")
    given = prefixes(common.prefix or ())
    opening = GatewayOpener(profile, lambda note: _opened(common, profile, given, note))
    if common.graph:
        paths = [Path(path) for path in common.graph]
        check_files(paths)
        return opening, ", ".join(path.name for path in paths)
    if url := common.endpoint or profile.endpoint.url:
        if problem := url_problem(url):
            raise ConfigurationError(f"The endpoint is wrong: {problem}.")
        host = urlsplit(url).hostname or ""
        for asked in (host, urlsplit(profile.search.api).hostname or ""):
            contact_for(asked, profile.endpoint.contact)
        # Only the host: the rest of a URL may be nobody's business.
        return opening, f"the endpoint on {host}"
    return opening, "the demo graph"


def _opened(common: CommonOptions, profile: Profile, given: Mapping[str, str], note: OnFileRead) -> OpenGateway:
    from gateway.api import open_gateway  # noqa: PLC0415 - in the thread that opens, while the server answers

    return open_gateway(
        common.graph,
        endpoint=common.endpoint,
        profile=profile,
        prefixes=given,
        store=common.store,
        keep_schema=True,
        progress=note,
    )
