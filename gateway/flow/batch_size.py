"""How many IDs one kind of query has, adapted to the answers.

Batch sizes and why they adapt: docs/notes/endpoints.md, "Batch sizes".
"""

from __future__ import annotations

import math
from dataclasses import dataclass

_GROWTH = 4
"""How many times its first size a batch may reach."""

_LARGEST = 2_000
"""IDs in one query at most: one engine breaks above 4,096 terms, and each stands in a query twice at most."""

_SMALLEST = 10
"""A size below this is not remembered; a query has one ID where nothing else works."""

_MANY_ROWS = 4_000
"""Rows from which an answer is better split: several parts come and are read at once. About 1 MB.

Such an answer is also no reason for a larger batch, which would end above the rows that one query may return.
"""

_QUICK_SECONDS = 1.0
"""An answer that took longer is no reason for a larger batch."""


@dataclass(slots=True)
class BatchSize:
    """How many IDs one kind of query has.

    Attributes:
        now: The present size.
        most: The size it may grow to.
        rows_for_an_id: How many rows there are to expect for one ID, by the last answers; the latest counts most.
    """

    now: int
    most: int
    rows_for_an_id: float = 0.0
    _weight: float = 0.0

    @classmethod
    def starting_at(cls, size: int) -> BatchSize:
        """Return a size that may grow."""
        return cls(size, max(size, min(_LARGEST, size * _GROWTH)))

    def part(self, ids: int, at_once: int) -> int:
        """Return how many of some IDs to put into one query; a long answer is split into parts that come at once."""
        parts = math.ceil(ids * self.rows_for_an_id / _MANY_ROWS)
        return math.ceil(ids / max(1, min(ids, at_once, parts)))

    def worked(self, asked: int, rows: int, seconds: float) -> None:
        """Note that a batch was answered whole, and how long that took: the next one may be twice as large."""
        before = self._weight / 2
        self._weight = before + asked
        self.rows_for_an_id = (self.rows_for_an_id * before + rows) / self._weight
        # Keys are spread evenly over batches, so even the first of many is hardly ever full.
        if seconds <= _QUICK_SECONDS and rows <= _MANY_ROWS:
            self.now = max(self.now, min(self.most, asked * 2))

    def failed(self, asked: int) -> None:
        """Note that a batch was too much."""
        self.now = max(min(_SMALLEST, self.now), min(self.now, asked // 2))
