"""Leads each request of a session to the process that has the session: any process may have accepted the connection.

The name of a session ends with the number of its worker, `ID.2`. Clients of 2026-07-28 have no sessions, and are
answered where they come. Nothing here is reached by a request that access refuses.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable

import aiohttp
from yarl import URL

from gateway.server.http_guard import App, Message, Receive, Send
from gateway.server.workers.client_address import client_headers
from gateway.server.workers.worker import Worker

_SESSION = b"mcp-session-id"
_CONNECT_SECONDS = 5.0
_OF_ONE_HOP = frozenset({b"connection", b"keep-alive", b"transfer-encoding", b"te", b"trailer", b"upgrade", b"expect"})
"""Headers that are about one connection (RFC 9110, 7.6.1)."""

_MOST_DIGITS = 3

_GONE = b'{"error":"session_not_found","error_description":"The session has ended: begin a new one."}\n'


class SessionRouter:
    """ASGI middleware of a worker.

    Args:
        app: What answers the requests of its own sessions, and those without one.
        worker: Which worker this is.
    """

    def __init__(self, app: App, worker: Worker) -> None:
        self._app = app
        self._worker = worker

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        named = next((value for name, value in scope["headers"] if name == _SESSION), None)
        session, _, number = (named or b"").rpartition(b".")
        owner = int(number) if number.isdigit() and len(number) <= _MOST_DIGITS else self._worker.count
        if named is None or owner == self._worker.index:
            headers = [(name, session if name == _SESSION else value) for name, value in scope["headers"]]
            await self._app({**scope, "headers": headers}, receive, self._naming(send))
        elif owner < self._worker.count:
            await self._forward(owner, scope, receive, send)
        else:
            await _refuse(send)

    def _naming(self, send: Send) -> Send:
        """Return a function that sends an answer with the whole name of its session."""
        end = f".{self._worker.index}".encode()

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = (
                    (name, value + end if name.lower() == _SESSION else value) for name, value in message["headers"]
                )
                message = {**message, "headers": list(headers)}
            await send(message)

        return named

    async def _forward(self, owner: int, scope: Message, receive: Receive, send: Send) -> None:
        """Let another worker answer a request; who sent it is checked there again."""
        request, response = _Request(scope, receive), _Response(send)
        answering = asyncio.create_task(self._answer_of(owner, scope, request.body, response.send))

        async def leave() -> None:
            await request.disconnected()
            answering.cancel()

        leaving = asyncio.create_task(leave())
        try:
            await asyncio.wait([answering])
        finally:
            leaving.cancel()
            answering.cancel()
        error = None if answering.cancelled() else answering.exception()
        if isinstance(error, aiohttp.ClientError | OSError) and not response.has_begun:
            await _refuse(send)
        elif error is not None:
            # uvicorn closes the connection before the answer is whole, so nobody takes a part of it for all.
            raise error

    async def _answer_of(self, owner: int, scope: Message, body: AsyncIterator[bytes] | None, send: Send) -> None:
        query = scope["query_string"].decode("latin-1")
        path = scope["raw_path"].decode("latin-1") + (f"?{query}" if query else "")
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS)
        connector = aiohttp.UnixConnector(str(self._worker.path_of(owner)), force_close=True)
        async with (
            aiohttp.ClientSession(connector=connector, timeout=timeout, auto_decompress=False) as http,
            http.request(
                scope["method"],
                URL(f"http://localhost{path}", encoded=True),
                headers=_text([*scope["headers"], *client_headers(scope)]),
                data=body,
                skip_auto_headers=("user-agent", "content-type", "accept", "accept-encoding"),
                allow_redirects=False,
            ) as answer,
        ):
            headers = [(name.lower(), value) for name, value in answer.raw_headers if name.lower() not in _OF_ONE_HOP]
            await send({"type": "http.response.start", "status": answer.status, "headers": headers})
            async for chunk in answer.content.iter_any():
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b""})


class _Request:
    """The body of a request that is passed on, and its end.

    Attributes:
        body: Its parts; None where it has none (RFC 9112, 6.3).
    """

    def __init__(self, scope: Message, receive: Receive) -> None:
        self._receive = receive
        self._is_read = asyncio.Event()
        headers = dict(scope["headers"])
        has_body = b"transfer-encoding" in headers or headers.get(b"content-length", b"0") != b"0"
        self.body = self._parts() if has_body else None
        if self.body is None:
            self._is_read.set()

    async def disconnected(self) -> None:
        """Wait until nobody waits for the answer any more."""
        await self._is_read.wait()
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def _parts(self) -> AsyncIterator[bytes]:
        while not self._is_read.is_set():
            message = await self._receive()
            if message.get("body"):
                yield message["body"]
            if message["type"] != "http.request" or not message.get("more_body"):
                self._is_read.set()


class _Response:
    """What is sent of an answer.

    Attributes:
        has_begun: Whether a part of it was sent.
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self.has_begun = False

    async def send(self, message: Message) -> None:
        """Send a part of it."""
        self.has_begun = True
        await self._send(message)


def _text(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers if name not in _OF_ONE_HOP]


async def _refuse(send: Send) -> None:
    """Say that the session is gone: the worker that had it has died, or is not there yet (MCP, session management)."""
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(_GONE)).encode())]
    await send({"type": "http.response.start", "status": 404, "headers": headers})
    await send({"type": "http.response.body", "body": _GONE})
