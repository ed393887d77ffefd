"""What could be followed from an entity: its edges by predicate and direction, as an answer shows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from gateway.engine.traversal.gaps import Cause
from gateway.terms.folding import compact
from gateway.terms.iri import local_name
from gateway.terms.words import cut

ALL_SHOWN = 6
"""Neighbours that a row shows where it has no more (docs/decisions/0031)."""

EXAMPLES = 3
"""Neighbours that any other row shows."""

_LONGEST_NAME = 60
"""Characters of a name that are shown."""


@dataclass(frozen=True, slots=True)
class SurveyRow:
    """The edges of an entity that have the same predicate and direction.

    Attributes:
        predicate: The ID of their predicate.
        incoming: Whether they lead to the entity.
        count: How many there are.
        neighbours: IDs of some nodes at their other ends.
    """

    predicate: str
    incoming: bool
    count: int
    neighbours: tuple[str, ...] = ()


@dataclass(slots=True)
class EdgeSurvey:
    """The edges of an entity by predicate and direction.

    Attributes:
        rows: The most frequent ones.
        total: How many rows there are, those included that are left out.
        blank_edges: Triples left out because their other end is a blank node.
        is_exact: Whether the counts are exact; otherwise they are lower bounds.
        failed: Why not all edges were counted; None if they were.
        ids_left_out: Edges or rows left out because no caller could send their IDs back.
        names: Names of predicates and neighbours by ID.
    """

    rows: list[SurveyRow]
    total: int
    blank_edges: int = 0
    is_exact: bool = True
    failed: Cause | None = None
    ids_left_out: int = 0
    names: Mapping[str, str] = field(default_factory=dict)

    def name(self, names: Mapping[str, str]) -> None:
        """Add names, and leave as many neighbours as a row shows: those with a name first."""
        self.names = names
        self.rows = [replace(row, neighbours=_shown(row, names)) for row in self.rows]

    @property
    def mentioned(self) -> Iterator[str]:
        """The IDs of its predicates and neighbours."""
        for row in self.rows:
            yield row.predicate
            yield from row.neighbours

    def drop_examples(self) -> int:
        """Leave out all neighbours, to save room, and return how many."""
        count = sum(len(row.neighbours) for row in self.rows)
        self.rows = [replace(row, neighbours=()) for row in self.rows]
        return count

    def cut(self, most: int) -> None:
        """Leave only the first rows, to save room."""
        self.rows = self.rows[:most]

    def shown(self, id_: str) -> str:
        """Return an ID with its name behind it, unless the name says no more than the ID."""
        name = self.names.get(id_, "")
        says_more = compact(name) != compact(local_name(id_.strip("<>")))
        return f"{id_} {cut(name, _LONGEST_NAME)}" if name and says_more else id_


def _shown(row: SurveyRow, names: Mapping[str, str]) -> tuple[str, ...]:
    most = ALL_SHOWN if row.count <= ALL_SHOWN else EXAMPLES
    return tuple(sorted(row.neighbours, key=lambda node: node not in names)[:most])
