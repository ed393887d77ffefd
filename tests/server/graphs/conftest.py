"""Servers of several graphs, in this process."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext

import httpx2
import pytest
import uvicorn
from mcp import Client
from mcp.client.client import ConnectMode
from mcp.client.streamable_http import streamable_http_client
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway import resources
from gateway.api import open_gateway
from gateway.errors import ConfigurationError
from gateway.server.access.http_access import Names
from gateway.server.client import Client as Authenticated
from gateway.server.client import set_client
from gateway.server.gateway_opener import GatewayOpener, OnFileRead
from gateway.server.graph_set import ChosenBy, GraphSet, ServedGraph
from gateway.server.http_server import HttpGuard
from gateway.server.run import http_app, listen
from gateway.settings.profile import Profile
from gateway.settings.serving import HttpSettings
from tests.calls import PATIENT_SERVER
from tests.servers.loopback import HOST

CLIENTS = {
    "all": Authenticated("all"),
    "one": Authenticated("one", frozenset({"films"})),
    "none": Authenticated("none", frozenset({"another"})),
}
"""Who is known, by the token that each sends; another token lists graphs: `only=a,b`."""


class Authenticating:
    """Takes the token of a request for a name, in place of real authentication."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        token = next((value.decode() for name, value in scope.get("headers", ()) if name == b"authorization"), "")
        if token in CLIENTS:
            set_client(scope, CLIENTS[token])
        elif token:
            set_client(scope, Authenticated(token, frozenset(token.removeprefix("only=").split(","))))
        await self._app(scope, receive, send)


def served(name: str, about: str, file: str) -> ServedGraph:
    source = resources.folder("fixtures") / file
    profile = Profile(server=PATIENT_SERVER)
    return ServedGraph(name, about, GatewayOpener(profile, lambda _: open_gateway(source, profile=profile)))


def gone(_: OnFileRead) -> None:
    raise ConfigurationError("gone.ttl: there is no such file.")


def graphs(chosen_by: ChosenBy = "both") -> GraphSet:
    """Return two graphs and one that cannot be opened."""
    return GraphSet(
        [
            served("pills", "Drugs, diseases and genes.", "medical.ttl"),
            served("films", "Films and who made them.", "films.ttl"),
            ServedGraph("gone", "What is not there.", GatewayOpener(Profile(), gone)),  # type: ignore[arg-type]
        ],
        chosen_by,
    )


@asynccontextmanager
async def served_over_http(several: GraphSet, *, closing: bool = True) -> AsyncIterator[str]:
    """Serve graphs over HTTP, with authentication, and give the URL without a path; close them in the end or not."""
    _, app = http_app(several, Names(HttpSettings()).for_sdk())
    # Clients wait in its backlog until the server accepts them.
    listening = listen(HOST, 0)
    server = uvicorn.Server(uvicorn.Config(HttpGuard(Authenticating(app)), log_config=None))
    async with several if closing else nullcontext():
        several.start()
        task = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            yield f"http://{HOST}:{listening.getsockname()[1]}"
        finally:
            server.should_exit = server.force_exit = True
            await task
            listening.close()


@asynccontextmanager
async def connected(url: str, era: ConnectMode, token: str = "") -> AsyncIterator[Client]:
    """Connect a client to a server, with a token if there is one."""
    headers = {"Authorization": token} if token else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http), mode=era) as client,
    ):
        yield client


@pytest.fixture(params=["auto", "legacy"])
def era(request: pytest.FixtureRequest) -> ConnectMode:
    """Connect in the modern era and by the handshake."""
    mode: ConnectMode = request.param
    return mode
