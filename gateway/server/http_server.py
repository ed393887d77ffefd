"""The HTTP server: requests and TLS handshakes within bounds, answers without hidden characters."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import uvicorn
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.escaping import in_json
from gateway.server.client import Disconnect
from gateway.server.stdio import MAX_BYTES

HANDSHAKE_SECONDS = 10.0
"""The time of a TLS handshake, as much as the headers of a request have; asyncio would wait for a minute."""

_INTERNET = frozenset({socket.AF_INET, socket.AF_INET6})


class HttpServer(uvicorn.Server):
    """A server whose sockets are open already."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the command line: uvicorn's handlers would send them to the process again."""
        yield

    async def startup(self, sockets: Sequence[socket.socket] | None = None) -> None:
        """Begin to accept connections: with TLS from other machines, without it from other workers of this one."""
        await super().startup(sockets=[])
        loop, tls = asyncio.get_running_loop(), self.config.ssl
        for each in sockets or ():
            has_tls = tls is not None and each.family in _INTERNET
            server = await loop.create_server(
                self._connection,
                sock=each,
                ssl=tls if has_tls else None,
                ssl_handshake_timeout=HANDSHAKE_SECONDS if has_tls else None,
                backlog=self.config.backlog,
            )
            self.servers.append(server)

    def _connection(self) -> asyncio.Protocol:
        """Return the protocol of a new connection, made as uvicorn makes it."""
        kind = self.config.http_protocol_class
        return kind(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)  # type: ignore[call-arg]  # each of its protocols takes these


_log = logging.getLogger(__name__)

_BODY_SECONDS = 30.0
"""The time in which the body of a request must arrive."""

_DIGITS = 20
"""A declared length with as many digits is ignored: Python refuses to parse very long numbers."""

_TOO_LONG = f"A message may have at most {MAX_BYTES:,} bytes."


class HttpGuard:
    """ASGI middleware that passes on complete requests, and escapes hidden characters in the JSON of answers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if _declared_length(scope) > MAX_BYTES:
            await PlainTextResponse(_TOO_LONG, 413)(scope, receive, send)
            return
        try:
            async with asyncio.timeout(_BODY_SECONDS):
                body = await _body(receive)
        except TimeoutError:
            text = f"The request did not arrive in {_BODY_SECONDS:.0f} seconds."
            await PlainTextResponse(text, 408)(scope, receive, send)
            return
        if body is None:
            _log.info("a client went away before its request was whole")
            return
        if len(body) > MAX_BYTES:
            await PlainTextResponse(_TOO_LONG, 413)(scope, receive, send)
            return
        request: list[Message] = [{"type": "http.request", "body": bytes(body), "more_body": False}]

        disconnect = Disconnect(scope)

        async def receive_again() -> Message:
            if request:
                return request.pop()
            message = await receive()
            if message["type"] == "http.disconnect":
                disconnect.happened()
            return message

        await self._app(scope, receive_again, _Escaping(send).send)


def _declared_length(scope: Scope) -> int:
    """Return the declared length of a request; 0 if it declares none."""
    declared = Headers(scope=scope).get("content-length", "")
    return int(declared) if declared.isdigit() and len(declared) < _DIGITS else 0


async def _body(receive: Receive) -> bytearray | None:
    """Return the body, cut one chunk above the limit; None if the client disconnected."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        if not message.get("more_body") or len(body) > MAX_BYTES:
            return body


class _Escaping:
    """Escapes an answer. The start of one with a length waits for its body, because the length changes."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None

    async def send(self, message: Message) -> None:
        """Send a part of the answer."""
        if message["type"] == "http.response.start" and "content-length" in Headers(scope=message):
            self._start = message
            return
        if message["type"] == "http.response.body":
            body = message.get("body", b"")
            # The SDK sends an event, or a JSON message, in one piece: no character is cut in two.
            if not body.isascii():
                body = in_json(body.decode("utf-8", "surrogateescape")).encode()
                message = {**message, "body": body}
            if self._start is not None:
                start, self._start = self._start, None
                headers = MutableHeaders(scope=start)
                del headers["content-length"]
                if not message.get("more_body"):
                    headers["content-length"] = str(len(body))
                await self._send(start)
        await self._send(message)
