"""Shortest paths from the nodes of an intersection to its seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gateway.graph.values import Iri, Neighbourhood

Path = tuple[Iri, ...]


def paths_to_seeds(
    nodes: Iterable[Iri], distances: Sequence[Mapping[Iri, int]], known: Mapping[Iri, Neighbourhood]
) -> dict[Iri, tuple[Path, ...]]:
    """Return one shortest path from each node to each seed, both ends included.

    Of several shortest paths it is the one whose steps come first by IRI, counted from the node.

    Args:
        nodes: Nodes that every seed reaches.
        distances: For each seed, the distance of every node it reaches.
        known: The neighbourhoods of expanded nodes.
    """
    nearer = [_nearer(distance, known) for distance in distances]
    return {node: tuple(_walk(node, steps) for steps in nearer) for node in nodes}


def _nearer(distance: Mapping[Iri, int], known: Mapping[Iri, Neighbourhood]) -> dict[Iri, Iri]:
    """Return, for each node, its first neighbour that is one step nearer to the seed."""
    first: dict[Iri, Iri] = {}
    for node, neighbourhood in known.items():
        steps = distance.get(node)
        if steps is None:
            continue
        for edge in neighbourhood.edges:
            other = edge.object if edge.subject == node else edge.subject
            if distance.get(other) == steps + 1 and node < first.get(other, "\U0010ffff"):
                first[other] = node
    return first


def _walk(node: Iri, nearer: Mapping[Iri, Iri]) -> Path:
    path = [node]
    while path[-1] in nearer:
        path.append(nearer[path[-1]])
    return tuple(path)
