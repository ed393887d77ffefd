"""The nodes and edges of one page while they are made to fit: every step is counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeVar

from gateway.engine import messages
from gateway.engine.presentation.page import Degraded, PageEdge, PageNode
from gateway.engine.presentation.reference_shape import size_of_part
from gateway.engine.presentation.values import SHORTER, Shortener
from gateway.graph.deadline import Deadline
from gateway.graph.values import Edge, Iri

_AT_ONCE = 50
"""Nodes or edges, whose metadata may be long, between two looks at the clock."""


@dataclass(slots=True)
class Window:
    """The nodes and edges that a page may show.

    Attributes:
        nodes: Nodes in order.
        edges: Edges in order.
        ends: For each edge the position of its later end among the nodes; -1 for the node before the page.
        totals: How many edges have their later end at the node before the page, and at each node.
        deadline: When the call must have answered; what takes long here raises `DeadlinePassed` after it.
    """

    nodes: list[PageNode]
    edges: list[PageEdge]
    ends: list[int]
    totals: Sequence[int]
    deadline: Deadline

    @property
    def size(self) -> int:
        """Bytes that nodes and edges take."""
        return sum(map(_size, self._items))

    @property
    def degraded(self) -> Degraded:
        """What is left out of nodes and edges, by step."""
        items: list[PageNode | PageEdge] = [*self.nodes, *self.edges]
        steps: Degraded = {
            "values_shortened": sum(item.shortened for item in items),
            "nodes_as_stubs": sum(node.is_reduced for node in self.nodes),
            "edges_bare": sum(edge.is_reduced for edge in self.edges),
            "ids_left_out": sum(item.ids_left_out for item in items),
            "precision_failed": sum(item.unrefined and not item.is_reduced for item in items),
            "metadata_failed": sum(item.failed for item in items),
        }
        return {step: count for step, count in steps.items() if count}

    @property
    def omitted_texts(self) -> dict[str, int]:
        """Long texts left out of the metadata that is shown, by predicate."""
        counts: dict[str, int] = {}
        for edge in self.edges:
            for predicate, count in edge.omitted_texts.items() if not edge.is_reduced else ():
                counts[predicate] = counts.get(predicate, 0) + count
        return dict(sorted(counts.items()))

    @property
    def warnings(self) -> list[str]:
        """What a reader should know about these edges."""
        negated = [edge for edge in self.edges if edge.negations]
        wholly = sum(edge.negations == edge.assertions for edge in negated)
        return [messages.negated(len(negated), wholly)] if negated else []

    @property
    def _items(self) -> Iterator[PageNode | PageEdge]:
        return self.deadline.checking((*self.nodes, *self.edges), _AT_ONCE)

    def shrink(self, room: int, *, names_on_stubs: bool) -> None:
        """Leave things out until nodes and edges fit, as far as that goes without leaving out any of them.

        In this order: long texts are shortened, the farthest nodes become stubs, edges lose their metadata.
        """
        size = self.size
        if size > room:
            size = self._shorten(size, room)
        items: list[PageNode | PageEdge] = [*reversed(self.nodes), *reversed(self.edges)]
        for item in self.deadline.checking(items, _AT_ONCE):
            if size <= room:
                return
            if item.metadata is not None:
                size -= _size(item)
                if isinstance(item, PageNode):
                    item.make_stub(with_name=names_on_stubs)
                else:
                    item.make_bare()
                size += _size(item)

    def _shorten(self, size: int, room: int) -> int:
        for text, elements in SHORTER:
            for item in self._items:
                item.shorten(Shortener(text, elements))
            size = self.size
            if size <= room:
                break
        return size

    def cut(self, room: int) -> None:
        """Leave out the last nodes, and the edges that end at them, until the rest fits; the page is never empty."""
        if self.size > room:
            sizes: list[list[int]] = [[] for _ in range(len(self.nodes) + 1)]
            for end, edge in zip(self.ends, self.edges, strict=True):
                sizes[end + 1].append(_size(edge))
            self.nodes, places = fitting(self.nodes, self.ends, [_size(node) for node in self.nodes], sizes, room)
            self.edges = [self.edges[place] for place in places]
            self.ends = [self.ends[place] for place in places]

    @property
    def is_smallest(self) -> bool:
        """Whether nothing more can be left for the next page."""
        return len(self.nodes) <= 1 and len(self.edges) <= 1

    @property
    def last_edges(self) -> tuple[int, int]:
        """How many edges that end at the last node are on the page, and how many there are."""
        last = len(self.nodes) - 1
        return self.ends.count(last), self.totals[last + 1] if self.totals else 0


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


def _size(item: PageNode | PageEdge) -> int:
    if item.size is None:
        item.size = size_of_part(item)
    return item.size
