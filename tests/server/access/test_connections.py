"""What a connection leaves behind, and streams that end with the right of their client, and with the server."""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

import anyio
import pytest
import uvicorn
from aiohttp import ClientResponse, ClientSession
from mcp.client.subscriptions import Subscription, SubscriptionLost
from starlette.types import Message, Receive, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from gateway.server.access import client_access
from gateway.server.access.client_access import OpenStreams
from gateway.server.access.tokens import BearerTokens, KnownClient
from gateway.server.client import Client, set_client
from gateway.server.http_server import bounded_connections
from gateway.settings.serving import ClientLimits
from tests.server.access.clients import ACCEPT, INITIALIZE, SECONDS, bearer, local, medical, serving, token_file
from tests.server.graphs.conftest import connected
from tests.servers.loopback import HOST

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


ALICE: Final = "alice-token-of-enough-characters"
BOB: Final = "bob-token-of-enough-characters-too"


async def stream(http: ClientSession, headers: dict[str, str]) -> ClientResponse:
    """Open the stream of a new session of the handshake era."""
    async with http.post("/mcp", json=INITIALIZE, headers=headers) as answer:
        session = answer.headers["mcp-session-id"]
    opened = await http.get("/mcp", headers={**headers, "mcp-session-id": session})
    assert opened.status == 200
    return opened


async def read(subscription: Subscription) -> None:
    """Read a subscription to its end."""
    async for _ in subscription:
        pass


async def test_the_stream_of_a_client_whose_token_was_taken_away_ends_and_no_other(tmp_path: Path) -> None:
    tokens = token_file(tmp_path, f"alice {ALICE}", f"bob {BOB}")
    settings = local(token_file=tokens)
    async with (
        asyncio.timeout(SECONDS),
        serving(medical(), settings) as access,
        ClientSession(f"http://{HOST}:{settings.port}") as http,
    ):
        of_alice, of_bob = [await stream(http, bearer(token)) for token in (ALICE, BOB)]
        token_file(tmp_path, f"bob {BOB}")
        access.reload()
        assert await of_alice.read() == b""
        assert not of_bob.content.at_eof()
        of_bob.close()


async def test_a_subscription_of_2026_07_28_ends_too(tmp_path: Path) -> None:
    settings = local(token_file=token_file(tmp_path, f"alice {ALICE}"))
    url = f"http://{HOST}:{settings.port}/mcp"
    async with (
        asyncio.timeout(SECONDS),
        serving(medical(), settings) as access,
        connected(url, "auto", f"Bearer {ALICE}") as client,
        client.listen(tools_list_changed=True) as subscription,
    ):
        token_file(tmp_path, f"bob {BOB}")
        access.reload()
        with pytest.raises(SubscriptionLost):
            await read(subscription)


async def test_a_subscription_counts_as_a_stream_and_not_as_a_call(tmp_path: Path) -> None:
    settings = local(token_file=token_file(tmp_path, f"alice {ALICE} under-way=1 sessions=1"))
    async with (
        asyncio.timeout(SECONDS),
        serving(medical(), settings),
        connected(f"http://{HOST}:{settings.port}/mcp", "auto", f"Bearer {ALICE}") as client,
        client.listen(tools_list_changed=True),
    ):
        assert len((await client.list_tools()).tools) == 6


@pytest.mark.parametrize("has_tokens", [True, False])
async def test_streams_end_whole_and_without_an_error_when_the_server_ends(
    has_tokens: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tokens = token_file(tmp_path, f"alice {ALICE}")
    settings = local(token_file=tokens) if has_tokens else local()
    async with AsyncExitStack() as client:
        http = await client.enter_async_context(ClientSession(f"http://{HOST}:{settings.port}"))
        async with serving(medical(), settings):
            opened = await stream(http, bearer(ALICE) if has_tokens else ACCEPT)
        assert await opened.read() == b""
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


@pytest.mark.parametrize("later", [None, KnownClient(Client("alice", frozenset({"films"})), ClientLimits())])
async def test_a_token_that_expires_or_shows_other_graphs_ends_the_stream_without_a_reload(
    later: KnownClient | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_access, "_CHECK_SECONDS", 0)
    looked: list[str] = []
    client = Client("alice")

    async def find(token: str) -> KnownClient | None:
        looked.append(token)
        return KnownClient(client, ClientLimits()) if len(looked) < 3 else later

    async def app(_scope: Message, receive: Receive, _send: Send) -> None:
        # An application may ask again after it has heard.
        heard.extend([await receive(), await receive()])

    async def silent() -> Message:
        await anyio.sleep_forever()
        raise AssertionError

    async def ignore(_message: Message) -> None:
        """Send nothing."""

    heard: list[Message] = []
    scope = {"type": "http", "method": "GET", "headers": [(b"authorization", f"Bearer {ALICE}".encode())]}
    set_client(scope, client)
    async with asyncio.timeout(SECONDS):
        await OpenStreams(app, BearerTokens([find]))(scope, silent, ignore)
    assert (heard, looked) == ([{"type": "http.disconnect"}] * 2, [ALICE] * 3)
