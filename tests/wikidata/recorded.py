"""The session of docs/wikidata.md, held against servers on loopback, and every request that it sends.

`python -m tests.wikidata.recorded` writes the requests into docs/wikidata-requests.md.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from aiohttp import web

from gateway import resources
from gateway.api import open_gateway
from gateway.escaping import json_text
from gateway.files.loading import load_files
from gateway.settings.load import load_profile
from gateway.settings.profile import Profile
from gateway.sparql import template
from tests.graphs import read
from tests.transport.fake_endpoint import EMPTY, JSON, FakeEndpoint, Received, fake_endpoint
from tests.wikibase.api_double import ApiDouble, Wiki, api_double
from tests.wikibase.wired import answered

DOCS: Final = Path(__file__).resolve().parents[2] / "docs"
PAGE: Final = DOCS / "wikidata.md"
REQUESTS: Final = DOCS / "wikidata-requests.md"
SLICE: Final = resources.folder("fixtures") / "wikidata-slice.ttl"
CONTACT: Final = "you@example.org"
AT_THE_START: Final = "When the server starts"

SESSION: Final[Sequence[tuple[str, Mapping[str, Any]]]] = (
    ("search_entities", {"query": "Douglas Adams"}),
    ("describe_entity", {"id": "wd:Q42"}),
    (
        "bfs_query",
        {"seeds": ["wd:Q42"], "max_hops": 2, "predicates": ["educated at"], "node_types": ["human"], "max_degree": 5},
    ),
    ("intersect_subgraphs", {"seeds": ["wd:Q42", "wd:Q7251"], "k": 1, "topology_only": True}),
)
"""The calls that the page shows, in its order."""

_USER_AGENT: Final = re.compile(rf"bfsql-gateway/\S+ \({re.escape(CONTACT)}\) aiohttp/\S+")
_USUAL_HEADERS: Final = {
    "ACCEPT",
    "ACCEPT-ENCODING",
    "CONTENT-LENGTH",
    "CONTENT-TYPE",
    "HOST",
    "USER-AGENT",
}
_DESCRIPTION: Final = """
@prefix sd: <http://www.w3.org/ns/sparql-service-description#> .
<#it> a sd:Service ; sd:feature <http://www.bigdata.com/rdf#/features/KB/Mode/Triples> .
"""
"""Shows what the query service shows of itself: Blazegraph."""

_VERY_MANY: Final = b"""{"head": {"vars": ["p", "count"]}, "results": {"bindings": [
 {"p": {"type": "uri", "value": "http://www.wikidata.org/prop/direct/P31"},
  "count": {"type": "literal", "value": "100000000", "datatype": "http://www.w3.org/2001/XMLSchema#integer"}}]}}"""


@dataclass(frozen=True)
class Step:
    """A call, or the start of the server.

    Attributes:
        title: What it is.
        answer: What it answered, as JSON; empty for the start.
        requests: What was sent because of it, each as a method, a URL and a text, in order.
    """

    title: str
    answer: Mapping[str, Any]
    requests: Sequence[tuple[str, str, str]]


async def record() -> Sequence[Step]:
    """Hold the session, and return what was sent at each step."""
    profile = load_profile("wikidata")
    steps = []
    async with (
        api_double(Wiki.from_quads(read(SLICE))) as api,
        _query_service() as service,
        open_gateway(endpoint=service.url, profile=_towards(api.url, profile)) as gateway,
    ):
        gateway.start()
        await gateway.describe_schema()
        await gateway.wait_for_schema()
        steps.append(Step(AT_THE_START, {}, _taken(service, api, profile)))
        for tool, arguments in SESSION:
            answer = await gateway.call(tool, arguments)
            title = f"{tool} {json_text(dict(arguments))}"
            steps.append(Step(title, answer.as_json(), _taken(service, api, profile)))
    return steps


def _towards(api: str, profile: Profile) -> Profile:
    """Return the profile as it is, but for the address of the API, with a contact and without what waits."""
    return profile.model_copy(
        update={
            "endpoint": profile.endpoint.model_copy(update={"contact": CONTACT}),
            "search": profile.search.model_copy(update={"api": api}),
        }
    )


@asynccontextmanager
async def _query_service() -> AsyncIterator[FakeEndpoint]:
    """Serve the slice as if it were as large as Wikidata."""
    store = load_files([SLICE], blank_types=None).engine
    totals = template.load("schema/totals").render({"scan": 1, "rows": 1}).partition("LIMIT")[0]

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if request.method == "GET":
            return web.Response(text=_DESCRIPTION, content_type="text/turtle")
        query = str((await request.post()).get("query", ""))
        if query.startswith(totals):
            return web.Response(body=_VERY_MANY, headers={"Content-Type": JSON})
        if "SERVICE" in query:
            # Blazegraph's own way of drawing triples; the engine here would look for that service in the network.
            return web.Response(body=EMPTY, headers={"Content-Type": JSON})
        if "LATERAL" in query:
            # Blazegraph has none, though the engine here does.
            return web.Response(status=400, text="MalformedQueryException")
        return answered(store, query)

    async with fake_endpoint(handle) as endpoint:
        yield endpoint


def _taken(service: FakeEndpoint, api: ApiDouble, profile: Profile) -> list[tuple[str, str, str]]:
    """Return what both servers received since the last time, with the addresses that the profile has."""
    received = [(profile.search.api, request) for request in api.received]
    received += [(profile.endpoint.url, request) for request in service.received]
    service.received.clear()
    api.received.clear()
    return [_written(url, request) for url, request in received]


def _written(url: str, request: Received) -> tuple[str, str, str]:
    """Return a request as the page writes it, which says of all of them what they carry beside the query."""
    assert _USER_AGENT.fullmatch(request.headers["User-Agent"])
    if request.method == "GET":
        asked = urlsplit(request.path).query
        return "GET", f"{url}?{asked}" if asked else url, ""
    fields = dict(request.form)
    assert fields.keys() <= {"query", "queryId"}
    own = {name for name in request.headers if name.upper() not in _USUAL_HEADERS}
    assert own <= {"X-BIGDATA-MAX-QUERY-MILLIS"}
    return "POST", url, fields["query"].strip()


def requests_as_written(steps: Sequence[Step]) -> str:
    """Return the part of the page that lists every request."""
    lines = []
    for step in steps:
        lines += [f"### {step.title if step.title == AT_THE_START else f'`{step.title}`'}", ""]
        if not step.requests:
            lines += ["Nothing: what it needs is known from the calls before.", ""]
        for number, (method, url, text) in enumerate(step.requests, 1):
            lines += [f"{number}. `{method} {url}`", ""]
            if text:
                lines += ["   ```sparql", *(f"   {line}".rstrip() for line in text.splitlines()), "   ```", ""]
    return "\n".join(lines).rstrip() + "\n"


def put_in(page: str, part: str) -> str:
    """Return the page with the generated part in its place."""
    begin, end = "<!-- requests: begin -->\n", "<!-- requests: end -->\n"
    head, _, rest = page.partition(begin)
    return f"{head}{begin}\n{part}\n{end}{rest.partition(end)[2]}"


if __name__ == "__main__":
    REQUESTS.write_text(
        put_in(REQUESTS.read_text(encoding="utf-8"), requests_as_written(asyncio.run(record()))), encoding="utf-8"
    )
