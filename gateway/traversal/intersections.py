"""The nodes that all seeds reach, and the paths to them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial

from gateway.graph.call import Call, Deadline
from gateway.graph.computing import FEW_FOR_A_THREAD, in_thread
from gateway.graph.store import GraphStore
from gateway.graph.values import EdgeSelection, Iri, Neighbourhood, other_end
from gateway.traversal.breadth_first import BreadthFirstSearch, Exploration, combined
from gateway.traversal.expander import NodeExpander
from gateway.traversal.steering import Steering
from gateway.traversal.topology import Path, PathStep, path_of

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


_AT_ONCE = 10
"""Nodes, which may have as many edges as are read, between two looks at the clock."""

_EDGES = 1_000
"""Edges of a node that are read at most: a hub's would cost more than its path is worth."""


class PathReader:
    """Reads one shortest path from each of some nodes to each seed: back from the nodes, step by step."""

    def __init__(self, store: GraphStore, call: Call) -> None:
        self._store = store
        self._call = call
        self._known: dict[Iri, Neighbourhood] = {}

    async def paths(self, nodes: Sequence[Iri], distances: Sequence[Mapping[Iri, int]]) -> dict[Iri, tuple[Path, ...]]:
        """Return the paths, as `paths_to_seeds` does, without the nodes of which one could not be read.

        Args:
            nodes: The nodes; every seed reaches them.
            distances: For each seed the distance of every node that it reaches.
        """
        frontiers: list[Sequence[Iri]] = [nodes for _ in distances]
        steps: list[dict[Iri, PathStep]] = [{} for _ in distances]
        while any(frontiers):
            await self._read({node for frontier in frontiers for node in frontier})
            for place, distance in enumerate(distances):
                found = steps[place]
                edges = sum(len(self._known[node].edges) for node in frontiers[place] if node in self._known)
                steps_on = partial(self._steps, frontiers[place], distance)
                found |= await in_thread(self._call, steps_on, unless=edges <= FEW_FOR_A_THREAD)
                ends = {found[node].node for node in frontiers[place] if node in found}
                frontiers[place] = sorted(end for end in ends if distance[end] and end not in found)
        read: dict[Iri, tuple[Path, ...]] = {}
        for node in nodes:
            paths = tuple(path_of(node, found) for found in steps)
            # Each step is one nearer; where one could not be read, the path ends before the seed.
            if all(len(path) == distance[node] for path, distance in zip(paths, distances, strict=True)):
                read[node] = paths
        return read

    async def _read(self, nodes: Iterable[Iri]) -> None:
        unread = sorted(node for node in nodes if node not in self._known)
        degrees = await self._store.degrees(unread, _EDGES, self._call) if unread else {}
        small = [node for node, degree in degrees.items() if degree.mark.whole and degree.count <= _EDGES]
        if small:
            self._known |= await self._store.edges(small, self._call)

    def _steps(self, nodes: Sequence[Iri], distance: Mapping[Iri, int], deadline: Deadline) -> Mapping[Iri, PathStep]:
        """Return the first step of each node that is no seed, as far as they are known."""
        found = {node: self._step(node, distance) for node in deadline.checking(nodes, _AT_ONCE) if distance[node]}
        return {node: step for node, step in found.items() if step is not None}

    def _step(self, node: Iri, distance: Mapping[Iri, int]) -> PathStep | None:
        """Return the first step by IRI that is one nearer; None if not all edges of the node could be read."""
        neighbourhood = self._known.get(node)
        if neighbourhood is None or not neighbourhood.mark.whole:
            return None
        steps = (
            PathStep(edge.predicate, edge.object == node, other)
            for edge in neighbourhood.edges
            if distance.get(other := other_end(node, edge)) == distance[node] - 1
        )
        return min(steps, key=lambda step: (step.node, step), default=None)
