"""What a client gets when the worker that has its session breaks off."""

import asyncio
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from starlette.types import Message, Receive, Send

from gateway.server.workers.session_router import SessionRouter
from gateway.server.workers.worker import Worker

pytestmark = pytest.mark.anyio

SCOPE: dict[str, Any] = {
    "type": "http",
    "method": "GET",
    "raw_path": b"/mcp",
    "query_string": b"",
    "headers": [(b"mcp-session-id", b"x.1")],
    "client": ("192.0.2.7", 5),
}


async def never(_: Message, __: Receive, ___: Send) -> None:
    """Answer nothing: the session is another worker's."""
    raise AssertionError


async def asked(folder: Path, sent: list[Message]) -> None:
    """Ask worker 0 for a session of worker 1."""

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    await SessionRouter(never, Worker(0, 2, 0, 0, folder))(SCOPE, receive, send)


async def test_a_body_is_passed_on_whatever_the_method(tmp_path: Path) -> None:
    bodies: list[bytes] = []

    async def read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        bodies.append(await reader.readexactly(4))
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    received: list[Message] = [{"type": "http.request", "body": b"body"}]
    ended = asyncio.Event()

    async def receive() -> Message:
        if received:
            return received.pop()
        await ended.wait()
        raise AssertionError

    async def send(_: Message) -> None: ...

    headers = [*SCOPE["headers"], (b"content-length", b"4")]
    async with await asyncio.start_unix_server(read, tmp_path / "1"):
        router = SessionRouter(never, Worker(0, 2, 0, 0, tmp_path))
        await router({**SCOPE, "method": "DELETE", "headers": headers}, receive, send)
    assert bodies == [b"body"]


async def test_a_session_whose_worker_is_away_is_gone(tmp_path: Path) -> None:
    sent: list[Message] = []
    await asked(tmp_path, sent)
    assert [message.get("status") for message in sent] == [404, None]


async def test_an_answer_that_breaks_off_is_not_ended_as_if_it_were_whole(tmp_path: Path) -> None:
    async def break_off(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf")
        await writer.drain()
        writer.close()

    sent: list[Message] = []
    async with await asyncio.start_unix_server(break_off, tmp_path / "1"):
        with pytest.raises(aiohttp.ClientError):
            await asked(tmp_path, sent)
    assert sent[0]["status"] == 200
    assert all(message["type"] == "http.response.body" and message["more_body"] for message in sent[1:])
