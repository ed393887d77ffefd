"""A SPARQL endpoint as small as can be: a few triples in this process, behind HTTP."""

import io
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Final, cast

import pyoxigraph
from aiohttp import web

from tests.transport.fake_endpoint import JSON, TSV, FakeEndpoint, fake_endpoint

X: Final = "https://example.org/x/"
_TSV: Final = pyoxigraph.QueryResultsFormat.TSV
NODES: Final = tuple(f"{X}n{number}" for number in range(4))
TRIPLES: Final = tuple(f"<{s}> <{X}p> <{o}> ." for s in NODES for o in NODES if s != o)


@asynccontextmanager
async def small_server(
    triples: Iterable[str] = TRIPLES,
    store: pyoxigraph.Store | None = None,
    shows: Callable[[], str] = lambda: "a server",
    users: Mapping[str, pyoxigraph.Store] = MappingProxyType({}),
) -> AsyncIterator[FakeEndpoint]:
    """Serve a graph; where none is given, one in which every node has an edge to every other.

    What is put into `store`, where it is given, is served too. `shows` gives what it calls itself.
    `users` has the graphs of users who see another one, by the value of a header that they send.
    """
    store = pyoxigraph.Store() if store is None else store
    store.load("\n".join(triples).encode(), pyoxigraph.RdfFormat.N_TRIPLES)

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        form = await request.post()
        if "query" not in form:
            return web.Response(status=404, headers={"Server": shows()})
        seen = next((users[value] for value in request.headers.values() if value in users), store)
        found = cast("pyoxigraph.QuerySolutions", seen.query(str(form["query"])))
        body = io.BytesIO()
        accepted = request.headers.get("Accept", "")
        kind, written = (TSV, _TSV) if accepted == TSV else (JSON, pyoxigraph.QueryResultsFormat.JSON)
        found.serialize(body, written)
        return web.Response(body=body.getvalue(), headers={"Content-Type": kind})

    async with fake_endpoint(handle) as endpoint:
        yield endpoint
