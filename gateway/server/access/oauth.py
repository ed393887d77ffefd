"""Access tokens of an issuer, and the keys that sign them.

Who has a token of a key that is known waits for no issuer: older keys are read again beside the request.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import math
import time
from collections.abc import Callable, Collection, Mapping
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import jwt
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from mcp.shared.auth import ProtectedResourceMetadata

from gateway.errors import quoted
from gateway.escaping import printable
from gateway.server.access.tokens import KnownClient
from gateway.server.client import Client
from gateway.settings.serving import ClientLimits, OAuthSettings
from gateway.terms.names import cut

_log = logging.getLogger(__name__)

_FRESH_SECONDS = 600.0
_PAUSE_SECONDS = 30.0
"""How long keys are used, and the time between two requests for them: tokens with invented key IDs cause no more."""

_LASTING_SECONDS = 86_400.0
"""How long keys are taken while the issuer does not answer: one that was withdrawn must not be good for ever."""

_FETCH_SECONDS = 5.0
_LARGEST = 262_144
_MOST_KEYS = 100
"""Seconds, bytes and keys of an answer."""

_HEADERS = {"accept": "application/json", "accept-encoding": "identity"}
"""Of a request for keys: what is packed may become any size."""

_PROGRAMS = ("client_id", "azp", "cid", "appid")
"""Claims that name the program: of RFC 9068, of OpenID Connect, of Okta, and of Entra ID's first version."""

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures with a public key alone: with others, whoever knows the public key could sign (RFC 8725, 3.1)."""

_ASYMMETRIC = frozenset({"RSA", "EC", "OKP"})
"""Types of keys (RFC 7518, 6.1; RFC 8037): with a shared secret, who can verify could sign too."""

_PUBLIC = ("kty", "alg", "crv", "n", "e", "x", "y")
"""What is read of a key; a private part that an issuer shows by mistake is not."""

_RSA_BITS = range(2_048, 16_385)
"""Sizes of an RSA key: a shorter one is broken (RFC 7518, 3.3), and a longer one takes long to verify with."""


class KeySet:
    """The keys at a URL.

    Args:
        url: Where they are.
        clock: Seconds that only grow.
    """

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._url = url
        self._clock = clock
        self._keys: Mapping[str, jwt.PyJWK] = {}
        self._read_at = self._asked_at = -math.inf
        self._reading = asyncio.Lock()
        self._beside: asyncio.Task[None] | None = None

    async def find(self, key_id: str) -> jwt.PyJWK | None:
        """Return the key of an ID; None if the issuer has none, or cannot be asked."""
        if self._age > _LASTING_SECONDS or key_id not in self._keys:
            await self._read_if_due()
        elif self._age > _FRESH_SECONDS and (self._beside is None or self._beside.done()):
            self._beside = asyncio.create_task(self._read_if_due())
        return self._keys.get(key_id) if self._age <= _LASTING_SECONDS else None

    @property
    def _age(self) -> float:
        return self._clock() - self._read_at

    async def _read_if_due(self) -> None:
        """Read the keys, unless that was tried a short time ago."""
        async with self._reading:
            if self._clock() - self._asked_at > _PAUSE_SECONDS:
                await self._read()

    async def _read(self) -> None:
        """Read the keys; those of before stay where that fails, and it is logged."""
        self._asked_at = self._clock()
        try:
            self._keys = _keys_in(await self._fetch())
        except (aiohttp.ClientError, TimeoutError, ValueError, RecursionError) as error:
            _log.error("the keys of the issuer could not be read: %s: %s", type(error).__name__, error)
        else:
            self._read_at = self._asked_at

    async def _fetch(self) -> bytes:
        timeout = aiohttp.ClientTimeout(total=_FETCH_SECONDS)
        async with (
            aiohttp.ClientSession(timeout=timeout, auto_decompress=False, trust_env=True) as http,
            http.get(self._url, allow_redirects=False, headers=_HEADERS) as answer,
        ):
            answer.raise_for_status()
            content = await answer.content.read(_LARGEST + 1)
            while len(content) <= _LARGEST and (more := await answer.content.read(_LARGEST)):
                content += more
            if answer.status != 200 or len(content) > _LARGEST:  # noqa: PLR2004 - OK
                raise ValueError(f"status {answer.status}, {len(content):,} bytes")
            return content


def _keys_in(content: bytes) -> dict[str, jwt.PyJWK]:
    """Return the keys of a JSON Web Key Set (RFC 7517, 5) that can verify signatures, by their IDs.

    Raises:
        ValueError: It is none.
    """
    read = json.loads(content)
    listed = read.get("keys") if isinstance(read, dict) else None
    if not isinstance(listed, list):
        raise ValueError("this is not a JSON Web Key Set")  # noqa: TRY004 - the content is wrong, not a type of ours
    keys: dict[str, jwt.PyJWK] = {}
    for each in listed[:_MOST_KEYS]:
        if not isinstance(each, dict) or each.get("use", "sig") != "sig" or not isinstance(each.get("kid"), str):
            continue
        # One key that is of no use here must not take the others with it.
        if isinstance(key := _key_of(each), jwt.PyJWK):
            keys[each["kid"]] = key
        elif key:
            _log.warning("the key %s of the issuer is not used: %s", quoted(each["kid"]), key)
    return keys


def _key_of(said: Mapping[str, object]) -> jwt.PyJWK | str:
    """Return the key that a JSON Web Key is, or why it is not used; an empty text where it is for other purposes."""
    public = {name: value for name in _PUBLIC if isinstance(value := said.get(name), str)}
    if public.get("kty") not in _ASYMMETRIC or public.get("alg", ALGORITHMS[0]) not in ALGORITHMS:
        return ""
    try:
        key = jwt.PyJWK.from_dict(public)
    except (jwt.PyJWTError, ValueError, UnsupportedAlgorithm):
        return "it is damaged, or of a kind that is not known"
    bits = key.key.key_size if isinstance(key.key, RSAPublicKey) else None
    if bits is not None and bits not in _RSA_BITS:
        return f"an RSA key of {bits:,} bits; it has {_RSA_BITS[0]:,} to {_RSA_BITS[-1]:,}"
    return key


METADATA = "/.well-known/oauth-protected-resource"
"""Where clients read who gives tokens for this server (RFC 9728, 3.1)."""

_OF_LOGINS = frozenset({"at_hash", "c_hash"})
"""Claims that ID tokens have alone (OpenID Connect Core, 3.3.2.11)."""

_SCOPES = frozenset({"scope", "scp", "roles"})
"""Claims of what a token is for."""

_LEEWAY_SECONDS = 30
_TYPES = frozenset({"at+jwt", "application/at+jwt", "jwt", ""})
_OF_GRAPH = "graph:"
_ALL_GRAPHS = "graph:*"
_LONGEST_NAME = 100
_DIGITS = 16
"""Characters of a name, and of the hash that tells longer ones apart."""


class _RefusedError(Exception):
    """Why a token is refused: nothing of it."""


class OAuthClients:
    """The clients to whom an issuer gave tokens for this server.

    Args:
        settings: Whose tokens are taken.
        limits: What each client may have.
        graphs: The names of the graphs; empty where the only one has none.
    """

    def __init__(self, settings: OAuthSettings, limits: ClientLimits, graphs: Collection[str]) -> None:
        self._settings = settings
        self._limits = limits
        self._graphs = graphs
        self._keys = KeySet(settings.keys_url)

    async def find(self, token: str) -> KnownClient | None:
        """Return the client of a token; None if it names none, is expired, or is not of this issuer for this server."""
        try:
            claims = await self._claims(token)
            parts = _parts(claims)
        except _RefusedError as error:
            _log.info("a token was refused: %s", error)
            return None
        return KnownClient(Client(_name(parts), self._graphs_of(claims), ("oauth", *parts)), self._limits)

    async def _claims(self, token: str) -> Mapping[str, Any]:
        """Return what a token says.

        Raises:
            _RefusedError: It is not of this issuer for this server, or it has expired.
        """
        try:
            header = jwt.get_unverified_header(token)
        except (jwt.PyJWTError, RecursionError):
            raise _RefusedError("it is no signed JSON Web Token") from None
        key_id, kind = header.get("kid"), header.get("typ", "")
        if not isinstance(key_id, str) or not isinstance(kind, str) or kind.lower() not in _TYPES:
            raise _RefusedError("it names no key, or is no access token")
        key = await self._keys.find(key_id)
        if key is None:
            raise _RefusedError("the issuer has no such key")
        try:
            claims: Mapping[str, Any] = jwt.decode(
                token,
                key,
                algorithms=ALGORITHMS,
                audience=self._settings.claimed_audience,
                issuer=self._settings.issuer,
                leeway=_LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud"]},
            )
        except (jwt.PyJWTError, OverflowError, RecursionError) as error:
            # Its text may have words of the token.
            raise _RefusedError(type(error).__name__) from None
        # An ID token is for a program, whose name may be the audience here; it says what nobody may do.
        is_of_login = claims.get("typ") == "ID" or not _OF_LOGINS.isdisjoint(claims)
        if is_of_login or (self._settings.token_audience and _SCOPES.isdisjoint(claims)):
            raise _RefusedError("it says who somebody is, and not what for")
        return claims

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
        """Return the graphs that the scopes of a token name, or its roles if it has no scopes; None for all."""
        # Entra ID gives programs without a user roles in place of scopes.
        said = next((claims[name] for name in ("scope", "scp", "roles") if name in claims), "")
        listed = said.split() if isinstance(said, str) else said
        scopes = [each for each in listed if isinstance(each, str)] if isinstance(listed, list) else []
        if not self._graphs or _ALL_GRAPHS in scopes:
            return None
        return frozenset(scope.removeprefix(_OF_GRAPH) for scope in scopes if scope.startswith(_OF_GRAPH))


def _parts(claims: Mapping[str, Any]) -> tuple[str, str]:
    """Return the program of a token and for whom it asks (RFC 9068, 2.2).

    Raises:
        _RefusedError: It does not say both.
    """
    said = {name: value for name, value in claims.items() if isinstance(value, str) and value}
    program, subject = next((said[name] for name in _PROGRAMS if name in said), None), said.get("sub")
    if program is None or subject is None:
        raise _RefusedError(f"it has no sub, or none of {', '.join(_PROGRAMS)}")
    return program, subject


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
