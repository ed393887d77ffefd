"""Writes the evidence of edges as rows below one line of columns, as the compact shape has it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from gateway.engine.presentation.page import PageEdge
from gateway.engine.presentation.reference_shape import assertion_metadata, one_or_list
from gateway.engine.presentation.shape import Json, size_of
from gateway.engine.presentation.values import EdgeMetadata
from gateway.expand_compact import OTHER, SOURCES, combined

_NULL = 5
"""Bytes of a cell without a value."""


def evidence_columns(edges: Iterable[PageEdge]) -> list[str]:
    """Return the keys of assertions that a column makes shorter, the most frequent first, and one for the others.

    None where no column makes anything shorter: a row is then an object.
    """
    stated = [edge.metadata for edge in edges if edge.metadata is not None]
    rows = [assertion_metadata(assertion) for metadata in stated for assertion in metadata.assertions]
    counts = Counter(key for row in rows for key in row)
    columns = [
        key for key, count in counts.most_common() if size_of(key) + _NULL * (len(rows) - count) < count * size_of(key)
    ]
    # Assertions that are left out for size may have said what no other one says.
    together = {key for metadata in stated if metadata.combined for key in assertion_metadata(metadata.combined)}
    return [*columns, *([OTHER] if columns and not set(columns) >= counts.keys() | together else [])]


def evidence(metadata: EdgeMetadata, columns: Sequence[str]) -> Any:
    """Return one assertion as a row, several as a list of rows."""
    said = [assertion_metadata(assertion) for assertion in metadata.assertions]
    rows = [_row(assertion, columns) for assertion in said]
    if metadata.combined is None:
        # A row that begins with a list would read as several rows.
        return rows if columns and rows[0] and isinstance(rows[0][0], list) else rows[0]
    together = assertion_metadata(metadata.combined)
    if len(said) > 1 and combined(said) == together:
        return rows
    # Where assertions are left out for size, what all of them say does not follow from the others.
    return {"combined": _row(together, columns), "assertions": rows}


def cells(metadata: EdgeMetadata) -> list[list[Any]]:
    """Return rows without what their columns cost, to measure them."""
    return [list(assertion_metadata(assertion).values()) for assertion in metadata.assertions]


def _row(said: Json, columns: Sequence[str]) -> Any:
    """Return the cells of an assertion, without those at the end that are empty; without columns, the assertion."""
    if not columns:
        return said
    row = [_cell(column, said.get(column)) for column in columns if column != OTHER]
    if rest := {key: value for key, value in said.items() if key not in columns}:
        row.append(rest)
    while row and row[-1] is None:
        row.pop()
    return row


def _cell(column: str, value: Any) -> Any:
    return one_or_list(value) if column == SOURCES and value is not None else value
