"""Shortest paths from the nodes of an intersection to its seeds."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from gateway.graph.deadline import Deadline
from gateway.graph.values import Iri

Path = tuple[Iri, ...]


def paths_to_seeds(
    nodes: Iterable[Iri],
    distances: Sequence[Mapping[Iri, int]],
    neighbours: Mapping[Iri, Collection[Iri]],
    deadline: Deadline,
) -> dict[Iri, tuple[Path, ...]]:
    """Return one shortest path from each node to each seed, both ends included.

    Of several shortest paths it is the one whose steps come first by IRI, counted from the node.

    Args:
        nodes: Nodes that every seed reaches.
        distances: For each seed, the distance of every node it reaches.
        neighbours: The neighbours of the expanded nodes, over the edges that the distances count: an edge that a node
            with a cap leaves out may be among the edges of its other end.
        deadline: When the call must have answered.

    Raises:
        DeadlinePassed: The time was not enough.
    """
    nearer = [_nearer(distance, neighbours, deadline) for distance in distances]
    return {node: tuple(_walk(node, steps) for steps in nearer) for node in deadline.checking(nodes)}


def _nearer(
    distance: Mapping[Iri, int], neighbours: Mapping[Iri, Collection[Iri]], deadline: Deadline
) -> dict[Iri, Iri]:
    """Return, for each node, its first expanded neighbour that is one step nearer to the seed."""
    first: dict[Iri, Iri] = {}
    for node, others in deadline.checking(neighbours.items()):
        steps = distance.get(node)
        if steps is None:
            continue
        for other in others:
            if distance.get(other) == steps + 1 and node < first.get(other, "\U0010ffff"):
                first[other] = node
    return first


def _walk(node: Iri, nearer: Mapping[Iri, Iri]) -> Path:
    path = [node]
    while path[-1] in nearer:
        path.append(nearer[path[-1]])
    return tuple(path)
