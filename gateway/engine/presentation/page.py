"""One page of an answer while it is written: made smaller until it fits, every step counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from gateway.engine.presentation.size import SHORTER, Shortener, largest_page, size_of
from gateway.engine.schema.view import LONGEST_LABEL
from gateway.graph.deadline import Deadline
from gateway.graph.values import Edge, Iri

Json = dict[str, Any]

_AT_ONCE = 50
"""Nodes or edges, whose metadata may be long, between two looks at the clock."""


@dataclass(slots=True)
class Item:
    """A node or an edge on a page.

    Attributes:
        json: As it will be written.
        lost: Whether metadata that was asked for is left out to save room.
        failed: Whether metadata that was asked for could not be fetched.
        unrefined: Whether it lacks precisions of dates and units of quantities, because these could not be fetched.
        shortened: How many values of the metadata were shortened.
        omitted: Quotes left out of the metadata, by predicate.
        left_out: How many types and values were left out because no caller could send their IDs back.
        negated: How many assertions of an edge deny it, of how many.
    """

    json: Json
    lost: bool = False
    failed: bool = False
    unrefined: bool = False
    shortened: int = 0
    omitted: dict[str, int] = field(default_factory=dict)
    left_out: int = 0
    negated: tuple[int, int] = (0, 0)

    @property
    def size(self) -> int:
        """Bytes it takes."""
        return size_of(self.json)


@dataclass(slots=True)
class Page:
    """Nodes and edges of one page.

    Attributes:
        nodes: Nodes in order.
        edges: Edges in order.
        ends: For each edge the position of its later end among the nodes.
        deadline: When the call must have answered; what takes long here raises `DeadlinePassed` after it.
    """

    nodes: list[Item]
    edges: list[Item]
    ends: list[int]
    deadline: Deadline

    @property
    def size(self) -> int:
        """Bytes that nodes and edges take."""
        return sum(item.size for item in self.deadline.checking((*self.nodes, *self.edges), _AT_ONCE))

    @property
    def degraded(self) -> dict[str, int]:
        """What was left out of this page, by step, with counts."""
        steps = {
            "values_shortened": sum(item.shortened for item in (*self.nodes, *self.edges)),
            "nodes_as_stubs": sum(node.lost for node in self.nodes),
            "edges_bare": sum(edge.lost for edge in self.edges),
            "ids_left_out": sum(item.left_out for item in (*self.nodes, *self.edges)),
            "precision_failed": sum(item.unrefined and not item.lost for item in (*self.nodes, *self.edges)),
            "metadata_failed": sum(item.failed for item in (*self.nodes, *self.edges)),
        }
        return {step: count for step, count in steps.items() if count}

    @property
    def omitted(self) -> dict[str, int]:
        """Quotes left out of the metadata that is on this page, by predicate."""
        counts: dict[str, int] = {}
        for edge in self.edges:
            for predicate, count in edge.omitted.items() if not edge.lost else ():
                counts[predicate] = counts.get(predicate, 0) + count
        return dict(sorted(counts.items()))

    @property
    def negated(self) -> str:
        """A warning about the edges of this page that an assertion denies; empty where there are none."""
        denied = [edge.negated for edge in self.edges if edge.negated[0]]
        if not denied:
            return ""
        wholly = sum(by == of for by, of in denied)
        return (
            f"negated: {len(denied)} of the edges shown {'is' if len(denied) == 1 else 'are'} denied by an assertion "
            f"that says the contrary, {wholly} of them by every assertion there is. Do not read these as facts."
        )

    def shrink(self, room: int, *, names_on_stubs: bool) -> None:
        """Leave things out until the page fits, as far as that goes without leaving out nodes or edges.

        In this order: long texts are shortened, the farthest nodes become stubs, edges lose their metadata.
        """
        size = self.size
        if size > room:
            size = self._shorten(size, room)
        for item in self.deadline.checking((*reversed(self.nodes), *reversed(self.edges)), _AT_ONCE):
            if size <= room:
                return
            if "metadata" in item.json:
                size -= item.size
                _drop_metadata(item, names_on_stubs=names_on_stubs)
                size += item.size

    def _shorten(self, size: int, room: int) -> int:
        for step in SHORTER:
            for item in self.deadline.checking((*self.nodes, *self.edges), _AT_ONCE):
                if "metadata" in item.json:
                    shorter = Shortener(*step)
                    item.json["metadata"] = shorter(item.json["metadata"])
                    item.shortened = max(item.shortened, shorter.shortened)
            size = self.size
            if size <= room:
                break
        return size

    def cut(self, room: int) -> None:
        """Leave out the last nodes, and the edges that touch them, until the page fits; one node always stays."""
        if not self.nodes or self.size <= room:
            return
        count = largest_page(
            [node.size for node in self.deadline.checking(self.nodes, _AT_ONCE)],
            [(end, edge.size) for end, edge in self.deadline.checking(zip(self.ends, self.edges, strict=True))],
            room,
        )
        del self.nodes[count:]
        inside = [position for position, end in enumerate(self.ends) if end < count]
        self.edges = [self.edges[position] for position in inside]
        self.ends = [self.ends[position] for position in inside]


def edges_within(window: Sequence[Iri], edges: Sequence[Edge], deadline: Deadline) -> list[tuple[int, Edge]]:
    """Return the edges with both ends in a window, each with the position of its later end."""
    position = {node: index for index, node in enumerate(window)}
    return [
        (max(position[edge.subject], position[edge.object]), edge)
        for edge in deadline.checking(edges)
        if edge.subject in position and edge.object in position
    ]


def edges_across(window: Sequence[Iri], edges: Sequence[Edge], deadline: Deadline) -> int:
    """Count the edges with exactly one end in a window."""
    inside = set(window)
    return sum((edge.subject in inside) != (edge.object in inside) for edge in deadline.checking(edges))


def _drop_metadata(item: Item, *, names_on_stubs: bool) -> None:
    metadata = item.json.pop("metadata")
    item.lost, item.shortened = True, 0
    if metadata.get("negated"):
        # An edge that nobody asserts must not look like one that somebody does.
        item.json["metadata"] = {"negated": True}
    if names_on_stubs and "name" in metadata:
        item.json["name"] = metadata["name"][:LONGEST_LABEL]
