"""Servers in this process, requests to them, and an issuer of access tokens: its keys, and wrong tokens too."""

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import jwt
import uvicorn
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import ec
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.server.access.http_access import HttpAccess
from gateway.server.gateway_opener import GatewayOpener
from gateway.server.graph_set import GraphSet
from gateway.server.http_server import HttpServer
from gateway.server.run import serve_http
from gateway.settings.serving import HttpSettings, OAuthSettings
from tests.graphs import fixture
from tests.servers.loopback import HOST, free_port, listening

SECONDS: Final = 30
"""How long anything here may take before it counts as hung."""

INITIALIZE: Final[dict[str, Any]] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}},
}
ACCEPT: Final = {"accept": "application/json, text/event-stream"}


def bearer(token: str) -> dict[str, str]:
    """Return the headers of a client with a token."""
    return {**ACCEPT, "authorization": f"Bearer {token}"}


def token_file(folder: Path, *lines: str) -> Path:
    """Write a token file that only this user may read."""
    path = folder / "tokens"
    path.touch(mode=0o600)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@asynccontextmanager
async def serving(served: GatewayOpener | GraphSet, settings: HttpSettings, *graphs: str) -> AsyncIterator[HttpAccess]:
    """Serve over HTTP while the block runs."""
    access, stop = HttpAccess(settings, graphs, explorer=True), asyncio.Event()
    server = asyncio.create_task(serve_http(served, access, stop))
    try:
        await listening(settings.port)
        yield access
    finally:
        stop.set()
        async with asyncio.timeout(SECONDS):
            await server


def medical() -> GatewayOpener:
    """Return the opener of the medical graph."""
    from gateway.api import open_gateway  # noqa: PLC0415 - imported when it opens, as a server does
    from gateway.settings.profile import Profile  # noqa: PLC0415

    return GatewayOpener(Profile(), lambda _: open_gateway(fixture("medical")))


def local(**settings: Any) -> HttpSettings:
    """Return settings at a free port of this machine."""
    return HttpSettings(host=HOST, port=free_port(), **settings)


ISSUER: Final = "https://login.example.org"
AUDIENCE: Final = "https://graphs.example.org/mcp"


@dataclass
class Issuer:
    """An issuer with one key.

    Attributes:
        keys: What it answers when it is asked for its keys.
        asked: How often it was.
        kid: The ID of its key.
        answers: What it waits for before it answers; None to answer at once.
    """

    kid: str = "one"
    asked: int = 0
    keys: bytes = b""
    answers: asyncio.Event | None = None
    _private: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    def __post_init__(self) -> None:
        public = jwt.algorithms.ECAlgorithm.to_jwk(self._private.public_key(), as_dict=True)
        self.keys = json.dumps({"keys": [{**public, "kid": self.kid, "use": "sig"}, {"kty": "odd"}]}).encode()

    def token(self, *, algorithm: str = "ES256", key: Any = None, headers: Any = None, **changes: Any) -> str:
        """Return a token; `changes` replace its claims, None takes one away."""
        claims = {
            "iss": ISSUER,
            "aud": AUDIENCE,
            "exp": time.time() + 600,
            "sub": "alice",
            "client_id": "chat",
            "scope": "openid graph:pills",
            **changes,
        }
        said = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode(said, key or self._private, algorithm, {"kid": self.kid, "typ": "at+jwt", **(headers or {})})

    @asynccontextmanager
    async def published(self) -> AsyncIterator[OAuthSettings]:
        """Answer requests for the keys while the block runs."""

        async def keys(request: web.Request) -> web.Response:
            self.asked += 1
            if self.answers is not None:
                await self.answers.wait()
            answer = web.Response(body=self.keys, content_type="application/json")
            if any(way in request.headers.get("Accept-Encoding", "") for way in ("gzip", "deflate")):
                answer.enable_compression()
            return answer

        app = web.Application()
        app.router.add_get("/keys", keys)
        runner = web.AppRunner(app)
        await runner.setup()
        port = free_port()
        await web.TCPSite(runner, HOST, port).start()
        try:
            yield OAuthSettings(ISSUER, f"http://{HOST}:{port}/keys", AUDIENCE)
        finally:
            await runner.cleanup()


@asynccontextmanager
async def serving_app(app: ASGIApp, *sockets: socket.socket, **options: Any) -> AsyncIterator[None]:
    """Serve an application while the block runs."""
    server = HttpServer(uvicorn.Config(app, log_config=None, lifespan="off", **options))
    running = asyncio.create_task(server.serve(sockets=list(sockets)))
    try:
        yield
    finally:
        server.should_exit = True
        await running


def open_port() -> socket.socket:
    """Return a socket that listens on a free port of this machine."""
    return socket.create_server((HOST, 0))


class Recorder:
    """An application that answers every request with an empty body.

    Attributes:
        scopes: The requests.
    """

    def __init__(self) -> None:
        self.scopes: Sequence[Message] = []

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        self.scopes = [*self.scopes, scope]
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})
