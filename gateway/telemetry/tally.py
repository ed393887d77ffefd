"""The running count of what one call costs, the timer of one query, and their spans of OpenTelemetry.

Spans are made where this process has set up tracing. The SDK of MCP begins one for each message of a client; these are
below it. They have names of tools and templates, counts, and classes of errors: no query, no ID, no text of an error
and no address. Nothing of OpenTelemetry is imported here: who set up tracing has imported its API.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from gateway.telemetry.record import Milliseconds, Outcome, Record, Sent, Stage, log_query, publish

if TYPE_CHECKING:
    from opentelemetry.trace import Span

Clock = Callable[[], float]
"""Returns the time in seconds."""


@dataclass(slots=True)
class _RunningQuery:
    """A query that was sent and may still be answered. `again`: it is a retry; the others are those of `Sent`."""

    template: str
    sparql: str
    again: bool
    rows: int = 0
    bytes: int = 0
    ms: float = 0.0
    fault: str = ""

    def frozen(self) -> Sent:
        return Sent(self.template, self.sparql, self.rows, self.bytes, self.ms, self.fault)


class _WaitingTime:
    """The time in which at least one of several queries waits."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._count = 0
        self._since = 0.0
        self._ended = 0.0

    @property
    def seconds(self) -> float:
        return self._ended + (self._clock() - self._since if self._count else 0.0)

    def begin(self) -> None:
        if not self._count:
            self._since = self._clock()
        self._count += 1

    def end(self) -> None:
        self._count -= 1
        if not self._count:
            self._ended += self._clock() - self._since


@dataclass(slots=True)
class QueryTimer:
    """Measures one query, from before it is sent until it is answered or given up; it may be sent several times.

    Each sending is added to `queries`. `keep_text`: its text stays with it after it is logged.
    """

    _template: str
    _sparql: str
    _clock: Clock
    _waiting: _WaitingTime
    _queries: list[_RunningQuery]
    _keep_text: bool
    _is_waiting: bool = field(default=False, init=False)
    _sent_at: float = field(default=0.0, init=False)
    _query: _RunningQuery | None = field(default=None, init=False)

    @contextmanager
    def sending(self) -> Iterator[None]:
        """Count one sending of the query, and the fault that ends the block."""
        query = self._query = _RunningQuery(self._template, self._sparql, again=self._query is not None)
        self._queries.append(query)
        self._sent_at = self._clock()
        try:
            facts: Attributes = {"bfsql.template": self._template, "bfsql.again": query.again}
            with span(f"endpoint {self._template}", facts, to_endpoint=True) as traced:
                yield
                traced.note({"bfsql.rows": query.rows, "bfsql.bytes": query.bytes})
        except BaseException as error:
            query.fault = type(error).__name__
            if self._is_waiting:
                query.ms = _milliseconds(self._clock() - self._sent_at)
            # A pause before a retry follows, or the end.
            self.wait()
            raise
        finally:
            log_query(query.frozen(), again=query.again)
            if not self._keep_text:
                query.sparql = ""

    def received(self, size: int) -> None:
        """Count the bytes of the answer, and end the wait: the time to decode it is the gateway's own."""
        if self._query is not None:
            self._query.bytes = size
            self._query.ms = _milliseconds(self._clock() - self._sent_at)
        self.end_wait()

    def decoded(self, rows: int) -> None:
        """Count the rows of the answer."""
        if self._query is not None:
            self._query.rows = rows

    def wait(self) -> None:
        """Note that the query waits for its answer, or for its turn, unless it does so already."""
        if not self._is_waiting:
            self._is_waiting = True
            self._waiting.begin()

    def end_wait(self) -> None:
        """Note that it waits no longer."""
        if self._is_waiting:
            self._is_waiting = False
            self._waiting.end()


class Tally:
    """Counts what a call costs, until it ends.

    Attributes:
        tool: The tool that was called.
        with_queries: Whether the record will include the queries.
        cache_hits: IDs whose answer was in the cache.
        cache_misses: IDs whose answer was not in the cache.
        overflows: Answers with more rows than one query may return.
        splits: Batches that were asked again in parts.
    """

    def __init__(self, tool: str = "", clock: Clock = time.monotonic) -> None:
        self.tool = tool
        self.with_queries = False
        self.cache_hits = 0
        self.cache_misses = 0
        self.overflows = 0
        self.splits = 0
        self._clock = clock
        self._begun = self._charged_at = clock()
        self._stages: dict[Stage, float] = {}
        self._running: dict[object, Stage] = {}
        self._waiting = _WaitingTime(clock)
        self._queries: list[_RunningQuery] = []

    @contextmanager
    def stage(self, stage: Stage) -> Iterator[None]:
        """Count the time of the block for a stage."""
        key = object()
        self._charge()
        self._running[key] = stage
        try:
            yield
        finally:
            self._charge()
            del self._running[key]

    def _charge(self) -> None:
        """Count the time since the last change of stages for the stage that began last."""
        now = self._clock()
        if self._running:
            stage = next(reversed(self._running.values()))
            self._stages[stage] = self._stages.get(stage, 0.0) + now - self._charged_at
        self._charged_at = now

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count the time of the block as waiting."""
        self._waiting.begin()
        try:
            yield
        finally:
            self._waiting.end()

    @contextmanager
    def query_timer(self, template: str, sparql: str) -> Iterator[QueryTimer]:
        """Time one query in the block."""
        timer = QueryTimer(template, sparql, self._clock, self._waiting, self._queries, self.with_queries)
        timer.wait()
        try:
            yield timer
        finally:
            timer.end_wait()

    def answered(self, *, complete: bool, causes: Iterable[str] = ()) -> Record:
        """Return the record of an answered call, and log it."""
        return self._record("complete" if complete else "incomplete", causes=tuple(causes))

    def failed(self, error: BaseException) -> Record:
        """Return the record of a call that ended in an error or was cancelled, and log it."""
        cancelled = isinstance(error, asyncio.CancelledError)
        return self._record("cancelled" if cancelled else "failed", error=type(error).__name__)

    def _record(self, outcome: Outcome, *, causes: tuple[str, ...] = (), error: str = "") -> Record:
        self._charge()
        stages = {stage: _milliseconds(seconds) for stage, seconds in self._stages.items()}
        record = Record(
            tool=self.tool,
            outcome=outcome,
            causes=causes,
            error=error,
            queries=len(self._queries),
            retries=sum(query.again for query in self._queries),
            rows=sum(query.rows for query in self._queries),
            bytes=sum(query.bytes for query in self._queries),
            cache_hits=self.cache_hits,
            cache_misses=self.cache_misses,
            overflows=self.overflows,
            splits=self.splits,
            ms=Milliseconds(
                total=_milliseconds(self._clock() - self._begun),
                waiting=_milliseconds(self._waiting.seconds),
                **stages,
            ),
            sent=tuple(query.frozen() for query in self._queries) if self.with_queries else (),
        )
        publish(record)
        return record


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 1)


_API: Final = "opentelemetry.trace"
_TRACER: Final = "bfsql-gateway"

Attributes = Mapping[str, str | int | float | bool | tuple[str, ...]]


class RunningSpan:
    """A span that runs; without tracing, nothing.

    Args:
        span: The span of OpenTelemetry, if there is one.
    """

    __slots__ = ("_span",)

    def __init__(self, span: Span | None) -> None:
        self._span = span

    def note(self, attributes: Attributes) -> None:
        """Add facts to it."""
        if self._span is not None:
            self._span.set_attributes(attributes)


_NO_SPAN: Final = RunningSpan(None)


@contextmanager
def span(name: str, attributes: Attributes, *, to_endpoint: bool = False) -> Iterator[RunningSpan]:
    """Run a block inside a span; an error that ends it is noted by its class.

    Args:
        name: The name of the span.
        attributes: Facts that are known before.
        to_endpoint: Whether the block asks an endpoint and waits for it.
    """
    api: Any = sys.modules.get(_API)
    # Where this process has not set tracing up, there is no provider.
    if api is None or isinstance(api.get_tracer_provider(), api.ProxyTracerProvider):
        yield _NO_SPAN
        return
    tracer = api.get_tracer(_TRACER)
    kind = api.SpanKind.CLIENT if to_endpoint else api.SpanKind.INTERNAL
    # An error quotes the graph and the caller.
    quiet = {"record_exception": False, "set_status_on_exception": False}
    with tracer.start_as_current_span(name, kind=kind, attributes=attributes, **quiet) as running:
        try:
            yield RunningSpan(running)
        except BaseException as error:
            running.set_attribute("error.type", type(error).__name__)
            running.set_status(api.StatusCode.ERROR)
            raise


def trace_ids() -> dict[str, str]:
    """Return the IDs of the running trace and span, for a line of a log; empty outside a span."""
    api = sys.modules.get(_API)
    if api is None:
        return {}
    context = api.get_current_span().get_span_context()
    if not context.is_valid:
        return {}
    return {"trace_id": f"{context.trace_id:032x}", "span_id": f"{context.span_id:016x}"}
