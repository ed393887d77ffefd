"""Whether a condition holds for one node, by where its walk ends (docs/values.md).

Each end is compared by what it is: a number with numbers, a date with periods, a duration with durations, a text with
texts, and a text that reads as a number or a duration with these too. What cannot be compared fulfils nothing, and is
counted. The ends of two walks fulfil an operator if any pair does; `!=` if there is a pair that can be compared, and
none is equal. That takes time with the number of ends, not of pairs.
"""

from __future__ import annotations

import operator
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import accumulate
from typing import Any, TypeVar

from gateway.graph.values import Iri
from gateway.graph.walks import ANY_LITERAL, Alternatives, Condition, End, Ends, Nodes, Operand, Operator, OtherWalk
from gateway.members.ordering import ReadAs
from gateway.terms.comparable import Comparable, Duration, Number, Period, Text, comparable, folded, number_in
from gateway.terms.literals import Literal


class Periods:
    """Some periods, of which it is soon known whether another one is within any of them."""

    def __init__(self, periods: Iterable[Period]) -> None:
        ordered = sorted(periods, key=lambda period: period.start)
        self._same = frozenset(ordered)
        self._starts = [period.start for period in ordered]
        # Of all that have begun, the one that ends last: what is within one of these is within that one.
        self._longest = list(accumulate(ordered, _later))

    def __len__(self) -> int:
        return len(self._starts)

    def have_within(self, period: Period) -> bool:
        """Return whether a period is within one of them."""
        place = bisect_right(self._starts, period.start)
        return bool(place) and (period.is_within(self._longest[place - 1]) or period in self._same)


def _later(one: Period, two: Period) -> Period:
    return one if one.end >= two.end and not one.is_instant else two


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a condition holds for one node.

    Attributes:
        holds: Whether it does; None if that depends on ends that are not known.
        read_as_numbers: How many texts were compared as the numbers that they read as.
        not_comparable: How many ends could not be compared.
        read_as_durations: How many texts were compared as the durations that they read as.
    """

    holds: bool | None
    read_as_numbers: int = 0
    not_comparable: int = 0
    read_as_durations: int = 0


_COMPARED: Mapping[Operator, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_NO_ENDS = Ends()


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What comparing one end has shown."""

    is_comparable: bool
    is_fulfilled: bool = False
    read_as: ReadAs = None


_INCOMPARABLE = _Outcome(is_comparable=False)
_NOT_FULFILLED = _Outcome(is_comparable=True)
_FULFILLED = _Outcome(is_comparable=True, is_fulfilled=True)
_NUMBERS_FROM_TEXTS = {
    fulfilled: _Outcome(is_comparable=True, is_fulfilled=fulfilled, read_as="number") for fulfilled in (False, True)
}
_DURATIONS_FROM_TEXTS = {
    fulfilled: _Outcome(is_comparable=True, is_fulfilled=fulfilled, read_as="duration") for fulfilled in (False, True)
}


@dataclass(frozen=True, slots=True)
class _Targets:
    """What ends are compared with, by kind.

    Attributes:
        numbers: Numbers.
        periods: Dates, and the years that numbers are written like.
        durations: Durations.
        texts: Texts, and how durations are written.
        words: Texts that are no durations.
        nodes: Nodes.
    """

    numbers: frozenset[Fraction | float]
    periods: Periods
    durations: frozenset[Duration]
    texts: frozenset[str]
    words: frozenset[str]
    nodes: frozenset[Iri]

    @classmethod
    def of(cls, operand: Operand | None) -> _Targets:
        members = operand.members if isinstance(operand, Alternatives) else (operand,)
        numbers = [member for member in members if isinstance(member, Number)]
        texts = [member for member in members if isinstance(member, Text)]
        years = (number.year for number in numbers if number.year is not None)
        return cls(
            frozenset(number.key for number in numbers),
            Periods([*years, *(member for member in members if isinstance(member, Period))]),
            frozenset(text.duration for text in texts if text.duration is not None),
            frozenset(text.folded for text in texts),
            frozenset(text.folded for text in texts if text.duration is None),
            frozenset(iri for member in members if isinstance(member, Nodes) for iri in member.iris),
        )


class Decider:
    """Decides one condition for many nodes."""

    def __init__(self, condition: Condition) -> None:
        self.condition = condition
        self._targets = _Targets.of(condition.operand)
        self._compare = self._comparison()
        # Literals of all kinds are ends of this walk, and most are of another kind than what they are compared with.
        self._counts_others = condition.walk != ANY_LITERAL

    def decided(self, ends: Ends, other: Ends = _NO_ENDS) -> Verdict:
        """Return whether the condition holds for a node.

        Args:
            ends: Where its walk ends.
            other: Where the walk ends with whose ends these are compared, if they are.
        """
        if self.condition.operator in {"exists", "missing"}:
            return self._of_presence(ends)
        if isinstance(self.condition.operand, OtherWalk):
            verdict = _pair_decided(self.condition.operator, ends, other)
        else:
            verdict = self._of_values(ends)
        return verdict if self._counts_others else replace(verdict, not_comparable=0)

    def _of_presence(self, ends: Ends) -> Verdict:
        is_there = bool(ends.ends or ends.blank)
        if not is_there and not ends.mark.whole:
            return Verdict(None)
        return Verdict(is_there == (self.condition.operator == "exists"))

    def _of_values(self, ends: Ends) -> Verdict:
        fulfilled, compared, numbers, durations = 0, 0, 0, 0
        for end in ends.ends:
            outcome = self._compare(end)
            compared += outcome.is_comparable
            fulfilled += outcome.is_fulfilled
            numbers += outcome.read_as == "number"
            durations += outcome.read_as == "duration"
        # Blank nodes are nodes, and none that has an ID.
        others = len(ends.ends) - compared + (0 if self._targets.nodes else ends.blank)
        if self._targets.nodes:
            # Content of class expressions is no node, and other than none.
            compared += ends.blank - ends.content
        return Verdict(self._holds(fulfilled, compared, is_whole=ends.mark.whole), numbers, others, durations)

    def _holds(self, fulfilled: int, compared: int, *, is_whole: bool) -> bool | None:
        if self.condition.operator == "!=":
            # Fulfilled is then what is equal.
            return False if fulfilled else compared > 0 if is_whole else None
        return True if fulfilled else False if is_whole else None

    def _comparison(self) -> Callable[[End], _Outcome]:
        match self.condition:
            case Condition(operator="contains", operand=Text(sought)):
                return lambda end: _within_text(end, lambda text: sought in text)
            case Condition(operator="starts", operand=Text(sought)):
                return lambda end: _within_text(end, lambda text: text.startswith(sought))
            case Condition(operator="<" | "<=" | ">" | ">=" as compared, operand=Number() | Period() | Text() as bound):
                return lambda end: _in_order(end, compared, bound)
            case _:
                return lambda end: _equal(end, self._targets)


def _within_text(end: End, fits: Callable[[str], bool]) -> _Outcome:
    if not isinstance(end, Literal):
        return _INCOMPARABLE
    return _FULFILLED if fits(folded(end.value)) else _NOT_FULFILLED


def _outcome(*, is_fulfilled: bool) -> _Outcome:
    return _FULFILLED if is_fulfilled else _NOT_FULFILLED


def _in_order(end: End, compared: Operator, bound: Number | Period | Text) -> _Outcome:
    value = comparable(end) if isinstance(end, Literal) else None
    if isinstance(value, Period):
        period = bound.year if isinstance(bound, Number) else bound
        if not isinstance(period, Period):
            return _INCOMPARABLE
        return _outcome(is_fulfilled=_periods_in_order(value, compared, period))
    if isinstance(value, Duration):
        return _durations_in_order(value, compared, bound.duration if isinstance(bound, Text) else None)
    if isinstance(bound, Text):
        return _text_in_order(value, compared, bound)
    number = _number(value) if isinstance(bound, Number) else None
    if number is None or not isinstance(bound, Number):
        return _INCOMPARABLE
    is_fulfilled = _COMPARED[compared](number.key, bound.key)
    return _NUMBERS_FROM_TEXTS[is_fulfilled] if isinstance(value, Text) else _outcome(is_fulfilled=is_fulfilled)


def _text_in_order(value: Comparable | None, compared: Operator, bound: Text) -> _Outcome:
    if not isinstance(value, Text):
        return _INCOMPARABLE
    if bound.duration is None:
        return _outcome(is_fulfilled=_COMPARED[compared](value.folded, bound.folded))
    # How a text is spelt says nothing about how long something lasts.
    if value.duration is None:
        return _INCOMPARABLE
    outcome = _durations_in_order(value.duration, compared, bound.duration)
    return _DURATIONS_FROM_TEXTS[outcome.is_fulfilled] if outcome.is_comparable else outcome


def _number(value: Comparable | None) -> Number | None:
    """Return what is a number, or a text that reads as one."""
    if isinstance(value, Text):
        return number_in(value.folded)
    return value if isinstance(value, Number) else None


def _periods_in_order(period: Period, compared: Operator, bound: Period) -> bool:
    if compared.endswith("=") and period.is_within(bound):
        return True
    return period.is_before(bound) if compared.startswith("<") else bound.is_before(period)


def _durations_in_order(duration: Duration, compared: Operator, bound: Duration | None) -> _Outcome:
    if bound is None or not duration.has_order_with(bound):
        return _INCOMPARABLE
    if duration == bound:
        return _outcome(is_fulfilled=compared.endswith("="))
    return _outcome(is_fulfilled=duration.is_before(bound) == compared.startswith("<"))


def _equal(end: End, targets: _Targets) -> _Outcome:
    if not isinstance(end, Literal):
        return _outcome(is_fulfilled=end in targets.nodes) if targets.nodes else _INCOMPARABLE
    value = comparable(end)
    texts = targets.words if isinstance(value, Text) and value.is_no_duration else targets.texts
    if isinstance(value, Text) and value.folded in texts:
        return _FULFILLED
    number = _number(value) if targets.numbers else None
    if number is not None:
        is_fulfilled = number.key in targets.numbers
        return _NUMBERS_FROM_TEXTS[is_fulfilled] if isinstance(value, Text) else _outcome(is_fulfilled=is_fulfilled)
    if isinstance(value, Period) and targets.periods:
        return _outcome(is_fulfilled=targets.periods.have_within(value))
    duration = value.duration if isinstance(value, Text) else value
    if isinstance(duration, Duration) and targets.durations:
        is_fulfilled = duration in targets.durations
        return _DURATIONS_FROM_TEXTS[is_fulfilled] if isinstance(value, Text) else _outcome(is_fulfilled=is_fulfilled)
    return _NOT_FULFILLED if isinstance(value, Text) and texts else _INCOMPARABLE


Compared = TypeVar("Compared", Fraction | float, str)


@dataclass(slots=True)
class _Side:
    """The ends of one walk by kind.

    Attributes:
        numbers: Numbers, and what texts read as.
        periods: Dates.
        durations: Durations, and what texts read as.
        words: Texts that read as no number and no duration.
        numerals: Texts that read as a number.
        spelt: Texts that read as a duration.
        nodes: Nodes.
        blank: How many blank nodes there are without an ID.
        others: How many ends are not comparable with anything.
    """

    numbers: list[Fraction | float] = field(default_factory=list)
    periods: list[Period] = field(default_factory=list)
    durations: list[Duration] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    numerals: list[str] = field(default_factory=list)
    spelt: list[str] = field(default_factory=list)
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
            case Duration() as duration:
                self.durations.append(duration)
            case Text(is_no_duration=True):
                self.others += 1
            case Text(text, duration=Duration() as duration):
                self.spelt.append(text)
                self.durations.append(duration)
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
        return bool(self.words or self.numerals or self.spelt)

    @property
    def has_nodes(self) -> bool:
        return bool(self.nodes or self.blank)

    @property
    def is_empty(self) -> bool:
        values = self.numbers or self.periods or self.durations or self.words
        return not (values or self.nodes or self.blank or self.others)


def _pair_decided(operator: Operator, ends: Ends, other: Ends) -> Verdict:
    """Return whether a pair of an end and one of another walk fulfils an operator."""
    left, right = _Side.of(ends), _Side.of(other)
    is_whole = ends.mark.whole and other.mark.whole
    by_order = operator not in {"=", "!="}
    if by_order:
        fulfilled = _is_any_in_order(operator, left, right)
    else:
        fulfilled = _is_any_equal(left, right) or not left.nodes.isdisjoint(right.nodes)
    compared, not_comparable = _compared(left, right, with_nodes=not by_order)
    if by_order and not fulfilled:
        not_comparable += _without_order(operator, left, right)
    numerals = len(left.numerals) + len(right.numerals) if left.numbers and right.numbers else 0
    spelt = len(left.spelt) + len(right.spelt) if left.durations and right.durations else 0
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
    return Verdict(holds, numerals, not_comparable, spelt)


def _compared(left: _Side, right: _Side, *, with_nodes: bool) -> tuple[int, int]:
    """Return how many ends on the left can be compared with one on the right, and how many cannot, if there is any."""
    if right.is_empty:
        return 0, 0
    kinds = [
        (len(left.numbers) - len(left.numerals), bool(right.numbers)),
        (len(left.periods), bool(right.periods)),
        (len(left.durations) - len(left.spelt), bool(right.durations)),
        (len(left.words), right.has_texts),
        (len(left.numerals), right.has_texts or bool(right.numbers)),
        (len(left.spelt), right.has_texts or bool(right.durations)),
        (len(left.nodes) + left.blank, with_nodes and right.has_nodes),
        (left.others, False),
    ]
    return sum(count for count, can in kinds if can), sum(count for count, can in kinds if not can)


def _is_any_equal(left: _Side, right: _Side) -> bool:
    return (
        not set(left.numbers).isdisjoint(right.numbers)
        or not set(left.durations).isdisjoint(right.durations)
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
        or _is_any_below(below.words, [*above.words, *above.numerals, *above.spelt])
        or _is_any_below(below.numerals, [*above.words, *above.spelt])
        or _is_any_below(below.spelt, [*above.words, *above.numerals])
        or _is_any_before(below.periods, above.periods)
        or any(one.is_before(other) for one in _shortest(below.durations) for other in _longest(above.durations))
    )


def _without_order(operator: Operator, left: _Side, right: _Side) -> int:
    """Return how many durations on the left would decide, and have no order with some on the right."""
    is_below = operator.startswith("<")
    some = _shortest(left.durations) if is_below else _longest(left.durations)
    others = _longest(right.durations) if is_below else _shortest(right.durations)
    return sum(any(not one.has_order_with(other) for other in others) for one in some)


def _shortest(durations: Iterable[Duration]) -> list[Duration]:
    """Return those that no other one is before: one, unless some have no order."""
    found: list[Duration] = []
    for one in sorted(set(durations), key=lambda duration: sum(duration.seconds)):
        if not any(other.is_before(one) for other in found):
            found.append(one)
    return found


def _longest(durations: Iterable[Duration]) -> list[Duration]:
    found: list[Duration] = []
    for one in sorted(set(durations), key=lambda duration: -sum(duration.seconds)):
        if not any(one.is_before(other) for other in found):
            found.append(one)
    return found


def _is_any_below(some: Sequence[Compared], others: Sequence[Compared]) -> bool:
    return bool(some and others) and min(some) < max(others)


def _is_any_before(some: Iterable[Period], others: Iterable[Period]) -> bool:
    first = min(some, key=lambda period: (period.end, period.is_instant), default=None)
    last = max(others, key=lambda period: period.start, default=None)
    return first is not None and last is not None and first.is_before(last)
