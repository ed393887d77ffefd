"""What could be followed from entities: their edges, counted by predicate and direction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from gateway.engine.presentation import written_iris
from gateway.engine.presentation.edge_survey import ALL_SHOWN, EdgeSurvey, SurveyRow
from gateway.engine.traversal.gaps import cause_of
from gateway.errors import EdgesCapped, EndpointFault, Fault
from gateway.graph.call import Call
from gateway.graph.edge_counts import EdgeCounts
from gateway.graph.store import GraphStore
from gateway.graph.values import Iri, Mark
from gateway.settings.profile import Profile
from gateway.terms.prefixes import PrefixMap

EDGES_READ = 300
"""Edges of an entity that are read; those of an entity with more are counted by the endpoint."""

ROWS = 30
FEW_ROWS = 10
"""Rows of one entity, and of one of many."""

WITH_EXAMPLES = 10
"""Entities in one call whose rows show neighbours, at most."""

NAMES_READ = 100
"""Neighbours in one call whose names are read to find some with a name, if the first of each row are no more.

The names of a node come in all languages, so each takes a hundred rows of some graphs.
"""

_TIME_FOR_HUBS = 0.25
"""Share of the time of a call in which the edges of hubs must be counted."""


class Surveyor:
    """Counts the edges of entities for one graph.

    Args:
        store: The graph.
        profile: The settings of the endpoint and its graph.
        prefixes: The prefixes of IDs.
        edges_read: Edges of one entity that are read at most.
    """

    def __init__(self, store: GraphStore, profile: Profile, prefixes: PrefixMap, edges_read: int = EDGES_READ) -> None:
        self._store = store
        self._seconds_for_hubs = profile.limits.deadline_seconds * _TIME_FOR_HUBS
        self._trusted = profile.endpoint.trusted
        self._prefixes = prefixes
        self._edges_read = edges_read
        self._names_at_once = min(profile.limits.facts_batch, NAMES_READ)

    async def survey(self, nodes: Sequence[Iri], call: Call, written: Iterable[Iri] = ()) -> Mapping[Iri, EdgeSurvey]:
        """Return what could be followed from each node. No fault is raised: it is the node's `failed`.

        Args:
            nodes: The nodes.
            call: The call that asks.
            written: The IRIs that the answer writes beside the surveys; prefixes are coined for all together.
        """
        counts = await self._counts(nodes, call)
        few = len(nodes) > WITH_EXAMPLES
        self._prefixes.coin(chain(written, written_iris.of_edge_counts(counts.values(), with_neighbours=not few)))
        first = [min(len(row.neighbours), ALL_SHOWN) for node in nodes for row in counts[node].counts[:ROWS]]
        # One query asks for names in any case. With more neighbours in it, more of those that are shown have one.
        room = max(0, self._names_at_once - sum(first))
        surveys = {}
        for node in call.call_deadline.checking(nodes, at_once=1):
            surveys[node] = self._survey(counts[node], room, few=few)
            room -= sum(max(0, len(row.neighbours) - ALL_SHOWN) for row in surveys[node].rows)
        return surveys

    async def _counts(self, nodes: Sequence[Iri], call: Call) -> Mapping[Iri, EdgeCounts]:
        """Return the counts of each node; those of a hub that could not be counted are lower bounds."""
        try:
            read = await self._store.edges(nodes, call, per_id=self._edges_read)
        except Fault as fault:
            return dict.fromkeys(nodes, EdgeCounts(mark=Mark(fault)))
        counts = {node: EdgeCounts.of(node, read[node]) for node in call.call_deadline.checking(nodes, at_once=1)}
        hubs = [node for node in nodes if isinstance(read[node].mark.fault, EdgesCapped)]
        if hubs:
            for hub, counted in (await self._hub_counts(hubs, call)).items():
                mark = counted.mark
                if mark.whole and not counted.covers(counts[hub]):
                    mark = Mark(EndpointFault("The edges that were counted are fewer than those that were read."))
                # Some edges are known in any case, and one that is known can be followed.
                counts[hub] = counted if mark.whole else replace(counts[hub], mark=mark)
        return counts

    async def _hub_counts(self, hubs: Sequence[Iri], call: Call) -> Mapping[Iri, EdgeCounts]:
        with call.within(self._seconds_for_hubs):
            try:
                return await self._store.edge_counts(hubs, call)
            except Fault as fault:
                return dict.fromkeys(hubs, EdgeCounts(mark=Mark(fault)))

    def _survey(self, counts: EdgeCounts, room: int, *, few: bool) -> EdgeSurvey:
        """Return a survey whose rows have all neighbours from which the shown ones are chosen.

        Args:
            counts: The counts of edges.
            room: How many neighbours there may be, beyond the first of each row.
            few: Whether rows are few, and have no neighbours.
        """
        shorten, rows = self._prefixes.shorten, []
        for one in counts.counts[: FEW_ROWS if few else ROWS]:
            looked_at = () if few else one.neighbours[: ALL_SHOWN + room]
            room -= max(0, len(looked_at) - ALL_SHOWN)
            rows.append(SurveyRow(shorten(one.predicate), one.incoming, one.count, tuple(map(shorten, looked_at))))
        fault = counts.mark.fault
        return EdgeSurvey(
            rows,
            len(counts.counts),
            counts.blank_edges,
            is_exact=fault is None and self._trusted,
            failed=None if fault is None else cause_of(fault),
            ids_left_out=counts.left_out,
        )
