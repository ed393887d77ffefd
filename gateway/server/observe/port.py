"""The port of the operator, beside that of the clients: who asks for counts needs no right to ask the graph."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from gateway.errors import ConfigurationError, quoted
from gateway.server.http_server import HttpServer, bounded_connections
from gateway.server.observe.metrics import shares_counts

_BACKLOG: Final = 32
_MOST_CONNECTIONS: Final = 64
_GRACE_SECONDS: Final = 1


@asynccontextmanager
async def operators_port(app: ASGIApp, host: str, port: int) -> AsyncIterator[None]:
    """Serve an application at an address while the block runs.

    Raises:
        ConfigurationError: The address cannot be used.
    """
    listening = _listen(host, port)
    config = uvicorn.Config(
        app,
        http=bounded_connections(),
        ws="none",
        log_config=None,
        # Probes come every second.
        access_log=False,
        lifespan="off",
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    server = HttpServer(config)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield
    finally:
        server.should_exit = True
        await serving
        listening.close()


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
    except (OSError, OverflowError) as error:
        raise ConfigurationError(f"--metrics-host {quoted(host)} cannot be used: {error}.") from error
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shares_counts():
            # Any of the processes answers: each shows the counts of all.
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listening.bind(address)
        listening.listen(_BACKLOG)
    except (OSError, OverflowError) as error:
        listening.close()
        raise ConfigurationError(
            f"Port {port} cannot be used: {error}.", next_step="Choose another one with --metrics-port."
        ) from error
    return listening
