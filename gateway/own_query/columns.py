"""What is wrong with the columns of a query: a parser names neither the variable nor what to write instead."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from gateway.own_query.text import tokens_in_order

_AGGREGATES: Final = frozenset(("count", "sum", "min", "max", "avg", "sample", "group_concat"))
_END_OF_COLUMNS: Final = frozenset(("where", "from"))
_END_OF_GROUPS: Final = frozenset(("having", "order", "limit", "offset", "values"))

_MOST_NAMED: Final = 3
"""Variables that one sentence names."""


@dataclass(slots=True)
class _Columns:
    """The columns of the outer SELECT of a query, and by what its rows are grouped.

    Attributes:
        free: The variables of columns that stand outside of aggregates, in order.
        named: The variables behind AS.
        bare: The first aggregate that has no parentheses around it, or no AS.
        grouped: The variables of GROUP BY.
    """

    free: list[str] = field(default_factory=list)
    named: list[str] = field(default_factory=list)
    bare: str = ""
    grouped: list[str] = field(default_factory=list)


def mistake_in_columns(body: str, said: str) -> str:
    """Return what is wrong with the columns of a query, and what to write; empty where the parser found something else.

    Args:
        body: The query without its declarations.
        said: The error of the parser.
    """
    columns = _columns_of(body)
    if "variable that is unbound" in said:
        return _ungrouped(columns)
    if "SELECT *" in said:
        return "SELECT * does not go with GROUP BY: write the columns, such as its variables and (COUNT(*) AS ?n)"
    if "existing variable" in said or "Duplicated variable" in said:
        taken = [name for name in columns.named if len(re.findall(rf"[?$]{name[1:]}(?!\w)", body)) > 1]
        return f"a name behind AS is one of the query already: choose another for {_list(taken)}" if taken else ""
    if columns.bare:
        return f"a column that is computed needs parentheses and a name: ({columns.bare}(…) AS ?x)"
    return ""


def _ungrouped(columns: _Columns) -> str:
    missing = [name for name in dict.fromkeys(columns.free) if name not in {*columns.grouped, *columns.named}]
    if not missing:
        return "the rows are grouped, and a column is neither in GROUP BY nor computed by an aggregate"
    are = "is" if len(missing) == 1 else "are"
    them = " ".join([*columns.grouped, *missing][: _MOST_NAMED * 2])
    return (
        f"the rows are grouped, and {_list(missing)} {are} neither in GROUP BY nor in an aggregate: "
        f"write GROUP BY {them}, or take one value of each group, (SAMPLE({missing[0]}) AS ?x)"
    )


def _list(names: Iterable[str]) -> str:
    first = [*dict.fromkeys(names)]
    more = f" and {len(first) - _MOST_NAMED:,} more" if len(first) > _MOST_NAMED else ""
    return ", ".join(first[:_MOST_NAMED]) + more


def _columns_of(body: str) -> _Columns:
    found = _Columns()
    parts = tokens_in_order(body)
    _read_columns(parts, found)
    _read_groups(parts, found)
    return found


def _of_columns(parts: Iterator[str]) -> Iterator[tuple[str, int]]:
    """Yield the tokens of the columns, each with its depth in parentheses, and take those up to the pattern."""
    depth, is_over = 0, False
    for part in parts:
        if part == "{":
            return
        is_over = is_over or (depth == 0 and part.lower() in _END_OF_COLUMNS)
        depth += (part == "(") - (part == ")")
        if not is_over:
            yield part, depth


def _read_columns(parts: Iterator[str], found: _Columns) -> None:
    aggregate_at, before, unnamed = 0, "", ""
    for part, depth in _of_columns(parts):
        word = part.lower()
        if word in _AGGREGATES:
            unnamed = part.upper()
        elif part == "(" and before in _AGGREGATES and not aggregate_at:
            aggregate_at = depth
        elif part == ")":
            aggregate_at = aggregate_at if depth >= aggregate_at else 0
            found.bare = found.bare or ("" if depth else unnamed)
        elif part[0] in "?$" and before == "as":
            found.named.append(f"?{part[1:]}")
            unnamed = ""
        elif part[0] in "?$" and part[1:] and not aggregate_at:
            found.free.append(f"?{part[1:]}")
        before = word


def _read_groups(parts: Iterator[str], found: _Columns) -> None:
    """Read by what the rows of the outer query are grouped, behind its pattern."""
    braces, depth, before, is_grouped = 1, 0, "", False
    for part in parts:
        word = part.lower()
        braces += (part == "{") - (part == "}")
        depth += (part == "(") - (part == ")")
        if braces == 0 and depth == 0 and word in _END_OF_GROUPS:
            return
        is_grouped = is_grouped or (braces == 0 and before == "group" and word == "by")
        if is_grouped and part[0] in "?$" and part[1:] and (depth == 0 or before == "as"):
            found.grouped.append(f"?{part[1:]}")
        before = word
