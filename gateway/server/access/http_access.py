"""Who may ask over HTTP, by which names and from which origins, and the explorer page.

A page of another site can make a browser send requests to an address of its choice, and with a name of its own that
leads to this machine it could read the answers: DNS rebinding (MCP 2025-11-25, streamable HTTP, "Security Warning").
"""

from __future__ import annotations

import html
import re
import ssl
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.errors import ConfigurationError
from gateway.resources import explorer_page, policy_of
from gateway.server.access.client_access import ClientAccess, OpenStreams
from gateway.server.access.refusal import FOREIGN_ORIGIN, MISDIRECTED, Refuser, SoleHeaders
from gateway.server.access.tokens import BearerTokens, TokenFile
from gateway.server.http_server import MOST_CONNECTIONS, bounded_connections
from gateway.settings.serving import HttpSettings
from gateway.settings.urls import is_loopback

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


_HOST = re.compile(r"(\[[^]]*\]|(?!\[)[^:]*)(?::[0-9]+)?")
"""A name, or an address in brackets, and a port or none."""


def _without_port(host: str) -> str:
    match = _HOST.fullmatch(host)
    return "" if match is None else match[1]


def _with_port(host: str, default: str) -> str:
    """Return a host with its port; with the default one where it has none."""
    name = _without_port(host)
    return f"{name}{host.removeprefix(name) or default}"


def _with_ports(names: Sequence[str]) -> list[str]:
    return [*names, *(f"{name}:*" for name in names)]


class ExplorerPage:
    """ASGI middleware that answers `GET /` with the page and passes on everything else."""

    def __init__(self, app: ASGIApp, graph_options: str | None = None) -> None:
        self._app = app
        self._graph_options = graph_options

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        if scope["type"] != "http" or scope["path"] != "/" or scope["method"] != "GET":
            await self._app(scope, receive, send)
            return
        await _page(self._graph_options)(scope, receive, send)


@cache
def _page(graph_options: str | None) -> HTMLResponse:
    told = f'<meta name="graph-options" content="{html.escape(graph_options)}">' if graph_options is not None else ""
    body = explorer_page().read_bytes().replace(b"<head>", f"<head>{told}".encode(), 1)
    headers = {
        "cache-control": "no-cache",
        "content-security-policy": f"{policy_of(body, connects=True)}; frame-ancestors 'none'",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "cross-origin-opener-policy": "same-origin",
    }
    return HTMLResponse(body, headers=headers)


_IDLE_SECONDS = 75
"""How long a connection may wait for its next request.

Proxies use theirs for 60 seconds (AWS, nginx): where the server ends one first, they answer a request with 502.
"""

_CORS_SECONDS = 600
_OF_CLIENTS = ("authorization", "content-type", "accept", "last-event-id", "mcp-session-id", "mcp-protocol-version")
_OF_CALLS = ("mcp-method", "mcp-name")
_FOR_CLIENTS = ("mcp-session-id", "www-authenticate", "retry-after")
"""Headers that pages of other origins may send and read."""


class HttpAccess:
    """How the clients of a server reach its tools.

    Args:
        settings: How it is reached, and by whom.
        graphs: The names of the graphs that it serves; empty where the only one has none.
        explorer: Whether it has the explorer page, at `/`.

    Attributes:
        settings: How it is reached.
        names: The names by which it may be called.

    Raises:
        ConfigurationError: The token file or the certificate is wrong.
    """

    def __init__(self, settings: HttpSettings, graphs: Sequence[str] = (), *, explorer: bool = False) -> None:
        self.settings = settings
        self.names = Names(settings)
        self._explorer = explorer
        if settings.certificate is not None:
            _check_certificate(*settings.certificate)
        self._token_file = (
            None if settings.token_file is None else TokenFile(settings.token_file, settings.limits, graphs)
        )
        self._oauth = None
        if settings.oauth is not None:
            # The libraries of signatures take a fifth of a second to import.
            from gateway.server.access.oauth import OAuthClients  # noqa: PLC0415

            self._oauth = OAuthClients(settings.oauth, settings.limits, graphs)
        self._tokens = BearerTokens([each.find for each in (self._token_file, self._oauth) if each is not None])
        self._streams: OpenStreams | None = None

    def before(self, app: ASGIApp) -> ASGIApp:
        """Return an application with everything before it, the cheapest check first.

        What is before it reads no body: the application has to bound that.
        """
        self._streams = OpenStreams(app, self._tokens)
        refuser = Refuser()
        guarded: ASGIApp = self._streams
        if self._tokens.are_required or not is_loopback(self.settings.host):
            url = "" if self._oauth is None else self._oauth.metadata_url
            guarded = ClientAccess(guarded, refuser, self._tokens, self.settings.limits, url)
        if self._oauth is not None:
            guarded = _with_metadata(guarded, self._oauth.metadata)
        if self._explorer:
            guarded = ExplorerPage(guarded, self.settings.graph_options)
        if self.settings.origins:
            guarded = CORSMiddleware(
                guarded,
                allow_origins=self.settings.origins,
                allow_methods=("GET", "POST", "DELETE"),
                allow_headers=(*_OF_CLIENTS, *_OF_CALLS),
                expose_headers=_FOR_CLIENTS,
                max_age=_CORS_SECONDS,
            )
        return SoleHeaders(NameCheck(guarded, self.names, refuser), refuser)

    def reload(self) -> None:
        """Read the token file again, and end the streams of those who are let in no more."""
        if self._token_file is not None:
            self._token_file.reload()
        if self._streams is not None:
            self._streams.check()

    def end_streams(self) -> None:
        """End the streams of notifications: nothing else would."""
        if self._streams is not None:
            self._streams.end()

    @property
    def uvicorn_options(self) -> dict[str, Any]:
        """The options of uvicorn about connections."""
        certificate = self.settings.certificate
        return {
            "http": bounded_connections(),
            "ws": "none",
            "limit_concurrency": MOST_CONNECTIONS,
            "timeout_keep_alive": _IDLE_SECONDS,
            "ssl_certfile": certificate and certificate[0],
            "ssl_keyfile": certificate and certificate[1],
            "proxy_headers": bool(self.settings.proxies),
            "forwarded_allow_ips": list(self.settings.proxies),
        }


def _check_certificate(certificate: Path, key: Path) -> None:
    """Raise if a certificate and its key cannot be used; the text has nothing of the key."""
    try:
        # A password would be asked for at the terminal of a server.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password="")
    except (OSError, ValueError) as error:
        reason = error.reason if isinstance(error, ssl.SSLError) else error
        raise ConfigurationError(
            f"The certificate {certificate} with the key {key} cannot be used: {reason}.",
            valid="Both are PEM files; the certificate has its chain, and the key no password.",
        ) from error


def _with_metadata(app: ASGIApp, metadata: bytes) -> ASGIApp:
    """Return an application that tells everybody who gives tokens for it."""
    from gateway.server.access.oauth import METADATA  # noqa: PLC0415 - see `HttpAccess`

    told = Response(metadata, media_type="application/json")

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        is_asked = scope["type"] == "http" and scope["method"] == "GET" and scope["path"].startswith(METADATA)
        if not is_asked or scope["path"].removeprefix(METADATA)[:1] not in {"", "/"}:
            await app(scope, receive, send)
            return
        await told(scope, receive, send)

    return answer
