"""A URL that is a server's page or a dataset: which URL of that server takes queries?

Only the operator is told: an address inside their network is nothing for a model.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Iterator
from urllib.parse import SplitResult, parse_qs, urlsplit

from gateway.errors import Fault, NoQueryEndpoint
from gateway.flow.control import FlowControl
from gateway.graph.call import Spend, unpaid
from gateway.graph.deadline import Deadline
from gateway.settings.urls import without_query
from gateway.sparql import template
from gateway.sparql.results.decoder import decode
from gateway.transport.base import ProbeResponse
from gateway.transport.http import Http
from gateway.transport.timeout_policy import TimeoutPolicy

_log = logging.getLogger(__name__)

_SECONDS = 5.0
_SECONDS_EACH = 2.0
_MOST = 8
"""Other URLs that are asked at most."""

_QUERY_NAMES = ("sparql", "query")
_OTHER_SERVICES = frozenset({"data", "get", "patch", "shacl", "statements", "update", "upload"})
"""What stands beside the query endpoint of a dataset, in Fuseki and in RDF4J."""

_DATASET_PAGE = re.compile(r"/?dataset/([^/?]+)")
"""Fuseki's page of a dataset, as it stands in the fragment."""

_REPOSITORY = re.compile(r"(.*?)(?:/rest)?/repositories/([^/]+)/.*")
"""A page or a service of a repository, in GraphDB and RDF4J."""

_BLAZEGRAPH = ("/blazegraph/sparql", "/blazegraph/namespace/kb/sparql")


def likely_urls(url: str) -> list[str]:
    """Return the URLs of the same server where its query endpoint may be, the likeliest first."""
    parts = urlsplit(url)
    found = dict.fromkeys(
        parts._replace(path=path, query="", fragment="").geturl() for path in _likely_paths(parts) if path
    )
    found.pop(url, None)
    return list(found)[:_MOST]


def _likely_paths(parts: SplitResult) -> Iterator[str]:
    path = parts.path.rstrip("/")
    parent, _, last = path.rpartition("/")
    for dataset in _named_datasets(parts):
        yield from _queries_of(f"/{dataset}")
    if repository := _REPOSITORY.fullmatch(path):
        yield f"{repository[1].replace('rdf4j-workbench', 'rdf4j-server')}/repositories/{repository[2]}"
    if last in _OTHER_SERVICES or last in _QUERY_NAMES:
        yield from _queries_of(parent)
        yield parent
    elif path:
        yield from _queries_of(path)
    yield from _queries_of("")
    if not path or "blazegraph" in path or "bigdata" in path:
        yield from _BLAZEGRAPH
    yield parent
    yield path if parts.path.endswith("/") else f"{path}/"


def _queries_of(path: str) -> Iterator[str]:
    return (f"{path}/{name}" for name in _QUERY_NAMES)


def _named_datasets(parts: SplitResult) -> Iterator[str]:
    """Return the datasets that the URL of a page names."""
    if page := _DATASET_PAGE.match(parts.fragment):
        yield page[1]
    yield from (name.strip("/") for name in parse_qs(parts.query).get("ds", []))


async def find_query_endpoint(http: Http, deadline: Deadline) -> str | None:
    """Ask the configured URL, and then likely ones of the same server, something harmless.

    Args:
        http: A transport to the configured URL.
        deadline: When to stop.

    Returns:
        The first URL that answers as a query endpoint, for the operator's eyes; None where none does.
    """
    if await _answers(http, deadline):
        return http.url
    for url in likely_urls(http.url):
        other = http.at(url)
        try:
            if await _answers(other, deadline):
                return url
        finally:
            await other.close()
    return None


async def _answers(http: Http, deadline: Deadline) -> bool:
    text = template.load("alive")
    patience = Deadline.after(min(_SECONDS_EACH, deadline.seconds_left), deadline.clock)
    try:
        return len(decode(await http.select(text.render({"rows": 1}), patience), text.variables)) == 1
    except Fault:
        return False


class EndpointDiscovery:
    """A transport that says once, in the log, which URL the configured one should be.

    Attributes:
        http: The transport to the configured URL.
    """

    def __init__(self, http: Http) -> None:
        self.http = http
        self._found: str | None = None
        self._has_looked = False
        self._looking = asyncio.Lock()

    @property
    def timeout_policy(self) -> TimeoutPolicy:
        """How the endpoint wants to be asked."""
        return self.http.timeout_policy

    @timeout_policy.setter
    def timeout_policy(self, timeout_policy: TimeoutPolicy) -> None:
        self.http.timeout_policy = timeout_policy

    @property
    def flow(self) -> FlowControl:
        """The endpoint's flow control."""
        return self.http.flow

    def over_all_graphs(self) -> Http:
        """Return a transport to the same URL that names no graphs; see `gateway.transport.base.OverGraphs`."""
        return self.http.over_all_graphs()

    async def look(self, accept: str, deadline: Deadline, parameters: str = "") -> ProbeResponse:
        """Ask for the endpoint itself; see `gateway.transport.base.Remote.look`."""
        return await self.http.look(accept, deadline, parameters)

    async def select(self, query: str, deadline: Deadline, spend: Spend = unpaid, /) -> bytes:
        """Send a query; see `gateway.transport.base.Transport.select`."""
        try:
            return await self.http.select(query, deadline, spend)
        except NoQueryEndpoint as fault:
            wrong = fault
        try:
            async with asyncio.timeout(deadline.seconds_left), self._looking:
                await self._look(deadline)
        except TimeoutError:
            raise wrong from None
        if self._found == self.http.url:
            # It does take queries: by GET, or again.
            spend()
            return await self.http.select(query, deadline, spend)
        if self._found:
            raise NoQueryEndpoint(
                "The configured URL is a server's page or a dataset, and not its query endpoint.",
                next_step="Whoever runs this gateway finds the right URL in its log.",
            )
        raise wrong

    async def _look(self, deadline: Deadline) -> None:
        if self._has_looked:
            return
        patience = Deadline.after(min(_SECONDS, deadline.seconds_left), deadline.clock)
        self._found = await find_query_endpoint(self.http, patience)
        self._has_looked = True
        if self._found is None:
            _log.error(
                "%s takes no SPARQL queries, and no other URL that was tried on this server does.",
                without_query(self.http.url),
            )
        elif self._found != self.http.url:
            _log.error(
                "%s takes no SPARQL queries; the query endpoint is %s", without_query(self.http.url), self._found
            )

    async def close(self) -> None:
        """Close the connections."""
        await self.http.close()
