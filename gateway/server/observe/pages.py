"""The pages of an operator: `/healthz`, `/readyz`, and on a port of their own also `/metrics`.

None of them shows text of a graph, an address of an endpoint, or a fault in the words of one.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING

from gateway.server.http_guard import App, Message, Receive, Send
from gateway.server.observe.readiness import Readiness, State, states
from gateway.settings.urls import is_loopback

if TYPE_CHECKING:
    from gateway.server.observe.metrics import Metrics

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

    def beside(self, app: App) -> App:
        """Return an application that answers probes itself, without a word about graphs, and counts responses."""

        async def answer(scope: Message, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
            elif scope["path"] == HEALTH:
                await _respond(scope, send, HTTPStatus.OK, _TEXT, b"ok\n")
            elif scope["path"] == READINESS:
                is_ready = _is_ready(await states(self.graphs))
                status = HTTPStatus.OK if is_ready else HTTPStatus.SERVICE_UNAVAILABLE
                await _respond(scope, send, status, _TEXT, b"ready\n" if is_ready else b"not ready\n")
            else:
                metrics = None if _is_forwarded(scope) else self._metrics
                await app(scope, receive, send if metrics is None else _counting(metrics, send))

        return answer

    def alone(self, host: str, metrics: Metrics) -> App:
        """Return the application of the port for operators.

        Args:
            metrics: The counts.
            host: The address that it listens on. On a loopback address, a web page that reached it by a name of its own
                is refused.
        """

        async def answer(scope: Message, receive: Receive, send: Send) -> None:  # noqa: ARG001 - ASGI's shape
            if scope["type"] != "http":
                return
            if is_loopback(host) and not _is_address(_host_of(scope)):
                await _respond(scope, send, HTTPStatus.MISDIRECTED_REQUEST, _TEXT, b"Ask by the address.\n")
                return
            match scope["path"]:
                case str(path) if path == HEALTH:
                    await _respond(scope, send, HTTPStatus.OK, _TEXT, b"ok\n")
                case str(path) if path == READINESS:
                    found = await states(self.graphs)
                    status = HTTPStatus.OK if _is_ready(found) else HTTPStatus.SERVICE_UNAVAILABLE
                    await _respond(scope, send, status, _JSON, _report(found))
                case str(path) if path == METRICS:
                    await states(self.graphs)
                    await _respond(scope, send, HTTPStatus.OK, metrics.content_type, metrics.text())
                case _:
                    text = f"There is {HEALTH}, {READINESS} and {METRICS}.\n"
                    await _respond(scope, send, HTTPStatus.NOT_FOUND, _TEXT, text.encode())

        return answer


def _is_forwarded(scope: Message) -> bool:
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


def _host_of(scope: Message) -> str:
    given: bytes = next((value for name, value in scope["headers"] if name == b"host"), b"")
    host = given.decode("ascii", "replace")
    return host.rpartition("]")[0].removeprefix("[") if host.startswith("[") else host.partition(":")[0]


def _is_address(host: str) -> bool:
    if host in {"", "localhost"}:
        return True
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


async def _respond(scope: Message, send: Send, status: HTTPStatus, kind: str, body: bytes) -> None:
    if scope["method"] not in {"GET", "HEAD"}:
        status, kind, body = HTTPStatus.METHOD_NOT_ALLOWED, _TEXT, b"Only GET.\n"
    headers = [
        (b"content-type", kind.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
