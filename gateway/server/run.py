"""Serving: stdio for a client that starts this process, streamable HTTP for clients on this machine."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

from mcp.server.transport_security import TransportSecuritySettings

from gateway.errors import ConfigurationError, quoted
from gateway.server.app import serving
from gateway.server.calls import Calls
from gateway.server.gateway_opener import GatewayOpener
from gateway.server.http_guard import HttpGuard
from gateway.server.json_lines import MOST_BYTES
from gateway.server.stdio import stdio_wire
from gateway.settings.urls import is_loopback

PATH = "/mcp"
_GRACE_SECONDS = 2
_HEAD_START_SECONDS = 0.3
_BACKLOG = 128
_MOST_CONNECTIONS = 256
_MOST_SESSIONS = 1_000
_HIGHEST_PORT = 65_535


async def serve_stdio(opening: GatewayOpener, stop: asyncio.Event) -> None:
    """Serve one client over standard input and output, in the protocol era that the client begins with.

    Args:
        opening: What is served.
        stop: Ends the server: calls under way get an answer or an error first.

    Raises:
        ConfigurationError: Standard input or output is closed.
    """
    calls = Calls(opening.profile.limits.deadline_seconds)
    server = serving(opening, calls)
    async with _beside(opening), stdio_wire() as wire, _ended_by(stop, calls, wire.inbox.close):
        await server.run(wire.reading, wire.writing, server.create_initialization_options())


async def serve_http(opening: GatewayOpener, host: str, port: int, stop: asyncio.Event) -> None:
    """Serve streamable HTTP on this machine, both protocol eras.

    Args:
        opening: What is served.
        host: A loopback address; until there is authentication no other is served.
        port: The port; 0 for any free one.
        stop: Ends the server: calls under way get an answer or an error first.

    Raises:
        ConfigurationError: The address is not loopback, or the port is in use.
    """
    import uvicorn  # noqa: PLC0415 - not needed over standard input and output, where every start counts

    class Http(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            # The command handles signals; uvicorn's own handlers would send them to the process again.
            yield

    listening = listen(host, port)
    try:
        calls = Calls(opening.profile.limits.deadline_seconds)
        app = serving(opening, calls).streamable_http_app(
            streamable_http_path=PATH,
            # Sessions, so that a handshake-era client can cancel; streams, so that progress arrives.
            stateless_http=False,
            json_response=False,
            max_request_body_size=MOST_BYTES,
            max_sessions=_MOST_SESSIONS,
            # Given always: the SDK's default checks only some hosts (docs/notes/mcp.md, "Host and Origin").
            transport_security=_security(host),
        )
        http = Http(
            uvicorn.Config(
                HttpGuard(app),
                # The root logger handles its records too.
                log_config=None,
                limit_concurrency=_MOST_CONNECTIONS,
                timeout_graceful_shutdown=_GRACE_SECONDS,
            )
        )

        def end() -> None:
            http.should_exit = True

        async with _beside(opening), _ended_by(stop, calls, end):
            await http.serve(sockets=[listening])
    finally:
        listening.close()


def _security(host: str) -> TransportSecuritySettings:
    """Return which hosts and origins are served: this machine, by any port; a default port is not written."""
    names = _names(host)
    origins = [f"{scheme}://{name}" for scheme in ("http", "https") for name in names]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[*names, *(f"{name}:*" for name in names)],
        allowed_origins=[*origins, *(f"{origin}:*" for origin in origins)],
    )


@asynccontextmanager
async def _ended_by(stop: asyncio.Event, calls: Calls, end: Callable[[], None]) -> AsyncIterator[None]:
    """End a server when it is to stop, after its calls."""

    async def ending() -> None:
        await stop.wait()
        await calls.stop(_GRACE_SECONDS)
        end()

    task = asyncio.create_task(ending())
    try:
        yield
    finally:
        task.cancel()


@asynccontextmanager
async def _beside(opening: GatewayOpener) -> AsyncIterator[None]:
    """Have the gateway opened while a server runs, and closed after it.

    The first client is in a hurry, and an import holds the GIL: it is let go first.
    """
    begin = asyncio.get_running_loop().call_later(_HEAD_START_SECONDS, opening.start)
    try:
        async with opening:
            yield
    finally:
        begin.cancel()


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on a loopback address.

    Raises:
        ConfigurationError: The address is not loopback, or the port cannot be had.
    """
    if not is_loopback(host):
        raise ConfigurationError(
            f"--host {quoted(host)} is not an address of this machine alone.",
            valid="Without authentication only loopback is served: 127.0.0.1, localhost or ::1.",
        )
    if not 0 <= port <= _HIGHEST_PORT:
        raise ConfigurationError(
            f"--port {port} is no port.", valid=f"A port is 0 (any that is free) to {_HIGHEST_PORT}."
        )
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
    except OSError as error:
        raise ConfigurationError(f"The address {host} cannot be used: {error.strerror or error}.") from error
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        raise ConfigurationError(
            f"Port {port} cannot be used: {error.strerror or error}.", next_step="Choose another with --port."
        ) from error
    return listening


def _names(host: str) -> list[str]:
    given = f"[{host}]" if ":" in host else host
    return list(dict.fromkeys(["127.0.0.1", "localhost", "[::1]", given]))
