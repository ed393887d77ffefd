"""The first rows of an answer of any length, in order, as far as a number of bytes has room for them."""

from __future__ import annotations

import heapq
import sys
from bisect import bisect_left
from collections.abc import Callable
from itertools import islice
from operator import itemgetter

from gateway.errors import EndpointFault
from gateway.transport.base import TextRow, TextRows

_AT_ONCE = 10_000
"""Rows that are sorted in one go, some 10 ms in which no other thread runs; the sorted parts are merged row by row."""

_first_of = itemgetter(0)


class FirstRows:
    """Collects rows and keeps those whose first texts come first, all rows of a text or none.

    Args:
        max_bytes: Memory that rows may take.
        check: Raises if nobody waits for them; called between two parts of the work.
    """

    def __init__(self, max_bytes: int, check: Callable[[], None]) -> None:
        self._max_bytes = max_bytes
        self._check = check
        self._rows: list[TextRow] = []
        self._bytes = 0
        self._total = 0
        self._left_out_from: str | None = None

    def add(self, row: TextRow) -> None:
        """Add a row.

        Raises:
            EndpointFault: The rows of one text are too many.
        """
        self._total += 1
        if self._left_out_from is not None and row[0] >= self._left_out_from:
            return
        self._rows.append(row)
        self._bytes += _size(row)
        if self._bytes > self._max_bytes:
            self._leave_out()

    def found(self) -> TextRows:
        """Return the rows that were kept, sorted."""
        return TextRows(self._sorted(), self._total, self._left_out_from is not None)

    def _leave_out(self) -> None:
        """Leave out rows until half of the bytes are free, so that few rows are sorted again each time."""
        rows = self._sorted()
        kept, size = 0, 0
        while (size := size + _size(rows[kept])) <= self._max_bytes // 2:
            kept += 1
            if not kept % _AT_ONCE:
                self._check()
        self._left_out_from = rows[kept][0]
        kept = bisect_left(rows, self._left_out_from, key=_first_of)
        if not kept:
            raise EndpointFault("The texts of one entity are more than this gateway reads.")
        self._rows = rows
        # No other thread runs while a list lets go of its rows either.
        while len(rows) > kept:
            del rows[max(kept, len(rows) - _AT_ONCE) :]
        self._bytes = sum(map(_size, rows))

    def _sorted(self) -> list[TextRow]:
        runs = []
        for start in range(0, len(self._rows), _AT_ONCE):
            self._check()
            runs.append(sorted(self._rows[start : start + _AT_ONCE], key=_first_of))
        merged = heapq.merge(*runs, key=_first_of)
        found: list[TextRow] = []
        while some := list(islice(merged, _AT_ONCE)):
            self._check()
            found += some
        return found


def _size(row: TextRow) -> int:
    return sys.getsizeof(row) + sum(map(sys.getsizeof, row))
