"""Whether a condition holds for one node, by where its walk ends (docs/values.md).

Each end is compared by what it is: a number with numbers, a date with periods, a text with texts, and a text that reads
as a number with numbers too. What cannot be compared fulfils nothing, and is counted.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from gateway.graph.values import Iri
from gateway.graph.walks import ANY_LITERAL, Alternatives, Condition, End, Ends, Nodes, Operand, Operator, OtherWalk
from gateway.members import pairs
from gateway.members.periods import Periods
from gateway.members.verdict import Verdict
from gateway.terms.comparable import Comparable, Number, Period, Text, comparable, folded, number_in
from gateway.terms.literals import Literal

_COMPARED: Mapping[Operator, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_NO_ENDS = Ends()


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What comparing one end has shown."""

    is_comparable: bool
    is_fulfilled: bool = False
    was_text: bool = False


_INCOMPARABLE = _Outcome(is_comparable=False)
_NOT_FULFILLED = _Outcome(is_comparable=True)
_FULFILLED = _Outcome(is_comparable=True, is_fulfilled=True)
_NUMBERS_FROM_TEXTS = {
    fulfilled: _Outcome(is_comparable=True, is_fulfilled=fulfilled, was_text=True) for fulfilled in (False, True)
}


@dataclass(frozen=True, slots=True)
class _Targets:
    """What ends are compared with, by kind."""

    numbers: frozenset[Fraction | float]
    periods: Periods
    texts: frozenset[str]
    nodes: frozenset[Iri]

    @classmethod
    def of(cls, operand: Operand | None) -> _Targets:
        members = operand.members if isinstance(operand, Alternatives) else (operand,)
        numbers = [member for member in members if isinstance(member, Number)]
        years = (number.year for number in numbers if number.year is not None)
        return cls(
            frozenset(number.key for number in numbers),
            Periods([*years, *(member for member in members if isinstance(member, Period))]),
            frozenset(member.folded for member in members if isinstance(member, Text)),
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
            verdict = pairs.decided(self.condition.operator, ends, other)
        else:
            verdict = self._of_values(ends)
        return verdict if self._counts_others else Verdict(verdict.holds, verdict.read_as_numbers)

    def _of_presence(self, ends: Ends) -> Verdict:
        is_there = bool(ends.ends or ends.blank)
        if not is_there and not ends.mark.whole:
            return Verdict(None)
        return Verdict(is_there == (self.condition.operator == "exists"))

    def _of_values(self, ends: Ends) -> Verdict:
        fulfilled, compared, from_texts = 0, 0, 0
        for end in ends.ends:
            outcome = self._compare(end)
            compared += outcome.is_comparable
            fulfilled += outcome.is_fulfilled
            from_texts += outcome.was_text
        # Blank nodes are nodes, and none that has an ID.
        others = len(ends.ends) - compared + (0 if self._targets.nodes else ends.blank)
        if self._targets.nodes:
            compared += ends.blank
        return Verdict(self._holds(fulfilled, compared, is_whole=ends.mark.whole), from_texts, others)

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
    test = _COMPARED[compared]
    if isinstance(value, Period):
        period = bound.year if isinstance(bound, Number) else bound
        if not isinstance(period, Period):
            return _INCOMPARABLE
        return _outcome(is_fulfilled=_periods_in_order(value, compared, period))
    if isinstance(bound, Text):
        return _outcome(is_fulfilled=test(value.folded, bound.folded)) if isinstance(value, Text) else _INCOMPARABLE
    number = _number(value) if isinstance(bound, Number) else None
    if number is None or not isinstance(bound, Number):
        return _INCOMPARABLE
    is_fulfilled = test(number.key, bound.key)
    return _NUMBERS_FROM_TEXTS[is_fulfilled] if isinstance(value, Text) else _outcome(is_fulfilled=is_fulfilled)


def _number(value: Comparable | None) -> Number | None:
    """Return what is a number, or a text that reads as one."""
    if isinstance(value, Text):
        return number_in(value.folded)
    return value if isinstance(value, Number) else None


def _periods_in_order(period: Period, compared: Operator, bound: Period) -> bool:
    if compared.endswith("=") and period.is_within(bound):
        return True
    return period.is_before(bound) if compared.startswith("<") else bound.is_before(period)


def _equal(end: End, targets: _Targets) -> _Outcome:
    if not isinstance(end, Literal):
        return _outcome(is_fulfilled=end in targets.nodes) if targets.nodes else _INCOMPARABLE
    value = comparable(end)
    if isinstance(value, Text) and value.folded in targets.texts:
        return _FULFILLED
    number = _number(value) if targets.numbers else None
    if number is not None:
        is_fulfilled = number.key in targets.numbers
        return _NUMBERS_FROM_TEXTS[is_fulfilled] if isinstance(value, Text) else _outcome(is_fulfilled=is_fulfilled)
    if isinstance(value, Period) and targets.periods:
        return _outcome(is_fulfilled=targets.periods.have_within(value))
    return _NOT_FULFILLED if isinstance(value, Text) and targets.texts else _INCOMPARABLE
