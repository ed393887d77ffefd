"""What is known of engines: how each takes a client's deadline, and what is prudent with it.

Each line is from the field notes: ``sparql-endpoints.md`` 2 and 7.1, ``blazegraph.md``. Nothing here says what an
engine can do; that is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from gateway.settings.endpoint import Endpoint, EngineName
from gateway.transport.manners import Manners


@dataclass(frozen=True, slots=True)
class Habits:
    """What is known of an engine.

    Attributes:
        name: Its name, for people.
        manners: How it wants to be told the time that is left.
        rows: Rows to ask for at most, below the cap that it comes with; None where it comes with none.
        cuts_at_deadline: Whether a client's time-out brings a part of the rows in place of an error.
        cuts_silently: Whether its own time-out ends an answer early without a sign.
        counts_at_once: Whether it knows how many triples it has without reading them.
    """

    name: str
    manners: Manners = Manners()  # noqa: RUF009 - it is frozen
    rows: int | None = None
    cuts_at_deadline: bool = False
    cuts_silently: bool = False
    counts_at_once: bool = False


HABITS: Mapping[EngineName, Habits] = {
    "fuseki": Habits("Apache Jena Fuseki", Manners(timeout_parameter="timeout")),
    "oxigraph": Habits("Oxigraph"),
    "virtuoso": Habits("Virtuoso", rows=9_000, cuts_at_deadline=True, counts_at_once=True),
    "blazegraph": Habits(
        "Blazegraph",
        Manners(timeout_header="X-BIGDATA-MAX-QUERY-MILLIS", timeout_unit="milliseconds", cancel_by_id=True),
        counts_at_once=True,
    ),
    "qlever": Habits("QLever", counts_at_once=True),
    # A time-out ends the rows without a sign, unless the repository is set otherwise.
    "graphdb": Habits("GraphDB", cuts_silently=True),
    "stardog": Habits("Stardog"),
    "rdf4j": Habits("RDF4J"),
    "unknown": Habits("an engine that is not recognised"),
}


def manners(settings: Endpoint, engine: EngineName) -> Manners:
    """Return how an endpoint is asked: as its profile says, and as its engine is known to want where that says nothing.

    Args:
        settings: The profile's word.
        engine: The engine, pinned or recognised.
    """
    told = Manners(settings.timeout_parameter, settings.timeout_header, settings.timeout_unit, settings.cancel_by_id)
    known = HABITS[engine]
    cancel_by_id = told.cancel_by_id or known.manners.cancel_by_id
    if known.cuts_at_deadline:
        return Manners(cancel_by_id=cancel_by_id)
    if told.timeout_parameter or told.timeout_header:
        return replace(told, cancel_by_id=cancel_by_id)
    return replace(known.manners, cancel_by_id=cancel_by_id)
