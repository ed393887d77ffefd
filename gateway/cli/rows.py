"""Rows of an answer about values: as a table for a person, and as columns for a program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import RenderableType

from gateway.answers.models import SearchResult, Subgraph
from gateway.arguments import Show
from gateway.cli.screen import ID, IdTable
from gateway.cli.streams import clean
from gateway.errors import counted
from gateway.escaping import json_text

InRows = SearchResult | Subgraph
"""An answer that may have rows."""

_IDENTITY: dict[Show, tuple[str, ...]] = {"both": ("id", "name"), "id": ("id",), "name": ("name",)}
"""The titles of what stands for a node."""


def titles_of(answer: InRows, show: Show) -> list[str]:
    """Return the titles of the columns."""
    return [*_IDENTITY[show], *(answer.columns or ())]


def cells_of(answer: InRows, show: Show) -> Iterator[list[Any]]:
    """Yield the cells of each row: ID and name of a node in two, and its values, several as a list."""
    for first, *values in answer.rows or ():
        name_id, _, name = first.partition(" ")
        yield [*((name_id, name) if show == "both" else (first,)), *values]


def texts_of(answer: InRows, show: Show) -> Iterator[list[str]]:
    """Yield the cells of each row as texts, several values with commas between."""
    for cells in cells_of(answer, show):
        yield [", ".join(map(_text, cell)) if isinstance(cell, list) else _text(cell) for cell in cells]


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json_text(value)


def table(answer: InRows, show: Show) -> list[RenderableType]:
    """Return the rows as a table; nothing where there are none."""
    rows = [[clean(text) for text in texts] for texts in texts_of(answer, show)]
    if not rows:
        return []
    of_numbers = {
        place
        for place, column in enumerate(zip(*cells_of(answer, show), strict=True))
        if all(cell is None or _is_number(cell) for cell in column)
    }
    titles = [title.upper() if title == "id" else title.capitalize() for title in _IDENTITY[show]]
    titles += map(clean, answer.columns or ())
    columns = [(title, ID if place == 0 and show != "name" else "") for place, title in enumerate(titles)]
    return [IdTable(columns, rows, numeric=of_numbers, is_titled=True)]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def said(answer: InRows) -> list[str]:
    """Return what is said of the rows: what each condition was taken for, and what the last of them ties with."""
    return [
        *([f"Conditions: {'; '.join(answer.where)}."] if answer.where else []),
        *([f"{counted(answer.tied, 'more node')} with the value of the last row."] if answer.tied else []),
    ]


def place(answer: InRows, offset: int, found: int) -> str:
    """Return which rows of how many these are; empty where they are all."""
    rows: Sequence[Any] = answer.rows or ()
    if len(rows) >= found:
        return ""
    return f"Rows {offset + 1:,} to {offset + len(rows):,} of {found:,}." if rows else ""
