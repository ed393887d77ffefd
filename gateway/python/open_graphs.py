"""Several graphs that are linked, opened and closed together, for calls with or without `await`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack

from gateway.errors import UsageError
from gateway.python.async_gateway import AsyncGateway
from gateway.python.loop_thread import LoopThread
from gateway.python.sync_gateway import SyncGateway
from gateway.tools.gateway import Gateway


class OpenGraphs:
    """Graphs by name, each of which knows the others. By `with`, calls return answers; by `async with`, are awaited.

    All share one event loop, because each asks the others, and all are closed together.

    Args:
        opening: Yields a name and a gateway that was not opened before, one after the other.
    """

    def __init__(self, opening: Callable[[], Iterator[tuple[str, AsyncGateway]]]) -> None:
        self._opening = opening
        self._closing = AsyncExitStack()
        self._leaving = ExitStack()

    async def __aenter__(self) -> Mapping[str, AsyncGateway]:
        async with AsyncExitStack() as stack:
            graphs = {name: await stack.enter_async_context(gateway) for name, gateway in self._opening()}
            link_graphs(graphs)
            self._closing = stack.pop_all()
        return graphs

    async def __aexit__(self, *_: object) -> None:
        await self._closing.aclose()

    def __enter__(self) -> Mapping[str, SyncGateway]:
        with ExitStack() as stack:
            thread = LoopThread(self._closing.aclose)
            stack.callback(thread.close)
            graphs: dict[str, SyncGateway] = {}
            for name, gateway in self._opening():
                graphs[name] = gateway.synchronous(thread)
                self._closing.push_async_callback(gateway.close)
            link_graphs({name: graph.gateway for name, graph in graphs.items()})
            self._leaving = stack.pop_all()
        return graphs

    def __exit__(self, *_: object) -> None:
        self._leaving.close()


def link_graphs(graphs: Mapping[str, Gateway]) -> None:
    """Let descriptions of each graph say where else its entities are (`also_in`), by the identity of its profile.

    Args:
        graphs: Open gateways of one event loop by name.

    Raises:
        UsageError: One was opened by `with`, so that it has an event loop of its own.
    """
    for name, gateway in graphs.items():
        if not isinstance(gateway, Gateway):
            raise UsageError(
                f"The graph {name} was opened without `await`, and has an event loop of its own.",
                next_step='Open all together: with open_graphs({"a": open_gateway(...), "b": open_gateway(...)}).',
            )
    for name, gateway in graphs.items():
        gateway.set_others({other: graph for other, graph in graphs.items() if other != name})
