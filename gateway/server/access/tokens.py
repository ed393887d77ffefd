"""Bearer tokens of a file, and the clients that they name.

A line is a name, a token or its hash, and what the client may do::

    alice  sha256:9f86d0...  graphs=medlit,movies  requests-a-minute=60
    bob    bfsql_3q2-7w...

Where it is not certain which of two words is the name, a line is refused: names begin with no `bfsql_`, and beside a
name that could be a token, no token is taken that could be a name.

Lines that begin with `#` and empty ones are left out.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import re
import secrets
import stat
import sys
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from starlette.datastructures import Headers
from starlette.types import Scope

from gateway.errors import ConfigurationError, quoted
from gateway.server.client import Client
from gateway.settings.graphs_file import NAME as GRAPH_NAME
from gateway.settings.serving import ClientLimits
from gateway.settings.storage import read_at_most


@dataclass(frozen=True, slots=True)
class KnownClient:
    """A client with its limits.

    Attributes:
        client: Who it is.
        limits: What it may have.
    """

    client: Client
    limits: ClientLimits


FindClient = Callable[[str], Awaitable[KnownClient | None]]
"""Returns the client that a token is of; None if it is of nobody."""


_log = logging.getLogger(__name__)

MOST_CLIENTS = 1_000
LONGEST_TOKEN = 512
"""Lines of a file, and characters of a token."""

_LARGEST = 1_000_000
"""Bytes of a file."""

_SHORTEST_TOKEN = 20
"""Characters of a token in plain text: a shorter one can be guessed."""

_OURS = "bfsql_"
"""The beginning of the tokens that this program makes: no name has it."""

_OPTIONS = ("graphs", *ClientLimits.names())

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_HASH = "sha256:"
_HASHED = re.compile(rf"{_HASH}[0-9a-f]{{64}}")
_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]+")
"""The characters of a bearer token (RFC 6750, 2.1)."""


def new_token() -> str:
    """Return a token that nobody can guess: 256 random bits."""
    return f"{_OURS}{secrets.token_urlsafe(32)}"


def hashed(token: str) -> str:
    """Return what a token file says in the place of a token.

    One round of SHA-256 is enough for a random token; a password that a person chose would need more (OWASP Password
    Storage).
    """
    return f"{_HASH}{hashlib.sha256(token.encode()).hexdigest()}"


def is_name(text: str) -> bool:
    """Return whether a text can be the name of a client."""
    return _NAME.fullmatch(text) is not None and not text.startswith(_OURS)


def _is_plain_token(text: str) -> bool:
    """Return whether a text can be a token: no hash of one, and no option in its place."""
    return (
        _TOKEN.fullmatch(text) is not None
        and _SHORTEST_TOKEN <= len(text) <= LONGEST_TOKEN
        and text.partition("=")[0] not in _OPTIONS
    )


@dataclass(frozen=True, slots=True)
class _Entry:
    digest: bytes
    known: KnownClient


class TokenFile:
    """The clients of a file, read again when the operator says so.

    Args:
        path: The file.
        limits: What a client may have, if its line does not say otherwise.
        graphs: The names of the graphs that are served; a line that names another one is refused.

    Raises:
        ConfigurationError: The file cannot be read, others may read it, or a line is wrong.
    """

    def __init__(self, path: Path, limits: ClientLimits, graphs: Collection[str]) -> None:
        self._path = path
        self._limits = limits
        self._graphs = graphs
        self._entries = self._read()

    async def find(self, token: str) -> KnownClient | None:
        """Return the client of a token.

        Every entry is compared, so that the time tells nothing of them.
        """
        given = hashlib.sha256(token.encode()).digest()
        found = None
        for entry in self._entries:
            if hmac.compare_digest(entry.digest, given):
                found = entry.known
        return found

    def reload(self) -> None:
        """Read the file again; one that is wrong is logged, and the clients stay those of before."""
        try:
            self._entries = self._read(is_first=False)
        except ConfigurationError as error:
            _log.error("the token file was not read again: %s", error)
        else:
            _log.info("the token file was read again: %d clients", len(self._entries))

    def _read(self, *, is_first: bool = True) -> list[_Entry]:
        _check_private(self._path, may_be_pipe=is_first)
        try:
            # Others than line feeds end no line for an editor, which counts them too.
            lines = read_at_most(self._path, _LARGEST).decode().split("\n")
        except (OSError, UnicodeDecodeError) as error:
            reason = "it is not text" if isinstance(error, UnicodeDecodeError) else error.strerror
            raise ConfigurationError(f"The token file {self._path} cannot be read: {reason}.") from None
        entries: dict[str, _Entry] = {}
        digests: set[bytes] = set()
        for number, line in enumerate(lines, start=1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            name, entry = self._entry(line, number)
            if name in entries or entry.digest in digests:
                raise self._wrong(number, "its name or its token stands in a line above")
            entries[name] = entry
            digests.add(entry.digest)
        if not 0 < len(entries) <= MOST_CLIENTS:
            raise ConfigurationError(
                f"The token file {self._path} names {len(entries)} clients.",
                valid=f"It has 1 to {MOST_CLIENTS:,}.",
                next_step="bfsql-gateway token NAME prints a line for it.",
            )
        return list(entries.values())

    def _entry(self, line: str, number: int) -> tuple[str, _Entry]:
        """Return the client of a line. No error repeats a part of it: it holds a secret."""
        if "\ufeff" in line:
            raise self._wrong(number, "it has a byte order mark; save the file as UTF-8 without one")
        name, *others = line.split()
        token, *options = others or [""]
        if name.startswith((_OURS, _HASH)) or (_is_plain_token(name) and is_name(token)) or hashed(name) == token:
            # What everybody may know would be the token, and the secret a name in logs and counts.
            raise self._wrong(
                number,
                "its first word may be the token, and the name comes first; beside a name of "
                f"{_SHORTEST_TOKEN} characters or more, give the hash of the token",
            )
        if not is_name(name):
            raise self._wrong(number, "the first word is not a name of letters, digits and . _ @ -")
        if not token or token.partition("=")[0] in _OPTIONS:
            raise self._wrong(number, "there is no token after the name")
        if _HASHED.fullmatch(token):
            digest = bytes.fromhex(token.removeprefix(_HASH))
        elif _is_plain_token(token):
            digest = hashlib.sha256(token.encode()).digest()
        else:
            raise self._wrong(
                number,
                f"the second word is neither a token of {_SHORTEST_TOKEN} to {LONGEST_TOKEN} characters nor sha256:…",
            )
        return name, _Entry(digest, self._known(name, _options(options), number))

    def _known(self, name: str, options: Mapping[str, str] | None, number: int) -> KnownClient:
        if options is None:
            raise self._wrong(number, "what follows the token is not a list of NAME=VALUE, each once")
        graphs, limits = None, self._limits
        for key, value in options.items():
            if key == "graphs":
                graphs = frozenset(value.split(","))
                if unknown := sorted(graph for graph in graphs if graph not in self._graphs):
                    named = quoted(unknown[0]) if GRAPH_NAME.fullmatch(unknown[0]) else "one of them"
                    raise self._wrong(number, f"there is no graph {named} here")
            else:
                try:
                    limits = limits.with_limit(key, value)
                except ConfigurationError as error:
                    raise self._wrong(number, str(error).rstrip(".")) from None
        return KnownClient(Client(name, graphs), limits)

    def _wrong(self, number: int, problem: str) -> ConfigurationError:
        return ConfigurationError(
            f"Line {number} of the token file {self._path} is wrong: {problem}.",
            valid="A line is NAME TOKEN [graphs=A,B] [LIMIT=NUMBER].",
            next_step="bfsql-gateway token NAME prints one.",
        )


def _options(words: list[str]) -> Mapping[str, str] | None:
    """Return options by name; None where one is not written as such, or twice."""
    pairs = [word.partition("=") for word in words]
    options = {key: value for key, _, value in pairs}
    return options if all(key and value for key, _, value in pairs) and len(options) == len(pairs) else None


def _check_private(path: Path, *, may_be_pipe: bool) -> None:
    """Raise if others may read a file of secrets, or if it is a pipe and may be none.

    A group may, because orchestrators mount secrets for a group.
    """
    if sys.platform == "win32":
        return
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise ConfigurationError(f"The token file {path} cannot be read: {error.strerror}.") from error
    if stat.S_ISFIFO(mode) and not may_be_pipe:
        raise ConfigurationError(f"The token file {path} is a pipe, which can be read once.")
    if mode & (stat.S_IROTH | stat.S_IWOTH | stat.S_IWGRP):
        raise ConfigurationError(
            f"Others may read or change the token file {path} (mode {stat.S_IMODE(mode):04o}).",
            next_step=f"chmod 600 {path}",
        )


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

    async def client_of(self, scope: Scope) -> KnownClient | None:
        """Return the client of a request (ASGI); None where it has no token, several, or one of nobody."""
        token = _token_of(scope)
        if not token:
            return None
        for find in self._finders:
            if (known := await find(token)) is not None:
                return known
        return None


def _token_of(scope: Scope) -> str:
    """Return the token of a request; empty where there is not exactly one (RFC 6750, 2.1)."""
    given = Headers(scope=scope).getlist("authorization")
    if len(given) != 1 or len(given[0]) > _LONGEST_JWT:
        return ""
    scheme, _, token = given[0].partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""
