"""Which nodes and edges fit on a page: each edge stands with the later of its two ends."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TypeVar

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
