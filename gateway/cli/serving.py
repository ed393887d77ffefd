"""The commands `serve`, `explore` and `token`: a server that opens its graph meanwhile, a page of it, and its clients.

A client waits for the imports of this module; `gateway.api` is imported later, in the thread that opens the graph.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from gateway.cli.graph_source import GraphSource
from gateway.cli.options import CommonOptions
from gateway.cli.streams import INTERRUPTED, TERMINATED, flush, print_note, print_server_note, write
from gateway.errors import ConfigurationError, quoted
from gateway.files.finding import graph_files
from gateway.files.graph_files import GraphFiles, without_paths
from gateway.files.loading import check_files, is_stdin
from gateway.server import run
from gateway.server.gateway_opener import GatewayOpener, OnFileRead
from gateway.server.workers import Worker
from gateway.settings.hidden import HiddenSettings
from gateway.settings.limits import SharedCacheServer
from gateway.settings.profile import with_hidden
from gateway.settings.serving import NOTHING, HttpSettings, ObserveSettings
from gateway.settings.urls import contact_for, is_database_url, is_loopback

if TYPE_CHECKING:
    from gateway.answers.models import SchemaResult
    from gateway.server.access.http_access import HttpAccess
    from gateway.server.graph_set import ChosenBy, GraphSet
    from gateway.tools.gateway import Gateway


def serve(
    options: CommonOptions,
    http: HttpSettings | None,
    graphs: str | None = None,
    graphs_by: ChosenBy = "both",
    observing: ObserveSettings = NOTHING,
    *,
    explorer: bool = False,
    on_ready: Callable[[str], None] | None = None,
) -> int:
    """Serve until the client disconnects or a signal arrives, and return the exit status.

    An error inside a file is found while serving; standard error and every tool report it.

    Args:
        options: The graph.
        http: How to serve over HTTP; None for stdio.
        graphs: The file or folder of several graphs, which are served in place of the one.
        graphs_by: How clients choose one of several over HTTP.
        observing: What the operator sees.
        explorer: Whether HTTP has the explorer page, at `/`.
        on_ready: Called once with the URL of that page, when the one graph is open and its schema known.

    Raises:
        ConfigurationError: An option, a file name or the address is wrong.
    """
    worker = Worker.from_environment()
    if http is not None and http.workers > 1 and worker is None:
        return _serve_by_workers(options, http, partial(_served, options, graphs, graphs_by, has_stdin=False))
    if http is not None:
        with nullcontext(worker.listening) if worker is not None else run.listen(http.host, http.port) as free:
            http = replace(http, port=free.getsockname()[1])
            if worker is not None:
                free.detach()
    stop, began = _Stop(), time.monotonic()
    # All workers would say the same.
    quiet = options.quiet or (worker is not None and worker.index > 0)
    opener, graph = _served(options, graphs, graphs_by, has_stdin=http is not None)
    if http is None:
        place = "over stdio, to the program that started this one"
        server = run.serve_stdio(opener, stop.event, observing=observing)
    else:
        access = _access(http, opener, explorer=explorer)
        stop.on_hangup = _reload_of(access, http, worker)
        place = _place(http, opener, has_page=explorer and on_ready is None)
        server = run.serve_http(opener, access, stop.event, observing=observing, worker=worker)
    print_server_note(f"Serving {graph} {place}. Press Ctrl-C to stop.", quiet=quiet)
    openers = {"": opener} if isinstance(opener, GatewayOpener) else {one.name: one.opener for one in opener.all}
    for name, one in openers.items():
        one.on_schema(_once(one, _ready_note(began, name, quiet=quiet)))
    if on_ready is not None and http is not None and isinstance(opener, GatewayOpener):
        page = f"{_root(http)}/"
        opener.on_schema(_once(opener, lambda _: on_ready(page)))
    stop.listen()
    try:
        asyncio.run(stop.run(server))
    except KeyboardInterrupt:
        # Ctrl-C before the signal handlers were installed.
        stop.signal = signal.SIGINT
    status = INTERRUPTED if stop.signal == signal.SIGINT else 0
    if opener.is_busy or stop.signal is not None:
        # At a normal exit the engine in the loading thread would crash the process, and a second Ctrl-C would print a
        # traceback.
        flush()
        os._exit(status)
    return status


def _serve_by_workers(
    options: CommonOptions, http: HttpSettings, served: Callable[[], tuple[GatewayOpener | GraphSet, str]]
) -> int:
    """Serve by several processes, each with the command line of this one, and return the exit status.

    Raises:
        ConfigurationError: An option or a file is wrong, or the workers cannot be started.
    """
    from gateway.server.workers import Supervisor  # noqa: PLC0415 - one process is served without it

    # What is wrong is said once, here.
    _access(http, served()[0])
    if options.shared_cache is None:
        note = f"Each of {http.workers} workers reads the graph for itself; --shared-cache lets them share an endpoint."
        print_server_note(note, quiet=options.quiet)
    with run.listen(http.host, http.port) as listening:
        note_line = partial(print_server_note, quiet=options.quiet)
        reloads = http.token_file is not None
        supervisor = Supervisor(http.workers, listening, sys.argv[1:], note_line, reloads=reloads)
        number = supervisor.run()
    if supervisor.has_failed:
        raise ConfigurationError("The workers end soon after their start.", next_step="The lines above say why.")
    return INTERRUPTED if number == signal.SIGINT else 0


def _reload_of(access: HttpAccess, http: HttpSettings, worker: Worker | None) -> Callable[[], None] | None:
    """Return what reads the token file again; None if there is none. Workers all read it when one of them did."""
    if http.token_file is None:
        return None
    if worker is not None:
        worker.ask_all_to_reload()
    return access.reload


def _access(http: HttpSettings, opener: GatewayOpener | GraphSet, *, explorer: bool = False) -> HttpAccess:
    from gateway.server.access.http_access import HttpAccess  # noqa: PLC0415 - a client over stdio waits for imports

    names = [] if isinstance(opener, GatewayOpener) else [one.name for one in opener.all]
    return HttpAccess(http, names, explorer=explorer)


def _place(http: HttpSettings, opener: GatewayOpener | GraphSet, *, has_page: bool) -> str:
    page = f", with a page for people at {_root(http)}/" if has_page else ""
    return f"at {_paths(f'{_root(http)}{run.PATH}', opener)} ({_for_whom(http)}){page}"


def _root(http: HttpSettings) -> str:
    host = f"[{http.host}]" if ":" in http.host else http.host
    return f"{http.scheme}://{host}:{http.port}"


def _for_whom(http: HttpSettings) -> str:
    if http.has_tokens:
        return "for clients with a token"
    return "this machine only" if is_loopback(http.host) else "FOR EVERYBODY who reaches this address"


def _paths(url: str, served: GatewayOpener | GraphSet) -> str:
    if isinstance(served, GatewayOpener):
        return url
    each = f"{url}/NAME"
    return {"argument": url, "path": each, "both": f"{url} and {each}"}[served.chosen_by]


def _ready_note(began: float, name: str, *, quiet: bool) -> Callable[[SchemaResult], None]:
    """Return what says that a graph is open and its schema known, and how long that took.

    `name` is that of one of several; empty for the only one.
    """

    def tell(schema: SchemaResult) -> None:
        ready = f"The graph {name} is ready" if name else "Ready"
        print_server_note(f"{ready} after {time.monotonic() - began:.1f} s: {schema.graph_description}", quiet=quiet)

    return tell


def _once(opener: GatewayOpener, act: Callable[[SchemaResult], None]) -> Callable[[], None]:
    acts = [act]

    def tell() -> None:
        schema = opener.known_schema()
        if schema is not None and acts:
            acts.pop()(schema)

    return tell


class _Stop:
    """Stops a server at SIGINT or SIGTERM; a second signal ends the process at once.

    Attributes:
        event: Set by the first signal.
        signal: The number of the first signal; None before it.
        on_hangup: Called at SIGHUP, by which operators ask a server to read its files again; None to end as usual.
    """

    def __init__(self) -> None:
        self.event = asyncio.Event()
        self.signal: int | None = None
        self.on_hangup: Callable[[], None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def listen(self) -> None:
        """Install the handlers of both signals, if this is the main thread: no other can."""
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, self._handle)
            if self.on_hangup is not None and hasattr(signal, "SIGHUP"):
                signal.signal(signal.SIGHUP, self._hang_up)
                # A supervisor holds the signal back until there is a handler.
                signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})

    async def run(self, server: Awaitable[None]) -> None:
        """Run the server in this event loop, which the first signal wakes."""
        self._loop = asyncio.get_running_loop()
        if self.signal is not None:
            self.event.set()
        try:
            await server
        finally:
            # What ends after it has no loop that a signal could wake.
            self._loop = None

    def _hang_up(self, _number: int, _frame: FrameType | None) -> None:
        if self._loop is not None and self.on_hangup is not None:
            self._loop.call_soon_threadsafe(self.on_hangup)

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        if self.signal is not None:
            os._exit(INTERRUPTED if number == signal.SIGINT else TERMINATED)
        self.signal = number
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self.event.set)


def _served(
    options: CommonOptions, graphs: str | None, chosen_by: ChosenBy, *, has_stdin: bool
) -> tuple[GatewayOpener | GraphSet, str]:
    if graphs is None:
        return opener_of(options, has_stdin=has_stdin)
    from gateway.cli.several_graphs import several_graphs  # noqa: PLC0415 - one graph is served without it

    return several_graphs(options, graphs, chosen_by, has_stdin=has_stdin)


def opener_of(
    options: CommonOptions,
    *,
    has_stdin: bool,
    limits: Mapping[str, Any] | None = None,
    hidden: HiddenSettings | None = None,
    name: str = "the graph",
    gate: AbstractContextManager[object] | None = None,
) -> tuple[GatewayOpener, str]:
    """Return the opener of the selected graph, and the name of the graph.

    Args:
        options: The graph.
        has_stdin: Whether a graph may come from standard input: not where a client sends its messages there, and not
            where several workers would each read a part of it.
        limits: What replaces limits of its profile.
        hidden: What is hidden beside what its profile hides.
        name: What the log calls it.
        gate: Held while the graph is opened.

    Raises:
        ConfigurationError: An option, a file name or a URL is wrong.
    """
    source = GraphSource(options)
    if limits:
        changed = source.profile.limits.model_copy(update=limits)
        source.profile = source.profile.model_copy(update={"limits": changed})
    if hidden is not None:
        source.profile = with_hidden(source.profile, hidden)
    paths = GraphFiles()
    if options.graph:
        paths = graph_files(options.graph)
        if not has_stdin and any(map(is_stdin, paths)):
            raise ConfigurationError(
                "No graph can come from standard input here: over stdio, the client sends its messages there, and with "
                "--workers each would read a part of it.",
                next_step="Write the graph to a file, or serve over --http by one process.",
            )
        check_files(paths)
    elif source.url:
        if options.shared_cache is not None:
            SharedCacheServer.at(options.shared_cache)
        endpoint = source.profile.endpoint
        # No contact is sent to a database.
        for url in filter(None, ("" if is_database_url(source.url) else source.url, source.profile.search.api)):
            contact_for(urlsplit(url).hostname or "", endpoint.contact, from_environment=endpoint.environment_contact)

    def make(on_file_read: OnFileRead) -> Gateway:
        try:
            with gate or nullcontext():
                return source.open(on_file_read)
        except ConfigurationError as error:
            # Clients read it, whose business is not where files lie.
            raise without_paths(error, paths) from error

    return GatewayOpener(source.profile, make, name), source.name


def explore(options: CommonOptions, port: int, *, opens_browser: bool) -> int:
    """Serve the page until a signal arrives, and return the exit status.

    Args:
        options: The graph.
        port: The port; 0 for any free one.
        opens_browser: Whether to open the page; else its address is only printed.

    Raises:
        ConfigurationError: An option, a file name or the port is wrong.
    """
    import webbrowser  # noqa: PLC0415 - a client of `serve` waits for imports

    def ready(url: str) -> None:
        print_note(f"The page is at {url}", quiet=options.quiet)
        if opens_browser:
            # Some browsers hold the caller until they are closed.
            threading.Thread(target=webbrowser.open, args=(url,), name="browser", daemon=True).start()

    http = HttpSettings("127.0.0.1", port, graph_options=_selecting(options))
    return serve(options, http, explorer=True, on_ready=ready)


def _selecting(options: CommonOptions) -> str:
    """Return the options by which another command asks the same graph."""
    said = [("--graph", options.graph), ("--endpoint", options.endpoint), ("--profile", options.profile)]
    said.append(("--prefix", options.prefix))
    words = [(name, each) for name, given in said for each in ([given] if isinstance(given, str) else given or ())]
    return shlex.join(word for pair in words for word in pair)


def print_token(name: str) -> None:
    """Print a line for the token file on standard output, and the token itself, which is nowhere else, as a note.

    Raises:
        ConfigurationError: The name is none.
    """
    from gateway.server.access.tokens import hashed, is_name, new_token  # noqa: PLC0415 - a client waits for imports

    if not is_name(name):
        raise ConfigurationError(
            f"{quoted(name)} is not a name for a client.",
            valid="It begins with a letter or a digit, has 64 letters, digits and . _ @ - at most, and does not begin "
            "with bfsql_, as tokens do.",
        )
    token = new_token()
    write(sys.stdout, f"{name} {hashed(token)}\n")
    print_note(f"The token of {name}, which is shown only here: {token}")
