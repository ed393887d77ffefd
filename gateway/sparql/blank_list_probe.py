"""Whether a graph of an endpoint has lists or containers: asked once for a call, and remembered for a while if not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final
from weakref import WeakKeyDictionary

from gateway.errors import Fault
from gateway.graph.call import Call, Requester
from gateway.graph.values import Iri
from gateway.sparql.client import SparqlClient
from gateway.terms.iri import RDF, RDF_FIRST, RDF_NIL, RDF_REST

_FRESH_SECONDS: Final = 300.0
"""How long it is believed that a graph has no lists."""

NUMBERED: Final = tuple(f"{RDF}_{number}" for number in range(1, 11))
"""By one of these a graph shows that it has containers."""

_MEMBERSHIP: Final = f"{RDF}_"
"""Begins the predicates from containers to their members."""

_CONTAINERS: Final = tuple(f"{RDF}{name}" for name in ("Seq", "Bag", "Alt"))
LIST_TYPES: Final = (f"{RDF}List", *_CONTAINERS)
"""Types of lists and containers, which say nothing of them."""


@dataclass(slots=True)
class _Found:
    """What one call has found out."""

    are_there: bool | None = None
    are_containers: bool | None = None


class ListProbe:
    """Finds out whether a graph has lists or containers.

    Args:
        client: Sends the queries.
    """

    def __init__(self, client: SparqlClient) -> None:
        self._client = client
        self._none_until = -inf
        self._were_met = False
        self._of_calls: WeakKeyDictionary[Requester, _Found] = WeakKeyDictionary()

    def note(self, predicates: Iterable[Iri]) -> None:
        """Note predicates of the graph: a container may begin with a number that is not asked for."""
        if not self._were_met:
            self._were_met = any(one.startswith(_MEMBERSHIP) and one not in NUMBERED for one in predicates)

    async def are_there(self, call: Call) -> bool:
        """Return whether the graph may have some."""
        if self._were_met:
            return True
        known = self._of_calls.setdefault(call.requester, _Found())
        if known.are_there is None:
            now = self._client.flow.clock()
            if now < self._none_until:
                known.are_there = False
                return False
            known.are_there = await self._has((RDF_REST, RDF_FIRST, *NUMBERED), [RDF_NIL, *LIST_TYPES], call)
            if known.are_there is None:
                return True
            if not known.are_there:
                self._none_until = now + _FRESH_SECONDS
        return known.are_there

    async def are_containers(self, call: Call) -> bool:
        """Return whether the graph may have containers."""
        if self._were_met:
            return True
        known = self._of_calls.setdefault(call.requester, _Found())
        if known.are_containers is None:
            has_some = await self.are_there(call)
            known.are_containers = has_some and await self._has(NUMBERED, _CONTAINERS, call) is not False
        return known.are_containers

    async def _has(self, predicates: Sequence[Iri], ends: Sequence[Iri], call: Call) -> bool | None:
        """Return whether the graph has a triple with some predicate or object; None where it did not say."""
        given = {"predicates": predicates, "ends": [ends] if ends else []}
        try:
            rows, _ = (await self._client.rows("blank_nodes/lists", call, given, at_most=1)).part()
        except Fault:
            return None
        return bool(len(rows))
