"""The last row of an answer that proves that all rows before it came: found here, and taken off."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto

from gateway.sparql.results.table import Table
from gateway.sparql.results.terms import LiteralTerm

END = "end"
"""The variable that only the sentinel binds, and its value."""


class Place(Enum):
    """Where the sentinel is in an answer."""

    LAST = auto()
    MISSING = auto()
    ELSEWHERE = auto()


def without_sentinel(rows: Table, variables: Sequence[str]) -> tuple[Table, Place]:
    """Return the rows of the query itself, and where the sentinel was.

    A sentinel that is `ELSEWHERE` proves nothing: there are several, it binds more than its own variable, or rows come
    behind it. The rows are then not to be used.

    Args:
        rows: The rows of a query that asks for the sentinel.
        variables: What the query itself projects.
    """
    ends = rows.terms(END)
    others = ends.count(None)
    if others == len(rows):
        return rows, Place.MISSING
    last = rows.at([len(rows) - 1])
    end = last.terms(END)[0]
    is_alone = not any(last.terms(variable)[0] for variable in variables)
    if others == len(rows) - 1 and isinstance(end, LiteralTerm) and end.value == END and is_alone:
        return rows.first(len(rows) - 1), Place.LAST
    return rows, Place.ELSEWHERE
