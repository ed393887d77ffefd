"""Periods that another one may be within."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate

from gateway.terms.comparable import Period


class Periods:
    """Some periods, of which it is soon known whether another one is within any of them."""

    def __init__(self, periods: Iterable[Period]) -> None:
        ordered = sorted(periods, key=lambda period: period.start)
        self._same = frozenset(ordered)
        self._starts = [period.start for period in ordered]
        # Of all that have begun, the one that ends last: what is within one of these is within that one.
        self._longest = list(accumulate(ordered, _later))

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._starts)

    def have_within(self, period: Period) -> bool:
        """Return whether a period is within one of them."""
        place = bisect_right(self._starts, period.start)
        return bool(place) and (period.is_within(self._longest[place - 1]) or period in self._same)


def _later(one: Period, two: Period) -> Period:
    return one if one.end >= two.end and not one.is_instant else two
