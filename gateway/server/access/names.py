"""The names by which a server may be called, and the origins of the pages that may call it.

A page of another site can make a browser send requests to an address of its choice, and with a name of its own that
leads to this machine it could read the answers: DNS rebinding (MCP 2025-11-25, streamable HTTP, "Security Warning").
"""

from __future__ import annotations

from collections.abc import Sequence

from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.server.access.refusal import FOREIGN_ORIGIN, MISDIRECTED, Refuser
from gateway.settings.serving import HttpSettings

_ANY_ADDRESS = frozenset({"0.0.0.0", "::"})  # noqa: S104 - these are recognised, not listened on
_OF_THIS_MACHINE = ("127.0.0.1", "localhost", "[::1]")


class Names:
    """The names and origins that are taken.

    Args:
        settings: How the server is reached.
    """

    def __init__(self, settings: HttpSettings) -> None:
        given = [] if settings.host in _ANY_ADDRESS else [settings.host]
        self._hosts = list(dict.fromkeys([*_OF_THIS_MACHINE, *map(_bracketed, [*given, *settings.hosts])]))
        self._origins = list(settings.origins)

    def takes_host(self, value: str) -> bool:
        """Return whether a server may be called so, with any port or without one."""
        return _without_port(value.lower()) in self._hosts

    def takes_origin(self, value: str, host: str, *, is_encrypted: bool) -> bool:
        """Return whether pages of an origin may ask: those that the server serves itself, and those that are allowed.

        Args:
            value: The origin (RFC 6454, 7).
            host: How the page calls the server, which `takes_host` takes. Its own pages have come from there: another
                port is another server.
            is_encrypted: Whether the request came by TLS. Then a page that did not is of whoever was in between.
        """
        scheme, _, place = value.lower().partition("://")
        default = {"https": ":443"} if is_encrypted else {"https": ":443", "http": ":80"}
        is_own = scheme in default and _with_port(place, default[scheme]) == _with_port(host.lower(), default[scheme])
        return is_own or value in self._origins

    def for_sdk(self) -> TransportSecuritySettings:
        """Return the same for the SDK's own check, which comes later."""
        own = [f"{scheme}://{host}" for scheme in ("http", "https") for host in self._hosts]
        return TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=_with_ports(self._hosts),
            allowed_origins=[*_with_ports(own), *self._origins],
        )


class NameCheck:
    """ASGI middleware that refuses requests to foreign names, or of pages of foreign origins."""

    def __init__(self, app: ASGIApp, names: Names, refuser: Refuser) -> None:
        self._app = app
        self._refuser = refuser
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            hosts, origins = headers.getlist("host"), headers.getlist("origin")
            if len(hosts) != 1 or not self._names.takes_host(hosts[0]):
                await self._refuser.send(MISDIRECTED, scope, receive, send)
                return
            is_encrypted = scope["scheme"] == "https"
            if not all(self._names.takes_origin(each, hosts[0], is_encrypted=is_encrypted) for each in origins):
                await self._refuser.send(FOREIGN_ORIGIN, scope, receive, send)
                return
        await self._app(scope, receive, send)


def _bracketed(host: str) -> str:
    name = host.strip("[]").lower()
    return f"[{name}]" if ":" in name else name


def _without_port(host: str) -> str:
    if host.startswith("["):
        address, bracket, port = host.partition("]")
        return f"{address}]" if bracket and _is_port(port) else ""
    name, colon, port = host.partition(":")
    return name if not colon or _is_port(f":{port}") else ""


def _with_port(host: str, default: str) -> str:
    """Return a host with its port; with the default one where it has none."""
    name = _without_port(host)
    return f"{name}{host.removeprefix(name) or default}"


def _is_port(text: str) -> bool:
    """Return whether a text is a colon and a port, or nothing."""
    return not text or (text[0] == ":" and text[1:].isascii() and text[1:].isdigit())


def _with_ports(names: Sequence[str]) -> list[str]:
    return [*names, *(f"{name}:*" for name in names)]
