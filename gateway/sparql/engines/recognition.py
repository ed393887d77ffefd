"""Which engine is behind an endpoint, from headers, service description and statistics."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from gateway.settings.endpoint import EngineName
from gateway.transport.base import ProbeResponse

DESCRIPTION = "text/turtle"
"""What a request without a query asks for: the service description (SPARQL 1.1 Service Description, 2)."""

STATISTICS = "cmd=stats"
"""What QLever, which no header and no description names, answers with figures about itself."""

_VERSION = r"(?P<version>[0-9][0-9A-Za-z.\-]{0,30})"
_SERVERS: tuple[tuple[EngineName, re.Pattern[str]], ...] = (
    ("virtuoso", re.compile(rf"Virtuoso/{_VERSION}")),
    ("oxigraph", re.compile(rf"Oxigraph/{_VERSION}")),
    ("graphdb", re.compile(rf"GraphDB(?:-[A-Za-z]+)?[/ ]{_VERSION}")),
    ("stardog", re.compile(rf"Stardog(?:[/ ]{_VERSION})?")),
)
_FEATURES: tuple[tuple[EngineName, str], ...] = (
    ("blazegraph", "http://www.bigdata.com/rdf#/features/"),
    ("stardog", "tag:stardog:api:"),
    ("graphdb", "http://www.ontotext.com/"),
)
_BLAZEGRAPH_BUILD = re.compile(rf'id="?buildVersion"?>{_VERSION}<')


@dataclass(frozen=True, slots=True)
class Recognised:
    """The engine behind an endpoint.

    Attributes:
        engine: The engine; `unknown` where there is no evidence, or evidence against itself.
        version: Its version; empty where it is not shown.
        evidence: What it is known by, or why it is not known.
        version_evidence: What its version is known by.
    """

    engine: EngineName
    version: str = ""
    evidence: str = ""
    version_evidence: str = ""


UNRECOGNISED = Recognised("unknown", evidence="nothing that it shows names an engine")


def recognise(responses: Iterable[ProbeResponse]) -> Recognised:
    """Return the engine that some responses are evidence of; `unknown` where they contradict each other."""
    found = [sign for response in responses for sign_of in _SIGNS if (sign := sign_of(response)) is not None]
    engines = sorted({sign.engine for sign in found})
    if len(engines) > 1:
        return Recognised(
            "unknown", evidence=f"the evidence contradicts itself: it is that of {' and of '.join(engines)}"
        )
    if not found:
        return UNRECOGNISED
    version, version_evidence = next(((sign.version, sign.evidence) for sign in found if sign.version), ("", ""))
    evidence = "; ".join(dict.fromkeys(sign.evidence for sign in found))
    return Recognised(found[0].engine, version, evidence, version_evidence)


def _request_id(response: ProbeResponse) -> Recognised | None:
    if "fuseki-request-id" in response.headers:
        return Recognised("fuseki", evidence="the header Fuseki-Request-Id")
    return None


def _server(response: ProbeResponse) -> Recognised | None:
    for engine, pattern in _SERVERS:
        match = pattern.match(response.headers.get("server", "").strip())
        if match is not None:
            return Recognised(engine, match["version"] or "", "the header Server")
    return None


def _description(response: ProbeResponse) -> Recognised | None:
    if "http://www.w3.org/ns/sparql-service-description#" not in response.text:
        return None
    for engine, feature in _FEATURES:
        if feature in response.text:
            return Recognised(engine, evidence="features in its service description")
    return None


def _build(response: ProbeResponse) -> Recognised | None:
    match = _BLAZEGRAPH_BUILD.search(response.text)
    return None if match is None else Recognised("blazegraph", match["version"], "its status page")


def _statistics(response: ProbeResponse) -> Recognised | None:
    if statistics(response).keys() >= {"name-index", "num-triples-normal"}:
        return Recognised("qlever", evidence="what it answers to cmd=stats")
    return None


def statistics(response: ProbeResponse) -> dict[str, object]:
    """Return the JSON object that came, or an empty one."""
    try:
        found = json.loads(response.text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


_SIGNS: tuple[Callable[[ProbeResponse], Recognised | None], ...] = (
    _request_id,
    _server,
    _description,
    _build,
    _statistics,
)
