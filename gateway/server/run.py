"""Serves over stdio to the client that starts this process, or over streamable HTTP."""

from __future__ import annotations

import asyncio
import gc
import socket
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from mcp.server import Server
from starlette.routing import Route
from starlette.types import ASGIApp

from gateway.errors import ConfigurationError, quoted
from gateway.server.app import mcp_server
from gateway.server.calls import SHARE, Calls
from gateway.server.gateway_opener import GatewayOpener
from gateway.server.stdio import MAX_BYTES, stdio_wire
from gateway.settings.serving import DRAIN_SECONDS, NOTHING, ObserveSettings

if TYPE_CHECKING:
    from mcp.server.transport_security import TransportSecuritySettings
    from starlette.applications import Starlette

    from gateway.server.access.http_access import HttpAccess
    from gateway.server.graph_set import CallsByGraph, GraphSet
    from gateway.server.observe.observation import Observation
    from gateway.server.workers import Worker

_YOUNG: Final = 2_000
_MIDDLE: Final = 10
_NEVER: Final = 1 << 30
"""The thresholds: objects made until the young ones are looked at; such collections until the middle generation is; and
those until all are, which this module does instead."""

_MIDDLE_AGED: Final = 1
"""The number of the middle generation: a collection of it moves what is left, 20,000 objects at most, to the old."""

DUE: Final = 10
"""Such collections after which all objects are looked at when no call runs."""

OVERDUE: Final = 300
"""Those after which they are looked at in any case: cycles of all of them might take a gigabyte."""

_SECONDS: Final = 1.0
"""How often it is looked whether a collection is due."""


class FullCollections:
    """Full collections of one process.

    Args:
        is_idle: Tells whether no call runs.
        collect: Collects all objects.
        freeze: Keeps what is left after the first collection out of later ones: modules and classes, for the most part.
    """

    def __init__(
        self,
        is_idle: Callable[[], bool],
        collect: Callable[[], object] = gc.collect,
        freeze: Callable[[], object] = gc.freeze,
    ) -> None:
        self._is_idle = is_idle
        self._collect = collect
        self._freeze = freeze
        self._since = 0
        self._is_first = True

    def note(self, phase: str, info: Mapping[str, Any]) -> None:
        """Count a collection; Python calls this at the start and at the stop of each."""
        if phase == "stop" and info["generation"] == _MIDDLE_AGED:
            self._since += 1

    def collect_if_due(self) -> None:
        """Collect all objects if enough of them have become old, and no call runs or it cannot wait any more."""
        if self._since >= OVERDUE or (self._since >= DUE and self._is_idle()):
            self._since = 0
            self._collect()
            if self._is_first and self._is_idle():
                self._is_first = False
                self._freeze()


@asynccontextmanager
async def collected_between_calls(is_idle: Callable[[], bool]) -> AsyncIterator[None]:
    """Let the garbage collector look at all objects between calls while the block runs.

    What there is when it begins, modules and classes for the most part, is kept out of every collection: a server that
    is never idle would otherwise hold all clients while it looks at that.
    """
    collections, thresholds = FullCollections(is_idle), gc.get_threshold()

    async def look() -> None:
        while True:
            await asyncio.sleep(_SECONDS)
            collections.collect_if_due()

    gc.callbacks.append(collections.note)
    gc.set_threshold(_YOUNG, _MIDDLE, _NEVER)
    gc.freeze()
    looking = asyncio.create_task(look())
    try:
        yield
    finally:
        looking.cancel()
        gc.set_threshold(*thresholds)
        gc.callbacks.remove(collections.note)
        gc.unfreeze()


SECONDS: Final = 0.0005
"""A switch takes some ten microseconds, so threads that compute side by side lose 2 % at most."""


@asynccontextmanager
async def short_switch_interval() -> AsyncIterator[None]:
    """Have threads switch this often during the block."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, SECONDS))
    try:
        yield
    finally:
        sys.setswitchinterval(before)


PATH = "/mcp"
_GRACE_SECONDS = 2
"""The time that connections have to end after the calls."""

_HEAD_START_SECONDS = 0.3
"""The first client is answered before the imports of the gateway begin, which hold the GIL."""

_BACKLOG = 128
_MOST_SESSIONS = 1_000
"""Connections that wait to be accepted, and sessions of all clients."""


def ignore_server(_: Server[Any]) -> None:
    """Watch nothing."""


async def serve_stdio(
    opener: GatewayOpener | GraphSet, stop: asyncio.Event, *, observing: ObserveSettings = NOTHING
) -> None:
    """Serve one client over standard input and output, in the protocol era of its first message.

    Of several graphs, each tool takes `graph`. Setting `stop` ends the server, after an answer or an error to each
    running call. `observing` is what the operator sees; over stdio that has no pages.

    Raises:
        ConfigurationError: Standard input or output is closed, or the audit log cannot be opened.
    """
    calls, server = _server(opener)
    async with (
        short_switch_interval(),
        collected_between_calls(lambda: calls.is_idle),
        _audited(server, opener, observing),
        _opened_beside(opener),
        stdio_wire() as wire,
        _ended_by(stop, calls, wire.inbox.close, DRAIN_SECONDS),
    ):
        await server.run(wire.reading, wire.writing, server.create_initialization_options())


async def serve_http(
    opener: GatewayOpener | GraphSet,
    access: HttpAccess,
    stop: asyncio.Event,
    *,
    observing: ObserveSettings = NOTHING,
    worker: Worker | None = None,
) -> None:
    """Serve streamable HTTP, both protocol eras.

    Setting `stop` ends the server, after an answer or an error to each running call.

    Args:
        opener: What is served.
        access: At which address, to whom, and what beside it.
        stop: Ends the server.
        observing: What the operator sees.
        worker: Which of several processes this is; None for the only one.

    Raises:
        ConfigurationError: The port is in use, or what the operator wants cannot be had.
    """
    # Not needed over stdio, where a client waits for each start.
    import uvicorn  # noqa: PLC0415

    from gateway.server.http_server import HttpServer  # noqa: PLC0415

    if worker is None:
        listening = [listen(access.settings.host, access.settings.port)]
    else:
        listening = [worker.listening, worker.listen_to_others()]
        asyncio.get_running_loop().add_reader(worker.pipe, stop.set)
    try:
        observation = _observation(observing, opener)
        calls, app = http_app(opener, access.names.for_sdk(), observation.watch)
        http = HttpServer(
            uvicorn.Config(
                # Probes call a server by its address, and have no token.
                observation.pages.beside(_guarded(app, access, worker)),
                # Its records go to the root logger.
                log_config=None,
                timeout_graceful_shutdown=_GRACE_SECONDS,
                **access.uvicorn_options,
            )
        )

        def end() -> None:
            access.end_streams()
            http.should_exit = True

        async with (
            short_switch_interval(),
            collected_between_calls(lambda: calls.is_idle),
            observation.running(),
            _opened_beside(opener),
            _ended_by(stop, calls, end, access.settings.drain_seconds),
        ):
            await http.serve(sockets=listening)
    finally:
        if worker is not None:
            asyncio.get_running_loop().remove_reader(worker.pipe)
        for each in listening:
            each.close()


def _guarded(app: ASGIApp, access: HttpAccess, worker: Worker | None) -> ASGIApp:
    """Return an application with everything before it; requests of sessions are led to their worker after access."""
    from gateway.server.http_server import HttpGuard  # noqa: PLC0415 - a client over stdio waits for imports

    guarded: ASGIApp = HttpGuard(app)
    if worker is None:
        return access.before(guarded)
    # One process is served without these.
    from gateway.server.session_router import ClientAddress, SessionRouter  # noqa: PLC0415

    return ClientAddress(access.before(SessionRouter(guarded, worker)), worker)


def _server(served: GatewayOpener | GraphSet) -> tuple[Calls | CallsByGraph, Server[dict[str, Any]]]:
    """Return the MCP server for one client, and the limits of its calls."""
    if isinstance(served, GatewayOpener):
        calls = Calls(served.profile.limits.deadline_seconds)
        return calls, mcp_server(served, calls)
    from gateway.server.graph_handlers import server_of_all  # noqa: PLC0415
    from gateway.server.graph_set import CallsByGraph  # noqa: PLC0415 - one graph is served without it

    by_graph = CallsByGraph(served)
    return by_graph, server_of_all(served, by_graph)


def http_app(
    served: GatewayOpener | GraphSet,
    security: TransportSecuritySettings,
    watch: Callable[[Server[Any]], object] = ignore_server,
) -> tuple[Calls | CallsByGraph, ASGIApp]:
    """Return the ASGI application of both protocol eras, unguarded, and the limits of its calls.

    `security` is the SDK's own check of names and origins; `watch` receives each MCP server before it serves.
    """
    if isinstance(served, GatewayOpener):
        calls = Calls(served.profile.limits.deadline_seconds, share=SHARE)
        server = mcp_server(served, calls)
        watch(server)
        return calls, _wired(server, PATH, security)
    # One graph is served without these.
    from gateway.server.graph_handlers import server_of_all  # noqa: PLC0415
    from gateway.server.graph_set import CallsByGraph, GraphPaths  # noqa: PLC0415

    by_graph = CallsByGraph(served, SHARE)
    servers: dict[str, Server[dict[str, Any]]] = {}
    if served.chosen_by != "path":
        servers[PATH] = server_of_all(served, by_graph)
    if served.chosen_by != "argument":
        for graph in served.all:
            others = partial(served.others, graph)
            servers[f"{PATH}/{graph.name}"] = mcp_server(graph.opener, by_graph.of(graph), others=others)
    for server in servers.values():
        watch(server)
    return by_graph, GraphPaths(
        {path: _wired(server, path, security) for path, server in servers.items()}, served, PATH
    )


def _wired(server: Server[dict[str, Any]], path: str, security: TransportSecuritySettings) -> Starlette:
    app = server.streamable_http_app(
        streamable_http_path=path,
        # A client of the handshake era needs sessions to cancel, and streams to receive progress.
        stateless_http=False,
        json_response=False,
        max_request_body_size=MAX_BYTES,
        max_sessions=_MOST_SESSIONS,
        # The default of the SDK checks only some hosts (docs/notes/mcp.md, "Host and Origin").
        transport_security=security,
    )
    # A redirect to the path without a last slash would lead out of TLS, behind a proxy that ends it.
    app.router.redirect_slashes = False
    app.routes.extend(
        [Route(f"{path}/", one.endpoint) for one in app.routes if isinstance(one, Route) and one.path == path]
    )
    return app


def _observation(settings: ObserveSettings, served: GatewayOpener | GraphSet) -> Observation:
    from gateway.server.observe.observation import Observation  # noqa: PLC0415 - a client over stdio waits for imports

    graphs = {"": served} if isinstance(served, GatewayOpener) else {one.name: one.opener for one in served.all}
    return Observation(settings, graphs)


@asynccontextmanager
async def _audited(
    server: Server[Any], served: GatewayOpener | GraphSet, observing: ObserveSettings
) -> AsyncIterator[None]:
    """Write the audit log of a server over stdio while the block runs, if one is wanted."""
    if observing.audit_log is None:
        yield
        return
    observation = _observation(ObserveSettings(audit_log=observing.audit_log), served)
    observation.watch(server)
    async with observation.running():
        yield


@asynccontextmanager
async def _ended_by(
    stop: asyncio.Event, calls: Calls | CallsByGraph, end: Callable[[], None], seconds: float
) -> AsyncIterator[None]:
    """Stop the calls, after so many seconds at most, and then the server inside the block, when the event is set."""

    async def ending() -> None:
        await stop.wait()
        await calls.stop(seconds)
        end()

    task = asyncio.create_task(ending())
    try:
        yield
    finally:
        task.cancel()


@asynccontextmanager
async def _opened_beside(opener: GatewayOpener | GraphSet) -> AsyncIterator[None]:
    """Open the gateway while the block runs, a moment after its start, and close it after the block."""
    begin = asyncio.get_running_loop().call_later(_HEAD_START_SECONDS, opener.start)
    try:
        async with opener:
            yield
    finally:
        begin.cancel()


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on an address.

    Raises:
        ConfigurationError: The address or the port cannot be used.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
    except OSError as error:
        raise ConfigurationError(f"The address {quoted(host)} cannot be used: {error.strerror or error}.") from error
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        raise ConfigurationError(
            f"Port {port} cannot be used: {error.strerror or error}.", next_step="Choose another one with --port."
        ) from error
    return listening
