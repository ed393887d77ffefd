"""A gateway with both servers of a Wikibase on loopback: its API, and a SPARQL endpoint over the same graph."""

import io
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import cast

import pyoxigraph
from aiohttp import web

from gateway.answers.models import SearchResult
from gateway.api import open_gateway
from gateway.settings.endpoint import EndpointSettings, RequestSettings
from gateway.settings.limits import LimitSettings, OrientationSettings
from gateway.settings.load import load_profile
from gateway.settings.profile import Profile, SearchSettings
from gateway.tools.gateway import Gateway
from tests.transport.fake_endpoint import JSON, FakeEndpoint, Handler, fake_endpoint
from tests.wikibase.api_double import BASE, ApiDouble, Wiki, api_double

CONTACT = "ops@example.org"
HEADER = f"""@prefix wd: <{BASE}> . @prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
"""


@dataclass
class Wired:
    """Both servers, and the gateway before them.

    Attributes:
        gateway: The gateway.
        api: The API.
        endpoint: The SPARQL endpoint.
        broken: What the endpoint does instead of answering, if there is anything in it.
    """

    gateway: Gateway
    api: ApiDouble
    endpoint: FakeEndpoint
    broken: list[Handler]

    async def search(self, query: str, types: list[str] | None = None, limit: int = 10) -> SearchResult:
        """Search, and have told what was sent."""
        return await self.gateway.search_entities(query, types, limit=limit, explain=True)


def store_of(turtle: str) -> pyoxigraph.Store:
    """Return an engine that holds a graph in Turtle."""
    store = pyoxigraph.Store()
    store.load((HEADER + turtle).encode(), pyoxigraph.RdfFormat.TURTLE)
    return store


def profile_for(api: str, endpoint: EndpointSettings | None = None, language: str = "") -> Profile:
    """Return a profile for both servers."""
    return load_profile("wikidata-local").model_copy(
        update={
            "endpoint": endpoint
            or EndpointSettings(contact=CONTACT, engine="unknown", requests=RequestSettings(retries=0)),
            "search": SearchSettings(api=api, api_language=language),
            "orientation": OrientationSettings(patience_seconds=120),
            "limits": LimitSettings(deadline_seconds=60),
        }
    )


@asynccontextmanager
async def wired(
    store: pyoxigraph.Store, wiki: Wiki | None = None, profile: Profile | None = None
) -> AsyncIterator[Wired]:
    """Open a gateway over a graph whose schema is known, and names are found by a double of the API.

    Args:
        store: The graph.
        wiki: What the API knows; the same where not given.
        profile: Everything but the URLs; one for both servers where not given.
    """
    known = Wiki.from_quads(store) if wiki is None else wiki
    broken: list[Handler] = []
    async with api_double(known) as api, sparql_server(store, broken) as endpoint:
        settings = profile_for(api.url) if profile is None else profile
        settings = settings.model_copy(update={"search": settings.search.model_copy(update={"api": api.url})})
        async with open_gateway(endpoint=endpoint.url, profile=settings) as gateway:
            await gateway.describe_schema()
            endpoint.received.clear()
            yield Wired(gateway, api, endpoint, broken)


def answered(store: pyoxigraph.Store, query: str) -> web.Response:
    """Answer a query from a graph, as the protocol has it."""
    found = cast("pyoxigraph.QuerySolutions", store.query(query))
    body = io.BytesIO()
    found.serialize(body, pyoxigraph.QueryResultsFormat.JSON)
    return web.Response(body=body.getvalue(), headers={"Content-Type": JSON})


@asynccontextmanager
async def sparql_server(store: pyoxigraph.Store, broken: Sequence[Handler] = ()) -> AsyncIterator[FakeEndpoint]:
    """Serve a graph as a SPARQL endpoint."""

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if broken:
            return await broken[0](request)
        form = await request.post()
        return answered(store, str(form["query"]))

    async with fake_endpoint(handle) as endpoint:
        yield endpoint


def sent(answer: SearchResult) -> list[str]:
    """Return the templates of what an answer's call sent."""
    assert answer.explain is not None
    return [query.template for query in answer.explain.sent]


def hit_ids(answer: SearchResult) -> list[str]:
    """Return the IDs found in order."""
    return [hit.id for hit in answer.result]
