"""What is noted of each request while it runs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext

from gateway.arguments import BY_TOOL
from gateway.server.client import client_of
from gateway.telemetry.record import Collected, Outcome, Record, collecting_records
from gateway.telemetry.tally import Clock

WatchedMethod = Literal["tools/call", "resources/read", "completion/complete"]

UNKNOWN_TOOL = "unknown"
"""In the place of a name that is no tool: a client can send any."""


@dataclass(frozen=True, slots=True)
class WatchedRequest:
    """A request that has ended.

    Attributes:
        method: The MCP method.
        tool: The tool; `unknown` for a name that is none, empty for another method.
        client: The operator's name for who asked; empty without authentication.
        graph: The name of the graph; empty where the server has one.
        outcome: The outcome of its calls; a request that reached no tool has failed.
        seconds: How long it took.
        answer_bytes: Bytes of the answer's text.
        records: The records of the calls of tools that it made.
        arguments: The arguments, which belong to the user: for their size and digest alone.
    """

    method: WatchedMethod
    tool: str
    client: str
    graph: str
    outcome: Outcome
    seconds: float
    answer_bytes: int
    records: tuple[Record, ...]
    arguments: Mapping[str, Any] = field(repr=False)


Observer = Callable[[WatchedRequest], object]
"""Receives each request when it has ended; it must not raise, and returns at once."""


_METHODS = frozenset(get_args(WatchedMethod))


class Watching(ServerMiddleware[Any]):
    """Middleware of an MCP server.

    Args:
        observers: Receive each request.
        under_way: Returns the block of a request that is under way.
        clock: The time in seconds.
    """

    def __init__(
        self,
        observers: Sequence[Observer],
        under_way: Callable[[], AbstractContextManager[object]] = nullcontext,
        clock: Clock = time.monotonic,
    ) -> None:
        self._observers = tuple(observers)
        self._under_way = under_way
        self._clock = clock

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Handle one message of a client, and tell the observers if it was a request that reads a graph."""
        if ctx.method not in _METHODS:
            return await call_next(ctx)
        began = self._clock()
        result: HandlerResult = None
        error: BaseException | None = None
        with self._under_way(), collecting_records() as collected:
            try:
                result = await call_next(ctx)
            except BaseException as raised:
                error = raised
                raise
            finally:
                self._tell(ctx, collected, result, error, self._clock() - began)
        return result

    def _tell(
        self,
        ctx: ServerRequestContext[Any, Any],
        collected: Collected,
        result: HandlerResult,
        error: BaseException | None,
        seconds: float,
    ) -> None:
        params = ctx.params or {}
        client = None if ctx.request is None else client_of(ctx.request.scope)
        arguments, records = params.get("arguments"), tuple(collected.records)
        request = WatchedRequest(
            method=ctx.method,  # type: ignore[arg-type]  # it is one of them
            tool=_tool(ctx.method, params.get("name")),
            client="" if client is None else client.name,
            graph=collected.graph,
            outcome=_outcome(records, result, error),
            seconds=seconds,
            answer_bytes=_size(result),
            records=records,
            arguments=arguments if isinstance(arguments, Mapping) else params,
        )
        for observer in self._observers:
            observer(request)


def _tool(method: str, name: object) -> str:
    if method != "tools/call":
        return ""
    return name if isinstance(name, str) and name in BY_TOOL else UNKNOWN_TOOL


def _outcome(records: Sequence[Record], result: HandlerResult, error: BaseException | None) -> Outcome:
    """Return the worst outcome: of the request itself, else of its calls."""
    if isinstance(error, asyncio.CancelledError):
        return "cancelled"
    if error is not None or _wire(result).get("isError") is True:
        return "cancelled" if records and records[-1].outcome == "cancelled" else "failed"
    outcomes = {record.outcome for record in records}
    return next((outcome for outcome in _WORST_FIRST if outcome in outcomes), "complete")


_WORST_FIRST: tuple[Outcome, ...] = ("failed", "cancelled", "incomplete")


def _size(result: HandlerResult) -> int:
    written = _wire(result)
    parts = written.get("content", written.get("contents", ()))
    texts = [part["text"] for part in parts if "text" in part]
    return sum(len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass")) for text in texts)


def _wire(result: HandlerResult) -> Mapping[str, Any]:
    """Return a result as it is sent: the SDK has written that of a handler before middleware sees it."""
    return result if isinstance(result, dict) else {}
