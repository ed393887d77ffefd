"""Rows of the compact shape: cells under columns that are said once, and what could be followed from an entity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gateway.answers.page import PageEdge
from gateway.answers.reference import assertion_metadata, one_or_list
from gateway.answers.shape import Json, size_of
from gateway.answers.values import EdgeMetadata, EdgeSurvey, SurveyRow
from gateway.expand_compact import BOTH_WAYS, INCOMING, NODE_COLUMNS, OTHER, SOURCES, combined

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
    alone = {SOURCES: one_or_list(said[SOURCES])} if SOURCES in said else {}
    row = [alone.get(column, said.get(column)) for column in columns if column != OTHER]
    if rest := {key: value for key, value in said.items() if key not in columns}:
        row.append(rest)
    while row and row[-1] is None:
        row.pop()
    return row


MOST_COLUMNS = 8
"""Columns at most: a reader counts the cells."""


def node_columns(said: Sequence[Json]) -> list[str]:
    """Return the columns of rows that say the same as some objects in the fewest bytes, the most frequent first.

    None where objects are as short.
    """
    counts = Counter(key for metadata in said for key in metadata)
    frequent = [key for key, _ in counts.most_common(MOST_COLUMNS)]
    sizes = {key: size_of(key) for key in frequent}
    best: list[str] = []
    most = 0
    for count in range(1, len(frequent) + 1):
        columns = frequent[:count]
        saved = sum(
            sum(sizes[key] for key in metadata) - _NULL * _row_of(metadata, columns).count(None)
            for metadata in said
            if _fits(metadata, columns)
        )
        if saved - size_of({NODE_COLUMNS: columns}) > most:
            best, most = columns, saved - size_of({NODE_COLUMNS: columns})
    return best


def node_row(metadata: Json, columns: Sequence[str]) -> Any:
    """Return the cells of a node that has nothing without a column; the metadata of any other node."""
    return _row_of(metadata, columns) if _fits(metadata, columns) else metadata


def _fits(metadata: Mapping[str, Any], columns: Sequence[str]) -> bool:
    return bool(metadata) and metadata.keys() <= set(columns)


def _row_of(metadata: Mapping[str, Any], columns: Sequence[str]) -> list[Any]:
    """Return a cell for each column, without those at the end that are empty."""
    last = max(place for place, column in enumerate(columns) if column in metadata)
    return [metadata.get(column) for column in columns[: last + 1]]


class Names:
    """The names of IDs that stand behind these where an answer has them first.

    Attributes:
        left: Those that have not been written yet, by ID.
    """

    def __init__(self, labels: Mapping[str, str]) -> None:
        self.left = dict(labels)
        self._told: set[str] = set()

    def beside(self, name_id: str) -> str:
        """Return an ID, with its name if it has not been written yet."""
        return named(name_id, self.left.pop(name_id, None))

    def once(self, name_id: str, text: str) -> str:
        """Return a text that names an ID where it is the first of that ID, else the ID."""
        if name_id in self._told:
            return name_id
        self._told.add(name_id)
        return text

    def leave_out(self, ids: Iterable[str]) -> None:
        """Leave out the names of IDs that the answer does not show."""
        for name_id in ids:
            self.left.pop(name_id, None)


def named(name_id: str, name: str | None) -> str:
    """Return an ID with a name; no ID has a blank, so the name is all after the first."""
    return name_id if name is None else f"{name_id} {name}"


def survey_rows(survey: EdgeSurvey, names: Names) -> Json:
    """Return the rows of a survey by predicate; one in the place of two that lead both ways to the same nodes."""
    rows = {(row.predicate, row.incoming): row for row in survey.rows}
    paired: set[str] = set()
    written: Json = {}
    for row in survey.rows:
        if row.predicate in paired:
            continue
        mark = INCOMING * row.incoming
        twin = rows.get((row.predicate, not row.incoming))
        if twin is not None and _are_alike(row, twin, survey):
            paired.add(row.predicate)
            mark = BOTH_WAYS
        written[f"{mark}{names.once(row.predicate, survey.shown(row.predicate))}"] = _survey_row(row, survey, names)
    return written


def _survey_row(row: SurveyRow, survey: EdgeSurvey, names: Names) -> Any:
    listed = [names.once(node, survey.shown(node)) for node in row.neighbours]
    if not _is_whole(row, survey):
        return [row.count if survey.is_exact else f"at least {row.count}", *listed]
    return listed if listed[1:] else listed[0]


def _is_whole(row: SurveyRow, survey: EdgeSurvey) -> bool:
    """Return whether a row has all neighbours of its relation."""
    return survey.is_exact and 0 < row.count == len(row.neighbours)


def _are_alike(row: SurveyRow, twin: SurveyRow, survey: EdgeSurvey) -> bool:
    return _is_whole(row, survey) and _is_whole(twin, survey) and row.neighbours == twin.neighbours
