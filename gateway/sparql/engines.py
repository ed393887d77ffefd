"""Which engine is behind an endpoint, found before the first query, and what follows from it.

Sources: docs/notes/endpoints.md, "Time limits and cancelling", "Row caps" and "A last row that proves the end";
docs/notes/blazegraph.md, "HTTP". Nothing here says what an engine can do; that is asked.

It costs one request a process, paid by the first call, and a second one where the first names no engine: a server that
answers as RDF4J and GraphDB do is asked what tells them apart, any other for the statistics of a QLever. No call fails
because of it: an engine that is not recognised gets what every SPARQL 1.1 engine takes.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass, fields, replace
from http import HTTPStatus
from typing import Literal

from gateway.errors import Banned, BudgetSpent, Fault, NetworkFault, QuotaSpent, Throttled
from gateway.flow.control import FlowControl
from gateway.graph.call import Call, Deadline
from gateway.graph.kept import KeptFacts
from gateway.settings.endpoint import EngineName, Sentinel, TimeoutSettings
from gateway.settings.profile import Profile, policy_of
from gateway.transport.base import ProbeResponse, Remote, TimeoutPolicy, Transport


@dataclass(frozen=True, slots=True)
class EngineTraits:
    """What is known of an engine.

    Attributes:
        name: Its name, for people.
        timeout_policy: How a request states the time that is left.
        rows: Rows to ask for at most, below the cap that it comes with; None where it comes with none.
        cuts_at_deadline: Whether a client's time-out brings a part of the rows in place of an error.
        counts_at_once: Whether it knows how many triples it has without reading them.
        sentinel: How it is asked for a last row that proves that all rows before it came; None where that is not known.
        writes_tsv: Whether it writes TSV several times faster than JSON.
        keeps_policy: Whether tests have shown that it evaluates the conditions of a policy as the standard says.
        compares_infinite: Whether tests have shown that a comparison with a number misses no infinite one.
        figures: How what it computes itself may be used, if that shows that it is right: as it comes, or over distinct
            rows where there are named graphs, because a triple of several may come several times; None where tests have
            not shown that.
        blank_nodes: How queries state what the engine knows a blank node by, if a probe shows that it does; None where
            it has nothing of the kind.
        reuses_keys: Whether one that is filled anew gives a blank node what another one had before.
    """

    name: str
    timeout_policy: TimeoutPolicy = TimeoutPolicy()  # noqa: RUF009 - it is frozen
    rows: int | None = None
    cuts_at_deadline: bool = False
    counts_at_once: bool = False
    sentinel: Sentinel | None = None
    writes_tsv: bool = False
    keeps_policy: bool = False
    compares_infinite: bool = False
    figures: Literal["plain", "distinct"] | None = None
    blank_nodes: Literal["iris", "labels", "fields"] | None = None
    reuses_keys: bool = False


TRAITS: Mapping[EngineName, EngineTraits] = {
    "fuseki": EngineTraits(
        "Apache Jena Fuseki",
        TimeoutPolicy(timeout_parameter="timeout"),
        sentinel="united",
        writes_tsv=True,
        keeps_policy=True,
        compares_infinite=True,
        figures="plain",
        blank_nodes="iris",
    ),
    # It evaluates the branches of a UNION in the order of their hashes.
    "oxigraph": EngineTraits(
        "Oxigraph",
        sentinel="sorted",
        keeps_policy=True,
        compares_infinite=True,
        figures="distinct",
        blank_nodes="labels",
    ),
    "virtuoso": EngineTraits(
        "Virtuoso",
        rows=9_000,
        cuts_at_deadline=True,
        counts_at_once=True,
        sentinel="united",
        writes_tsv=True,
        compares_infinite=True,
        blank_nodes="iris",
        reuses_keys=True,
    ),
    "blazegraph": EngineTraits(
        "Blazegraph",
        TimeoutPolicy(timeout_header="X-BIGDATA-MAX-QUERY-MILLIS", timeout_unit="milliseconds", cancel_by_id=True),
        counts_at_once=True,
        sentinel="sorted",
    ),
    "qlever": EngineTraits("QLever", counts_at_once=True),
    "graphdb": EngineTraits("GraphDB"),
    "stardog": EngineTraits("Stardog"),
    "rdf4j": EngineTraits("RDF4J", sentinel="united", figures="distinct", blank_nodes="fields"),
    "unknown": EngineTraits("an engine that is not recognised"),
}


def timeout_policy(settings: TimeoutSettings, engine: EngineName) -> TimeoutPolicy:
    """Return how requests state their deadline: as the profile says, else as the engine is known to take it."""
    given = TimeoutPolicy(settings.parameter, settings.header, settings.unit, settings.cancel_by_id)
    known = TRAITS[engine]
    cancel_by_id = given.cancel_by_id or known.timeout_policy.cancel_by_id
    if known.cuts_at_deadline:
        return TimeoutPolicy(cancel_by_id=cancel_by_id)
    if given.timeout_parameter or given.timeout_header:
        return replace(given, cancel_by_id=cancel_by_id)
    return replace(known.timeout_policy, cancel_by_id=cancel_by_id)


_log = logging.getLogger(__name__)

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
REPOSITORIES = "/rest/repositories"
"""The list of repositories of GraphDB, below the path of the server; RDF4J answers 404."""

_MISSING_QUERY = "Missing parameter: query"
"""What RDF4J answers to a request without a query (docs/notes/rdf4j.md, "HTTP").

GraphDB, built on it, names itself in the header Server, which a proxy may take away; it does not run in Jetty.
"""

_REPOSITORY = re.compile(r"(?P<server>.*)/repositories/[^/]+/?")
"""The path of a query endpoint of RDF4J or GraphDB."""

_GRAPHDB_REPOSITORY = re.compile(r'\s*[\[{].*"sesameType"\s*:\s*"graphdb:', re.DOTALL)

_BLAZEGRAPH_BUILD = re.compile(rf'id="?buildVersion"?>{_VERSION}<')

_SECONDS = 3.0
_SHARE = 0.25
"""Of the time that a call has left, detection takes no more."""

_ATTEMPTS = 2
"""Detections that may fail before queries are sent as to an unrecognised engine for a while."""

_FIRST_PAUSE = 30.0
_LONGEST_PAUSE = 3600.0
"""Seconds until an endpoint that failed is looked at again; each time twice as long. It may have been starting, and a
process that never recognises an engine does not see where it cuts its answers."""

_SAYS_NOTHING = frozenset({HTTPStatus.TOO_MANY_REQUESTS, *range(500, 600)})
"""What an endpoint answers that cannot answer now."""

_NO_DESCRIPTION = {HTTPStatus.OK, HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND}
"""What an engine without a service description answers to a request for it."""

_JSON = "application/json"

_VOID = "http://rdfs.org/ns/void#"
_ENGINE = "engine"
"""The engine, among what is kept of an endpoint."""


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
    found = [sign for response in responses for sign in _signs(response)]
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


def server_of_repository(path: str) -> str | None:
    """Return the path of the server of which a path is a repository's; None where it is that of something else."""
    found = _REPOSITORY.fullmatch(path)
    return None if found is None else found["server"]


def _signs(response: ProbeResponse) -> Iterator[Recognised]:
    """Yield what a response shows of engines."""
    named = [*_names(response)]
    yield from named
    if not named and _lacks_query(response) and response.headers.get("server", "").startswith("Jetty"):
        yield Recognised("rdf4j", evidence="what it answers, in Jetty, to a request without a query")


def _lacks_query(response: ProbeResponse) -> bool:
    """Return whether a server refused a request without a query as RDF4J and GraphDB do."""
    return response.status == HTTPStatus.BAD_REQUEST and response.text.strip() == _MISSING_QUERY


def _names(response: ProbeResponse) -> Iterator[Recognised]:
    if "fuseki-request-id" in response.headers:
        yield Recognised("fuseki", evidence="the header Fuseki-Request-Id")
    for engine, pattern in _SERVERS:
        if match := pattern.match(response.headers.get("server", "").strip()):
            yield Recognised(engine, match["version"] or "", "the header Server")
    if "sd-error-code" in response.headers:
        yield Recognised("stardog", evidence="the header SD-Error-Code")
    if _GRAPHDB_REPOSITORY.match(response.text):
        yield Recognised("graphdb", evidence=f"what it answers to {REPOSITORIES}")
    if "http://www.w3.org/ns/sparql-service-description#" in response.text:
        described = [engine for engine, feature in _FEATURES if feature in response.text]
        if described:
            yield Recognised(described[0], evidence="features in its service description")
    if match := _BLAZEGRAPH_BUILD.search(response.text):
        yield Recognised("blazegraph", match["version"], "its status page")
    if statistics(response).keys() >= {"name-index", "num-triples-normal"}:
        yield Recognised("qlever", evidence="what it answers to cmd=stats")


def statistics(response: ProbeResponse) -> dict[str, object]:
    """Return the JSON object that came, or an empty one."""
    try:
        found = json.loads(response.text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _known(kept: KeptFacts | None) -> Recognised | None:
    """Return the engine that an earlier process found; None where that was too long ago."""
    known = None if kept is None else kept.known(_ENGINE, tuple)
    if known is None or len(known[0]) != len(fields(Recognised)):
        return None
    engine, version, evidence, version_evidence = known[0]
    found = next((name for name in TRAITS if name == engine), None)
    return None if found is None else Recognised(found, version, evidence, version_evidence)


class EngineDetector:
    """Detects the engine behind a transport, unless the profile names it.

    Attributes:
        recognised: The engine.
        query_rows: Rows that one query may return.
        description: What the endpoint answered to a request without a query: its service description, perhaps.
        seconds_there_and_back: How long the second request without a query took; None where none was sent.
    """

    def __init__(
        self, transport: Transport, profile: Profile, flow: FlowControl, kept: KeptFacts | None = None
    ) -> None:
        self.recognised = UNRECOGNISED
        self._kept = kept
        self.description = ""
        self.seconds_there_and_back: float | None = None
        self.query_rows = profile.limits.query_rows
        self._settings = profile.endpoint
        self._rows_are_pinned = "query_rows" in profile.limits.model_fields_set
        self._flow = flow
        self._remote = transport if isinstance(transport, Remote) else None
        self._failed = 0
        self._look_after = -math.inf
        self._is_settled = self._remote is None
        self._detecting = asyncio.Lock()
        pinned = profile.endpoint.engine
        if pinned != "auto":
            self._adopt(Recognised(pinned, evidence="the profile's endpoint.engine"))
        # Whether an engine keeps a policy is asked of itself.
        elif not self._is_settled and policy_of(profile) is None and (known := _known(kept)) is not None:
            self._adopt(known)

    @property
    def engine(self) -> EngineName | None:
        """The engine by whose rules answers are read; None until it was looked for, and where that failed."""
        return self.recognised.engine if self._is_settled else None

    @property
    def _is_due(self) -> bool:
        return not self._is_settled and self._flow.clock() >= self._look_after

    async def detect(self, call: Call) -> None:
        """Detect the engine, if no call has done so yet; a fault is no reason not to send the query.

        Raises:
            BudgetSpent: The call has no request left.
            DeadlinePassed: It has no time left.
        """
        deadline = call.deadline
        if self._remote is None or not self._is_due:
            return
        # Another call waits for the result, but no longer than it may take itself.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(deadline.seconds_left), self._detecting:
                if self._is_due:
                    await self._look(self._remote, call)

    async def _look(self, remote: Remote, call: Call) -> None:
        deadline = call.deadline
        brief = deadline.within(min(_SECONDS, deadline.seconds_left * _SHARE))
        try:
            async with self._flow.turn(brief):
                call.for_probe().spend_request()
                response = await remote.look(DESCRIPTION, brief)
            recognised = recognise([response])
            # Where requests are counted, nothing more is asked.
            if recognised == UNRECOGNISED and response.status in _NO_DESCRIPTION and not self._flow.quota.is_limited:
                recognised = await self._by_another_look(remote, response, brief, call)
        except BudgetSpent:
            raise
        except (NetworkFault, QuotaSpent, Throttled, Banned):
            # No answer came, or nothing was sent: the query that follows reports that.
            return
        except Fault as fault:
            self._note_failure(str(fault))
            return
        if recognised == UNRECOGNISED and response.status in _SAYS_NOTHING:
            self._note_failure(f"it answered with status {response.status}")
            return
        self.description = response.text
        self._adopt(recognised)
        # A description that lists terms is read again by each process.
        if self._kept is not None and _VOID not in response.text:
            self._kept.keep(_ENGINE, astuple(recognised))

    def _note_failure(self, why: str) -> None:
        """Look again with the next query, and after some failures only after a pause."""
        _log.info("the engine could not be recognised: %s", why)
        self._failed += 1
        if self._failed >= _ATTEMPTS:
            pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** min(self._failed - _ATTEMPTS, 10))
            self._look_after = self._flow.clock() + pause

    async def _by_another_look(self, remote: Remote, seen: ProbeResponse, deadline: Deadline, call: Call) -> Recognised:
        """Look once more where nothing names an engine: for what tells RDF4J from GraphDB, or for QLever."""
        server = server_of_repository(remote.path) if _lacks_query(seen) else None
        try:
            async with self._flow.turn(deadline):
                call.for_probe().spend_request()
                if server is None:
                    began = self._flow.clock()
                    statistics_of_it = await remote.look(_JSON, deadline, STATISTICS)
                    self.seconds_there_and_back = self._flow.clock() - began
                    return recognise([seen, statistics_of_it])
                other = await remote.look(_JSON, deadline, path=server + REPOSITORIES)
        except Fault:
            return UNRECOGNISED
        if other.status == HTTPStatus.NOT_FOUND:
            return Recognised("rdf4j", evidence=f"what it answers to a request without a query, and to {REPOSITORIES}")
        return recognise([other])

    def _adopt(self, recognised: Recognised) -> None:
        self.recognised, self._is_settled = recognised, True
        traits = TRAITS[recognised.engine]
        _log.info("the endpoint is %s %s (%s)", traits.name, recognised.version, recognised.evidence)
        if self._remote is not None:
            if traits.cuts_at_deadline and self._remote.timeout_policy.sends_time:
                _log.warning("%s is not told the time that is left: it would cut its answers", traits.name)
            self._remote.timeout_policy = timeout_policy(self._settings.timeout, recognised.engine)
        if traits.rows is not None and not self._rows_are_pinned:
            self.query_rows = min(self.query_rows, traits.rows)
