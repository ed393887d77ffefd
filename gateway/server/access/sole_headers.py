"""Headers that a request has once: of two, one reader would take the first, and another the last."""

from __future__ import annotations

from collections import Counter

from gateway.server.access.refusal import AMBIGUOUS, Refuser
from gateway.server.http_guard import App, Message, Receive, Send

_SOLE = frozenset(
    {
        *(b"mcp-session-id", b"mcp-protocol-version", b"mcp-method", b"mcp-name", b"last-event-id"),
        *(b"origin", b"content-type", b"content-length"),
    }
)
"""`Host` and `Authorization` are not among them: who has not exactly one is refused as one without."""


class SoleHeaders:
    """ASGI middleware that refuses requests with two headers of a name, or two lengths of a body."""

    def __init__(self, app: App, refuser: Refuser) -> None:
        self._app = app
        self._refuser = refuser

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        if scope["type"] == "http":
            names = Counter(name for name, _ in scope["headers"])
            if any(names[name] > 1 for name in _SOLE) or names.keys() >= {b"content-length", b"transfer-encoding"}:
                await self._refuser.send(AMBIGUOUS, send)
                return
        await self._app(scope, receive, send)
