"""How many names a graph has, which decides whether a search may compare all of them."""

from __future__ import annotations

import logging

from gateway.errors import Fault
from gateway.graph.call import Call
from gateway.graph.values import Iri
from gateway.sparql.client import SparqlClient
from gateway.sparql.nodes.name_predicates import NamePredicates
from gateway.sparql.results.columns import integer

_log = logging.getLogger(__name__)


class NameCount:
    """Counts names up to a bound, once for each bound."""

    def __init__(self, client: SparqlClient, name_predicates: NamePredicates) -> None:
        self._client = client
        self._name_predicates = name_predicates
        self._counted_for: tuple[Iri, ...] = ()
        self._known: dict[int, bool] = {}

    async def is_at_most(self, bound: int, call: Call) -> bool:
        """Return whether there are at most so many names; False where they cannot be counted."""
        if not self._client.is_remote:
            return True
        if self._counted_for != self._name_predicates.all:
            self._counted_for, self._known = self._name_predicates.all, {}
        if bound not in self._known:
            try:
                self._known[bound] = await self._count(bound, call) <= bound
            except Fault as fault:
                _log.info("the names of the graph could not be counted: %s", fault)
                return False
        return self._known[bound]

    async def _count(self, bound: int, call: Call) -> int:
        answer = await self._client.rows(
            "search/size", call, {"predicates": list(self._name_predicates.all), "most": bound + 1}
        )
        return sum(integer("count")(answer.whole()))
