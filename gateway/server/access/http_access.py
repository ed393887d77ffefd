"""Who may ask over HTTP, and the explorer page."""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from starlette.middleware.cors import CORSMiddleware
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.errors import ConfigurationError
from gateway.resources import explorer_page, policy_of
from gateway.server.access.client_access import ClientAccess
from gateway.server.access.connections import MOST_CONNECTIONS, bounded_connections
from gateway.server.access.names import NameCheck, Names
from gateway.server.access.open_streams import OpenStreams
from gateway.server.access.refusal import Refuser, SoleHeaders
from gateway.server.access.tokens import BearerTokens, TokenFile
from gateway.settings.serving import HttpSettings
from gateway.settings.urls import is_loopback


class ExplorerPage:
    """ASGI middleware that answers `GET /` with the page and passes on everything else."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        if scope["type"] != "http" or scope["path"] != "/" or scope["method"] != "GET":
            await self._app(scope, receive, send)
            return
        await _page()(scope, receive, send)


@cache
def _page() -> HTMLResponse:
    body = explorer_page().read_bytes()
    headers = {
        "cache-control": "no-cache",
        "content-security-policy": f"{policy_of(body, connects=True)}; frame-ancestors 'none'",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "cross-origin-opener-policy": "same-origin",
    }
    return HTMLResponse(body, headers=headers)


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
            guarded = ExplorerPage(guarded)
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
