"""Which worker has a session, and whose address a request has.

The name of a session ends with the number of its worker, `ID.2`. Clients of 2026-07-28 have no sessions, and are
answered where they come. Nothing here is reached by a request that access refuses.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from http import HTTPStatus

import aiohttp
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from yarl import URL

from gateway.server.workers import Worker

_HEADER = "bfsql-client"
"""In which one worker tells another the address. From outside it is taken off."""

Header = tuple[bytes, bytes]


class ClientAddress:
    """ASGI middleware that believes other workers who their client is.

    Args:
        app: What answers.
        worker: Which worker this is.
    """

    def __init__(self, app: ASGIApp, worker: Worker) -> None:
        self._app = app
        self._private = str(worker.path_of(worker.index))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        if scope["type"] == "http":
            said = Headers(scope=scope).getlist(_HEADER)
            scope = {**scope, "headers": [*scope["headers"]]}
            del MutableHeaders(scope=scope)[_HEADER]
            # A missing `client` proves nothing: that of a connection that was reset at once is missing too.
            if said and scope["server"] == (self._private, None):
                scope["client"] = (said[0], 0)
        await self._app(scope, receive, send)


def client_headers(scope: Scope) -> list[Header]:
    """Return what another worker must hear about the client of a request."""
    client = scope["client"]
    return [(_HEADER.encode(), str(client[0]).encode("latin-1"))] if client else []


_SESSION = "mcp-session-id"
_CONNECT_SECONDS = 5.0
_OF_ONE_HOP = frozenset({b"connection", b"keep-alive", b"transfer-encoding", b"te", b"trailer", b"upgrade", b"expect"})
"""Headers that are about one connection (RFC 9110, 7.6.1)."""

_MOST_DIGITS = 3

_GONE = Response(
    '{"error":"session_not_found","error_description":"The session has ended: begin a new one."}\n',
    HTTPStatus.NOT_FOUND,
    media_type="application/json",
)
"""The worker that had the session has died, or is not there yet (MCP, session management)."""


class SessionRouter:
    """ASGI middleware of a worker.

    Args:
        app: What answers the requests of its own sessions, and those without one.
        worker: Which worker this is.
    """

    def __init__(self, app: ASGIApp, worker: Worker) -> None:
        self._app = app
        self._worker = worker

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        named = Headers(scope=scope).get(_SESSION)
        session, _, number = (named or "").rpartition(".")
        owner = int(number) if number.isdigit() and len(number) <= _MOST_DIGITS else self._worker.count
        if named is None or owner == self._worker.index:
            scope = {**scope, "headers": [*scope["headers"]]}
            if named is not None:
                MutableHeaders(scope=scope)[_SESSION] = session
            await self._app(scope, receive, self._naming(send))
        elif owner < self._worker.count:
            await self._forward(owner, scope, receive, send)
        else:
            await _GONE(scope, receive, send)

    def _naming(self, send: Send) -> Send:
        """Return a function that sends an answer with the whole name of its session."""

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=[*message["headers"]])
                if session := headers.get(_SESSION):
                    headers[_SESSION] = f"{session}.{self._worker.index}"
                message = {**message, "headers": headers.raw}
            await send(message)

        return named

    async def _forward(self, owner: int, scope: Scope, receive: Receive, send: Send) -> None:
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
            await _GONE(scope, receive, send)
        elif error is not None:
            # uvicorn closes the connection before the answer is whole, so nobody takes a part of it for all.
            raise error

    async def _answer_of(self, owner: int, scope: Scope, body: AsyncIterator[bytes] | None, send: Send) -> None:
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

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self._receive = receive
        self._is_read = asyncio.Event()
        headers = Headers(scope=scope)
        has_body = "transfer-encoding" in headers or headers.get("content-length", "0") != "0"
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
        self.has_begun = True
        await self._send(message)


def _text(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers if name not in _OF_ONE_HOP]
