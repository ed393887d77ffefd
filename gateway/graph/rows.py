"""What came of the answer to one query."""

from __future__ import annotations

from typing import Generic, TypeVar

from gateway.errors import AnswerCut

AllRows = TypeVar("AllRows")


class ReceivedRows(Generic[AllRows]):
    """The rows of one answer.

    This is no sequence: a reader asks for the whole or accepts a part, so it cannot overlook that rows are missing.

    Attributes:
        missing: Why rows are missing, or may be; None where these are all.
    """

    __slots__ = ("_rows", "missing")

    def __init__(self, rows: AllRows, missing: AnswerCut | None = None) -> None:
        self._rows = rows
        self.missing = missing

    def whole(self) -> AllRows:
        """Return all rows.

        Raises:
            AnswerCut: There are more than came, or may be.
        """
        if self.missing is not None:
            raise self.missing
        return self._rows

    def part(self) -> tuple[AllRows, bool]:
        """Return the rows that came, and whether there are more, or may be."""
        return self._rows, self.missing is not None
