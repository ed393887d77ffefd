"""Finds the query endpoint of a server, and what it says of itself.

Only `check` looks, and reports to the operator: a model must not read an address inside their network.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import SplitResult, parse_qs, urlsplit, urlunsplit

from gateway.check.probes import Prober
from gateway.check.report import Claim, not_determined
from gateway.errors import Fault
from gateway.graph.call import Deadline
from gateway.sparql import template
from gateway.sparql.engines import (
    DESCRIPTION,
    REPOSITORIES,
    STATISTICS,
    UNRECOGNISED,
    Recognised,
    recognise,
    server_of_repository,
    statistics,
)
from gateway.sparql.json_rows import decode
from gateway.transport.base import ProbeResponse
from gateway.transport.http import Http, at_path

_SECONDS_EACH = 2.0
"""The time in which a URL must answer a query that reads nothing."""

_MOST = 8
"""Other URLs that are tried at most."""

_QUERY_NAMES = ("sparql", "query")
_OTHER_SERVICES = frozenset({"data", "get", "patch", "shacl", "statements", "update", "upload"})
"""What is beside the query endpoint of a dataset, in Fuseki and in RDF4J."""

_DATASET_PAGE = re.compile(r"/?dataset/([^/?]+)")
"""Fuseki's page of a dataset, as it is in the fragment."""

_REPOSITORY = re.compile(r"(.*?)(?:/rest)?/repositories/([^/]+)/.*")
"""A page or a service of a repository, in GraphDB and RDF4J."""

_BLAZEGRAPH = ("/blazegraph/sparql", "/blazegraph/namespace/kb/sparql")
"""The paths of its default namespace."""


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
    if page := _DATASET_PAGE.match(parts.fragment):
        yield page[1]
    yield from (name.strip("/") for name in parse_qs(parts.query).get("ds", []))


async def find_query_endpoint(http: Http, deadline: Deadline) -> str | None:
    """Ask the configured URL, and then likely ones of the same server, something harmless.

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


_ANYTHING = "*/*"
_JSON = "application/json"
_OF_BLAZEGRAPH = re.compile(r"(?P<base>.*?)(/namespace/[^/]+)?/sparql/?")
"""Paths of the query endpoint, beside which the status page of the server is."""

_PROTOCOL_VERSION = re.compile(r"[0-9]{1,3}\s*")
_QLEVER_TIME = re.compile(r"(?P<seconds>[0-9]{1,6})s")
"""Forms of what two of these pages say: the version of RDF4J's protocol, and a time-out in seconds."""

_NOT_PUBLISHED = not_determined("the engine does not publish it, and only a query that exceeds it would show it")


@dataclass(frozen=True, slots=True)
class SelfDescription:
    """What an endpoint publishes about itself.

    Attributes:
        recognised: The engine that it indicates.
        time_limit: The time-out of the server.
        triples: The number of triples; None if it is not published.
        is_union: Whether the service description says that the default graph is the union of the named graphs.
    """

    recognised: Recognised
    time_limit: Claim = _NOT_PUBLISHED
    triples: int | None = None
    is_union: bool = False


async def read_self_description(http: Http, prober: Prober) -> SelfDescription:
    """Return what an endpoint publishes; further pages of its server are read only for some engines."""
    description = await _look(http, http.url, DESCRIPTION, prober)
    seen = [description] if description is not None else []
    recognised = recognise(seen)
    is_union = any("UnionDefaultGraph" in response.text for response in seen)
    if recognised.engine == "blazegraph" and (path := _OF_BLAZEGRAPH.fullmatch(urlsplit(http.url).path)):
        page = await _look(http, at_path(http.url, f"{path['base']}/status"), _ANYTHING, prober)
        return SelfDescription(recognise([*seen, *([page] if page else [])]), is_union=is_union)
    if recognised.engine != "unknown":
        return SelfDescription(recognised, is_union=is_union)
    return await _of_unnamed_engine(http, prober, seen)


async def _of_unnamed_engine(http: Http, prober: Prober, seen: list[ProbeResponse]) -> SelfDescription:
    """Return what engines publish that name themselves in no header and no service description."""
    numbers = await _look(http, _with_query(http.url, STATISTICS), _JSON, prober)
    recognised = recognise([*seen, *([numbers] if numbers else [])])
    if numbers is not None and recognised.engine == "qlever":
        settings = await _look(http, _with_query(http.url, "cmd=get-settings"), _JSON, prober)
        triples = statistics(numbers)["num-triples-normal"]
        return SelfDescription(recognised, _limit_of_qlever(settings), triples if isinstance(triples, int) else None)
    if recognised.engine == "unknown" and (base := server_of_repository(http.path)) is not None:
        return SelfDescription(await _as_repository(http, base, prober) or recognised)
    return SelfDescription(recognised)


async def _as_repository(http: Http, base: str, prober: Prober) -> Recognised | None:
    """Recognise RDF4J by its protocol. GraphDB has the same protocol, and another interface beside it."""
    version = await _look(http, at_path(http.url, f"{base}/protocol"), _ANYTHING, prober)
    if version is None or not _PROTOCOL_VERSION.fullmatch(version.text):
        return None
    other = await _look(http, at_path(http.url, f"{base}{REPOSITORIES}"), _JSON, prober)
    if other is not None and (named := recognise([other])) != UNRECOGNISED:
        return named
    if other is None or other.status != HTTPStatus.NOT_FOUND:
        return Recognised("unknown", evidence="it speaks RDF4J's protocol, as RDF4J and GraphDB do")
    return Recognised("rdf4j", evidence=f"its server speaks version {version.text.strip()} of RDF4J's protocol")


def _limit_of_qlever(settings: ProbeResponse | None) -> Claim:
    timeout = statistics(settings).get("default-query-timeout") if settings is not None else None
    match = _QLEVER_TIME.fullmatch(timeout) if isinstance(timeout, str) else None
    return Claim(int(match["seconds"]), "its settings, in seconds") if match else _NOT_PUBLISHED


async def _look(http: Http, url: str, accept: str, prober: Prober) -> ProbeResponse | None:
    """Return the response at a URL of the same server, whatever its status; None if there is none."""
    async with contextlib.AsyncExitStack() as closing:
        other = http.at(url)
        closing.push_async_callback(other.close)
        try:
            return await prober.look(other, accept)
        except Fault:
            return None


def _with_query(url: str, query: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(query=f"{parts.query}&{query}" if parts.query else query, fragment=""))
