"""What a connection leaves behind."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from gateway.server.access.connections import bounded_connections

pytestmark = pytest.mark.anyio


class Unconnected(asyncio.Transport):
    """A transport to nowhere."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Note what is written."""
        self.written += bytes(data)

    def is_closing(self) -> bool:
        """Return that it is open."""
        return False

    def close(self) -> None:
        """Close nothing."""


@pytest.mark.parametrize("error", [None, ConnectionResetError()])
async def test_a_connection_that_is_lost_leaves_no_timer(error: Exception | None) -> None:
    answered = asyncio.Event()

    async def answer(scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        del scope, receive
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})
        answered.set()

    config = uvicorn.Config(answer, log_config=None)
    config.load()
    connection = bounded_connections()(config=config, server_state=ServerState(), app_state={})  # type: ignore[call-arg]
    assert isinstance(connection, H11Protocol)
    transport = Unconnected()
    connection.connection_made(transport)
    connection.data_received(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await answered.wait()
    assert transport.written.startswith(b"HTTP/1.1 204")
    timer = connection.timeout_keep_alive_task
    assert timer is not None
    connection.connection_lost(error)
    assert timer.cancelled()
