"""Settings of a server over HTTP, and of what its operators see."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from urllib.parse import urlsplit

from gateway.errors import ConfigurationError, quoted
from gateway.settings.urls import is_loopback, url_problem

_HIGHEST_PORT = 65_535

MOST_WORKERS = 64
"""Processes of one server: each has an event loop, and most of the memory of a gateway, of its own."""

_HIGHEST_LIMIT = 1_000_000_000
DRAIN_SECONDS = 2
"""How long calls that are under way may go on, if nothing else is said."""

_LONGEST_DRAIN = 600
"""Seconds; an answer has no more time than that anyway."""


@dataclass(frozen=True, slots=True)
class ClientLimits:
    """What one client may have.

    Attributes:
        under_way: Requests that are being answered, streams of notifications not counted.
        requests_a_minute: Requests in a minute, after a pause as many at once.
        megabytes_a_minute: Megabytes of requests and answers in a minute, after a pause as many at once.
        sessions: Open sessions of the handshake era.
    """

    under_way: int = 64
    requests_a_minute: int = 1_200
    megabytes_a_minute: int = 200
    sessions: int = 100

    def with_limit(self, name: str, text: str) -> ClientLimits:
        """Return limits of which one is replaced; `name` is written with hyphens.

        Raises:
            ConfigurationError: There is no such limit, or the text is no number that it may have.
        """
        known = self.names()
        if name not in known:
            raise ConfigurationError(f"There is no limit {quoted(name)}.", valid=f"Limits are {', '.join(known)}.")
        if not (text.isascii() and text.isdigit()) or not 0 < int(text[:12]) <= _HIGHEST_LIMIT:
            raise ConfigurationError(f"The limit {name} is {quoted(text)}.", valid="It is a whole number from 1 on.")
        return replace(self, **{name.replace("-", "_"): int(text)})

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of the limits, written with hyphens."""
        return [field.name.replace("_", "-") for field in fields(cls)]


@dataclass(frozen=True, slots=True)
class OAuthSettings:
    """Whose access tokens are taken (RFC 9068, RFC 9728).

    Attributes:
        issuer: The `iss` of its tokens.
        keys_url: Where its public keys are (a JSON Web Key Set).
        audience: The URL at which clients reach this server.
        token_audience: The `aud` of its tokens, where the issuer does not write that URL.
    """

    issuer: str
    keys_url: str
    audience: str
    token_audience: str = ""

    def __post_init__(self) -> None:
        for name in ("issuer", "keys_url", "audience"):
            if problem := url_problem(getattr(self, name)):
                option = {"keys_url": "keys"}.get(name, name)
                raise ConfigurationError(f"--oauth-{option} is wrong: {problem}.")
        keys = urlsplit(self.keys_url)
        if keys.scheme != "https" and not is_loopback(keys.hostname or ""):
            raise ConfigurationError(
                "--oauth-keys is a URL without TLS, so anybody in between could sign tokens.", valid="Use https://."
            )

    @property
    def claimed_audience(self) -> str:
        """The `aud` of the tokens that are taken."""
        return self.token_audience or self.audience


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """How a server is reached.

    Attributes:
        host: The address that it listens on.
        port: The port; 0 for any free one.
        hosts: Names by which clients may call it, beside those of this machine and `host`.
        origins: Origins of web pages that may call it, beside its own.
        token_file: The file of the clients and their tokens; None without one.
        oauth: Whose access tokens are taken; None for nobody's.
        open_to_all: Whether clients of other machines need no token.
        certificate: The files of a certificate with its chain, and of its key; None without TLS.
        proxies: Addresses and networks of proxies, whose word about the client is taken.
        limits: What a client may have, if nothing else is said of it.
        workers: Processes that serve.
        drain_seconds: How long calls that are under way may go on when the server ends.
        graph_options: What selects the graph on a command line, for the page to show; None where it is not told.
    """

    host: str = "127.0.0.1"
    port: int = 8_000
    hosts: Sequence[str] = ()
    origins: Sequence[str] = ()
    token_file: Path | None = None
    oauth: OAuthSettings | None = None
    open_to_all: bool = False
    certificate: tuple[Path, Path] | None = None
    proxies: Sequence[str] = ()
    limits: ClientLimits = ClientLimits()
    workers: int = 1
    drain_seconds: int = DRAIN_SECONDS
    graph_options: str | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.drain_seconds <= _LONGEST_DRAIN:
            raise ConfigurationError(
                f"--drain-seconds {self.drain_seconds} is out of range.", valid=f"It is 0 to {_LONGEST_DRAIN}."
            )
        if not 1 <= self.workers <= MOST_WORKERS:
            raise ConfigurationError(f"--workers {self.workers} is out of range.", valid=f"It is 1 to {MOST_WORKERS}.")
        if not 0 <= self.port <= _HIGHEST_PORT:
            raise ConfigurationError(
                f"--port {self.port} is not a port.", valid=f"A port is 1 to {_HIGHEST_PORT}, or 0 for any free one."
            )
        if self.open_to_all and self.has_tokens:
            raise ConfigurationError("--unauthenticated lets everybody in, and tokens were asked for too.")
        if not is_loopback(self.host) and not (self.has_tokens or self.open_to_all):
            raise ConfigurationError(
                f"--host {quoted(self.host)} is not a loopback address, so other machines could ask the graph.",
                valid="Give --token-file or --oauth-issuer, so that only known clients can.",
                next_step="If everybody who reaches this address may read the graph: --unauthenticated.",
            )
        for host in self.hosts:
            _check_host(host)
        for origin in self.origins:
            _check_origin(origin)
        for proxy in self.proxies:
            _check_network(proxy)

    @property
    def has_tokens(self) -> bool:
        """Whether a client needs a token."""
        return self.token_file is not None or self.oauth is not None

    @property
    def scheme(self) -> str:
        """The scheme of its own URL."""
        return "http" if self.certificate is None else "https"


def _check_host(host: str) -> None:
    name = host.strip("[]")
    if not name or set(name) - set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:_"):
        raise ConfigurationError(
            f"--allow-host {quoted(host)} is not the name of a host.", valid="Give a name alone: graphs.example.org."
        )
    if ":" in name:
        try:
            ipaddress.IPv6Address(name)
        except ValueError:
            raise ConfigurationError(
                f"--allow-host {quoted(host)} has a port.", valid="Give the name alone; each port is taken."
            ) from None


def _check_origin(origin: str) -> None:
    parts = urlsplit(origin)
    if url_problem(origin) or origin != f"{parts.scheme}://{parts.netloc}" or origin != origin.lower():
        raise ConfigurationError(
            f"--allow-origin {quoted(origin)} is not an origin.",
            valid="Write it as browsers send it: https://app.example.org, with the port if it has one.",
        )


def _check_network(text: str) -> None:
    try:
        ipaddress.ip_network(text)
    except ValueError as error:
        raise ConfigurationError(
            f"--proxy {quoted(text)} is not an address.", valid="Give an address or a network: 10.0.0.7, 10.0.0.0/8."
        ) from error


@dataclass(frozen=True, slots=True)
class ObserveSettings:
    """What a server shows of itself beside its answers.

    Attributes:
        metrics: The host and the port at which operators read counts and the state of each graph; None for nowhere.
        audit_log: The file that gets a line for each request that reads a graph; None for none.
    """

    metrics: tuple[str, int] | None = None
    audit_log: Path | None = None


NOTHING = ObserveSettings()
