"""How a request is refused, and headers that may stand once."""

from __future__ import annotations

import asyncio
import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

_PAUSE_SECONDS = 0.05
_MOST_PAUSING = 32
"""The time after which a client hears that it is not let in, and how many wait for that at once: who asks again and
again without a right to it takes little of the server's time."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer with an error.

    Attributes:
        status: The status code.
        error: The name of the error (RFC 6750, 3.1, where that has one).
        text: What is wrong and what to do, for a person.
        headers: Further headers.
    """

    status: int
    error: str
    text: str
    headers: Mapping[str, str] = field(default_factory=dict)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it, and close the connection: the rest of the request is not read (ASGI)."""
        body = json.dumps({"error": self.error, "error_description": self.text}) + "\n"
        headers = {"cache-control": "no-store", "connection": "close", **self.headers}
        await Response(body, self.status, headers, "application/json")(scope, receive, send)


class Refuser:
    """Sends refusals after a pause, as long as few others wait for theirs."""

    def __init__(self) -> None:
        self._pausing = 0

    async def send(self, refusal: Refusal, scope: Scope, receive: Receive, send: Send) -> None:
        """Send a refusal."""
        if self._pausing < _MOST_PAUSING:
            self._pausing += 1
            try:
                await asyncio.sleep(_PAUSE_SECONDS)
            finally:
                self._pausing -= 1
        await refusal(scope, receive, send)


def unauthorized(metadata_url: str) -> Refusal:
    """Return what a client without a valid token is told; `metadata_url` is empty without OAuth (RFC 9728, 5.1)."""
    challenge = 'Bearer error="invalid_token"'
    if metadata_url:
        challenge += f', resource_metadata="{metadata_url}"'
    text = "This server wants a valid token. Send it as `Authorization: Bearer TOKEN`; its operator gives one."
    return Refusal(401, "invalid_token", text, {"www-authenticate": challenge})


def too_many(seconds: float, what: str) -> Refusal:
    """Return what a client is told that asks too much."""
    wait = str(max(1, math.ceil(seconds)))
    return Refusal(429, "too_many_requests", f"{what} Ask again in {wait} s.", {"retry-after": wait})


MISDIRECTED = Refusal(
    421, "misdirected_request", "This server is not known by that name. Its operator can allow it: --allow-host."
)
FOREIGN_ORIGIN = Refusal(
    403, "forbidden", "Pages of that origin may not ask this server. Its operator can allow it: --allow-origin."
)
AMBIGUOUS = Refusal(
    400, "invalid_request", "The request has two headers of one name, or two lengths, where there is one."
)


_SOLE = frozenset(
    {
        *("mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name", "last-event-id"),
        *("origin", "content-type", "content-length"),
    }
)
"""`Host` and `Authorization` are not among them: who has not exactly one is refused as one without."""


class SoleHeaders:
    """ASGI middleware that refuses requests with two headers of a name, or two lengths of a body."""

    def __init__(self, app: ASGIApp, refuser: Refuser) -> None:
        self._app = app
        self._refuser = refuser

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        if scope["type"] == "http":
            names = Counter(Headers(scope=scope).keys())
            if any(names[name] > 1 for name in _SOLE) or names.keys() >= {"content-length", "transfer-encoding"}:
                await self._refuser.send(AMBIGUOUS, scope, receive, send)
                return
        await self._app(scope, receive, send)
