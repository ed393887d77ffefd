"""How many triples a graph has, as far as that can be found out in a moment."""

from __future__ import annotations

from gateway.errors import DeadlinePassed, Fault, GaveUp
from gateway.graph.call import Call
from gateway.sparql.client import SparqlClient
from gateway.sparql.engines.traits import TRAITS
from gateway.sparql.results.columns import UnexpectedRows, integer
from gateway.sparql.schema.counting import Counter, Scan

_TOTALS_SECONDS = 0.7
"""Time for counting the triples of a graph; one that takes longer is not small."""

_SMALL = 30_000
_SMALL_SECONDS = 0.25
"""A graph with at most so many triples says so in this time, even if its engine is busy."""

_UNBOUNDED = 1_000_000_000_000
"""More triples than any graph has: the query needs a bound."""


class GraphSize:
    """Counts the triples of a graph."""

    def __init__(self, client: SparqlClient, counter: Counter) -> None:
        self._client = client
        self._counter = counter

    async def totals(self, limit: int, call: Call) -> Scan:
        """Return the triples of each predicate; nothing for a graph that takes too long.

        Raises:
            Fault: The graph could not be asked.
        """
        totals = await self._totals_within(_TOTALS_SECONDS, limit, call)
        if not totals.is_whole and not totals.counts and await self._is_small(call):
            # The engine is slow or busy; the graph is not large.
            return await self._totals_within(call.deadline.seconds_left, limit, call)
        return totals

    async def triples(self, call: Call) -> int | None:
        """Return the number of all triples if the engine knows it without counting, else None."""
        if not TRAITS[await self._client.engine(call)].counts_at_once:
            return None
        try:
            return await self._count(_UNBOUNDED, call)
        except Fault:
            return None

    async def _totals_within(self, seconds: float, limit: int, call: Call) -> Scan:
        try:
            with call.within(seconds):
                return await self._counter.totals(limit, call)
        except (DeadlinePassed, GaveUp):
            call.deadline.check()
            return Scan({}, limit, is_whole=False)

    async def _is_small(self, call: Call) -> bool:
        try:
            with call.within(_SMALL_SECONDS):
                return await self._count(_SMALL + 1, call) <= _SMALL
        except Fault:
            return False

    async def _count(self, at_most: int, call: Call) -> int:
        answer = await self._client.rows("check/triples", call, {"most": at_most})
        counts = [*integer("count")(answer.whole())]
        if len(counts) != 1:
            raise UnexpectedRows
        return counts[0]
