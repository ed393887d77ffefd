"""The server in which several processes share what they read and what they may ask: Valkey or Redis."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

from pydantic import SecretStr

from gateway.errors import ConfigurationError

_PASSWORD = "BFSQL_SHARED_CACHE_PASSWORD"  # noqa: S105 - the variable's name
_SCHEMES = frozenset({"redis", "rediss", "unix"})


@dataclass(frozen=True, slots=True)
class SharedCacheServer:
    """A Valkey or Redis server.

    Attributes:
        url: `redis://HOST:PORT/DATABASE`, `rediss://` with TLS, or `unix://PATH`.
        password: Its password; empty without one.
    """

    url: str
    password: SecretStr = field(default_factory=lambda: SecretStr(""))

    def __post_init__(self) -> None:
        """Check the URL.

        Raises:
            ConfigurationError: It is none of such a server, or has a password in it.
        """
        if not _is_url(self.url):
            raise ConfigurationError(
                "--shared-cache is not the URL of a Valkey or Redis server.",
                valid="Write redis://HOST:PORT, rediss://HOST:PORT or unix://PATH with no password in it.",
                next_step=f"Give the password in the environment variable {_PASSWORD}.",
            )

    @classmethod
    def at(cls, url: str) -> SharedCacheServer:
        """Return the server at a URL, with the password of the environment.

        Raises:
            ConfigurationError: The URL is wrong.
        """
        return cls(url, SecretStr(os.environ.get(_PASSWORD, "")))


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        has_place = bool(parts.path if parts.scheme == "unix" else parts.hostname and parts.port != 0)
    except ValueError:
        return False
    # The library takes other options there, a password among them.
    has_options_only = {name for name, _ in parse_qsl(parts.query, keep_blank_values=True)} <= {"db"}
    return parts.scheme in _SCHEMES and "@" not in parts.netloc and has_place and has_options_only
