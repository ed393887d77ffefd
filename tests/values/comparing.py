"""How values compare: numbers, dates as periods, and folded texts; each rule in a function of its own."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import Final, TypeAlias

from tests.values.terms import XSD, End, Literal

Number: TypeAlias = Fraction | float
"""Exact, or one of the two infinite floats."""

_INTEGERS: Final = frozenset(
    XSD + name
    for name in (
        *("integer", "long", "int", "short", "byte", "nonNegativeInteger", "positiveInteger", "nonPositiveInteger"),
        *("negativeInteger", "unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte"),
    )
)
_DOUBLES: Final = frozenset({XSD + "double", XSD + "float"})
_NUMERIC: Final = _INTEGERS | _DOUBLES | {XSD + "decimal"}
_BOOLEANS: Final = {"true": "true", "1": "true", "false": "false", "0": "false"}
_BLANKS: Final = " \t\r\n"

_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_DECIMAL: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_INFINITE: Final = re.compile(r"([+-]?)inf(?:inity)?", re.IGNORECASE)

_DATE: Final = re.compile(
    r"(?P<year>-[0-9]+|[0-9]{4,})(?:-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2})"
    r"(?:T(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})(?P<part>\.[0-9]+)?)?)?)?"
    r"(?P<zone>Z|[+-][0-9]{2}:[0-9]{2})?"
)
_FORMS: Final = {
    XSD + "gYear": "year",
    XSD + "gYearMonth": "month",
    XSD + "date": "day",
    XSD + "dateTime": "hour",
    XSD + "dateTimeStamp": "hour",
}
_DAY: Final = 86_400
_OF_MONTHS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class Kind(IntEnum):
    """The kinds of values, in their order."""

    NUMBER = 0
    DATE = 1
    TEXT = 2
    NODE = 3


@dataclass(frozen=True, order=True)
class Period:
    """A period in seconds of UTC; an instant starts where it ends."""

    start: Fraction
    end: Fraction


@dataclass(frozen=True)
class Right:
    """The right side of a condition.

    Attributes:
        raw: As it was written, without quotes.
        is_text: Whether it is a text whatever it reads as.
        nodes: The nodes that it names, where it stands for nodes.
    """

    raw: str
    is_text: bool = False
    nodes: frozenset[str] = field(default=frozenset())

    @property
    def number(self) -> Number | None:
        """The number that it reads as."""
        return None if self.is_text else read_number(self.raw, infinite=True)

    @property
    def period(self) -> Period | None:
        """The period that it reads as: a year of four digits is a number, too; of more, it is a number alone."""
        digits = self.raw.strip().lstrip("-")
        return None if self.is_text or (digits.isdigit() and len(digits) > len("1990")) else read_period(self.raw)


def fold(given: str) -> str:
    """Return a text without its case and its Unicode form."""
    return unicodedata.normalize("NFC", given.casefold())


def read_number(given: str, *, infinite: bool = False) -> Number | None:
    """Return the number that a text reads as, blanks around it aside."""
    stripped = given.strip(_BLANKS)
    if _NUMBER.fullmatch(stripped):
        return Fraction(Decimal(stripped))
    found = _INFINITE.fullmatch(stripped) if infinite else None
    return None if found is None else float(f"{found[1]}inf")


def read_period(given: str, only: str = "") -> Period | None:
    """Return the period of a date.

    Args:
        given: A year, a month, a day, or a date with a time; with a zone or without.
        only: The smallest part that it has to have and may have: `year`, `month`, `day` or `hour`.
    """
    found = _DATE.fullmatch(given.strip(_BLANKS))
    if found is None:
        return None
    part = next(name for name in ("hour", "day", "month", "year") if found[name] is not None)
    if (only and only != part) or (len(found["year"].lstrip("-")) > 4 and found["year"].lstrip("-")[0] == "0"):
        return None
    year, month, day = int(found["year"]), int(found["month"] or 1), int(found["day"] or 1)
    if not 1 <= month <= 12 or not 1 <= day <= _days_in(year, month):
        return None
    time, zone = _time(found), _zone(found["zone"] or "Z")
    if time is None or zone is None:
        return None
    start = Fraction(_days(year, month, day) * _DAY - zone) + time
    if part == "hour":
        return Period(start, start)
    days = {"day": 1, "month": _days_in(year, month), "year": 365 + _is_leap(year)}[part]
    return Period(start, start + days * _DAY)


def kind_of(literal: Literal) -> Kind:
    """Return the kind of a literal; one that is not what its datatype says is a text."""
    if literal.datatype in _NUMERIC and (is_nan(literal) or _typed_number(literal) is not None):
        return Kind.NUMBER
    if literal.datatype in _FORMS and read_period(literal.text, _FORMS[literal.datatype]) is not None:
        return Kind.DATE
    return Kind.TEXT


def is_nan(literal: Literal) -> bool:
    """Return whether a literal is the number that is none."""
    return literal.datatype in _DOUBLES and literal.text.strip(_BLANKS) == "NaN"


def number_of(literal: Literal) -> Number | None:
    """Return the number of a literal, or the one that its text reads as."""
    match kind_of(literal):
        case Kind.NUMBER:
            return _typed_number(literal)
        case Kind.TEXT if literal.datatype != XSD + "boolean":
            return read_number(literal.text)
        case _:
            return None


def period_of(literal: Literal) -> Period | None:
    """Return the period of a literal that is a date."""
    return read_period(literal.text) if kind_of(literal) is Kind.DATE else None


def text_of(literal: Literal) -> str | None:
    """Return the text of a literal that is no number and no date; a boolean is `true` or `false`."""
    if kind_of(literal) is not Kind.TEXT:
        return None
    if literal.datatype == XSD + "boolean":
        return _BOOLEANS.get(literal.text.strip(_BLANKS), literal.text)
    return literal.text


def holds(left: End, operator: str, rights: Sequence[Right]) -> bool | None:
    """Return whether one value fulfils a condition, None where it cannot be compared.

    Args:
        left: The value.
        operator: Of those that compare.
        rights: What with: several of an `in`, otherwise one.
    """
    if operator == "in":
        found = [holds(left, "=", [right]) for right in rights]
        return any(found) if any(one is not None for one in found) else None
    (right,) = rights
    if isinstance(left, str):
        if operator not in {"=", "!="} or not right.nodes:
            return None
        return (left in right.nodes) == (operator == "=")
    if operator in {"contains", "starts"}:
        # Of every literal, by what `STR()` gives.
        one, other = fold(left.text), fold(right.raw)
        return other in one if operator == "contains" else one.startswith(other)
    return _compared(left, operator, right)


def pair_holds(left: End, operator: str, right: End) -> bool | None:
    """Return whether two values of one node fulfil a condition, None where they cannot be compared."""
    if isinstance(left, str) or isinstance(right, str):
        if isinstance(left, str) and isinstance(right, str) and operator in {"=", "!="}:
            return (left == right) == (operator == "=")
        return None
    if operator in {"contains", "starts"}:
        return holds(left, operator, [Right(right.text, is_text=True)])
    # Texts that read as numbers are numbers where the other side is one, or reads as one.
    reads = number_of(left) is not None and number_of(right) is not None
    if reads or Kind.NUMBER in {kind_of(left), kind_of(right)}:
        return _ordered(operator, number_of(left), number_of(right))
    if Kind.DATE in {kind_of(left), kind_of(right)}:
        return _periods(operator, period_of(left), period_of(right))
    one, other = text_of(left), text_of(right)
    return None if one is None or other is None else _ordered(operator, fold(one), fold(other))


def _compared(left: Literal, operator: str, right: Right) -> bool | None:
    if kind_of(left) is Kind.DATE:
        return _periods(operator, period_of(left), right.period)
    if right.number is not None:
        return _ordered(operator, number_of(left), right.number)
    value = text_of(left)
    # A date is asked for, or a text: a text is no date, and a number is neither.
    if value is None or right.period is not None:
        return None
    return _ordered(operator, fold(value), fold(right.raw))


def _ordered(operator: str, left: Number | str | None, right: Number | str | None) -> bool | None:
    if left is None or right is None:
        return None
    return _result(operator, is_equal=left == right, is_before=left < right, is_after=left > right)  # type: ignore[operator]  # both are numbers, or texts


def _periods(operator: str, left: Period | None, right: Period | None) -> bool | None:
    if left is None or right is None:
        return None
    if right.start == right.end:
        within = left == right
    else:
        # An instant at the end of a period is outside, a period that ends with it is within.
        within = right.start <= left.start < right.end and left.end <= right.end
    return _result(
        operator,
        is_equal=within,
        is_before=left.end <= right.start and left.start < right.start,
        is_after=left.start >= right.end and left.start > right.start,
    )


def _result(operator: str, *, is_equal: bool, is_before: bool, is_after: bool) -> bool:
    match operator:
        case "=":
            return is_equal
        case "!=":
            return not is_equal
        case "<":
            return is_before
        case "<=":
            return is_before or is_equal
        case ">":
            return is_after
        case ">=":
            return is_after or is_equal
        case _:
            raise ValueError(f"no operator that compares: {operator}")


def _typed_number(literal: Literal) -> Number | None:
    stripped = literal.text.strip(_BLANKS)
    if literal.datatype in _DOUBLES:
        return read_number(stripped, infinite=True)
    pattern = _INTEGER if literal.datatype in _INTEGERS else _DECIMAL
    return Fraction(Decimal(stripped)) if pattern.fullmatch(stripped) else None


def _time(found: re.Match[str]) -> Fraction | None:
    """Return the seconds of a day; the end of a day is the beginning of the next."""
    hour, minute, second = (int(found[name] or 0) for name in ("hour", "minute", "second"))
    part = Fraction(found["part"] or 0)
    if hour == 24:
        return Fraction(_DAY) if not minute and not second and not part else None
    return hour * 3600 + minute * 60 + second + part if hour < 24 and minute < 60 and second < 60 else None


def _zone(given: str) -> int | None:
    if given == "Z":
        return 0
    hours, minutes = int(given[1:3]), int(given[4:6])
    if minutes > 59 or hours * 60 + minutes > 14 * 60:
        return None
    return (hours * 3600 + minutes * 60) * (-1 if given[0] == "-" else 1)


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _days_in(year: int, month: int) -> int:
    return 29 if month == 2 and _is_leap(year) else _OF_MONTHS[month - 1]


def _days(year: int, month: int, day: int) -> int:
    """Return the days since the first of the year 1, by the proleptic Gregorian calendar with a year 0."""
    before = year - 1
    leaps = before // 4 - before // 100 + before // 400
    return before * 365 + leaps + sum(_days_in(year, each) for each in range(1, month)) + day - 1
