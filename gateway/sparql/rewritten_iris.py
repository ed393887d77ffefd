"""Which IRIs an endpoint reads as others: what it then says of them would be about something else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from sys import getsizeof
from typing import Protocol

from gateway.errors import Fault, QueryRefused, quoted
from gateway.graph.call import Call
from gateway.sparql.results import columns
from gateway.sparql.results.rows import Rows
from gateway.sparql.template import Parameter
from gateway.terms.bounded_map import BoundedMap
from gateway.terms.iri import are_ordinary, composed, may_be_rewritten

_AT_ONCE = 200
"""IRIs in one query."""

_KNOWN_BYTES = 4 << 20
"""Memory for what the endpoint said."""


class Asking(Protocol):
    """What sends templates to an endpoint."""

    query_rows: int

    async def rows(self, name: str, call: Call, parameters: Mapping[str, Parameter], /) -> Rows:
        """Ask one question; see `SparqlClient.rows`."""


def refused_iri(iri: str, refused: QueryRefused) -> QueryRefused:
    """Return the refusal of a query as one that names the IRI in it that the engine does not take."""
    return QueryRefused(
        f"The engine refused a query about {quoted(iri)}, which may be no IRI by the engine's rules.",
        valid="Engines differ: some refuse [ and ], or a % without two hexadecimal digits after it.",
        next_step=refused.next_step or "Ask without it.",
    )


class RewrittenIris:
    """What an endpoint said about the IRIs that some engine may read as others; it is asked about each once."""

    def __init__(self, client: Asking) -> None:
        self._client = client
        self._is_unchanged: BoundedMap[str, bool] = BoundedMap(_KNOWN_BYTES)

    async def faults(self, iris: Iterable[str], call: Call) -> Mapping[str, Fault]:
        """Return those of the IRIs that the endpoint reads as others, or could not be asked about, and why."""
        distinct = dict.fromkeys(iris)
        doubtful = [] if are_ordinary(distinct) else list(filter(may_be_rewritten, distinct))
        known = self._is_unchanged.known
        is_unchanged = {iri: known[iri] for iri in doubtful if iri in known}
        new = [iri for iri in doubtful if iri not in is_unchanged]
        size = max(1, min(_AT_ONCE, self._client.query_rows // 2))
        faults: dict[str, Fault] = {}
        for start in range(0, len(new), size):
            faults |= await self._read_back(new[start : start + size], is_unchanged, call)
        for iri in new:
            if iri in is_unchanged:
                self._is_unchanged.add(iri, is_unchanged[iri], getsizeof(iri))
        return faults | {iri: _rewritten(iri) for iri, unchanged in is_unchanged.items() if not unchanged}

    async def _read_back(self, iris: Sequence[str], is_unchanged: dict[str, bool], call: Call) -> dict[str, Fault]:
        """Learn which IRIs the endpoint reads as they are; return those about which it could not be asked, and why."""
        try:
            # Beside its composed form, an IRI does not come back from an engine to which the two are one.
            together = dict.fromkeys([*map(composed, iris), *iris])
            rows = (await self._client.rows("iris_as_read", call.for_probe(), {"nodes": list(together)})).whole()
            as_read = {*columns.iri("n")(columns.binding(rows, "n"))}
        except QueryRefused as refused:
            # One that the engine refuses must not leave the others of its batch unasked.
            if len(iris) == 1:
                return {iris[0]: refused_iri(iris[0], refused)}
            middle = len(iris) // 2
            first = await self._read_back(iris[:middle], is_unchanged, call)
            return {**first, **await self._read_back(iris[middle:], is_unchanged, call)}
        except Fault as fault:
            return dict.fromkeys(iris, fault)
        is_unchanged |= {iri: iri in as_read for iri in iris}
        return {}


def _rewritten(iri: str) -> QueryRefused:
    return QueryRefused(
        f"The endpoint reads {quoted(iri)} as another IRI, so it cannot be asked for.", next_step="Ask without it."
    )
