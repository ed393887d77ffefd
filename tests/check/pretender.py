"""A fake endpoint that answers as an engine does, and shows of itself what a test wants."""

import dataclasses
import json
from collections.abc import Callable, Mapping
from typing import Any, cast

import pyoxigraph
from aiohttp import web

from tests.transport.fake_endpoint import JSON

EX = "http://example.org/"
GRAPH = f"""
@prefix : <{EX}> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:a a :Drug ; rdfs:label "Warfarin sodium"@en ; :p :b , :c .
:b a :Drug ; rdfs:label "Aspirin" ; :p :c .
:c a :Effect ; rdfs:label "Bleeding" ; :q :a .
"""
TRIPLES = 10

Page = Mapping[str, Any]
"""What is shown at a path: status, headers, text or json, as `web.Response` has them."""

Twist = Callable[[str, dict[str, Any]], None]
"""Changes an answer, given the query."""


@dataclasses.dataclass
class Pretender:
    """A handler for `fake_endpoint`.

    Attributes:
        headers: Headers of every answer.
        pages: What is shown for a request without a query, by path and query string.
        cap: Rows that are sent at most, without a word.
        refused: Queries that hold one of these texts are refused.
        twist: What is changed in an answer, by who asks: the beginning of a User-Agent.
        methods: What takes queries: `GET`, `POST` (of a form) or `DIRECT` (a POST of the query).
    """

    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)
    pages: Mapping[str, Page] = dataclasses.field(default_factory=dict)
    cap: int | None = None
    refused: tuple[str, ...] = ()
    twist: Mapping[str, Twist] = dataclasses.field(default_factory=dict)
    methods: tuple[str, ...] = ("GET", "POST")
    store: pyoxigraph.Store = dataclasses.field(default_factory=pyoxigraph.Store)

    def __post_init__(self) -> None:
        self.store.load(GRAPH.encode(), pyoxigraph.RdfFormat.TURTLE)

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a query, or show a page."""
        form = await request.post()
        is_direct = request.content_type == "application/sparql-query"
        query = await request.text() if is_direct else form.get("query") or request.query.get("query")
        if not isinstance(query, str):
            page = self.pages.get(request.path_qs, {"status": 404, "text": "nothing here"})
            return web.Response(**{**page, "headers": {**self.headers, **page.get("headers", {})}})
        if ("DIRECT" if is_direct else request.method) not in self.methods:
            return web.Response(status=405, headers=self.headers)
        if any(text in query for text in self.refused):
            return web.Response(status=400, text="parse error", headers=self.headers)
        try:
            found = cast("pyoxigraph.QuerySolutions", self.store.query(query))
            body = found.serialize(format=pyoxigraph.QueryResultsFormat.JSON)
        except (SyntaxError, RuntimeError) as error:
            return web.Response(status=400, text=str(error), headers=self.headers)
        agents = [agent for agent in self.twist if request.headers.get("User-Agent", "").startswith(agent)]
        if self.cap is None and not agents:
            return web.Response(body=body, content_type=JSON, headers=self.headers)
        answer = json.loads(body or b"{}")
        answer["results"]["bindings"] = answer["results"]["bindings"][: self.cap]
        for agent in agents:
            self.twist[agent](query, answer)
        return web.Response(body=json.dumps(answer).encode(), content_type=JSON, headers=self.headers)
