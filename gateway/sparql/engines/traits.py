"""What is known of engines: how each takes a client's deadline, and how many rows to ask for.

Sources: docs/notes/endpoints.md, "Time limits and cancelling", "Row caps" and "A last row that proves the end";
docs/notes/blazegraph.md, "HTTP". Nothing here says what an engine can do; that is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from gateway.settings.endpoint import EngineName, Sentinel, TimeoutSettings
from gateway.transport.base import TimeoutPolicy


@dataclass(frozen=True, slots=True)
class EngineTraits:
    """What is known of an engine.

    Attributes:
        name: Its name, for people.
        timeout_policy: How a request states the time that is left.
        rows: Rows to ask for at most, below the cap that it comes with; None where it comes with none.
        cuts_at_deadline: Whether a client's time-out brings a part of the rows in place of an error.
        cuts_silently: Whether its own time-out ends an answer early without a sign.
        counts_at_once: Whether it knows how many triples it has without reading them.
        sentinel: How it is asked for a last row that proves that all rows before it came.
        writes_tsv: Whether it writes TSV several times faster than JSON.
        keeps_policy: Whether tests have shown that it evaluates the conditions of a policy as the standard says.
    """

    name: str
    timeout_policy: TimeoutPolicy = TimeoutPolicy()  # noqa: RUF009 - it is frozen
    rows: int | None = None
    cuts_at_deadline: bool = False
    cuts_silently: bool = False
    counts_at_once: bool = False
    sentinel: Sentinel = "none"
    writes_tsv: bool = False
    keeps_policy: bool = False


TRAITS: Mapping[EngineName, EngineTraits] = {
    "fuseki": EngineTraits(
        "Apache Jena Fuseki",
        TimeoutPolicy(timeout_parameter="timeout"),
        sentinel="united",
        writes_tsv=True,
        keeps_policy=True,
    ),
    # It evaluates the branches of a UNION in the order of their hashes.
    "oxigraph": EngineTraits("Oxigraph", sentinel="sorted", keeps_policy=True),
    "virtuoso": EngineTraits(
        "Virtuoso", rows=9_000, cuts_at_deadline=True, counts_at_once=True, sentinel="united", writes_tsv=True
    ),
    "blazegraph": EngineTraits(
        "Blazegraph",
        TimeoutPolicy(timeout_header="X-BIGDATA-MAX-QUERY-MILLIS", timeout_unit="milliseconds", cancel_by_id=True),
        counts_at_once=True,
    ),
    "qlever": EngineTraits("QLever", counts_at_once=True),
    # A time-out ends the rows without a sign, unless the repository is set otherwise.
    "graphdb": EngineTraits("GraphDB", cuts_silently=True),
    "stardog": EngineTraits("Stardog"),
    "rdf4j": EngineTraits("RDF4J", cuts_silently=True, sentinel="united"),
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
