"""The nodes and edges of one page while they are made to fit: every step is counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
        ends: For each edge the position of its later end among the nodes.
        deadline: When the call must have answered; what takes long here raises `DeadlinePassed` after it.
    """

    nodes: list[PageNode]
    edges: list[PageEdge]
    ends: list[int]
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
        """Leave out the last nodes, and the edges that touch them, until the rest fits; one node always stays."""
        if not self.nodes or self.size <= room:
            return
        count = largest_page(
            [_size(node) for node in self.nodes],
            [(end, _size(edge)) for end, edge in zip(self.ends, self.edges, strict=True)],
            room,
        )
        del self.nodes[count:]
        inside = [position for position, end in enumerate(self.ends) if end < count]
        self.edges = [self.edges[position] for position in inside]
        self.ends = [self.ends[position] for position in inside]


def largest_page(node_sizes: Sequence[int], edge_sizes: Sequence[tuple[int, int]], room: int) -> int:
    """Return how many nodes fit together with the edges among them; at least one.

    `edge_sizes` has for each edge the position of its later end among the nodes, and its bytes.
    """
    completed = [0] * len(node_sizes)
    for later_end, size in edge_sizes:
        completed[later_end] += size
    used = 0
    for position, size in enumerate(node_sizes):
        used += size + completed[position]
        if used > room:
            return max(1, position)
    return len(node_sizes)


def edges_within(window: Sequence[Iri], edges: Sequence[Edge], deadline: Deadline) -> list[tuple[int, Edge]]:
    """Return the edges with both ends in a window, each with the position of its later end."""
    position = {node: index for index, node in enumerate(window)}
    return [
        (max(position[edge.subject], position[edge.object]), edge)
        for edge in deadline.checking(edges)
        if edge.subject in position and edge.object in position
    ]


def edges_across(window: Sequence[Iri], edges: Sequence[Edge], deadline: Deadline) -> int:
    """Return how many edges have exactly one end in a window."""
    inside = set(window)
    return sum((edge.subject in inside) != (edge.object in inside) for edge in deadline.checking(edges))


def _size(item: PageNode | PageEdge) -> int:
    if item.size is None:
        item.size = size_of_part(item)
    return item.size
