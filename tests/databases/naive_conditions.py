"""Whether conditions hold, as docs/values.md says it: by plain arithmetic on what literals say."""

import operator
import random
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

from gateway.graph.walks import Alternatives, Condition, Nodes, Operator, Walk
from gateway.terms.comparable import Number, Period, Text
from gateway.terms.iri import XSD
from gateway.terms.literals import Literal
from tests.databases.drawn_values import DATES, NUMBERS, TEXTS

_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_DATE = re.compile(
    r"(-?[0-9]{1,20})(?:-([0-9]{2})(?:-([0-9]{2})(?:T([0-9]{2}):([0-9]{2}):([0-9]{2}))?)?)?(Z|[+-][0-9:]+)?"
)
_DAY: Final = 86_400
_INFINITIES: Final = {"inf": "INF", "+inf": "INF", "-inf": "-INF", "infinity": "INF", "-infinity": "-INF"}

_COMPARED: dict[Operator, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq, "in": operator.eq,
}  # fmt: skip


def number_of(text: str) -> Fraction | float | None:
    """Return the number that a text reads as."""
    bare = text.strip(" \t\r\n")
    if bare.lower() in _INFINITIES:
        return float(_INFINITIES[bare.lower()])
    return Fraction(bare) if _NUMBER.fullmatch(bare) else None


def _day_number(year: int, month: int, day: int) -> int:
    """Return the day in the proleptic Gregorian calendar; that of 0001-01-01 is 0."""
    lengths = [
        31,
        29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28,
        *[31, 30, 31, 30, 31, 31, 30, 31, 30, 31],
    ]
    before = (year - 1) * 365 + (year - 1) // 4 - (year - 1) // 100 + (year - 1) // 400
    return before + sum(lengths[: month - 1]) + day - 1


def period_of(text: str) -> Period | None:
    """Return the period of a date."""
    found = _DATE.fullmatch(text.strip())
    if found is None or len(found[1].lstrip("-")) < 4:
        return None
    year, month, day = int(found[1]), int(found[2] or 1), int(found[3] or 1)
    if not (1 <= month <= 12 and 1 <= day <= 28):
        return None
    start = _day_number(year, month, day) * _DAY
    if found[4]:
        start = end = start + int(found[4]) * 3600 + int(found[5]) * 60 + int(found[6])
    elif found[3]:
        end = start + _DAY
    else:
        following = (year, month + 1, 1) if found[2] and month < 12 else (year + 1, 1, 1)
        end = _day_number(*following) * _DAY
    zone = 0
    if found[7] and found[7] != "Z":
        hours, minutes = found[7][1:].split(":")
        zone = (int(hours) * 3600 + int(minutes) * 60) * (-1 if found[7][0] == "-" else 1)
    return Period(Fraction(start - zone), Fraction(end - zone))


def folded(text: str) -> str:
    """Return a text without case, in one Unicode form."""
    return unicodedata.normalize("NFC", text.casefold())


def holds(condition: Condition, ends: set[Any]) -> bool:
    """Return whether one end fulfils a condition."""
    members = condition.operand.members if isinstance(condition.operand, Alternatives) else [condition.operand]
    return any(_fulfils(end, condition.operator, member) for end in ends for member in members)


def _fulfils(end: Any, compared: Operator, operand: object) -> bool:
    match operand:
        case Nodes(iris):
            return end in iris
        case Number(value, year) if isinstance(end, Literal):
            number = number_of(end.value)
            if number is not None and _COMPARED[compared](
                number, value if isinstance(value, Fraction) else float(value)
            ):
                return True
            return year is not None and _fulfils(end, compared, year)
        case Period() as bound if isinstance(end, Literal):
            return any(_in_order(period, compared, bound) for period in filter(None, [period_of(end.value)]))
        case Text(sought) if isinstance(end, Literal):
            return any(_of_text(text, compared, sought) for text in _texts(end))
    return False


def _texts(end: Literal) -> Iterator[str]:
    yield folded(end.value)
    if end.datatype == f"{XSD}boolean":
        yield {"1": "true", "0": "false"}.get(end.value.strip(), folded(end.value.strip()))


def _of_text(text: str, compared: Operator, sought: str) -> bool:
    match compared:
        case "contains":
            return sought in text
        case "starts":
            return text.startswith(sought)
        case _:
            return _COMPARED[compared](text, sought)


def _in_order(period: Period, compared: Operator, bound: Period) -> bool:
    is_within = bound.start <= period.start and period.end <= bound.end
    match compared:
        case "=" | "in":
            return is_within
        case "<" | "<=":
            return period.end <= bound.start or (compared == "<=" and is_within)
        case _:
            return bound.end <= period.start or (compared == ">=" and is_within)


def _year_of(number: Fraction | str) -> Period | None:
    is_year = isinstance(number, Fraction) and number == int(number) and 1000 <= number <= 9999
    return period_of(f"{int(number):04d}") if is_year else None


def drawn_condition(draw: random.Random, walk: Walk, ends: Sequence[Any]) -> Condition:
    """Draw a condition on a walk, near one of the ends that it has."""
    texts = [end.value for end in ends if isinstance(end, Literal)]
    text = draw.choice([*texts, *texts, *map(str, draw.sample([*NUMBERS, *TEXTS, *DATES], 3))])
    operands: list[Number | Period | Text | Nodes] = [Text(folded(text))]
    if (number := number_of(text)) is not None:
        moved = draw.choice([Fraction(0), Fraction(0), Fraction(1), Fraction(-1, 1000)])
        drawn = Number(number + moved if isinstance(number, Fraction) else "INF")
        # A number that is written like a year is compared with dates, too.
        operands += [drawn, Number(drawn.value, _year_of(drawn.value))]
    if (period := period_of(text)) is not None:
        operands.append(period)
    operand = draw.choice(operands)
    if isinstance(operand, Text):
        part = operand.folded[: draw.randrange(1, 6)]
        return draw.choice(
            [
                Condition(walk, "=", operand),
                Condition(walk, "contains", Text(part)),
                Condition(walk, "starts", Text(part)),
                Condition(walk, "<", operand),
            ]
        )
    others = [Text("toulouse"), Nodes(frozenset({"urn:n:1"})), *operands]
    compared = draw.choice([*_COMPARED])
    return Condition(walk, compared, Alternatives((operand, draw.choice(others))) if compared == "in" else operand)
