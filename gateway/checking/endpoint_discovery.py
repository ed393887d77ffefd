"""A URL that is a server's page or a dataset: which URL of that server takes queries?

Only `check` looks, and reports to the operator: a model must not read an address inside their network.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import SplitResult, parse_qs, urlsplit

from gateway.errors import Fault
from gateway.graph.deadline import Deadline
from gateway.sparql import template
from gateway.sparql.results.decoder import decode
from gateway.transport.http import Http

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
    """Return the datasets that the URL of a page names."""
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
