"""A server in this process, and requests to it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from gateway.server.access.http_access import HttpAccess
from gateway.server.gateway_opener import GatewayOpener
from gateway.server.graphs.graph_set import GraphSet
from gateway.server.run import serve_http
from gateway.settings.serving import HttpSettings
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
