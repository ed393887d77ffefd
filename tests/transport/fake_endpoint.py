"""An endpoint on loopback that does what a test tells it to, and remembers what it was asked."""

import asyncio
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import cast

import pyoxigraph
import pytest
from aiohttp import web
from multidict import CIMultiDictProxy

from gateway.errors import DeadlinePassed
from gateway.graph.call import Deadline
from tests.servers.loopback import HOST

JSON = "application/sparql-results+json"
TSV = "text/tab-separated-values"
EMPTY = b'{"head":{"vars":["x"]},"results":{"bindings":[]}}'

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
"""What an endpoint does with a request. It is cancelled when the client is gone."""


@dataclass(frozen=True, slots=True)
class Received:
    """One request.

    Attributes:
        method: The HTTP method.
        path: Path and query string.
        headers: Its headers.
        form: Names and values of the form, or of the query string, in the order sent; first the query where it was
            posted itself.
        connection: The client's port, which tells one connection from another.
    """

    method: str
    path: str
    headers: CIMultiDictProxy[str]
    form: tuple[tuple[str, str], ...]
    connection: int

    @property
    def way(self) -> str:
        """How the query was sent, as a profile says it."""
        if self.method == "GET":
            return "get"
        return "direct" if self.headers.get("Content-Type", "").startswith("application/sparql-query") else "post"


@dataclass(slots=True)
class FakeEndpoint:
    """A running endpoint.

    Attributes:
        port: Its port.
        received: What was asked, in order, each before its handler runs.
        scheme: `https` where it has a certificate.
    """

    port: int
    received: list[Received] = field(default_factory=list)
    scheme: str = "http"

    @property
    def url(self) -> str:
        """Its address."""
        return f"{self.scheme}://{HOST}:{self.port}/sparql"

    @property
    def queries(self) -> list[str]:
        """The queries it was asked."""
        return [value for request in self.received for name, value in request.form if name == "query"]


@asynccontextmanager
async def fake_endpoint(handler: Handler, tls: ssl.SSLContext | None = None) -> AsyncIterator[FakeEndpoint]:
    """Run an endpoint, over TLS where it has a certificate."""
    endpoint = FakeEndpoint(0, scheme="https" if tls else "http")

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        is_direct = request.content_type == "application/sparql-query"
        form = request.query if is_direct or request.method == "GET" else await request.post()
        posted = (("query", await request.text()),) if is_direct else ()
        assert request.transport is not None
        endpoint.received.append(
            Received(
                request.method,
                request.path_qs,
                request.headers,
                (*posted, *((name, str(value)) for name, value in form.items())),
                request.transport.get_extra_info("peername")[1],
            )
        )
        return await handler(request)

    runner = web.ServerRunner(web.Server(handle, handler_cancellation=True), shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, HOST, 0, ssl_context=tls).start()
        endpoint.port = runner.addresses[0][1]
        yield endpoint
    finally:
        await runner.cleanup()


def answering(
    body: bytes = EMPTY, *, status: int = 200, content_type: str = JSON, headers: dict[str, str] | None = None
) -> Handler:
    """Return a handler that always gives one answer."""

    async def handle(_: web.BaseRequest) -> web.StreamResponse:
        return web.Response(body=body, status=status, headers={"Content-Type": content_type, **(headers or {})})

    return handle


def of_empty_graph(query: str) -> web.Response:
    """Return what an engine answers to a SELECT over a graph without triples; it refuses an empty query."""
    if not query:
        return web.Response(status=HTTPStatus.BAD_REQUEST)
    found = cast("pyoxigraph.QuerySolutions", pyoxigraph.Store().query(query))
    body = found.serialize(format=pyoxigraph.QueryResultsFormat.JSON)
    return web.Response(body=body, headers={"Content-Type": JSON})


async def time_runs_out(ask: Callable[[Deadline], Awaitable[object]], arrived: Callable[[], bool]) -> None:
    """Ask with little time, and with more where that was over before the request arrived: a machine may be busy."""
    for seconds in (0.1, 1.0, 10.0):
        with pytest.raises(DeadlinePassed):
            await ask(Deadline.after(seconds))
        if arrived():
            return
    pytest.fail("the request never arrived")


def in_turn(handlers: Iterable[Handler]) -> Handler:
    """Return a handler that does what the next of these does with each request."""
    rest = iter(handlers)

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        return await next(rest)(request)

    return handle


def sending(data: bytes, *, reset: bool = False) -> Handler:
    """Return a handler that sends these bytes, whatever they are, and then ends or resets the connection."""

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        transport = request.transport
        assert transport is not None
        transport.write(data)
        if reset:
            linger_not = struct.pack("ii", 1, 0)
            transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger_not)
            transport.abort()
        else:
            transport.close()
        return web.Response()

    return handle


class Hanging:
    """A handler that never answers.

    Attributes:
        began: Set when a request came.
        gone: Set when its client went away.
    """

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.gone = asyncio.Event()

    async def __call__(self, _: web.BaseRequest) -> web.StreamResponse:
        """Wait for ever."""
        self.began.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.gone.set()
        raise AssertionError


class Gated:
    """A handler that answers when it may.

    Attributes:
        active: Requests that wait now.
        peak: Most requests that ever waited at once.
        began: One permit for each request that came.
        gate: One permit for each request that may be answered.
    """

    def __init__(self) -> None:
        self.active = 0
        self.peak = 0
        self.began = asyncio.Semaphore(0)
        self.gate = asyncio.Semaphore(0)

    async def __call__(self, _: web.BaseRequest) -> web.StreamResponse:
        """Wait for the gate, then answer."""
        self.active += 1
        self.peak = max(self.peak, self.active)
        self.began.release()
        try:
            await self.gate.acquire()
        finally:
            self.active -= 1
        return web.Response(body=EMPTY, content_type=JSON)


ALIVE = b'{"head":{"vars":["alive"]},"results":{"bindings":[{"alive":{"type":"literal","value":"1"}}]}}'
"""The answer to queries/alive.rq."""

PAGES: dict[str, Handler] = {
    "404": answering(b"", status=404),
    "405": answering(b"", status=405),
    "415": answering(b"", status=415),
    "400 of Fuseki": answering(b"No endpoint for request\n", status=400, content_type="text/plain"),
    "redirect": answering(b"", status=302, headers={"Location": "/elsewhere"}),
    "HTML": answering(b"<html>", content_type="text/html"),
}
"""What a URL answers to a query that is no query endpoint."""
