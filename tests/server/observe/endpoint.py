"""An endpoint that can be switched off, and counts the harmless queries that it gets."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import cast

import pyoxigraph
from aiohttp import web

from tests.faults.small_server import TRIPLES
from tests.transport.fake_endpoint import JSON, fake_endpoint


@dataclass
class Switched:
    """The endpoint: `is_on` whether it answers, `asked` the harmless queries so far, `others` the others."""

    url: str = ""
    is_on: bool = True
    asked: int = 0
    others: int = 0
    retry_after: str = ""
    is_slow: bool = False
    """Whether every query but the harmless ones is never answered."""
    unanswered: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    """Those queries."""


@asynccontextmanager
async def switched_endpoint(*, is_on: bool = True) -> AsyncIterator[Switched]:
    """Serve a small graph."""
    store = pyoxigraph.Store()
    store.load("\n".join(TRIPLES).encode(), pyoxigraph.RdfFormat.N_TRIPLES)
    switched = Switched(is_on=is_on)

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        query = str((await request.post()).get("query", ""))
        if "?alive" in query:
            switched.asked += 1
        else:
            switched.others += 1
        if not switched.is_on:
            headers = {"Retry-After": switched.retry_after} if switched.retry_after else {}
            return web.Response(
                status=503 if headers else 500, text="the words of a fault: <https://example.org/x/n1>", headers=headers
            )
        if switched.is_slow and "?alive" not in query:
            switched.unanswered.put_nowait(query)
            await asyncio.Event().wait()
        if not query:
            return web.Response(status=400)
        found = cast("pyoxigraph.QuerySolutions", store.query(query))
        body = found.serialize(format=pyoxigraph.QueryResultsFormat.JSON)
        return web.Response(body=body, headers={"Content-Type": JSON})

    async with fake_endpoint(handle) as endpoint:
        switched.url = endpoint.url
        yield switched


class Clock:
    """A clock that a test turns."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        """Tell the time."""
        return self.now
