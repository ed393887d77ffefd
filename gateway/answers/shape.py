"""What a shape of answers is: how each part of a page is written, and the bytes that it takes so."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.answers.page import AnyPage, Header, Page, PageEdge, PageNode, TermSummary
from gateway.escaping import json_text
from gateway.settings.profile import ShapeName
from gateway.terms.coined_prefixes import used_in

Json = dict[str, Any]
Part = AnyPage | Header | TermSummary | PageNode | PageEdge


def size_of(value: Any) -> int:
    """Return the bytes that a JSON value takes in an answer, the comma after it included."""
    if type(value) is str and value.isascii() and value.isprintable() and '"' not in value and "\\" not in value:
        # Most nodes and edges are such texts; they are written as they are.
        return len(value) + len('"",')
    return len(json_text(value).encode()) + 1


def with_prefixes(written: Json, coined: Mapping[str, str]) -> Json:
    """Return an answer with those of some coined prefixes that it uses."""
    used = used_in(json_text(written), coined) if coined else {}
    return {**written, "prefixes": {**written.get("prefixes", {}), **used}} if used else written


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One way to write pages as JSON.

    Attributes:
        name: Its name.
        writers: What writes a page or a part of one, by its class.
        entity: Writes an entity among several.
        names_stubs: Whether stubs carry names even if IDs are readable, unless only the topology is asked for.
        always_summarizes: Whether the types and predicates of the traversal stand in every answer, or only where a page
            or a filter hides some.
        set_frames: Sets the bytes that each node and edge takes beside its own, given the positions of the edges' later
            ends.
    """

    name: ShapeName
    writers: Mapping[type, Callable[[Any], Any]]
    entity: Callable[[PageNode], Any]
    names_stubs: bool
    always_summarizes: bool
    set_frames: Callable[[Sequence[PageNode], Sequence[PageEdge], Sequence[int]], None]

    def size_of_part(self, part: Part) -> int:
        """Return the bytes that a page, which keeps what it is written as, or a part of a subgraph's page takes."""
        written = self.writers[type(part)](part)
        if isinstance(part, Page):
            part.written = written
        return size_of(written)

    def measure(self, item: PageNode | PageEdge) -> int:
        """Return the bytes that a node or an edge takes by itself, which it keeps."""
        if item.size is None:
            item.size = size_of(self.writers[type(item)](item))
        return item.size

    def size_of_entity(self, entity: PageNode) -> int:
        """Return the bytes that an entity takes among several."""
        return size_of(self.entity(entity))
