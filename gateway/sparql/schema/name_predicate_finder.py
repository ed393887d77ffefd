"""Finds the predicates that name the nodes of a graph, and makes the store use them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import chain

from gateway.errors import Fault
from gateway.graph.call import Call
from gateway.graph.values import Iri
from gateway.settings.profile import Profile
from gateway.sparql.client import SparqlClient
from gateway.sparql.nodes.name_predicates import NamePredicates
from gateway.sparql.nodes.reader import NodeReader
from gateway.sparql.results.columns import iri
from gateway.sparql.schema.name_heuristic import Text, likely_name_predicate
from gateway.terms.iri import is_sendable
from gateway.terms.literals import Literal

_TRIPLES = 2_000
"""Neighbouring triples whose subjects are taken."""

_NODES = 100
"""Subjects of one place whose literals are read."""

_SECOND_PLACE = 30_000
"""Triples before the second place in a graph of unknown size."""

_FARTHEST = 500_000
"""Triples before a place at most: engines walk there."""


class NamePredicateFinder:
    """Finds the name predicates of a graph."""

    def __init__(
        self, client: SparqlClient, nodes: NodeReader, name_predicates: NamePredicates, profile: Profile
    ) -> None:
        self._client = client
        self._nodes = nodes
        self._name_predicates = name_predicates
        self._roles = profile.roles
        self._is_pinned = "name" in profile.roles.model_fields_set

    async def find(self, call: Call, triples: int | None = None) -> tuple[Iri, ...] | None:
        """Return the name predicates of the graph, the best first; None if they could not be found.

        If the usual ones name hardly any node, another one may; a name predicate in the profile overrides both. An
        engine may store its triples by predicate, so neighbouring triples only choose the nodes; a predicate is judged
        by all literals of these nodes. A usual name of a node comes before another one, so no sample decides between
        the two.

        Args:
            call: Pays for it.
            triples: Triples of the graph, if that is known; no place is chosen behind the last one.
        """
        usual = self._roles.name
        if self._is_pinned:
            return await self._used(usual, call)
        used, texts = await asyncio.gather(self._used(usual, call), self._texts(triples, call))
        if used is None or texts is None:
            return None
        other = likely_name_predicate(texts, usual, (*self._roles.synonym, *self._roles.description))
        self._name_predicates.use((*usual, *other))
        return (*used, *other)

    async def _used(self, predicates: tuple[Iri, ...], call: Call) -> tuple[Iri, ...] | None:
        try:
            answer = await self._client.rows("schema/used_names", call, {"predicates": predicates})
            used = set(iri("p")(answer.whole()))
        except Fault:
            return None
        return tuple(iri for iri in predicates if iri in used)

    async def _texts(self, triples: int | None, call: Call) -> list[Text] | None:
        """Return all literals of some nodes; None if they could not be read."""
        try:
            subjects = await asyncio.gather(*(self._subjects_after(place, call) for place in _places(triples)))
            nodes = list(dict.fromkeys(chain.from_iterable(subjects)))
            described = await self._nodes.metadata(nodes, call, blank_nodes=False, precise=False) if nodes else {}
        except Fault:
            return None
        whole = {node: one.properties for node, one in described.items() if one.mark.whole}
        if nodes and not whole:
            return None
        return [
            (node, predicate, value)
            for node, properties in whole.items()
            for predicate, values in properties.items()
            for value in values
            if isinstance(value, Literal) and is_sendable(predicate)
        ]

    async def _subjects_after(self, place: int, call: Call) -> Sequence[Iri]:
        """Return some subjects of the triples after a place, as far apart as possible."""
        # Any subjects will do.
        rows, _ = (await self._client.rows("schema/subjects", call, {"skip": place, "scan": _TRIPLES})).part()
        askable = [subject for subject in iri("s")(rows) if is_sendable(subject)]
        return askable[:: max(1, -(-len(askable) // _NODES))]


def _places(triples: int | None) -> list[int]:
    """Return the number of triples before each place: the quarters of a graph whose size is known."""
    if triples is None:
        return [0, _SECOND_PLACE]
    if triples <= _TRIPLES:
        return [0]
    return sorted({min(triples * quarter // 4, _FARTHEST) for quarter in range(4)})
