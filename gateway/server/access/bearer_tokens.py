"""The bearer tokens of requests, and whose they are (RFC 6750)."""

from __future__ import annotations

from collections.abc import Sequence

from gateway.server.access.known_client import FindClient, KnownClient
from gateway.server.http_guard import Message

_LONGEST_JWT = 16_384


class BearerTokens:
    """Finds the client of a request by its token.

    Args:
        finders: What finds the client of a token, tried in turn; none where every client is let in.

    Attributes:
        are_required: Whether only clients with a token are let in.
    """

    def __init__(self, finders: Sequence[FindClient]) -> None:
        self._finders = finders
        self.are_required = bool(finders)

    async def client_of(self, scope: Message) -> KnownClient | None:
        """Return the client of a request (ASGI); None where it has no token, several, or one of nobody."""
        token = _token_of(scope)
        if not token:
            return None
        for find in self._finders:
            if (known := await find(token)) is not None:
                return known
        return None


def _token_of(scope: Message) -> str:
    """Return the token of a request; empty where there is not exactly one (RFC 6750, 2.1)."""
    given = [value for name, value in scope["headers"] if name == b"authorization"]
    if len(given) != 1 or len(given[0]) > _LONGEST_JWT:
        return ""
    scheme, _, token = given[0].decode("latin-1").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""
