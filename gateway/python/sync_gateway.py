"""A gateway for code without `await`: scripts, notebooks, threads. Each call waits for its answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec, Self, TypeVar

from gateway.errors import Fault, GatewayError
from gateway.python.loop_thread import LoopThread
from gateway.python.wrong_call import begun_call
from gateway.settings.profile import Profile
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway

P = ParamSpec("P")
T = TypeVar("T")

_END: Final = object()


def without_frames(error: GatewayError) -> GatewayError:
    """Return an error without the frames of the thread that answers calls, which say nothing to who made one.

    What made the graph fail stays as its cause.
    """
    error.__suppress_context__ = True
    if not isinstance(error, Fault):
        error.__cause__ = None
    if error.__cause__ is not None:
        error.__cause__ = error.__cause__.with_traceback(None)
    return error.with_traceback(None)


def _waiting(
    call: Callable[Concatenate[Gateway, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[SyncGateway, P], T]:
    """Return a method that waits until a coroutine of the gateway has ended."""

    @wraps(call)
    def run(self: SyncGateway, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return self.run(begun_call(call, (self.gateway, *args), kwargs))
        except GatewayError as error:
            raise without_frames(error)  # noqa: B904 - it keeps its cause

    return run


def _in_loop(method: Callable[Concatenate[Gateway, P], T]) -> Callable[Concatenate[SyncGateway, P], T]:
    """Return a method that calls one of the gateway where its calls run, so that it meets none of them half-way."""

    @wraps(method)
    def run(self: SyncGateway, /, *args: P.args, **kwargs: P.kwargs) -> T:
        async def call() -> T:
            return method(self.gateway, *args, **kwargs)

        try:
            return self.run(call())
        except GatewayError as error:
            raise without_frames(error)  # noqa: B904 - it keeps its cause

    return run


def _one_by_one(
    method: Callable[Concatenate[Gateway, P], AsyncIterator[T]],
) -> Callable[Concatenate[SyncGateway, P], Iterator[T]]:
    """Return a method that yields what the gateway yields, each item when it is asked for."""

    @wraps(method)
    def run(self: SyncGateway, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        async def following() -> Any:
            return await anext(items, _END)

        try:
            items = begun_call(method, (self.gateway, *args), kwargs)
            while (item := self.run(following())) is not _END:
                yield item
        except GatewayError as error:
            raise without_frames(error)  # noqa: B904 - it keeps its cause

    return run


class SyncGateway:
    """One graph behind the six tools, for code without `await`. Any number of threads may call it at once.

    It has the calls of `Gateway` with the same arguments. They run in a thread with an event loop, so that they work
    where a loop runs already, as in a notebook. An exception in the calling thread, such as that of Ctrl-C, ends its
    call. In a process that was forked afterwards, each call is a `UsageError`.

    Args:
        gateway: The gateway, of which nothing was asked yet.
        thread: Where its calls run; it closes the gateway when it ends.

    Attributes:
        gateway: See above.
    """

    def __init__(self, gateway: Gateway, thread: LoopThread) -> None:
        self.gateway = gateway
        self._thread = thread

    describe_schema = _waiting(Gateway.describe_schema)
    search_entities = _waiting(Gateway.search_entities)
    bfs_query = _waiting(Gateway.bfs_query)
    describe_entity = _waiting(Gateway.describe_entity)
    describe_entities = _waiting(Gateway.describe_entities)
    intersect_subgraphs = _waiting(Gateway.intersect_subgraphs)
    call = _waiting(Gateway.call)
    bfs_subgraph = _waiting(Gateway.bfs_subgraph)
    intersection_subgraph = _waiting(Gateway.intersection_subgraph)
    subgraph = _waiting(Gateway.subgraph)
    pages = _one_by_one(Gateway.pages)
    search_pages = _one_by_one(Gateway.search_pages)
    wait_for_schema = _waiting(Gateway.wait_for_schema)
    wait_for_names = _waiting(Gateway.wait_for_names)
    wait_until_ready = _waiting(Gateway.wait_until_ready)
    check_reachable = _waiting(Gateway.check_reachable)
    start = _in_loop(Gateway.start)
    known_schema = _in_loop(Gateway.known_schema)
    on_schema = _in_loop(Gateway.on_schema)
    read_schema_again = _in_loop(Gateway.read_schema_again)
    asks_by_name = _in_loop(Gateway.asks_by_name)
    forget = _in_loop(Gateway.forget)
    forget_snapshots = _in_loop(Gateway.forget_snapshots)

    @property
    def profile(self) -> Profile:
        """The profile in force."""
        return self.gateway.profile

    @property
    def is_in_process(self) -> bool:
        """Whether the graph is in this process, so that a question costs no request."""
        return self.gateway.is_in_process

    @property
    def prefixes(self) -> PrefixMap:
        """The prefixes in force."""
        return self.gateway.prefixes

    @property
    def knows_schema(self) -> bool:
        """Whether the schema was read as far as it can be."""
        return self.gateway.knows_schema

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        """Return what a coroutine of the gateway returns."""
        return self._thread.run(call)

    def close(self) -> None:
        """End all calls, stop background work, close connections, and wait until the thread has ended.

        Graphs that `open_graphs` opened are closed together.
        """
        self._thread.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
