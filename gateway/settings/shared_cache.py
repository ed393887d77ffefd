"""The server in which several processes share what they read and what they may ask: Valkey or Redis."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

from pydantic import SecretStr

from gateway.errors import ConfigurationError
from gateway.settings.secret import read
from gateway.settings.urls import is_loopback

_PASSWORD = "BFSQL_SHARED_CACHE_PASSWORD"  # noqa: S105 - the variable's name
_SECRET = "BFSQL_SHARED_CACHE_SECRET"  # noqa: S105 - the variable's name
_IN_FILE = "_FILE"
"""Ends the names of variables that say in which file a secret is."""

_SCHEMES = frozenset({"redis", "rediss", "unix"})

_NONE = SecretStr("")


@dataclass(frozen=True, slots=True)
class SharedCacheServer:
    """A Valkey or Redis server.

    Attributes:
        url: `redis://HOST:PORT/DATABASE`, `rediss://` with TLS, or `unix://PATH`.
        password: Its password; blank without one.
        secret: What the processes that share it know, and others that may reach it do not; blank: the password.
    """

    url: str
    password: SecretStr = field(default=_NONE)
    secret: SecretStr = field(default=_NONE)

    def __post_init__(self) -> None:
        """Check the URL, and whether others could forge what is shared.

        Raises:
            ConfigurationError: It is none of such a server or has a password in it, or the server is on another machine
                and there is no secret.
        """
        if not _is_url(self.url):
            raise ConfigurationError(
                "--shared-cache is not the URL of a Valkey or Redis server.",
                valid="Write redis://HOST:PORT, rediss://HOST:PORT or unix://PATH with no password in it.",
                next_step=f"Give the password in the environment variable {_PASSWORD}.",
            )
        if not self.key and not self.is_on_this_machine:
            raise ConfigurationError(
                "--shared-cache has no secret: whoever reaches the server could write answers that gateways believe.",
                valid="Without a secret, the server is on this machine: a loopback address, or unix://PATH.",
                next_step=f"Give the password of the server in the environment variable {_PASSWORD}, or, where it has "
                f"none, a long random text in {_SECRET}, the same for all gateways; or name a file with it in "
                f"{_PASSWORD}{_IN_FILE} or {_SECRET}{_IN_FILE}.",
            )

    @property
    def login(self) -> str | None:
        """The password that the server asks for; None without one."""
        password = self.password.get_secret_value()
        return password if password.strip() else None

    @property
    def key(self) -> str:
        """What only the processes know that share the server; empty if there is nothing."""
        secret = self.secret.get_secret_value()
        return secret if secret.strip() else self.login or ""

    @property
    def is_on_this_machine(self) -> bool:
        """Whether only programs of this machine reach the server by this URL."""
        parts = urlsplit(self.url)
        return parts.scheme == "unix" or is_loopback(parts.hostname or "")

    @classmethod
    def at(cls, url: str) -> SharedCacheServer:
        """Return the server at a URL, with the password and the secret of the environment.

        Raises:
            ConfigurationError: The URL is wrong, a file cannot be read, or there is no secret and has to be one.
        """
        return cls(url, _from_environment(_PASSWORD), _from_environment(_SECRET))


def _from_environment(name: str) -> SecretStr:
    """Return a secret of the environment, or of the file that it names; blank if there is none.

    Raises:
        ConfigurationError: Both are given, or what is there is not one line.
    """
    is_given, file = bool(os.environ.get(name, "").strip()), os.environ.get(f"{name}{_IN_FILE}", "")
    if is_given and file:
        raise ConfigurationError(f"Both {name} and {name}{_IN_FILE} are set.", next_step="Set one of them.")
    if file:
        return read(f"file:{file}", f"{name}{_IN_FILE}")
    return read(f"env:{name}", name) if is_given else _NONE


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        has_place = bool(parts.path if parts.scheme == "unix" else parts.hostname and parts.port != 0)
    except ValueError:
        return False
    # The library takes other options there, a password among them.
    has_options_only = {name for name, _ in parse_qsl(parts.query, keep_blank_values=True)} <= {"db"}
    return parts.scheme in _SCHEMES and "@" not in parts.netloc and has_place and has_options_only
