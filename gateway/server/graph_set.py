"""Several graphs behind one server, and their paths."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal, Self

from starlette.applications import Starlette
from starlette.responses import PlainTextResponse

from gateway.errors import InputError, quoted
from gateway.graph.call import Call, KnownIds, OtherGraphs
from gateway.graph.values import Iri
from gateway.server.calls import Calls, Share
from gateway.server.client import Client, client_of
from gateway.server.gateway_opener import GatewayOpener

ARGUMENT = "graph"
"""The argument that says which graph a call is about."""

ChosenBy = Literal["argument", "path", "both"]
"""By the argument at one path, by a path for each graph, or by either."""


@dataclass(frozen=True, slots=True)
class ServedGraph:
    """One graph of a server.

    Attributes:
        name: Its name.
        about: The operator's line about it.
        opener: Opens its gateway.
    """

    name: str
    about: str
    opener: GatewayOpener


class GraphSet:
    """The graphs of one server, in the operator's order.

    Attributes:
        chosen_by: How clients choose one over HTTP; over stdio it is by the argument.
    """

    def __init__(self, graphs: Sequence[ServedGraph], chosen_by: ChosenBy = "both") -> None:
        self._graphs = {graph.name: graph for graph in graphs}
        self.chosen_by = chosen_by
        for graph in graphs:
            graph.opener.name = graph.name

    @property
    def all(self) -> Sequence[ServedGraph]:
        """All graphs, whoever may see them."""
        return list(self._graphs.values())

    def visible(self, client: Client | None) -> Sequence[ServedGraph]:
        """Return the graphs that a client may see; all if there is no authentication."""
        return [graph for graph in self.all if client is None or client.may_see(graph.name)]

    def find(self, name: object, client: Client | None) -> ServedGraph:
        """Return a graph by its name.

        Raises:
            InputError: There is none that the client may see; the text is the same if another client may.
        """
        visible = {graph.name: graph for graph in self.visible(client)}
        if isinstance(name, str) and name in visible:
            return visible[name]
        wrong = f"There is no graph {quoted(name)}." if name else f"The argument {ARGUMENT} is missing."
        raise InputError(
            wrong,
            valid=f"The graphs are {', '.join(visible)}." if visible else "You may see no graph.",
            next_step=f"describe_schema without {ARGUMENT} says what each is about." if visible else "",
        )

    def others(self, graph: ServedGraph, client: Client | None) -> OtherGraphs:
        """Return the graphs beside one that a client may see."""
        return {other.name: _Open(other.opener) for other in self.visible(client) if other is not graph}

    @property
    def is_busy(self) -> bool:
        """Whether a thread that opens a gateway still runs, even after `close`."""
        return any(graph.opener.is_busy for graph in self.all)

    def start(self) -> None:
        """Begin to open all gateways, in the running event loop."""
        for graph in self.all:
            graph.opener.start()

    async def close(self) -> None:
        """Close all gateways, or stop opening them."""
        await asyncio.gather(*(graph.opener.close() for graph in self.all))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


@dataclass(frozen=True, slots=True)
class _Open:
    """A graph as calls about others ask it: at once, or not at all."""

    opener: GatewayOpener

    async def known_ids(self, iris: Sequence[Iri], call: Call) -> KnownIds:
        """Return which IRIs are nodes there.

        Raises:
            GatewayError: It is not open, or cannot be opened.
            Fault: It could not be asked.
        """
        return await self.opener.open_gateway().known_ids(iris, call)


class CallsByGraph:
    """The limits of calls that run at once: those of each graph apart, so that a slow one leaves slots to others."""

    def __init__(self, graphs: GraphSet, share: Share | None = None) -> None:
        self._calls: Mapping[str, Calls] = {
            graph.name: Calls(graph.opener.profile.limits.deadline_seconds, share=share) for graph in graphs.all
        }

    def of(self, graph: ServedGraph) -> Calls:
        """Return the limits of a graph's calls."""
        return self._calls[graph.name]

    @property
    def is_idle(self) -> bool:
        """Whether no call runs or waits."""
        return all(calls.is_idle for calls in self._calls.values())

    async def stop(self, seconds: float) -> None:
        """Refuse new calls, and cancel running ones after so many seconds."""
        await asyncio.gather(*(calls.stop(seconds) for calls in self._calls.values()))


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
        self._app.router.redirect_slashes = False

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        if scope["type"] == "http" and scope["path"].startswith(self._below):
            client, name = client_of(scope), scope["path"].removeprefix(self._below).removesuffix("/")
            # A redirect, or another status, would tell a graph that is hidden from one that is unknown.
            if name and name not in {graph.name for graph in self._graphs.visible(client)}:
                await PlainTextResponse("Not Found", status_code=404)(scope, receive, send)
                return
        await self._app(scope, receive, send)
