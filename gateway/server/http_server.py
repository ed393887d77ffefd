"""The HTTP server: connections, requests and TLS handshakes within bounds, answers without hidden characters.

uvicorn bounds the time between two requests, not that of the first line and the headers of one. And it goes on to read,
and drops, what comes of a request that was answered before its end.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, cast

import uvicorn
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

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


HEADER_SECONDS = 10.0
"""The time in which the first line and the headers of a request must arrive."""

MOST_WAITING = 128
"""Connections on which no request was answered yet, and as many between two requests: beyond that, the one that has
waited for longest is cut."""

MOST_CONNECTIONS = 384
"""All connections: beyond that, requests are answered with 503."""


_MOST_BYTES = 2 * MAX_BYTES
"""Bytes that are read of one request, with the lines between the chunks of its body: one that is a little too long
hears that, and one without an end is cut."""


def bounded_connections() -> type[asyncio.Protocol]:
    """Return the protocol of the connections of one server."""
    return cast("type[asyncio.Protocol]", partial(_Connection, _Waiting()))


class _Waiting:
    """The connections of a server that are without a whole request, in the order in which they came to be.

    New ones and those that were answered before have room of their own, so that many of the first cut none of the
    second.
    """

    def __init__(self) -> None:
        self._new: dict[_Connection, None] = {}
        self._known: dict[_Connection, None] = {}

    def add(self, connection: _Connection) -> None:
        """Note a connection, and cut the oldest if there are too many."""
        group = self._known if connection.has_answered else self._new
        group.setdefault(connection)
        while len(group) > MOST_WAITING:
            oldest = next(iter(group))
            del group[oldest]
            oldest.transport.abort()

    def remove(self, connection: _Connection) -> None:
        """Note that the request of a connection has come, or that it is closed."""
        self._new.pop(connection, None)
        self._known.pop(connection, None)


class _Connection(H11Protocol):
    """A connection whose request must come soon.

    Args:
        waiting: The connections of the server that are without a whole request.
        given: What uvicorn gives to each connection.

    Attributes:
        has_answered: Whether a request of it was answered.
    """

    def __init__(self, waiting: _Waiting, **given: Any) -> None:
        super().__init__(**given)
        self.has_answered = False
        self._waiting = waiting
        self._timer: asyncio.TimerHandle | None = None
        self._read_of: RequestResponseCycle | None = None
        self._read = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        super().connection_made(transport)
        self._begin_timer()
        self._update()

    def data_received(self, data: bytes) -> None:
        """Read a part of a request; the first part of one begins its time."""
        if self._read_of is not self.cycle:
            self._read_of, self._read = self.cycle, 0
        self._read += len(data)
        if self._read > _MOST_BYTES:
            _log.info("a request of more than %d bytes was cut", _MOST_BYTES)
            self.transport.abort()
            return
        if self._is_between_requests:
            self._begin_timer()
        super().data_received(data)
        self._update()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self.has_answered = True
        self._update()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_timer()
        self._waiting.remove(self)
        super().connection_lost(exc)
        # uvicorn leaves the timer where the client broke off, and with it this object, its buffers and its request.
        self._unset_keepalive_if_required()

    @property
    def _is_between_requests(self) -> bool:
        # uvicorn says that it is one, and begins with None.
        cycle = cast("RequestResponseCycle | None", self.cycle)
        return cycle is None or cycle.response_complete

    def _update(self) -> None:
        """Note whether a whole request has come."""
        if not self._is_between_requests:
            self._end_timer()
        if not (self._is_between_requests or self.cycle.more_body):
            self._waiting.remove(self)
        elif not self.transport.is_closing():
            self._waiting.add(self)

    def _begin_timer(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(HEADER_SECONDS, self.transport.abort)

    def _end_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
