"""An ASGI application on open sockets of this process."""

import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.server.http_server import HttpServer
from tests.servers.loopback import HOST


@asynccontextmanager
async def serving_app(app: ASGIApp, *sockets: socket.socket, **options: Any) -> AsyncIterator[None]:
    """Serve an application while the block runs."""
    server = HttpServer(uvicorn.Config(app, log_config=None, lifespan="off", **options))
    running = asyncio.create_task(server.serve(sockets=list(sockets)))
    try:
        yield
    finally:
        server.should_exit = True
        await running


def open_port() -> socket.socket:
    """Return a socket that listens on a free port of this machine."""
    return socket.create_server((HOST, 0))


class Recorder:
    """An application that answers every request with an empty body.

    Attributes:
        scopes: The requests.
    """

    def __init__(self) -> None:
        self.scopes: Sequence[Message] = []

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        self.scopes = [*self.scopes, scope]
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})
