"""What a server observes of itself, and the pages of operators: health, readiness, metrics.

None of the pages shows text of a graph, an address of an endpoint, or a fault in the words of one.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Literal

from mcp.server import Server
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.errors import Banned, ConfigurationError, Fault, QuotaSpent, Throttled
from gateway.server.gateway_opener import GatewayOpener
from gateway.server.observe.audit_log import AuditLog, ignore_loss
from gateway.server.observe.watching import Watching
from gateway.settings.serving import ObserveSettings
from gateway.settings.urls import is_loopback
from gateway.telemetry.tally import Clock

if TYPE_CHECKING:
    from gateway.server.observe.metrics import Metrics
    from gateway.tools.gateway import Gateway

State = Literal["ready", "opening", "not_opened", "unreachable", "schema_unknown"]

WAIT_SECONDS = 2.0
"""The time in which an endpoint must answer a harmless query."""

AGAIN_SECONDS = 5.0
"""An endpoint is asked at most once in so many seconds, however often somebody wants to know."""

AGAIN_WITH_QUOTA_SECONDS = 60.0
"""The same where requests are counted: calls need them."""


class Readiness:
    """Tells whether the graph of an opener can be asked now; all who want to know at once share one question.

    Args:
        opener: The graph.
        clock: A monotonic clock, in seconds.

    Attributes:
        on_asked: Called when the endpoint was asked.
    """

    def __init__(self, opener: GatewayOpener, clock: Clock = time.monotonic) -> None:
        self._opener = opener
        self._clock = clock
        quota = opener.profile.endpoint.quota
        self._again_seconds = AGAIN_WITH_QUOTA_SECONDS if quota.is_limited else AGAIN_SECONDS
        self._asked_at: float | None = None
        self._is_reachable = False
        self._asking: asyncio.Task[None] | None = None
        self.on_asked: Callable[[], object] = lambda: None

    @property
    def latest(self) -> State:
        """The state as far as it is known, without a question."""
        gateway = self._opener.opened
        if gateway is None:
            return "not_opened" if self._opener.failure is not None else "opening"
        if not self._is_reachable:
            return "unreachable" if self._asked_at is not None else "opening"
        return "ready" if gateway.knows_schema else "schema_unknown"

    async def state(self) -> State:
        """Return the state, after a question to the endpoint if the last one was long ago."""
        gateway = self._opener.opened
        if gateway is not None and self._is_due():
            if self._asking is None:
                self._asking = asyncio.create_task(self._ask(gateway))
            # Who goes away must not end the question of the others.
            await asyncio.shield(self._asking)
        return self.latest

    def _is_due(self) -> bool:
        return self._asked_at is None or self._clock() - self._asked_at >= self._again_seconds

    async def _ask(self, gateway: Gateway) -> None:
        was_reachable = self._is_reachable
        try:
            await gateway.check_reachable(WAIT_SECONDS)
            self._is_reachable = True
        except Fault as fault:
            if not _wants_pause(fault):
                self._is_reachable = False
        finally:
            self._asked_at = self._clock()
            self._asking = None
        if self._is_reachable:
            gateway.read_schema_again(at_once=not was_reachable)
        self.on_asked()


def _wants_pause(fault: Fault) -> bool:
    """Return whether an endpoint that answers, or would, wants to be left alone for a named time."""
    is_throttled = isinstance(fault, Throttled) and fault.retry_after is not None
    return is_throttled or isinstance(fault, QuotaSpent | Banned)


async def states(graphs: Mapping[str, Readiness]) -> dict[str, State]:
    """Return the state of each graph, all asked at once."""
    found = await asyncio.gather(*(graph.state() for graph in graphs.values()))
    return dict(zip(graphs, found, strict=True))


HEALTH = "/healthz"
READINESS = "/readyz"
METRICS = "/metrics"

_JSON = "application/json"
_TEXT = "text/plain; charset=utf-8"

_MEANING: Mapping[State, str] = {
    "ready": "The endpoint answers, and the schema is known.",
    "opening": "The graph is being opened.",
    "not_opened": "The graph cannot be opened; the log says why.",
    "unreachable": "The endpoint does not answer; the log says why.",
    "schema_unknown": "The endpoint answers, but its schema could not be read; the log says why.",
}


class Pages:
    """What an operator can read, for those who may: an orchestrator learns the state, an operator also of which graph.

    Args:
        graphs: The readiness of each graph by its name.
        metrics: The counts; None without them.

    Attributes:
        graphs: The readiness of each graph by its name.
    """

    def __init__(self, graphs: Mapping[str, Readiness], metrics: Metrics | None = None) -> None:
        self.graphs = graphs
        self._metrics = metrics

    def beside(self, app: ASGIApp) -> ASGIApp:
        """Return an application that answers probes itself, without a word about graphs, and counts responses."""

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
            elif scope["path"] == HEALTH:
                await _response(scope, HTTPStatus.OK, _TEXT, b"ok\n")(scope, receive, send)
            elif scope["path"] == READINESS:
                is_ready = _is_ready(await states(self.graphs))
                status = HTTPStatus.OK if is_ready else HTTPStatus.SERVICE_UNAVAILABLE
                await _response(scope, status, _TEXT, b"ready\n" if is_ready else b"not ready\n")(scope, receive, send)
            else:
                metrics = None if _is_forwarded(scope) else self._metrics
                await app(scope, receive, send if metrics is None else _counting(metrics, send))

        return answer

    def alone(self, host: str, metrics: Metrics) -> ASGIApp:
        """Return the application of the port for operators.

        Args:
            metrics: The counts.
            host: The address that it listens on. On a loopback address, a web page that reached it by a name of its own
                is refused.
        """

        async def page(scope: Scope) -> Response:
            if is_loopback(host) and not _is_address(_host_of(scope)):
                return _response(scope, HTTPStatus.MISDIRECTED_REQUEST, _TEXT, b"Ask by the address.\n")
            match scope["path"]:
                case str(path) if path == HEALTH:
                    return _response(scope, HTTPStatus.OK, _TEXT, b"ok\n")
                case str(path) if path == READINESS:
                    found = await states(self.graphs)
                    status = HTTPStatus.OK if _is_ready(found) else HTTPStatus.SERVICE_UNAVAILABLE
                    return _response(scope, status, _JSON, _report(found))
                case str(path) if path == METRICS:
                    await states(self.graphs)
                    return _response(scope, HTTPStatus.OK, metrics.content_type, metrics.text())
            text = f"There is {HEALTH}, {READINESS} and {METRICS}.\n"
            return _response(scope, HTTPStatus.NOT_FOUND, _TEXT, text.encode())

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "http":
                await (await page(scope))(scope, receive, send)

        return answer


def _is_forwarded(scope: Scope) -> bool:
    """Return whether a request came from another worker, which counts it: by a socket without a port."""
    server = scope.get("server")
    return server is not None and server[1] is None


def _counting(metrics: Metrics, send: Send) -> Send:
    async def counted(message: Message) -> None:
        if message["type"] == "http.response.start":
            metrics.observe_response(message["status"])
        await send(message)

    return counted


def _is_ready(found: Mapping[str, State]) -> bool:
    """Return whether any graph can be asked: one that is away must not take the others with it."""
    return any(state == "ready" for state in found.values())


def _report(found: Mapping[str, State]) -> bytes:
    graphs = {name: {"state": state, "meaning": _MEANING[state]} for name, state in found.items()}
    return json.dumps({"ready": _is_ready(found), "graphs": graphs}, indent=1).encode() + b"\n"


def _host_of(scope: Scope) -> str:
    host = Headers(scope=scope).get("host", "")
    return host.rpartition("]")[0].removeprefix("[") if host.startswith("[") else host.partition(":")[0]


def _is_address(host: str) -> bool:
    if host in {"", "localhost"}:
        return True
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _response(scope: Scope, status: HTTPStatus, kind: str, body: bytes) -> Response:
    if scope["method"] not in {"GET", "HEAD"}:
        status, kind, body = HTTPStatus.METHOD_NOT_ALLOWED, _TEXT, b"Only GET.\n"
    headers = {"content-type": kind, "cache-control": "no-store", "x-content-type-options": "nosniff"}
    response = Response(body, status, headers)
    if scope["method"] == "HEAD":
        response.body = b""
    return response


_SECONDS = 0.5
"""How often it is measured."""


@asynccontextmanager
async def measured_lag(observe: Callable[[float], object]) -> AsyncIterator[None]:
    """Measure while the block runs how many seconds late the loop wakes a task.

    Args:
        observe: Receives each measurement, in seconds.
    """

    async def measure() -> None:
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + _SECONDS
            await asyncio.sleep(_SECONDS)
            observe(max(0.0, loop.time() - due))

    task = asyncio.create_task(measure())
    try:
        yield
    finally:
        task.cancel()


class Observation:
    """The counts, the audit log and the pages of one server.

    Args:
        settings: What is wanted.
        graphs: The opener of each graph by its name; the name of the only one is empty.

    Attributes:
        pages: The pages for operators.
        metrics: The counts; None without them.

    Raises:
        ConfigurationError: The package for metrics is not installed, or the audit log cannot be opened.
    """

    def __init__(self, settings: ObserveSettings, graphs: Mapping[str, GatewayOpener]) -> None:
        self._address = settings.metrics
        readiness = {name: Readiness(opener) for name, opener in graphs.items()}
        self.metrics = None if settings.metrics is None else _metrics(readiness)
        self.pages = Pages(readiness, self.metrics)
        on_loss = ignore_loss if self.metrics is None else self.metrics.observe_lost_audit_line
        self._audit_log = None if settings.audit_log is None else AuditLog(settings.audit_log, on_loss)

    def watch(self, server: Server[Any]) -> None:
        """Observe the requests that a server handles."""
        observers = [each.observe for each in (self.metrics, self._audit_log) if each is not None]
        if not observers:
            return
        if self.metrics is None:
            server.middleware.append(Watching(observers))
        else:
            server.middleware.append(Watching(observers, self.metrics.under_way))

    def close(self) -> None:
        """Write the last lines of the audit log."""
        if self._audit_log is not None:
            self._audit_log.close()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Measure and serve the pages while the block runs, and write the last lines of the audit log after it.

        Raises:
            ConfigurationError: The address of the pages cannot be used.
        """
        async with AsyncExitStack() as stack:
            stack.callback(self.close)
            if self.metrics is not None:
                await stack.enter_async_context(measured_lag(self.metrics.observe_lag))
            if self.metrics is not None and self._address is not None:
                # Only over HTTP, with its server.
                from gateway.server.observe.port import operators_port  # noqa: PLC0415

                app = self.pages.alone(self._address[0], self.metrics)
                await stack.enter_async_context(operators_port(app, *self._address))
            yield


def _metrics(graphs: Mapping[str, Readiness]) -> Metrics:
    try:
        from gateway.server.observe.metrics import Metrics  # noqa: PLC0415 - a package of an extra
    except ImportError as error:
        raise ConfigurationError(
            "Metrics need the package prometheus-client.",
            next_step="Install it: pip install 'bfsql-gateway[metrics]'.",
        ) from error
    metrics = Metrics()
    for name, graph in graphs.items():
        graph.on_asked = metrics.show_ready(name, lambda graph=graph: graph.latest == "ready")  # type: ignore[misc]
    return metrics
