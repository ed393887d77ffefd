"""Access tokens of an OAuth authorization server: JSON Web Tokens for this server alone (RFC 9068)."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import urlsplit

import jwt
from mcp.shared.auth import ProtectedResourceMetadata

from gateway.escaping import printable
from gateway.server.access.key_set import ALGORITHMS, KeySet
from gateway.server.access.known_client import KnownClient
from gateway.server.client import Client
from gateway.settings.http_serving import ClientLimits, OAuthSettings
from gateway.terms.words import cut

_log = logging.getLogger(__name__)

METADATA = "/.well-known/oauth-protected-resource"
"""Where clients read who gives tokens for this server (RFC 9728, 3.1)."""

_LEEWAY_SECONDS = 30
_TYPES = frozenset({"at+jwt", "application/at+jwt", "jwt", ""})
_OF_GRAPH = "graph:"
_ALL_GRAPHS = "graph:*"
_LONGEST_NAME = 100
_DIGITS = 16
"""Characters of a name, and of the hash that tells longer ones apart."""


class OAuthClients:
    """The clients to whom an issuer gave tokens for this server.

    Args:
        settings: Whose tokens are taken.
        limits: What each client may have.
        graphs: The names of the graphs; empty where the only one has none.
        keys: The issuer's keys.
    """

    def __init__(
        self, settings: OAuthSettings, limits: ClientLimits, graphs: Collection[str], keys: KeySet | None = None
    ) -> None:
        self._settings = settings
        self._limits = limits
        self._graphs = graphs
        self._keys = keys or KeySet(settings.keys_url)

    async def find(self, token: str) -> KnownClient | None:
        """Return the client of a token; None if it names none, is expired, or is not of this issuer for this server."""
        try:
            header = jwt.get_unverified_header(token)
        except (jwt.PyJWTError, RecursionError):
            return None
        key_id, kind = header.get("kid"), header.get("typ", "")
        if not isinstance(key_id, str) or not isinstance(kind, str) or kind.lower() not in _TYPES:
            return None
        key = await self._keys.find(key_id)
        if key is None:
            return None
        try:
            claims = jwt.decode(
                token,
                key,
                algorithms=ALGORITHMS,
                audience=self._settings.audience,
                issuer=self._settings.issuer,
                leeway=_LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud"]},
            )
        except (jwt.PyJWTError, OverflowError, RecursionError):
            return None
        if (parts := _parts(claims)) is None:
            _log.info("a token of the issuer has no sub, or neither client_id nor azp, and is of nobody")
            return None
        client = Client(_name(parts), self._graphs_of(claims), ("oauth", *parts))
        return KnownClient(client, self._limits)

    @property
    def metadata(self) -> bytes:
        """What clients read to get a token (RFC 9728, 2)."""
        scopes = [f"{_OF_GRAPH}{graph}" for graph in self._graphs] or None
        # The model keeps each URL as it is written: the issuer is compared letter by letter (RFC 8414, 3.3).
        written = ProtectedResourceMetadata.model_validate(
            {
                "resource": self._settings.audience,
                "authorization_servers": [self._settings.issuer],
                "scopes_supported": scopes,
            }
        )
        return written.model_dump_json(exclude_none=True).encode()

    @property
    def metadata_url(self) -> str:
        """The URL of the metadata, as clients reach it."""
        place = urlsplit(self._settings.audience)
        return f"{place.scheme}://{place.netloc}{METADATA}{place.path.rstrip('/')}"

    def _graphs_of(self, claims: Mapping[str, Any]) -> frozenset[str] | None:
        """Return the graphs that the scopes of a token name; None for all."""
        said = claims.get("scope", claims.get("scp", ""))
        listed = said.split() if isinstance(said, str) else said
        scopes = [each for each in listed if isinstance(each, str)] if isinstance(listed, list) else []
        if not self._graphs or _ALL_GRAPHS in scopes:
            return None
        return frozenset(scope.removeprefix(_OF_GRAPH) for scope in scopes if scope.startswith(_OF_GRAPH))


def _parts(claims: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the program of a token and for whom it asks (RFC 9068, 2.2); None where it does not say both."""
    said = {name: value for name, value in claims.items() if isinstance(value, str) and value}
    program, subject = said.get("client_id", said.get("azp")), said.get("sub")
    return None if program is None or subject is None else (program, subject)


def _name(parts: tuple[str, str]) -> str:
    """Return the name of a client for logs and counts.

    No two clients share one, nor does a client of the token file, whose names have no colon: what two words do not tell
    has a third one and a hash.
    """
    whole = " ".join(dict.fromkeys(parts))
    shown = printable(whole)
    if shown != whole or len(shown) > _LONGEST_NAME or len(whole.split()) != len({*parts}):
        digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:_DIGITS]
        shown = f"{cut(shown, _LONGEST_NAME)} # {digest}"
    return f"oauth:{shown}"
