"""How many rows an endpoint sends at most, where it does not say so."""

from __future__ import annotations

_FEWEST = 100
"""Rows that a cap has at least; two short answers may end at one row for other reasons."""


class RowCap:
    """Learns a row cap from answers that ended early.

    A cap shows where two different queries end early at one number of rows, and no answer ever had more.
    """

    def __init__(self) -> None:
        self._most = 0
        self._cut = ""

    def saw_whole(self, rows: int) -> None:
        """Note an answer that was whole, or had more rows than were asked for."""
        if rows > self._most:
            self._most, self._cut = rows, ""

    def saw_cut(self, rows: int, query: str) -> int | None:
        """Note an answer that ended early; return the cap if it now is known."""
        if rows < max(self._most, _FEWEST):
            return None
        if rows == self._most and self._cut not in {"", query}:
            return rows
        self._most, self._cut = rows, query
        return None
