"""Counts of a server for Prometheus, from the records of calls (docs/operating.md, "Metrics").

The values of labels are the gateway's own words and the operator's names: no ID, no name and no text of a graph or a
caller, and never more than a bounded number.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Final, Literal

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    GC_COLLECTOR,
    PLATFORM_COLLECTOR,
    PROCESS_COLLECTOR,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector

from gateway.server.observe.watching import WatchedRequest
from gateway.telemetry.record import Record

MOST_CLIENTS: Final = 200
"""Clients that are counted by name; of further ones only their sum, because an issuer may name any number."""

_OTHER_CLIENTS: Final = "other"
_WITHOUT_NAME: Final = "anonymous"
_FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"
"""Where the processes of one server share their counts, as prometheus_client reads it."""

_CALL_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60)
_LAG_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5)

_COUNTED: Final = {
    "queries": ("endpoint_requests", "Requests sent to the endpoint for calls, retries included."),
    "retries": ("endpoint_retries", "Requests sent again after a fault."),
    "rows": ("endpoint_rows", "Rows received from the endpoint."),
    "bytes": ("endpoint_bytes", "Bytes received from the endpoint, uncompressed."),
    "overflows": ("endpoint_overflows", "Answers with more rows than one query may return."),
    "splits": ("endpoint_splits", "Batches that were asked again in parts."),
    "cache_hits": ("cache_hits", "IDs whose answer was in the cache."),
    "cache_misses": ("cache_misses", "IDs whose answer was not in the cache."),
}
"""The counter of each count of a record, and its help."""


def shares_counts() -> bool:
    """Return whether this process is one of several of a server, which share their counts."""
    return _FOLDER in os.environ


class Metrics:
    """The counts of one server; an observer of its requests.

    Attributes:
        content_type: That of `text`.
    """

    content_type: Final = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        registry = self._registry = CollectorRegistry()

        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(f"bfsql_{name}", text, labels, registry=registry)

        def histogram(name: str, text: str, buckets: Sequence[float], *labels: str) -> Histogram:
            return Histogram(f"bfsql_{name}", text, labels, buckets=buckets, registry=registry)

        def gauge(name: str, text: str, among: Literal["livesum", "livemostrecent"], *labels: str) -> Gauge:
            return Gauge(f"bfsql_{name}", text, labels, registry=registry, multiprocess_mode=among)

        self._calls = counter("calls", "Calls of tools that ended.", "tool", "outcome", "graph")
        self._call_seconds = histogram("call_seconds", "Seconds of a call.", _CALL_SECONDS, "tool", "graph")
        self._waiting = counter("call_waiting_seconds", "Seconds in which calls waited for the endpoint.", "graph")
        self._own = counter("call_own_seconds", "Seconds of calls in the gateway itself.", "graph")
        self._causes = counter("incomplete_causes", "Causes of incomplete answers.", "cause", "graph")
        self._errors = counter("call_errors", "Calls that ended in an error.", "error", "graph")
        self._counters = {count: counter(name, text, "graph") for count, (name, text) in _COUNTED.items()}
        self._requests = counter("requests", "Requests of clients that read a graph.", "method", "outcome")
        self._clients = counter("client_requests", "The same by client.", "client", "outcome")
        self._answer_bytes = counter("answer_bytes", "Bytes of the text of answers.", "client")
        self._responses = counter("http_responses", "Responses over HTTP.", "status")
        self._lost_audit_lines = counter("audit_lines_lost", "Lines that the audit log could not take.")
        self._lag = histogram("event_loop_lag_seconds", "How late the event loop woke a task.", _LAG_SECONDS)
        self._under_way = gauge("requests_under_way", "Requests that run or wait.", "livesum")
        self._ready = gauge("ready", "1 if the graph can be asked.", "livemostrecent", "graph")
        self._named: set[str] = set()

    def observe(self, request: WatchedRequest) -> None:
        """Count a request that has ended."""
        client = self._counted_client(request.client)
        self._requests.labels(request.method, request.outcome).inc()
        self._clients.labels(client, request.outcome).inc()
        self._answer_bytes.labels(client).inc(request.answer_bytes)
        for record in request.records:
            self._count(record, request.graph)

    def _count(self, record: Record, graph: str) -> None:
        self._calls.labels(record.tool, record.outcome, graph).inc()
        self._call_seconds.labels(record.tool, graph).observe(record.ms.total / 1000)
        self._waiting.labels(graph).inc(record.ms.waiting / 1000)
        self._own.labels(graph).inc(max(0.0, record.ms.own) / 1000)
        for cause in record.causes:
            self._causes.labels(cause, graph).inc()
        if record.error:
            self._errors.labels(record.error, graph).inc()
        for count, counter in self._counters.items():
            counter.labels(graph).inc(getattr(record, count))

    def _counted_client(self, name: str) -> str:
        if not name:
            return _WITHOUT_NAME
        if name not in self._named:
            if len(self._named) >= MOST_CLIENTS:
                return _OTHER_CLIENTS
            self._named.add(name)
        return name

    def under_way(self) -> AbstractContextManager[object]:
        """Return the block of a request that is under way."""
        return self._under_way.track_inprogress()

    def observe_lag(self, seconds: float) -> None:
        """Note how late the event loop was."""
        self._lag.observe(seconds)

    def observe_response(self, status: int) -> None:
        """Count a response over HTTP."""
        self._responses.labels(str(status)).inc()

    def observe_lost_audit_line(self) -> None:
        """Count a line that the audit log could not take."""
        self._lost_audit_lines.inc()

    def show_ready(self, graph: str, is_ready: Callable[[], bool]) -> Callable[[], None]:
        """Show whether a graph can be asked, as far as it is known when the counts are read.

        Returns:
            What to call when the graph was asked. Of several processes, the one that asked last is believed.
        """
        if shares_counts():
            return lambda: self._ready.labels(graph).set(is_ready())
        self._ready.labels(graph).set_function(is_ready)
        return lambda: None

    def text(self) -> bytes:
        """Return all counts in the text format of Prometheus; where processes share a folder, those of all of them."""
        if shares_counts():
            shared = CollectorRegistry()
            MultiProcessCollector(shared)  # type: ignore[no-untyped-call]  # prometheus_client has no types there
            return generate_latest(shared)
        return b"".join(map(generate_latest, (self._registry, _process())))


def _process() -> CollectorRegistry:
    """Return the counts of the process itself: memory, processor time, open files, garbage collections."""
    registry = CollectorRegistry()
    for collector in (PROCESS_COLLECTOR, PLATFORM_COLLECTOR, GC_COLLECTOR):
        registry.register(collector)
    return registry
