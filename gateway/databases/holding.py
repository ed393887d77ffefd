"""What a database compares of values to select a superset of those that fulfil a condition (docs/values.md)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Final

from gateway.graph.values import Iri
from gateway.graph.walks import Alternatives, Condition, Nodes, Operator
from gateway.terms.comparable import Number, Period, Text

_WIDER: Final = Fraction(1, 100_000)
"""By how much of itself a bound is wider than asked: a float of 0.3 is no double of 0.3."""

_LARGEST: Final = Fraction(10) ** 300
"""Bounds beyond it are compared by the gateway alone."""

_YEAR_SECONDS: Final = Fraction(31_556_952)
"""Seconds of a year on average, by the Gregorian calendar."""

_YEARS_WIDER: Final = 2
"""Years by which bounds are wider: time zones, and the parts of a year by which its average is wrong."""

_DIGITS: Final = 30
"""Digits of bounds, which are wider than asked by far more."""

_TO_EQUAL: Final[frozenset[Operator]] = frozenset({"=", "in"})
_UPWARDS: Final[frozenset[Operator]] = frozenset({">", ">="})
_DOWNWARDS: Final[frozenset[Operator]] = frozenset({"<", "<="})
_OF_TEXTS: Final[frozenset[Operator]] = frozenset({"contains", "starts"})


@dataclass(frozen=True, slots=True)
class Bounds:
    """Numbers between which a value may fulfil a condition; None: no bound.

    Attributes:
        least: The least.
        most: The largest.
    """

    least: Fraction | None
    most: Fraction | None

    @property
    def texts(self) -> tuple[str | None, str | None]:
        """Them as decimal texts, no narrower."""
        return _text(self.least, ROUND_FLOOR), _text(self.most, ROUND_CEILING)


@dataclass(frozen=True, slots=True)
class Sought:
    """What the ends of a walk are compared with, so that none is missed that fulfils a condition.

    Attributes:
        nodes: Nodes that an end may equal.
        numbers: Bounds of numbers; None where no number is asked for.
        years: Bounds of the years of dates; None where no date is asked for.
        texts: Texts without case; None where no text is asked for.
        texts_as: How values are compared with the texts: `equal`, `starts` or `contains`.
    """

    nodes: frozenset[Iri] = frozenset()
    numbers: Bounds | None = None
    years: Bounds | None = None
    texts: tuple[str, ...] | None = None
    texts_as: str = "equal"

    @property
    def has_literals(self) -> bool:
        """Whether a literal may fulfil the condition."""
        return self.numbers is not None or self.years is not None or self.texts is not None

    @property
    def parameters(self) -> Sequence[object]:
        """What is asked for, as the parameters of the query `holding`."""
        none = (None, None)
        return (
            *(self.numbers is not None, *(none if self.numbers is None else self.numbers.texts)),
            *(self.years is not None, *(none if self.years is None else self.years.texts)),
            *(None if self.texts is None else list(self.texts), self.texts_as),
        )


def sought_by(condition: Condition) -> Sought | None:
    """Return what a condition asks for; None where a database cannot say which values may fulfil it."""
    operand, asked = condition.operand, condition.operator
    members = operand.members if isinstance(operand, Alternatives) else (operand,)
    numbers = [one for one in members if isinstance(one, Number)]
    values = [
        number.value for number in numbers if isinstance(number.value, Fraction) and abs(number.value) <= _LARGEST
    ]
    periods = [one for one in members if isinstance(one, Period)]
    texts = [one.folded for one in members if isinstance(one, Text) and _can_be_sent(one.folded)]
    nodes = [one.iris for one in members if isinstance(one, Nodes)]
    is_all = len(values) + len(periods) + len(texts) + len(nodes) == len(members)
    if not is_all or not _can_be_asked(asked, is_of_texts=len(texts) == len(members), has_texts=bool(texts)):
        return None
    # A number that is written like a year is compared with dates, too.
    periods += [number.year for number in numbers if number.year is not None]
    return Sought(
        frozenset[Iri]().union(*nodes),
        _bounds(asked, min(map(_below, values)), max(map(_above, values))) if values else None,
        _bounds(asked, _year(min(one.start for one in periods), -1), _year(max(one.end for one in periods), 1))
        if periods
        else None,
        tuple(texts) if texts else None,
        asked if asked in _OF_TEXTS else "equal",
    )


def _can_be_asked(asked: Operator, *, is_of_texts: bool, has_texts: bool) -> bool:
    """Return whether a database can select by an operator, where texts are all that is compared with, or a part."""
    return (
        asked in _TO_EQUAL or (asked in _OF_TEXTS and is_of_texts) or (asked in _UPWARDS | _DOWNWARDS and not has_texts)
    )


def _can_be_sent(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def _bounds(asked: Operator, least: Fraction, most: Fraction) -> Bounds:
    return Bounds(None if asked in _DOWNWARDS else least, None if asked in _UPWARDS else most)


def _below(number: Fraction) -> Fraction:
    return number - abs(number) * _WIDER


def _above(number: Fraction) -> Fraction:
    return number + abs(number) * _WIDER


def _text(number: Fraction | None, rounding: str) -> str | None:
    if number is None:
        return None
    return str(Context(prec=_DIGITS, rounding=rounding).divide(Decimal(number.numerator), Decimal(number.denominator)))


def _year(seconds: Fraction, sign: int) -> Fraction:
    return Fraction(math.floor(seconds / _YEAR_SECONDS) + 1 + sign * _YEARS_WIDER)
