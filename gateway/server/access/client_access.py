"""What a client may do and has used of it, which sessions are its own, and its open streams of notifications.

That nobody else uses a session is checked by the SDK, which binds it to the credential that opened it. A stream ends
when its client is let in no more, or the server ends. A call is not ended so: it has a deadline.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from http import HTTPStatus

from cachetools import LRUCache, TTLCache
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.flow.quota_state import TokenBucket
from gateway.server.access.refusal import Refuser, too_many, unauthorized
from gateway.server.access.tokens import BearerTokens, KnownClient
from gateway.server.client import client_of, set_client
from gateway.settings.serving import ClientLimits

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
        self._check.set()

    def end(self) -> None:
        self._is_ended = True
        self._check.set()

    async def receive(self) -> Message:
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


_MINUTE = 60.0
_MEGABYTE = 1_000_000
_MOST_CLIENTS = 10_000
"""Clients that are remembered: without authentication there is one for each address."""


class Bucket:
    """What is left in a token bucket: so much in a minute, and after a pause as much at once.

    Args:
        a_minute: What flows in during a minute, and the most that it holds.
        clock: Seconds that only grow.
    """

    def __init__(self, a_minute: float, clock: Clock = time.monotonic) -> None:
        self._bucket = TokenBucket(a_minute, a_minute / _MINUTE)
        self._left = self._bucket.full
        self._clock = clock
        self._since = clock()

    def take(self, amount: float) -> None:
        """Take an amount, even if less is left: what is owed must flow in before more is given."""
        self._flow()
        self._left -= amount

    def seconds_until(self, amount: float) -> float:
        """Return in how many seconds so much is there; 0 for now."""
        self._flow()
        return self._bucket.seconds_until(min(amount, self._bucket.capacity), self._left)

    def _flow(self) -> None:
        now = self._clock()
        self._left, self._since = self._bucket.level(self._left, now - self._since), now


@dataclass(slots=True)
class Usage:
    """What one client uses.

    Attributes:
        limits: What it may have.
        requests: What it may still ask in this minute.
        bytes: What it may still send and receive in this minute.
        under_way: Requests that are being answered.
        streams: Streams that are open.
    """

    limits: ClientLimits
    requests: Bucket
    bytes: Bucket
    under_way: int = field(default=0)
    streams: int = field(default=0)

    @classmethod
    def of(cls, limits: ClientLimits, clock: Clock = time.monotonic) -> Usage:
        """Return the usage of a client that has used nothing."""
        return cls(
            limits,
            Bucket(limits.requests_a_minute, clock),
            Bucket(limits.megabytes_a_minute * _MEGABYTE, clock),
        )

    def pause(self) -> float:
        """Return for how many seconds the client must wait before it may ask again; 0 if it may now."""
        if self.under_way >= self.limits.under_way:
            return 1.0
        return max(self.requests.seconds_until(1), self.bytes.seconds_until(1))


class Usages:
    """The usage of each client; of more clients than can be remembered, those that asked last."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._usages: LRUCache[Hashable, Usage] = LRUCache(_MOST_CLIENTS)

    def of(self, client: Hashable, limits: ClientLimits) -> Usage:
        """Return the usage of a client; new limits begin anew."""
        usage = self._usages.get(client)
        if usage is None or usage.limits != limits:
            before, usage = usage, Usage.of(limits, self._clock)
            if before is not None:
                usage.under_way, usage.streams = before.under_way, before.streams
            self._usages[client] = usage
        return usage


Clock = Callable[[], float]

_MOST = 10_000
_IDLE_SECONDS = 1_800
"""The SDK ends a session that was not used for so long."""


class Sessions:
    """The open sessions by client."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._owners: TTLCache[str, tuple[Hashable, str]] = TTLCache(_MOST, _IDLE_SECONDS, clock)

    def count(self, client: Hashable) -> int:
        """Return how many sessions of a client are open."""
        return Counter(owner for owner, _ in self._owners.values())[client]

    def use(self, session: str, client: Hashable, path: str = "") -> None:
        """Note that a client opened a session at a path, or used it again."""
        self._owners[session] = (client, path)

    def is_known(self, session: str) -> bool:
        """Return whether a session is open."""
        return session in self._owners

    def end(self, session: str, client: Hashable, path: str = "") -> None:
        """Note that a session has ended, if it was that of this client at this path."""
        if self._owners.get(session) == (client, path):
            del self._owners[session]


_SESSION = "mcp-session-id"
_VERSION = "mcp-protocol-version"


class ClientAccess:
    """ASGI middleware that passes on the requests of known clients, as many as each may send.

    Args:
        app: What answers them.
        refuser: Refuses the others.
        tokens: Finds the client of a request.
        limits: What a client may have that is known by its address alone.
        metadata_url: Where a client reads how it gets a token; empty where it cannot.
    """

    def __init__(
        self,
        app: ASGIApp,
        refuser: Refuser,
        tokens: BearerTokens,
        limits: ClientLimits,
        metadata_url: str = "",
    ) -> None:
        self._app = app
        self._refuser = refuser
        self._tokens = tokens
        self._limits = limits
        self._unauthorized = unauthorized(metadata_url)
        self._sessions = Sessions()
        self._usages = Usages()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        client: Hashable = scope["client"] and scope["client"][0]
        limits = self._limits
        if self._tokens.are_required:
            known = await self._tokens.client_of(scope)
            if known is None:
                await self._refuser.send(self._unauthorized, scope, receive, send)
                return
            client, limits = known.client.identity, known.limits
            _authenticate(scope, known)
        usage = self._usages.of(client, limits)
        if pause := usage.pause():
            await too_many(pause, "You ask more than you may.")(scope, receive, send)
            return
        if _opens_session(scope) and self._sessions.count(client) >= limits.sessions:
            await too_many(
                60, f"You have {limits.sessions} open sessions. End one with DELETE, or wait until one is idle."
            )(scope, receive, send)
            return
        if is_stream(scope) and usage.streams >= limits.sessions:
            await too_many(60, f"You have {usage.streams} open streams. Close one.")(scope, receive, send)
            return
        await self._answer(scope, receive, send, client, usage)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, client: Hashable, usage: Usage) -> None:
        session = Headers(scope=scope).get(_SESSION, "")

        async def counted_receive() -> Message:
            message = await receive()
            usage.bytes.take(len(message.get("body", b"")))
            return message

        async def counted_send(message: Message) -> None:
            usage.bytes.take(len(message.get("body", b"")))
            if message["type"] == "http.response.start":
                self._note_session(scope, session, message, client)
            await send(message)

        opens_stream = is_stream(scope)
        is_call = scope["method"] == "POST" and not opens_stream
        usage.requests.take(1)
        usage.under_way += is_call
        usage.streams += opens_stream
        try:
            await self._app(scope, counted_receive, counted_send)
        finally:
            usage.under_way -= is_call
            usage.streams -= opens_stream

    def _note_session(self, scope: Scope, asked: str, start: Message, client: Hashable) -> None:
        """Note a session that began, was used, or has ended, by the answer to a request."""
        given = Headers(scope=start).get(_SESSION, "")
        if start["status"] == HTTPStatus.NOT_FOUND or (
            scope["method"] == "DELETE" and start["status"] < HTTPStatus.BAD_REQUEST
        ):
            # A path without tools knows no session either: that ends none.
            self._sessions.end(asked, client, scope["path"])
        elif given and (not asked or self._sessions.is_known(given)):
            self._sessions.use(given, client, scope["path"])


def _opens_session(scope: Scope) -> bool:
    """Return whether a request may open a session: those of 2026-07-28 say their version, and have none."""
    headers = Headers(scope=scope)
    is_modern = headers.get(_VERSION, "") in MODERN_PROTOCOL_VERSIONS
    return scope["method"] == "POST" and not headers.get(_SESSION) and not is_modern


def _authenticate(scope: Scope, known: KnownClient) -> None:
    """Record who asks, for the tools and for the SDK, which binds sessions to it."""
    set_client(scope, known.client)
    scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=json.dumps(known.client.identity), scopes=[]))
