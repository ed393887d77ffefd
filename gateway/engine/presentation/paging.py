"""Which nodes and edges of a traversal are on a page: each edge with the later of its two ends."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TypeVar

from gateway.graph.deadline import Deadline
from gateway.graph.values import Edge, Iri

Item = TypeVar("Item")


def fitting(
    nodes: Sequence[Item],
    ends: Sequence[int],
    node_sizes: Sequence[int],
    edge_sizes: Sequence[Sequence[int]],
    room: int,
) -> tuple[list[Item], list[int]]:
    """Return the nodes that fit together with the edges that end at them, and the positions of these edges.

    If not even the first node fits with all its edges, it stays with as many of them as fit, and with at least one.

    Args:
        nodes: The nodes.
        ends: For each edge the position of its later end among the nodes; -1 for the node before them.
        node_sizes: The bytes of each node.
        edge_sizes: The bytes of the edges that end at the node before the page, and of those that end at each node.
        room: Bytes that all may take.
    """
    used, count, last = 0, len(nodes), len(edge_sizes[-1])
    for position, sizes in enumerate(edge_sizes):
        if not (position or sizes):
            continue
        size = node_sizes[position - 1] if position else 0
        if used + size + sum(sizes) > room:
            count, last = position - 1, len(edge_sizes[position - 1])
            if not used:
                count, last = position, max(1, sum(end <= room - size for end in accumulate(sizes)))
            break
        used += size + sum(sizes)
    places, of_last = [], 0
    for place, end in enumerate(ends):
        of_last += end == count - 1
        if end < count - 1 or (end == count - 1 and of_last <= last):
            places.append(place)
    return list(nodes[:count]), places


def edges_ending(
    order: Sequence[Iri], offset: int, edge_offset: int, edges: Sequence[Edge], deadline: Deadline
) -> list[tuple[int, Edge]]:
    """Return the edges whose later end is on a page, with that end's position on it.

    Args:
        order: All nodes of the page and of those before it.
        offset: Where the page begins.
        edge_offset: If not 0: the edges that end at the node before the page belong to it too, at position -1, after
            so many that were shown before.
        edges: All edges.
        deadline: When the call must have answered.
    """
    position = {node: index - offset for index, node in enumerate(order)}
    ending, before = [], 0
    for edge in deadline.checking(edges):
        if edge.subject in position and edge.object in position:
            end = max(position[edge.subject], position[edge.object])
            before += end == -1
            if end >= 0 or (end == -1 and before > edge_offset > 0):
                ending.append((end, edge))
    return ending


def edges_later(order: Sequence[Iri], start: int, stop: int, edges: Sequence[Edge], deadline: Deadline) -> int:
    """Return how many edges lead from the nodes of a page, `order[start:stop]`, to nodes after it."""
    inside, before = set(order[start:stop]), set(order[:start])
    return sum(
        (edge.subject in inside) != (edge.object in inside) and not (edge.subject in before or edge.object in before)
        for edge in deadline.checking(edges)
    )
