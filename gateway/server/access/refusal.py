"""What a client is told that is not let in: never why one token is worse than another."""

from __future__ import annotations

import asyncio
import json
import math
from dataclasses import dataclass

from gateway.server.http_guard import Send

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
    headers: tuple[tuple[bytes, bytes], ...] = ()

    async def send(self, send: Send) -> None:
        """Send it, and close the connection: the rest of the request is not read."""
        body = json.dumps({"error": self.error, "error_description": self.text}).encode() + b"\n"
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"cache-control", b"no-store"),
            (b"connection", b"close"),
            *self.headers,
        ]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


class Refuser:
    """Sends refusals after a pause, as long as few others wait for theirs."""

    def __init__(self) -> None:
        self._pausing = 0

    async def send(self, refusal: Refusal, send: Send) -> None:
        """Send a refusal."""
        if self._pausing < _MOST_PAUSING:
            self._pausing += 1
            try:
                await asyncio.sleep(_PAUSE_SECONDS)
            finally:
                self._pausing -= 1
        await refusal.send(send)


def unauthorized(metadata_url: str) -> Refusal:
    """Return what a client without a valid token is told; `metadata_url` is empty without OAuth (RFC 9728, 5.1)."""
    challenge = 'Bearer error="invalid_token"'
    if metadata_url:
        challenge += f', resource_metadata="{metadata_url}"'
    text = "This server wants a valid token. Send it as `Authorization: Bearer TOKEN`; its operator gives one."
    return Refusal(401, "invalid_token", text, ((b"www-authenticate", challenge.encode()),))


def too_many(seconds: float, what: str) -> Refusal:
    """Return what a client is told that asks too much."""
    wait = str(max(1, math.ceil(seconds))).encode()
    return Refusal(429, "too_many_requests", f"{what} Ask again in {wait.decode()} s.", ((b"retry-after", wait),))


MISDIRECTED = Refusal(
    421, "misdirected_request", "This server is not known by that name. Its operator can allow it: --allow-host."
)
FOREIGN_ORIGIN = Refusal(
    403, "forbidden", "Pages of that origin may not ask this server. Its operator can allow it: --allow-origin."
)
AMBIGUOUS = Refusal(
    400, "invalid_request", "The request has two headers of one name, or two lengths, where there is one."
)
