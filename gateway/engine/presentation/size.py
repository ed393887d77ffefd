"""How large an answer is, and how texts and lists are shortened (docs/contract.md, "Size")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from gateway.escaping import json_text
from gateway.terms.words import cut

BYTES_PER_TOKEN = 4
"""An estimate: tokenizers differ, and the gateway does not know the client's (docs/contract.md)."""

SHORTER = ((1_000, 100), (200, 30), (80, 10))
"""Characters of a text and elements of a list that are left, by how hard it must be tried."""

Json = Any
Listed = TypeVar("Listed")


def compact_json(value: Json) -> str:
    """Return JSON without indentation, as it is sent: characters that hide or reorder text are escaped."""
    return json_text(value)


def size_of(value: Json) -> int:
    """Return the bytes that a value takes in an answer, the comma after it included."""
    return len(compact_json(value).encode()) + 1


@dataclass(slots=True)
class Shortener:
    """Shortens texts and lists, and counts how many.

    Attributes:
        text: Characters above which a text is cut.
        elements: Elements above which a list is cut.
        shortened: How many values were cut.
    """

    text: int
    elements: int
    shortened: int = 0

    def __call__(self, text: str) -> str:
        """Return a text, cut where it is too long."""
        if len(text) <= self.text:
            return text
        self.shortened += 1
        return cut(text, self.text)

    def beginning(self, values: Sequence[Listed]) -> Sequence[Listed]:
        """Return as many of the first values as a list may have."""
        if len(values) <= self.elements:
            return values
        self.shortened += 1
        return values[: self.elements]


def shorteners() -> list[Shortener]:
    """Return the steps of shortening, the gentlest first."""
    return [Shortener(text, elements) for text, elements in SHORTER]


def largest_page(node_sizes: Sequence[int], edge_sizes: Sequence[tuple[int, int]], room: int) -> int:
    """Return how many nodes fit together with the edges among them; at least one.

    Args:
        node_sizes: Bytes of each node, in order.
        edge_sizes: For each edge the position of its later end, and its bytes.
        room: Bytes that nodes and edges may take together.
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
