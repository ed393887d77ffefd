"""One page of an answer while it is written: made smaller until it fits, every step counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from gateway.engine.size import largest_page, shorteners, size_of
from gateway.graph.values import Edge, Iri

Json = dict[str, Any]


@dataclass(slots=True)
class Page:
    """Nodes and edges as JSON.

    Attributes:
        nodes: Nodes in order.
        edges: Edges in order.
        ends: For each edge the position of its later end among the nodes.
        degraded: What was left out, by step, with counts.
        omitted: Quotes left out, by predicate.
    """

    nodes: list[Json]
    edges: list[Json]
    ends: list[int]
    degraded: dict[str, int] = field(default_factory=dict)
    omitted: dict[str, int] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Bytes that nodes and edges take."""
        return sum(map(size_of, self.nodes)) + sum(map(size_of, self.edges))

    def tell(self, step: str, count: int = 1) -> None:
        """Count what a step left out."""
        if count:
            self.degraded[step] = self.degraded.get(step, 0) + count

    def shrink(self, room: int, *, names_on_stubs: bool) -> None:
        """Leave things out until the page fits, as far as that goes without leaving out nodes or edges.

        In this order: long texts are shortened, the farthest nodes become stubs, edges lose their metadata.
        """
        size = self.size
        if size > room:
            size = self._shorten(size, room)
        for node in reversed(self.nodes):
            if size <= room:
                return
            if "metadata" in node:
                size -= size_of(node)
                _to_stub(node, names_on_stubs=names_on_stubs)
                size += size_of(node)
                self.tell("nodes_as_stubs")
        for edge in reversed(self.edges):
            if size <= room:
                return
            if "metadata" in edge:
                size -= size_of(edge)
                del edge["metadata"]
                size += size_of(edge)
                self.tell("edges_bare")

    def _shorten(self, size: int, room: int) -> int:
        for shorter in shorteners():
            for item in (*self.nodes, *self.edges):
                if "metadata" in item:
                    item["metadata"] = shorter(item["metadata"])
            if shorter.shortened:
                self.degraded["values_shortened"] = max(shorter.shortened, self.degraded.get("values_shortened", 0))
                size = self.size
            if size <= room:
                break
        return size

    def cut(self, room: int) -> None:
        """Leave out the last nodes, and the edges that touch them, until the page fits; one node always stays."""
        if not self.nodes or self.size <= room:
            return
        count = largest_page(
            [size_of(node) for node in self.nodes],
            [(end, size_of(edge)) for end, edge in zip(self.ends, self.edges, strict=True)],
            room,
        )
        del self.nodes[count:]
        inside = [position for position, end in enumerate(self.ends) if end < count]
        self.edges = [self.edges[position] for position in inside]
        self.ends = [self.ends[position] for position in inside]


def edges_within(window: Sequence[Iri], edges: Sequence[Edge]) -> list[tuple[int, Edge]]:
    """Return the edges with both ends in a window, each with the position of its later end."""
    position = {node: index for index, node in enumerate(window)}
    return [
        (max(position[edge.subject], position[edge.object]), edge)
        for edge in edges
        if edge.subject in position and edge.object in position
    ]


def edges_across(window: Sequence[Iri], edges: Sequence[Edge]) -> int:
    """Count the edges with exactly one end in a window."""
    inside = set(window)
    return sum((edge.subject in inside) != (edge.object in inside) for edge in edges)


def _to_stub(node: Json, *, names_on_stubs: bool) -> None:
    metadata = node.pop("metadata")
    if names_on_stubs and "name" in metadata:
        node["name"] = metadata["name"]
