"""The open streams of notifications: each ends when its client is let in no more, or the server ends.

A call is not ended so: it has a deadline.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.server.access.tokens import BearerTokens
from gateway.server.client import client_of

_CHECK_SECONDS = 60.0
"""The time after which the token of an open stream is looked at again: some expire."""


class OpenStreams:
    """ASGI middleware, behind that which lets clients in.

    Args:
        app: What answers.
        tokens: Finds the client of a request.
    """

    def __init__(self, app: ASGIApp, tokens: BearerTokens) -> None:
        self._app = app
        self._tokens = tokens
        self._open: set[_Stream] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        if scope["type"] != "http" or not is_stream(scope):
            await self._app(scope, receive, send)
            return

        async def is_allowed() -> bool:
            return await self._is_allowed(scope)

        stream = _Stream(receive, send, is_allowed)
        self._open.add(stream)
        try:
            await self._app(scope, stream.receive, stream.send)
        finally:
            self._open.discard(stream)
        await stream.end_response()

    def check(self) -> None:
        """Look now whether their clients are still let in."""
        for stream in self._open:
            stream.check()

    def end(self) -> None:
        """End them."""
        for stream in self._open:
            stream.end()

    async def _is_allowed(self, scope: Scope) -> bool:
        """Return whether a request would still be let in, as the same client."""
        if not self._tokens.are_required:
            return True
        known = await self._tokens.client_of(scope)
        return known is not None and known.client == client_of(scope)


class _Stream:
    """A stream whose application is told that the client has gone when the stream shall end."""

    def __init__(self, receive: Receive, send: Send, is_allowed: Callable[[], Awaitable[bool]]) -> None:
        self._receive = receive
        self._send = send
        self._is_allowed = is_allowed
        self._check = asyncio.Event()
        self._is_ended = False
        self._is_half_sent = False

    def check(self) -> None:
        """Look now whether its client is still let in."""
        self._check.set()

    def end(self) -> None:
        """End it."""
        self._is_ended = True
        self._check.set()

    async def receive(self) -> Message:
        """Return the next message of the client, or that it has gone (ASGI)."""
        message = asyncio.ensure_future(self._receive())
        try:
            while not self._is_ended and not await self._comes(message):
                self._check.clear()
                if not await self._is_allowed():
                    self._is_ended = True
            return message.result() if message.done() else {"type": "http.disconnect"}
        finally:
            message.cancel()

    async def send(self, message: Message) -> None:
        """Send a part of the answer (ASGI)."""
        await self._send(message)
        self._is_half_sent = message["type"] == "http.response.start" or bool(message.get("more_body"))

    async def end_response(self) -> None:
        """Send the end of an answer that was ended early, without which it would be an error."""
        if self._is_ended and self._is_half_sent:
            await self._send({"type": "http.response.body", "body": b""})

    async def _comes(self, message: asyncio.Future[Message]) -> bool:
        """Wait for a message, until it is time to look at the token; return whether it came."""
        check = asyncio.ensure_future(self._check.wait())
        try:
            await asyncio.wait((message, check), timeout=_CHECK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        finally:
            check.cancel()
        return message.done()


def is_stream(scope: Scope) -> bool:
    """Return whether a request is for notifications: it stays open while its client does nothing.

    Of the era of 2026-07-28 that is a method, and the SDK refuses a header that says another.
    """
    if scope["method"] == "GET":
        return True
    headers = Headers(scope=scope)
    is_modern = headers.get("mcp-protocol-version", "") in MODERN_PROTOCOL_VERSIONS
    return scope["method"] == "POST" and is_modern and headers.get("mcp-method") == "subscriptions/listen"
