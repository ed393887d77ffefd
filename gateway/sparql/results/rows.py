"""The rows of one answer, with whether they are all."""

from __future__ import annotations

from gateway.errors import AnswerCut
from gateway.sparql.results.table import Table

_OF_ONE = (
    "Its neighborhood can be read by bfs_query. For the whole entity, the operator of this gateway has to raise "
    "`limits.query_rows`."
)


class Overflow(AnswerCut):
    """There are more rows than one query may return."""

    def __init__(self, *, about_one: bool = False) -> None:
        what, next_step = ("One entity", _OF_ONE) if about_one else ("The answer", "Ask for fewer entities at once.")
        super().__init__(f"{what} has more rows than one query may return.", next_step=next_step)


class EndedEarly(AnswerCut):
    """The last row did not come that proves the end of an answer."""

    def __init__(self) -> None:
        super().__init__(
            "The endpoint sent only a part of an answer, and did not say so.",
            next_step="Ask for fewer entities at once, or try again later.",
        )


class Rows:
    """The rows of one answer.

    This is no sequence: a reader asks for the whole or accepts a part, so it cannot overlook that rows are missing.

    Attributes:
        ended_early: Whether the end of the answer is not proven: there may be more rows than came.
    """

    __slots__ = ("_is_cut", "_rows", "ended_early")

    def __init__(self, rows: Table, *, is_cut: bool = False, ended_early: bool = False) -> None:
        self._rows = rows
        self._is_cut = is_cut
        self.ended_early = ended_early

    def whole(self) -> Table:
        """Return all rows.

        Raises:
            Overflow: There are more than came.
            EndedEarly: There may be more than came.
        """
        if self._is_cut:
            raise Overflow
        if self.ended_early:
            raise EndedEarly
        return self._rows

    def part(self) -> tuple[Table, bool]:
        """Return the rows that came, and whether there are more, or may be."""
        return self._rows, self._is_cut or self.ended_early
