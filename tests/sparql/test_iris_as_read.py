"""An engine that reads some IRIs as others is found out, whatever else is in the batch."""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast
from urllib.parse import unquote

import pyoxigraph
import pytest
from aiohttp import web

from gateway.api import open_gateway
from gateway.errors import Fault, QueryRefused
from gateway.flow.control import FlowControl
from gateway.graph.call import Call, Deadline, Spend, unpaid
from gateway.settings.endpoint import RequestSettings
from gateway.settings.profile import Profile
from gateway.sparql.client import SparqlClient
from tests.transport.fake_endpoint import JSON, FakeEndpoint, fake_endpoint

pytestmark = pytest.mark.anyio

KEPT, REWRITTEN, REFUSED = "http://EX.org/kept", "http://e.org/a/../b", "http://E.org/%zz"


class Rewriting:
    """An engine that resolves dot segments, and refuses a bad percent sign."""

    async def select(self, query: str, _deadline: Deadline, _spend: Spend = unpaid, /) -> bytes:
        """Say how the IRIs of a query are read."""
        if "%zz" in query:
            raise QueryRefused("No IRI.")
        read = [iri.replace("/a/../", "/") for iri in re.findall("<(.*?)>", query)]
        rows = [{"n": {"type": "uri", "value": iri}} for iri in read]
        return json.dumps({"head": {"vars": ["n"]}, "results": {"bindings": rows}}).encode()

    async def close(self) -> None:
        """Let go of nothing."""


@pytest.mark.parametrize("query_rows", [1, 2, 1_000])
async def test_a_refused_iri_does_not_hide_one_that_is_rewritten(query_rows: int) -> None:
    client = SparqlClient(Rewriting(), Profile(), FlowControl(RequestSettings()))
    client.query_rows = query_rows
    call = Call(Deadline.after(60), 100, 1_000, 1_000)
    faults = await client.rewritten(["http://e.org/plain", KEPT, REFUSED, REWRITTEN], call)
    assert faults.keys() == {REFUSED, REWRITTEN}
    sent = call.sent
    assert (await client.rewritten([KEPT, REWRITTEN], call)).keys() == {REWRITTEN}
    assert call.sent == sent


ESCAPED = ["http://ex.org/odd/a%3Ab", "http://ex.org/plain"]
GRAPH = "<http://ex.org/odd/a%3Ab> <http://ex.org/p> <http://ex.org/plain> ."


@asynccontextmanager
async def decoding_twice(*, takes_body: bool) -> AsyncIterator[FakeEndpoint]:
    """Serve a graph by an engine that nothing names, and that decodes a form twice."""
    store = pyoxigraph.Store()
    store.load(GRAPH.encode(), pyoxigraph.RdfFormat.N_TRIPLES)

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if request.content_type == "application/sparql-query":
            if not takes_body:
                return web.Response(status=415)
            query = await request.text()
        else:
            query = unquote(str((await request.post()).get("query", "")))
        if not query:
            return web.Response(status=404)
        found = cast("pyoxigraph.QuerySolutions", store.query(query))
        return web.Response(body=found.serialize(format=pyoxigraph.QueryResultsFormat.JSON), content_type=JSON)

    async with fake_endpoint(handle) as endpoint:
        yield endpoint


async def test_where_a_form_is_decoded_twice_queries_are_sent_as_they_are() -> None:
    async with decoding_twice(takes_body=True) as there, open_gateway(endpoint=there.url) as gateway:
        found = await gateway.bfs_query([ESCAPED[1]], 2)
        described = await gateway.describe_entity(ESCAPED[0])
    assert found.complete
    assert {node.id for node in found.nodes} == {*ESCAPED}
    assert described.complete
    assert there.received[-1].headers["Content-Type"].startswith("application/sparql-query")


async def test_where_it_takes_nothing_else_no_answer_about_an_escaped_iri_is_complete() -> None:
    async with decoding_twice(takes_body=False) as there, open_gateway(endpoint=there.url) as gateway:
        found = await gateway.bfs_query([ESCAPED[1]], 2)
        with pytest.raises(Fault):
            await gateway.describe_entity(ESCAPED[0])
    assert not found.complete
    types = [request.headers.get("Content-Type", "").partition(";")[0] for request in there.received]
    assert types[-1] == "application/x-www-form-urlencoded"
    # A query and a harmless one.
    assert types.count("application/sparql-query") == 2
