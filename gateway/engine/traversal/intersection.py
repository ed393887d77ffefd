"""Searches from each seed of an intersection, along the edges that are followed from this seed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from gateway.engine.traversal.breadth_first import BreadthFirstSearch, Exploration, combined
from gateway.engine.traversal.node_expander import NodeExpander
from gateway.engine.traversal.steering import Steering
from gateway.graph.call import Call
from gateway.graph.store import GraphStore
from gateway.graph.values import EdgeSelection, Iri, Neighbourhood, other_end

_Source = tuple[Iri, EdgeSelection]
"""A seed, and the edges that are followed from it; one seed may stand in several relations."""

_LARGE = 5_000
"""Edges of a seed above which the edges from the other side are asked for, if another seed has fewer."""


class IntersectionSearch:
    """One search from each seed; seeds from which the same edges are followed share it.

    Of the citizens of a large country, only those who were born in a small town are of interest. So where one hop is
    steered, a seed with very many edges is not expanded: the nodes that the other seeds reach are asked for their edges
    to it.
    """

    def __init__(
        self,
        store: GraphStore,
        seeds: Sequence[Iri],
        hops: int,
        steering: Steering,
        expander: NodeExpander,
        call: Call,
    ) -> None:
        self._store = store
        self._hops = hops
        self._expander = expander
        self._call = call
        self._is_steered = not steering.is_off
        selections = steering.selections if steering.is_listed else [steering.selection] * len(seeds)
        self._sources = list(zip(seeds, selections, strict=True))

    async def run(self) -> Exploration:
        """Return what is near each seed, in the order of seeds.

        Raises:
            Fault: Nothing could be learnt about any seed of a search.
        """
        large = await self._large_sources()
        groups: dict[EdgeSelection, list[Iri]] = {}
        for seed, selection in self._sources:
            if (seed, selection) not in large:
                groups.setdefault(selection, []).append(seed)
        found: dict[_Source, tuple[Exploration, Mapping[Iri, int]]] = {}
        for selection, seeds in groups.items():
            search = BreadthFirstSearch(
                self._store, [[seed] for seed in seeds], self._hops, self._expander, self._call, selection
            )
            part = await search.run()
            found |= {(seed, selection): (part, distance) for seed, distance in zip(seeds, part.distances, strict=True)}
        if large:
            near = frozenset.intersection(*(frozenset(distance) for _, distance in found.values()))
            for source in large:
                part = await self._from_the_other_side(*source, near)
                found[source] = part, part.distances[0]
        return combined([found[source] for source in self._sources])

    async def _large_sources(self) -> Collection[_Source]:
        """Return the seeds with very many edges; none if all have, or if a seed's edges are needed in any case."""
        if self._hops > 1 or not self._is_steered or not self._expander.is_unlimited:
            return ()
        large: list[_Source] = []
        for selection in dict.fromkeys(selection for _, selection in self._sources):
            seeds = [seed for seed, other in self._sources if other == selection]
            degrees = await self._store.degrees(seeds, _LARGE, self._call, selection=selection)
            large += [
                (seed, selection) for seed, degree in degrees.items() if degree.mark.whole and degree.count > _LARGE
            ]
        return large if len(large) < len({*self._sources}) else ()

    async def _from_the_other_side(self, seed: Iri, selection: EdgeSelection, near: Collection[Iri]) -> Exploration:
        """Return which of the nodes near the other seeds are near this one."""
        part = Exploration([{seed: 0}], selection, self._expander.gaps)
        others = sorted(node for node in near if node != seed)
        answers = await self._expander.expand(others, EdgeSelection(selection.incoming, selection.outgoing))
        edges = {
            edge: node for node, answer in answers.items() for edge in answer.edges if other_end(node, edge) == seed
        }
        part.distances[0].update(dict.fromkeys(edges.values(), 1))
        part.known[seed] = Neighbourhood(tuple(edges))
        part.unexpanded.add(seed)
        return part
