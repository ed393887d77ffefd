"""Reads paths to seeds of which only the sets of nodes near them are known, not the edges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from gateway.engine.traversal.topology import Path, PathStep
from gateway.graph.call import Call
from gateway.graph.computing import FEW, in_thread
from gateway.graph.deadline import Deadline
from gateway.graph.store import GraphStore
from gateway.graph.values import Iri, Neighbourhood, other_end

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
                found |= await in_thread(self._call, steps_on, unless=edges <= FEW)
                ends = {found[node].node for node in frontiers[place] if node in found}
                frontiers[place] = sorted(end for end in ends if distance[end] and end not in found)
        read: dict[Iri, tuple[Path, ...]] = {}
        for node in nodes:
            walks = [_walk(node, found, distance) for found, distance in zip(steps, distances, strict=True)]
            paths = tuple(walk for walk in walks if walk is not None)
            if len(paths) == len(distances):
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


def _walk(node: Iri, steps: Mapping[Iri, PathStep], distance: Mapping[Iri, int]) -> Path | None:
    """Return the steps from a node to the seed; None if one of them could not be read."""
    path: list[PathStep] = []
    while distance[node]:
        if node not in steps:
            return None
        path.append(steps[node])
        node = steps[node].node
    return tuple(path)
