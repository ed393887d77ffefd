"""An issuer of access tokens on this machine: its keys at a URL, and tokens of every kind, wrong ones too."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import ec

from gateway.settings.serving import OAuthSettings
from tests.servers.loopback import HOST, free_port

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

        async def keys(_: web.Request) -> web.Response:
            self.asked += 1
            if self.answers is not None:
                await self.answers.wait()
            return web.Response(body=self.keys, content_type="application/json")

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
