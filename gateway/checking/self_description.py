"""Reads what an endpoint publishes about itself: its service description, and pages that only some engines have."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlsplit, urlunsplit

from gateway.checking.prober import Prober
from gateway.checking.report import Claim, not_determined
from gateway.errors import Fault
from gateway.sparql.engines.detector import DESCRIPTION, STATISTICS, Recognised, recognise, statistics
from gateway.transport.base import ProbeResponse
from gateway.transport.http import Http

_ANYTHING = "*/*"
_JSON = "application/json"
_BLAZEGRAPH = re.compile(r"(?P<base>.*?)(/namespace/[^/]+)?/sparql/?")
_REPOSITORY = re.compile(r"(?P<base>.*)/repositories/[^/]+/?")
"""Paths of the query endpoint, below which or beside which the other pages of the server are."""

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
    if recognised.engine == "blazegraph" and (path := _BLAZEGRAPH.fullmatch(urlsplit(http.url).path)):
        page = await _look(http, _beside(http.url, f"{path['base']}/status"), _ANYTHING, prober)
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
    if recognised.engine == "unknown" and (path := _REPOSITORY.fullmatch(urlsplit(http.url).path)):
        return SelfDescription(await _as_repository(http, path["base"], prober) or recognised)
    return SelfDescription(recognised)


async def _as_repository(http: Http, base: str, prober: Prober) -> Recognised | None:
    """Recognise RDF4J by its protocol. GraphDB has the same protocol, and another interface beside it."""
    version = await _look(http, _beside(http.url, f"{base}/protocol"), _ANYTHING, prober)
    if version is None or not _PROTOCOL_VERSION.fullmatch(version.text):
        return None
    other = await _look(http, _beside(http.url, f"{base}/rest/repositories"), _JSON, prober)
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


def _beside(url: str, path: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=path, query="", fragment=""))


def _with_query(url: str, query: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(query=f"{parts.query}&{query}" if parts.query else query, fragment=""))
