"""What a literal is where values are compared: a number, a period of time, a duration, or a text.

No engine compares values as the contract does, so the gateway decides by what `STR()` and `DATATYPE()` give.

- A number is what its lexical form says, exactly: 0.1 is the same as a decimal and as a double. NaN is not comparable.
- A date is a period in UTC; without a time zone it is one of UTC. A dateTime is an instant.
- A duration is what it adds to a moment; a month and 30 days have no order. What is typed as one and is none is a
  text that is compared with no duration.
- All else is a text, compared without case and Unicode form: ill-typed values and times of the day too. So is a
  boolean, which is `true` or `false` however it is written.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final
from typing import Literal as Literal_

from gateway.terms.iri import XSD
from gateway.terms.literals import INTEGERS, Literal

MOST_DIGITS: Final = 1_000
"""Digits of a number that is compared, and powers of ten by which its point is moved; beyond it nothing is computed."""

_LONGEST_NUMBER = 4 * MOST_DIGITS
_LONGEST_DATE = 100
_LONGEST_DURATION = 1_000
"""Characters of the text of a number, a date or a duration that is looked at."""

_BLANKS = " \t\r\n"
"""What XML Schema leaves out around a value."""


@dataclass(frozen=True, slots=True)
class Period:
    """A period that dates are compared with, in UTC.

    Attributes:
        start: Seconds since the beginning of year 1, by the proleptic Gregorian calendar; negative before it.
        end: Seconds at which it has just ended; equal to `start` for an instant.
    """

    start: Fraction
    end: Fraction

    @property
    def is_instant(self) -> bool:
        """Whether it has no length."""
        return self.start == self.end

    def is_before(self, other: Period) -> bool:
        """Return whether it has ended when another one begins."""
        return self.end <= other.start and self.start < other.start

    def is_within(self, other: Period) -> bool:
        """Return whether it is a part of another one, or the same."""
        if self.start < other.start or self.end > other.end:
            return False
        return self.start < other.end or other.is_instant


@dataclass(frozen=True, slots=True)
class Number:
    """A number that values are compared with, exact; an infinite one is `INF` or `-INF`.

    Attributes:
        value: The number.
        year: The year of that number, where it is written like one: dates are compared with it.
    """

    value: Fraction | Literal_["INF", "-INF"]
    year: Period | None = None

    @property
    def key(self) -> Fraction | float:
        """What orders numbers, and is equal for equal ones."""
        return self.value if isinstance(self.value, Fraction) else float(self.value)


@dataclass(frozen=True, slots=True)
class Duration:
    """A duration that values are compared with, by four moments to which it is added (XSD 1.1, part 2, 3.3.6.2).

    Attributes:
        seconds: What it adds to each.
    """

    seconds: tuple[Fraction, ...]

    def is_before(self, other: Duration) -> bool:
        """Return whether it is shorter, from whichever moment on."""
        return all(one < two for one, two in zip(self.seconds, other.seconds, strict=True))

    def has_order_with(self, other: Duration) -> bool:
        """Return whether it is equal, shorter or longer: a month is none of these to 30 days."""
        return self == other or self.is_before(other) or other.is_before(self)


@dataclass(frozen=True, slots=True)
class Text:
    """A text that values are compared with, folded: without regard to case and Unicode form.

    Attributes:
        folded: The text.
        duration: The duration that is written so: durations are compared with it.
        is_no_duration: Whether its datatype says that it is a duration, and it is none.
    """

    folded: str
    duration: Duration | None = None
    is_no_duration: bool = False


Comparable = Number | Period | Duration | Text


def comparable(literal: Literal) -> Comparable | None:
    """Return what a literal is where values are compared; None for NaN and for numbers that are too long."""
    read = _READERS.get(literal.datatype)
    return Text(folded(literal.value), duration_in(literal.value)) if read is None else read(literal.value)


# --- texts ---

_SHORT = 200
"""Characters of a text in which no run of marks takes long to be put in order."""

_LONG_RUN = re.compile(rb"\x01{31,}")
_AS_MARKS = bytes([0]) + bytes([1]) * 255
_WITHOUT_STARTER = {"\u0f73": "\u0f71\u0f72", "\u0f75": "\u0f71\u0f74", "\u0f81": "\u0f71\u0f80"}
"""The characters of which Unicode says that they are no marks, and which decompose to marks alone."""


def folded(text: str) -> str:
    """Return a text without case, in the composed form of Unicode (NFC): as texts are compared."""
    if text.isascii():
        return text.lower()
    without_case = text.casefold()
    return unicodedata.normalize(
        "NFC", without_case if len(without_case) <= _SHORT else _with_ordered_marks(without_case)
    )


def _with_ordered_marks(text: str) -> str:
    """Return an equivalent text whose long runs of marks are in order: Python's NFC takes the square of a run."""
    for character, marks in _WITHOUT_STARTER.items():
        text = text.replace(character, marks)
    classes = bytes(map(unicodedata.combining, text)).translate(_AS_MARKS)
    parts, done = [], 0
    for run in _LONG_RUN.finditer(classes):
        parts += [text[done : run.start()], *sorted(text[run.start() : run.end()], key=unicodedata.combining)]
        done = run.end()
    return "".join([*parts, text[done:]]) if parts else text


def _boolean(value: str) -> Text:
    text = value.strip(_BLANKS)
    return Text({"1": "true", "0": "false"}.get(text, folded(text)))


# --- numbers ---

_NUMBER = re.compile(r"([+-]?)([0-9]*)(\.[0-9]*)?(?:[eE]([+-]?[0-9]+))?")
_INFINITIES: dict[str, Literal_["INF", "-INF"]] = {
    "inf": "INF", "+inf": "INF", "infinity": "INF", "+infinity": "INF", "-inf": "-INF", "-infinity": "-INF",
}  # fmt: skip
"""How engines write numbers that are too large, without case."""

_NO_NUMBERS = frozenset({"nan", "+nan", "-nan"})
_ZERO = Number(Fraction(0))


def number_in(text: str) -> Number | None:
    """Return the number that a text reads as, blanks around it left out; None for all others, `INF` among them.

    So does a number of more than `MOST_DIGITS` digits, or that far from its point: it is not comparable as a number.
    """
    found = _number_form(text)
    return None if found is None else _exact(found)


def _number_form(text: str) -> re.Match[str] | None:
    if len(text) > _LONGEST_NUMBER:
        text = text.strip(_BLANKS)
        if len(text) > _LONGEST_NUMBER:
            return None
    found = _NUMBER.fullmatch(text.strip(_BLANKS))
    return found if found is not None and (found[2] or len(found[3] or "") > 1) else None


def _exact(form: re.Match[str]) -> Number | None:
    """Return the number of a form; None if it is too long."""
    sign, whole, point, exponent = form.groups()
    if not point and not exponent and len(whole) <= MOST_DIGITS:
        return Number(Fraction(int(sign + whole)))
    fraction = (point or "").lstrip(".").rstrip("0")
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return _ZERO
    moved = (exponent or "0").lstrip("+-").lstrip("0") or "0"
    if len(digits) > MOST_DIGITS or len(moved) > len(str(MOST_DIGITS)):
        return None
    power = (-int(moved) if (exponent or "").startswith("-") else int(moved)) - len(fraction)
    if abs(power) > MOST_DIGITS:
        return None
    value = int(sign + digits)
    return Number(Fraction(value * 10**power) if power >= 0 else Fraction(value, 10**-power))


def _number_reader(*, with_point: bool, with_exponent: bool) -> Callable[[str], Comparable | None]:
    def read(value: str) -> Comparable | None:
        text = value.strip(_BLANKS)
        form = _number_form(text)
        if form is not None and (with_point or form[3] is None) and (with_exponent or form[4] is None):
            return _exact(form)
        if len(text) > _LONGEST_NUMBER and _NUMBER.fullmatch(text):
            return None
        if with_exponent:
            name = text.lower()
            if name in _INFINITIES:
                return Number(_INFINITIES[name])
            if name in _NO_NUMBERS:
                return None
        return Text(folded(value))

    return read


# --- dates ---

_DATE = re.compile(
    r"(?P<year>-[0-9]{1,20}|[0-9]{4,20})"
    r"(?:-(?P<month>[0-9]{2})"
    r"(?:-(?P<day>[0-9]{2})"
    r"(?:T(?P<time>[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?))?)?)?"
    r"(?P<zone>Z|[+-][0-9]{2}:[0-9]{2})?"
)
"""A part of dates that engines write too: years before year 1 with less than four digits."""

_BARE_YEAR = re.compile(r"-?[0-9]{4}")
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_MONTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_FEBRUARY, _LAST_MONTH = 2, 12
_LAST_HOUR, _LAST_MINUTE, _LATEST_ZONE = 24, 59, 14 * _HOUR

Precision = Literal_["year", "month", "day", "time"]


def period_in(text: str, precision: Precision | None = None) -> Period | None:
    """Return the period of a year, month, day or instant in the form of XML Schema; None for any other text.

    Args:
        text: The text, of which blanks around it are left out.
        precision: The only precision that is read; None for any.
    """
    if len(text) > _LONGEST_DATE:
        return None
    found = _DATE.fullmatch(text.strip(_BLANKS))
    if found is None or (precision is not None and _precision(found) != precision):
        return None
    digits = found["year"].lstrip("-")
    if len(digits) > len("9999") and digits[0] == "0":
        return None
    bounds = _bounds(found)
    zone = _offset(found["zone"] or "Z")
    return None if bounds is None or zone is None else Period(bounds[0] - zone, bounds[1] - zone)


def year_in(text: str) -> Period | None:
    """Return the year that a number is written like: four digits, with a minus before year 0."""
    return period_in(text) if _BARE_YEAR.fullmatch(text) else None


def _precision(found: re.Match[str]) -> Precision:
    if found["time"]:
        return "time"
    if found["day"]:
        return "day"
    return "month" if found["month"] else "year"


def _bounds(found: re.Match[str]) -> tuple[Fraction, Fraction] | None:
    """Return when what is written begins and has ended, by its own clock; None where there is no such day or time."""
    year, month, day = int(found["year"]), int(found["month"] or 1), int(found["day"] or 1)
    if not (1 <= month <= _LAST_MONTH and 1 <= day <= _days_of(year, month)):
        return None
    start = Fraction(_day_number(year, month, day) * _DAY)
    match _precision(found):
        case "time":
            seconds = _seconds(found["time"])
            return None if seconds is None else (start + seconds, start + seconds)
        case "day":
            return start, start + _DAY
        case "month":
            return start, start + _days_of(year, month) * _DAY
        case "year":
            return start, Fraction(_day_number(year + 1, 1, 1) * _DAY)


def _days_of(year: int, month: int) -> int:
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if month == _FEBRUARY and is_leap else _MONTHS[month - 1]


def _day_number(year: int, month: int, day: int) -> int:
    """Return the number of a day; that of the first of year 1 is 0."""
    # Years are counted from March, so that a leap day is the last.
    years, months = (year - 1, month + 9) if month <= _FEBRUARY else (year, month - 3)
    return years * 365 + years // 4 - years // 100 + years // 400 + (153 * months + 2) // 5 + day - 307


def _seconds(time: str) -> Fraction | None:
    clock, _, fraction = time.partition(".")
    hours, minutes, seconds = map(int, clock.split(":"))
    part = Fraction(int(fraction), 10 ** len(fraction)) if fraction else Fraction(0)
    whole = hours * _HOUR + minutes * _MINUTE + seconds
    if minutes > _LAST_MINUTE or seconds > _LAST_MINUTE or whole + part > _LAST_HOUR * _HOUR:
        return None
    return whole + part


def _offset(zone: str) -> int | None:
    """Return by how many seconds the clocks of a time zone are before UTC; None where there is none."""
    if zone == "Z":
        return 0
    hours, minutes = map(int, zone[1:].split(":"))
    seconds = hours * _HOUR + minutes * _MINUTE
    if minutes > _LAST_MINUTE or seconds > _LATEST_ZONE:
        return None
    return -seconds if zone[0] == "-" else seconds


def _date_reader(precision: Precision) -> Callable[[str], Comparable | None]:
    def read(value: str) -> Comparable:
        return period_in(value, precision) or Text(folded(value))

    return read


# --- durations ---

_DURATION = re.compile(
    r"(?P<sign>-?)P(?=[0-9T])(?:(?P<years>[0-9]+)Y)?(?:(?P<months>[0-9]+)M)?(?:(?P<days>[0-9]+)D)?"
    r"(?:T(?=[0-9])(?:(?P<hours>[0-9]+)H)?(?:(?P<minutes>[0-9]+)M)?(?:(?P<seconds>[0-9]+(?:\.[0-9]+)?)S)?)?"
)
_MOMENTS = ((1696, 9), (1697, 2), (1903, 3), (1903, 7))
"""The months at whose beginnings durations are compared."""

_OF_MONTHS = ("years", "months")
_OF_SECONDS = ("days", "hours", "minutes", "seconds")


def duration_in(text: str, without: tuple[str, ...] = ()) -> Duration | None:
    """Return the duration of a text in the form of XML Schema; None for any other text.

    Args:
        text: The text, of which blanks around it are left out.
        without: The parts that it must not have.
    """
    if len(text) > _LONGEST_DURATION:
        return None
    found = _DURATION.fullmatch(text.strip(_BLANKS))
    if found is None or any(found[part] for part in without):
        return None
    parts = {part: Fraction(found[part] or 0) for part in (*_OF_MONTHS, *_OF_SECONDS)}
    sign = -1 if found["sign"] else 1
    months = sign * int(parts["years"] * _LAST_MONTH + parts["months"])
    hours = parts["days"] * 24 + parts["hours"]
    seconds = sign * (hours * _HOUR + parts["minutes"] * _MINUTE + parts["seconds"])
    return Duration(tuple(_days_after(year, month, months) * _DAY + seconds for year, month in _MOMENTS))


def _days_after(year: int, month: int, months: int) -> int:
    """Return how many days some months have that begin with one."""
    years, place = divmod(month - 1 + months, _LAST_MONTH)
    return _day_number(year + years, place + 1, 1) - _day_number(year, month, 1)


def _duration_reader(without: tuple[str, ...]) -> Callable[[str], Comparable | None]:
    def read(value: str) -> Comparable:
        return duration_in(value, without) or Text(folded(value), is_no_duration=True)

    return read


_DURATIONS: dict[str, tuple[str, ...]] = {
    "duration": (), "dayTimeDuration": _OF_MONTHS, "yearMonthDuration": _OF_SECONDS,
}  # fmt: skip

_DATES: dict[str, Precision] = {
    "date": "day", "dateTime": "time", "dateTimeStamp": "time", "gYear": "year", "gYearMonth": "month",
}  # fmt: skip

_READERS: dict[str, Callable[[str], Comparable | None]] = {
    f"{XSD}boolean": _boolean,
    f"{XSD}decimal": _number_reader(with_point=True, with_exponent=False),
    **dict.fromkeys((f"{XSD}double", f"{XSD}float"), _number_reader(with_point=True, with_exponent=True)),
    **dict.fromkeys(INTEGERS, _number_reader(with_point=False, with_exponent=False)),
    **{f"{XSD}{name}": _date_reader(precision) for name, precision in _DATES.items()},
    **{f"{XSD}{name}": _duration_reader(without) for name, without in _DURATIONS.items()},
}
