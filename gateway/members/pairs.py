"""Whether a condition holds that compares the ends of two walks from one node.

It holds if any pair fulfils it; `!=` if there is a pair that can be compared, and none is equal. Two texts compare as
numbers where both read as numbers. The time grows with the number of ends, not of pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar

from gateway.graph.values import Iri
from gateway.graph.walks import Ends, Operator
from gateway.members.periods import Periods
from gateway.members.verdict import Verdict
from gateway.terms.comparable import Number, Period, Text, comparable, number_in
from gateway.terms.literals import Literal

Compared = TypeVar("Compared", Fraction | float, str)


@dataclass(slots=True)
class _Side:
    """The ends of one walk by kind.

    Attributes:
        numbers: Numbers, and what texts read as.
        periods: Dates.
        words: Texts that read as no number.
        numerals: Texts that do.
        nodes: Nodes.
        blank: How many blank nodes there are without an ID.
        others: How many ends are not comparable with anything.
    """

    numbers: list[Fraction | float] = field(default_factory=list)
    periods: list[Period] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    numerals: list[str] = field(default_factory=list)
    nodes: set[Iri] = field(default_factory=set)
    blank: int = 0
    others: int = 0

    @classmethod
    def of(cls, ends: Ends) -> _Side:
        side = cls(blank=ends.blank)
        for end in ends.ends:
            if isinstance(end, Literal):
                side._add(end)
            else:
                side.nodes.add(end)
        return side

    def _add(self, literal: Literal) -> None:
        match comparable(literal):
            case Number() as number:
                self.numbers.append(number.key)
            case Period() as period:
                self.periods.append(period)
            case Text(text):
                read = number_in(text)
                if read is None:
                    self.words.append(text)
                else:
                    self.numerals.append(text)
                    self.numbers.append(read.key)
            case None:
                self.others += 1

    @property
    def has_texts(self) -> bool:
        return bool(self.words or self.numerals)

    @property
    def has_nodes(self) -> bool:
        return bool(self.nodes or self.blank)

    @property
    def is_empty(self) -> bool:
        return not (self.numbers or self.periods or self.words or self.nodes or self.blank or self.others)


def decided(operator: Operator, ends: Ends, other: Ends) -> Verdict:
    """Return whether a pair of an end and one of another walk fulfils an operator, `!=` if none is equal."""
    left, right = _Side.of(ends), _Side.of(other)
    is_whole = ends.mark.whole and other.mark.whole
    by_order = operator not in {"=", "!="}
    if by_order:
        fulfilled = _is_any_in_order(operator, left, right)
    else:
        fulfilled = _is_any_equal(left, right) or not left.nodes.isdisjoint(right.nodes)
    compared, not_comparable = _compared(left, right, with_nodes=not by_order)
    from_texts = len(left.numerals) + len(right.numerals) if left.numbers and right.numbers else 0
    holds: bool | None
    if fulfilled:
        holds = operator != "!="
    elif (ends.mark.whole and left.is_empty) or (other.mark.whole and right.is_empty):
        holds = False
    elif not is_whole or (not by_order and left.blank and right.blank):
        # Two blank nodes without an ID may be the same.
        holds = None
    else:
        holds = operator == "!=" and compared > 0
    return Verdict(holds, from_texts, not_comparable)


def _compared(left: _Side, right: _Side, *, with_nodes: bool) -> tuple[int, int]:
    """Return how many ends on the left can be compared with one on the right, and how many cannot, if there is any."""
    if right.is_empty:
        return 0, 0
    kinds = [
        (len(left.numbers) - len(left.numerals), bool(right.numbers)),
        (len(left.periods), bool(right.periods)),
        (len(left.words), right.has_texts),
        (len(left.numerals), right.has_texts or bool(right.numbers)),
        (len(left.nodes) + left.blank, with_nodes and right.has_nodes),
        (left.others, False),
    ]
    return sum(count for count, can in kinds if can), sum(count for count, can in kinds if not can)


def _is_any_equal(left: _Side, right: _Side) -> bool:
    return (
        not set(left.numbers).isdisjoint(right.numbers)
        or not set(left.words).isdisjoint(right.words)
        or _is_any_within(left.periods, right.periods)
    )


def _is_any_within(periods: Sequence[Period], others: Sequence[Period]) -> bool:
    if not (periods and others):
        return False
    targets = Periods(others)
    return any(map(targets.have_within, periods))


def _is_any_in_order(operator: Operator, left: _Side, right: _Side) -> bool:
    if operator.endswith("=") and _is_any_equal(left, right):
        return True
    below, above = (left, right) if operator.startswith("<") else (right, left)
    return (
        _is_any_below(below.numbers, above.numbers)
        or _is_any_below(below.words, [*above.words, *above.numerals])
        or _is_any_below(below.numerals, above.words)
        or _is_any_before(below.periods, above.periods)
    )


def _is_any_below(some: Sequence[Compared], others: Sequence[Compared]) -> bool:
    return bool(some and others) and min(some) < max(others)


def _is_any_before(some: Iterable[Period], others: Iterable[Period]) -> bool:
    first = min(some, key=lambda period: (period.end, period.is_instant), default=None)
    last = max(others, key=lambda period: period.start, default=None)
    return first is not None and last is not None and first.is_before(last)
