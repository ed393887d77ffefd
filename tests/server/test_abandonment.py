"""What a server process does for a call that nobody waits for any more: nothing, on every way to leave."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from aiohttp import web

from tests.server.test_stopping import INITIALIZE, READY, SECONDS, Listening, Served, listening, request, served
from tests.transport.fake_endpoint import fake_endpoint, of_empty_graph

pytestmark = [pytest.mark.anyio, pytest.mark.server]


SEEDS = [f"http://example.org/a{number}" for number in range(40)]
CALL = {"name": "bfs_query", "arguments": {"seeds": SEEDS, "max_hops": 2}}

MODERN = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}

AT_ONCE = 4
"""Requests to the endpoint at once, of several batches of one call."""

PROFILE = f"""\
[prefixes]
x = "http://example.org/"

[endpoint.requests]
concurrency = {AT_ONCE}

[limits]
batch = 4
deadline_seconds = {10 * SECONDS}
"""


class Endpoint:
    """An endpoint of an empty graph that answers the questions of the schema, and none of a call."""

    def __init__(self) -> None:
        self.open = 0
        self.asked = 0
        self.is_full = asyncio.Event()
        self.is_empty = asyncio.Event()

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request, or wait until the client is gone."""
        query = str((await request.post()).get("query", ""))
        if "<http://example.org/a" not in query:
            return of_empty_graph(query)
        self.asked += 1
        self.open += 1
        if self.open == AT_ONCE:
            self.is_full.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.open -= 1
            if not self.open:
                self.is_empty.set()
        raise AssertionError("unreachable")


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    """Return a profile with small batches, so that a call has more than may be under way, and all the time it wants."""
    path = tmp_path / "small.toml"
    path.write_text(PROFILE, encoding="utf-8")
    return path


async def session_of(server: Listening) -> tuple[str, ...]:
    """Begin a session of the handshake era; return the headers of its requests."""
    reader, writer = await server.send(json.dumps(INITIALIZE).encode())
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    writer.close()
    session = re.search(r"mcp-session-id: (\S+)", head)
    assert session is not None
    headers = (f"Mcp-Session-Id: {session[1]}", "MCP-Protocol-Version: 2025-11-25")
    _, ready = await server.send(json.dumps(READY).encode(), headers=headers)
    ready.close()
    return headers


async def disconnect(server: Listening, leave: Callable[[], Awaitable[None]]) -> None:
    """Call in the handshake era, and close the connection of the call."""
    _, writer = await server.send(json.dumps(request(1, "tools/call", CALL)).encode(), headers=await session_of(server))
    await leave()
    writer.close()


async def disconnect_modern(server: Listening, leave: Callable[[], Awaitable[None]]) -> None:
    """Call in the era without sessions, and close the connection of the call."""
    headers = (f"MCP-Protocol-Version: {MODERN}", "Mcp-Method: tools/call", "Mcp-Name: bfs_query")
    body = request(1, "tools/call", {**CALL, "_meta": META})
    _, writer = await server.send(json.dumps(body).encode(), headers=headers)
    await leave()
    writer.close()


async def delete_session(server: Listening, leave: Callable[[], Awaitable[None]]) -> None:
    """Call in the handshake era, and end the session while the connection of the call stays open."""
    headers = await session_of(server)
    _, writer = await server.send(json.dumps(request(1, "tools/call", CALL)).encode(), headers=headers)
    await leave()
    reader, deleting = await asyncio.open_connection("127.0.0.1", server.port)
    lines = ["DELETE /mcp HTTP/1.1", f"Host: 127.0.0.1:{server.port}", *headers, "", ""]
    deleting.write("\r\n".join(lines).encode())
    assert b" 200 " in await reader.readline()
    deleting.close()
    with suppress(ConnectionError):
        writer.close()


async def cancel(server: Listening, leave: Callable[[], Awaitable[None]]) -> None:
    """Call in the handshake era, and cancel the call."""
    headers = await session_of(server)
    _, writer = await server.send(json.dumps(request(1, "tools/call", CALL)).encode(), headers=headers)
    await leave()
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    _, cancelling = await server.send(json.dumps(cancelled).encode(), headers=headers)
    cancelling.close()
    with suppress(ConnectionError):
        writer.close()


@pytest.mark.parametrize("leaving", [disconnect, disconnect_modern, delete_session, cancel])
async def test_a_client_over_http_that_leaves_ends_all_requests_of_its_call_and_none_follows(
    leaving: Callable[[Listening, Callable[[], Awaitable[None]]], Awaitable[None]], profile: Path
) -> None:
    endpoint = Endpoint()

    async def under_way() -> None:
        await endpoint.is_full.wait()

    async with (
        asyncio.timeout(SECONDS),
        fake_endpoint(endpoint) as running,
        listening("-e", running.url, "--profile", str(profile)) as server,
    ):
        await leaving(server, under_way)
        await endpoint.is_empty.wait()
        # A call that is answered later than the end of the first shows that none of its batches followed.
        reader, writer = await server.send(
            json.dumps(request(2, "tools/call", {"name": "describe_schema", "arguments": {}})).encode(),
            headers=await session_of(server),
        )
        assert b'"id":2' in await reader.readuntil(b'"id":2')
        writer.close()
    assert endpoint.asked == AT_ONCE


@asynccontextmanager
async def called_over_stdio(profile: Path, endpoint: Endpoint) -> AsyncIterator[Served]:
    """Call over stdio, and wait until as many requests are under way as may be."""
    async with (
        asyncio.timeout(SECONDS),
        fake_endpoint(endpoint) as running,
        served("-e", running.url, "--profile", str(profile)) as server,
    ):
        await server.shake_hands()
        await server.send(request(1, "tools/call", CALL))
        await endpoint.is_full.wait()
        yield server


async def test_a_client_over_stdio_that_closes_its_end_ends_all_requests_of_its_call(profile: Path) -> None:
    endpoint = Endpoint()
    async with called_over_stdio(profile, endpoint) as server:
        server.stdin.close()
        await endpoint.is_empty.wait()
        assert await server.end() == (0, "")
    assert endpoint.asked == AT_ONCE


async def test_a_client_over_stdio_that_cancels_ends_all_requests_of_its_call(profile: Path) -> None:
    endpoint = Endpoint()
    async with called_over_stdio(profile, endpoint) as server:
        await server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        await endpoint.is_empty.wait()
        await server.send(request(2, "tools/call", {"name": "describe_schema", "arguments": {}}))
        answer = await server.answer()
        while answer is not None and answer["id"] != 2:
            answer = await server.answer()
        assert answer is not None
    assert endpoint.asked == AT_ONCE
