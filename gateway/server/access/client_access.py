"""Lets clients in: who asks, and whether they may ask now. Nothing of a request is read before that."""

from __future__ import annotations

import json
from collections.abc import Hashable
from http import HTTPStatus

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from gateway.server.access.bearer_tokens import BearerTokens
from gateway.server.access.known_client import KnownClient
from gateway.server.access.open_streams import is_stream
from gateway.server.access.refusal import Refuser, too_many, unauthorized
from gateway.server.access.sessions import Sessions
from gateway.server.access.usage import Usage, Usages
from gateway.server.client import set_client
from gateway.server.http_guard import App, Message, Receive, Send
from gateway.settings.http_serving import ClientLimits

_SESSION = b"mcp-session-id"
_VERSION = b"mcp-protocol-version"


class ClientAccess:
    """ASGI middleware that passes on the requests of known clients, as many as each may send.

    Args:
        app: What answers them.
        refuser: Refuses the others.
        tokens: Finds the client of a request.
        limits: What a client may have that is known by its address alone.
        metadata_url: Where a client reads how it gets a token; empty where it cannot.
        sessions: The open sessions.
        usages: What clients use.
    """

    def __init__(
        self,
        app: App,
        refuser: Refuser,
        tokens: BearerTokens,
        limits: ClientLimits,
        metadata_url: str = "",
        sessions: Sessions | None = None,
        usages: Usages | None = None,
    ) -> None:
        self._app = app
        self._refuser = refuser
        self._tokens = tokens
        self._limits = limits
        self._unauthorized = unauthorized(metadata_url)
        self._sessions = sessions or Sessions()
        self._usages = usages or Usages()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        client: Hashable = scope["client"] and scope["client"][0]
        limits = self._limits
        if self._tokens.are_required:
            known = await self._tokens.client_of(scope)
            if known is None:
                await self._refuser.send(self._unauthorized, send)
                return
            client, limits = known.client.identity, known.limits
            _authenticate(scope, known)
        usage = self._usages.of(client, limits)
        if pause := usage.pause():
            await too_many(pause, "You ask more than you may.").send(send)
            return
        if _opens_session(scope) and self._sessions.count(client) >= limits.sessions:
            await too_many(
                60, f"You have {limits.sessions} open sessions. End one with DELETE, or wait until one is idle."
            ).send(send)
            return
        if is_stream(scope) and usage.streams >= limits.sessions:
            await too_many(60, f"You have {usage.streams} open streams. Close one.").send(send)
            return
        await self._answer(scope, receive, send, client, usage)

    async def _answer(self, scope: Message, receive: Receive, send: Send, client: Hashable, usage: Usage) -> None:
        """Pass a request on, and count what it costs."""
        session = _header(scope, _SESSION)

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

    def _note_session(self, scope: Message, asked: str, start: Message, client: Hashable) -> None:
        """Note a session that began, was used, or has ended, by the answer to a request."""
        given = next((value.decode("latin-1") for name, value in start["headers"] if name.lower() == _SESSION), "")
        if start["status"] == HTTPStatus.NOT_FOUND or (
            scope["method"] == "DELETE" and start["status"] < HTTPStatus.BAD_REQUEST
        ):
            # A path without tools knows no session either: that ends none.
            self._sessions.end(asked, client, scope["path"])
        elif given and (not asked or self._sessions.is_known(given)):
            self._sessions.use(given, client, scope["path"])


def _header(scope: Message, wanted: bytes) -> str:
    return next((value.decode("latin-1") for name, value in scope["headers"] if name == wanted), "")


def _opens_session(scope: Message) -> bool:
    """Return whether a request may open a session: those of 2026-07-28 say their version, and have none."""
    is_modern = _header(scope, _VERSION) in MODERN_PROTOCOL_VERSIONS
    return scope["method"] == "POST" and not _header(scope, _SESSION) and not is_modern


def _authenticate(scope: Message, known: KnownClient) -> None:
    """Record who asks, for the tools and for the SDK, which binds sessions to it."""
    set_client(scope, known.client)
    scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=json.dumps(known.client.identity), scopes=[]))
