"""What a server observes of itself, and the pages of operators: health, readiness, metrics.

None of the pages shows text of a graph, an address of an endpoint, or a fault in the words of one.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from mcp.server import Server
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.errors import ConfigurationError
from gateway.server.gateway_opener import GatewayOpener
from gateway.server.observe.audit_log import AuditLog, ignore_loss
from gateway.server.observe.readiness import MEANING, Readiness, State, is_ready, states
from gateway.server.observe.watching import Watching
from gateway.settings.serving import ObserveSettings
from gateway.settings.urls import is_loopback

if TYPE_CHECKING:
    from gateway.server.observe.metrics import Metrics

HEALTH = "/healthz"
READINESS = "/readyz"
METRICS = "/metrics"

_JSON = "application/json"
_TEXT = "text/plain; charset=utf-8"


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
                is_any_ready = is_ready(await states(self.graphs))
                status = HTTPStatus.OK if is_any_ready else HTTPStatus.SERVICE_UNAVAILABLE
                body = b"ready\n" if is_any_ready else b"not ready\n"
                await _response(scope, status, _TEXT, body)(scope, receive, send)
            else:
                metrics = self._metrics
                counted = send if metrics is None or _is_forwarded(scope) else _counting(metrics, send)
                await app(scope, receive, counted)

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
                    status = HTTPStatus.OK if is_ready(found) else HTTPStatus.SERVICE_UNAVAILABLE
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


def _report(found: Mapping[str, State]) -> bytes:
    graphs = {name: {"state": state, "meaning": MEANING[state]} for name, state in found.items()}
    return json.dumps({"ready": is_ready(found), "graphs": graphs}, indent=1).encode() + b"\n"


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
