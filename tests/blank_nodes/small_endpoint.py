"""An endpoint on loopback that answers by the Oxigraph of this process, which knows its blank nodes by their labels."""

import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from itertools import count
from pathlib import Path
from typing import Any, Final, cast

import pyoxigraph
from aiohttp import ClientSession, web

from gateway.api import open_gateway
from gateway.errors import GatewayError
from gateway.settings.endpoint import EndpointSettings, EngineName
from gateway.settings.limits import CacheSettings, OrientationSettings
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import EdgeSettings, NodeSettings
from gateway.tools.gateway import Gateway
from tests.small import ROOM
from tests.transport.fake_endpoint import JSON, fake_endpoint

PREFIXES: Final = (
    "@prefix x: <http://e.org/> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . "
    "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . "
)

_EDGES: Final = EdgeSettings()


_NO_PREFIXES: Final[Mapping[str, str]] = {}


def profile_for(engine: EngineName = "oxigraph") -> Profile:
    """Return a profile by which blank nodes are nodes where the engine has a way back to them."""
    settings = {"nodes": NodeSettings(blank="on"), "endpoint": EndpointSettings(engine=engine), "size": ROOM}
    return Profile().model_copy(update=settings)


def renamed(body: bytes, number: int) -> bytes:
    """Return an answer with other labels, so that none means something in another answer."""
    answer = json.loads(body)
    labels: dict[str, str] = {}
    for row in answer.get("results", {}).get("bindings", ()):
        for term in row.values():
            if term["type"] == "bnode":
                term["value"] = labels.setdefault(term["value"], f"r{number}x{len(labels)}")
    return json.dumps(answer).encode()


@asynccontextmanager
async def renaming(endpoint: str) -> AsyncIterator[str]:
    """Run a proxy before an endpoint that shows nothing of its engine and renames blank nodes; give its URL."""
    number = count()

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        form = await request.post()
        if "query" not in form:
            return web.Response(status=404)
        asked = {name: str(value) for name, value in form.items()}
        async with client.post(endpoint, data=asked, headers={"Accept": JSON}) as response:
            body = await response.read()
            if response.status != HTTPStatus.OK:
                return web.Response(status=response.status, text="refused")
            return web.Response(body=renamed(body, next(number)), content_type=JSON)

    async with ClientSession() as client, fake_endpoint(answer) as proxy:
        yield proxy.url


@asynccontextmanager
async def served(
    turtle: str,
    *,
    engine: EngineName = "oxigraph",
    refuses: Callable[[str], bool] = lambda _: False,
    cache_megabytes: int | None = None,
    renames: bool = False,
    sampled: bool = False,
    prefixes: Mapping[str, str] = _NO_PREFIXES,
    edges: EdgeSettings = _EDGES,
) -> AsyncIterator[tuple[Gateway, pyoxigraph.Store]]:
    """Serve a graph, open a gateway over it, and give both.

    Args:
        turtle: The graph.
        engine: What the gateway takes the engine for.
        sampled: Whether the schema is that of some triples alone.
        edges: Which triples are edges.
        renames: Whether every answer has labels of its own.
        refuses: Whether a query, without its white space, is answered by an error.
        cache_megabytes: Memory for the cache of answers.
        prefixes: Further prefixes of IDs.
    """
    store = pyoxigraph.Store()
    number = count()
    store.load((PREFIXES + turtle).encode(), pyoxigraph.RdfFormat.TURTLE)

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        query = str((await request.post())["query"])
        if refuses("".join(query.split())):
            return web.Response(status=400, text="refused")
        found = cast("pyoxigraph.QuerySolutions", store.query(query))
        body = found.serialize(format=pyoxigraph.QueryResultsFormat.JSON) or b""
        return web.Response(body=renamed(body, next(number)) if renames else body, content_type=JSON)

    async with fake_endpoint(answer) as endpoint:
        known = {"x": "http://e.org/", "rdfs": "http://www.w3.org/2000/01/rdf-schema#", **prefixes}
        cache = CacheSettings(megabytes=cache_megabytes)
        profile = profile_for(engine).model_copy(update={"cache": cache, "edges": edges})
        if sampled:
            glance = OrientationSettings(glance_triples=100, enumeration_seconds=0)
            profile = profile.model_copy(update={"orientation": glance})
        opened = open_gateway(endpoint=endpoint.url, profile=profile, prefixes=known)
        async with opened as gateway:
            yield gateway, store


async def in_file(
    folder: Path, turtle: str, questions: Iterable[tuple[str, Mapping[str, Any]]], edges: EdgeSettings = _EDGES
) -> list[dict[str, Any]]:
    """Return what is answered about a graph in a file."""
    file = folder / "graph.ttl"
    file.write_text(PREFIXES + turtle, encoding="utf-8")
    async with open_gateway(file, profile=profile_for().model_copy(update={"edges": edges})) as gateway:
        await gateway.wait_until_ready()
        return await answers(gateway, questions)


async def answers(gateway: Gateway, questions: Iterable[tuple[str, Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Return what is answered about a graph, but not what is said of its schema: that of an endpoint is not all."""
    found = []
    for tool, arguments in questions:
        try:
            answer = (await gateway.call(tool, arguments, shape="reference")).as_json()
        except GatewayError as error:
            answer = {"error": error.wrong}
        found.append({key: value for key, value in answer.items() if key not in {"snapshot", "warnings"}})
    return found
