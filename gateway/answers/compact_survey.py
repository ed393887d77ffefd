"""What could be followed from an entity, in the compact shape: a list without a count is all of a relation."""

from __future__ import annotations

from typing import Any, Protocol

from gateway.answers.shape import Json
from gateway.answers.values import EdgeSurvey, SurveyRow
from gateway.expand_compact import BOTH_WAYS, INCOMING


class Once(Protocol):
    """What remembers which IDs an answer has named."""

    def once(self, name_id: str, text: str) -> str:
        """Return a text that names an ID where it is the first of that ID, else the ID."""


def survey_rows(survey: EdgeSurvey, names: Once) -> Json:
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
        written[f"{mark}{names.once(row.predicate, survey.shown(row.predicate))}"] = _row(row, survey, names)
    return written


def _row(row: SurveyRow, survey: EdgeSurvey, names: Once) -> Any:
    listed = [names.once(node, survey.shown(node)) for node in row.neighbours]
    if not _is_whole(row, survey):
        return [row.count if survey.is_exact else f"at least {row.count}", *listed]
    return listed if listed[1:] else listed[0]


def _is_whole(row: SurveyRow, survey: EdgeSurvey) -> bool:
    """Return whether a row has all neighbours of its relation."""
    return survey.is_exact and 0 < row.count == len(row.neighbours)


def _are_alike(row: SurveyRow, twin: SurveyRow, survey: EdgeSurvey) -> bool:
    return _is_whole(row, survey) and _is_whole(twin, survey) and row.neighbours == twin.neighbours
