"""A plain client of a SPARQL endpoint, for the contenders that are not this gateway."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

import aiohttp

from benchmarks.contenders.base import WrongAnswerError
from benchmarks.recording import Recording, Request
from gateway.sparql import template
from gateway.sparql.template import Parameter, Template
from gateway.transport.base import ACCEPT, BELIEVED

_CHUNK = 1 << 16
_FOLDER = Path(__file__).resolve().parents[1] / "queries"

Binding = Mapping[str, str]


def query(name: str, parameters: Mapping[str, Parameter]) -> str:
    """Render a query of `benchmarks/queries`, which are written as the gateway's own are."""
    return _loaded(name).render(parameters)


@cache
def _loaded(name: str) -> Template:
    return template.parse(name, (_FOLDER / f"{name}.rq").read_text(encoding="utf-8"))


class PlainClient:
    """Sends queries and counts what comes back.

    Attributes:
        seen: What was sent and what came since it was set.
    """

    def __init__(self, url: str, session: aiohttp.ClientSession, seconds: float | None = None) -> None:
        self._url = url
        # Fuseki goes on with a query whose client has left, beside whatever is measured next. Others do not read this.
        self._told = [] if seconds is None else [("timeout", f"{seconds:.0f}")]
        self._session = session
        self.seen = Recording()

    async def rows(self, text: str) -> list[Mapping[str, Binding]]:
        """Send a query and return its rows."""
        self.seen.requests.append(Request(text, self.seen.answers))
        async with self._session.post(self._url, data=[("query", text), *self._told]) as response:
            response.raise_for_status()
            body = await response.read()
        answer: Any = json.loads(body)
        rows: list[Mapping[str, Binding]] = answer["results"]["bindings"]
        self.seen.answers += 1
        self.seen.bytes += len(body)
        self.seen.rows += len(rows)
        return rows

    async def read(self, request: Request) -> int:
        """Send a recorded request and read its answer as it comes; return how many bytes that were, unpacked."""
        return sum([len(chunk) async for chunk in self._chunks(request)])

    async def body(self, request: Request) -> bytes:
        """Send a recorded request and return its answer."""
        return b"".join([chunk async for chunk in self._chunks(request)])

    async def _chunks(self, request: Request) -> AsyncIterator[bytes]:
        form = [("query", request.query), *(("default-graph-uri", graph) for graph in request.graphs)]
        headers = {"Accept": ACCEPT[request.wanted]}
        async with self._session.post(self._url, data=form, headers=headers) as response:
            response.raise_for_status()
            if response.content_type not in BELIEVED[request.wanted]:
                raise WrongAnswerError(f"{request.wanted} was asked for, and {response.content_type} came")
            async for chunk in response.content.iter_chunked(_CHUNK):
                yield chunk


@asynccontextmanager
async def plain_client(url: str, seconds: float | None = None) -> AsyncIterator[PlainClient]:
    """Open a client that asks for SPARQL JSON, packed where the endpoint can, as the gateway does.

    Args:
        url: The endpoint.
        seconds: What Fuseki is told that a query may take.
    """
    headers = {"Accept": "application/sparql-results+json", "Accept-Encoding": "gzip"}
    timeout = aiohttp.ClientTimeout(total=300)
    async with aiohttp.ClientSession(headers=headers, timeout=timeout) as session:
        yield PlainClient(url, session, seconds)
