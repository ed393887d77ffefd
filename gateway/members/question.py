"""What a call asks of the nodes that it finds: conditions, columns and an order (docs/values.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gateway.graph.walks import Condition, Order, Walk

Show = Literal["both", "id", "name"]
"""What stands for a node in rows: its ID and its name, or one of them."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an answer.

    Attributes:
        title: What is asked for, with the IDs of its predicates.
        walk: The walk whose ends its cells show.
    """

    title: str
    walk: Walk


@dataclass(frozen=True, slots=True)
class MemberQuestion:
    """What a call asks of the nodes that it finds.

    Attributes:
        conditions: What must hold for them.
        written: What each condition was taken for.
        columns: What is shown of them; None for metadata.
        order: In which order they stand; None for that of the tool.
        edges: Whether edges are shown.
        show: What stands for a node in rows.
        warnings: What a reader should know about the names used.
    """

    conditions: tuple[Condition, ...] = ()
    written: tuple[str, ...] = ()
    columns: tuple[Column, ...] | None = None
    order: Order | None = None
    edges: bool = True
    show: Show = "both"
    warnings: tuple[str, ...] = ()

    @property
    def is_of_members(self) -> bool:
        """Whether the nodes that are asked about are told apart from others."""
        return bool(self.conditions or self.order is not None or self.columns is not None)

    @property
    def is_in_rows(self) -> bool:
        """Whether the nodes stand in rows."""
        return self.columns is not None


NOTHING_ASKED = MemberQuestion()
