"""Routes HTTP requests to the servers of graphs: all behind one path, and each behind its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.responses import PlainTextResponse

from gateway.server.client import client_of
from gateway.server.graphs.graph_set import GraphSet

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class GraphPaths:
    """An ASGI application of several, one for each path.

    Args:
        apps: The applications by path.
        graphs: The graphs, whose names end the paths below `path`.
        path: The path of all graphs together.
    """

    def __init__(self, apps: Mapping[str, Starlette], graphs: GraphSet, path: str) -> None:
        self._graphs = graphs
        self._below = f"{path}/"

        @asynccontextmanager
        async def lifespan(_: Starlette) -> AsyncIterator[None]:
            async with AsyncExitStack() as stack:
                for app in apps.values():
                    await stack.enter_async_context(app.router.lifespan_context(app))
                yield

        self._app = Starlette(routes=[route for app in apps.values() for route in app.routes], lifespan=lifespan)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        if scope["type"] == "http" and scope["path"].startswith(self._below):
            client, name = client_of(scope), scope["path"].removeprefix(self._below)
            # A redirect, or another status, would tell a graph that is hidden from one that is unknown.
            if name not in {graph.name for graph in self._graphs.visible(client)}:
                await PlainTextResponse("Not Found", status_code=404)(scope, receive, send)
                return
        await self._app(scope, receive, send)
