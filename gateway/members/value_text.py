"""The right side of a condition: numbers, dates and texts, with quotes or without."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from typing import Literal as Literal_

from gateway.errors import InputError, quoted
from gateway.terms.comparable import Number, Period, Text, folded, number_in, period_in, year_in

MOST_MEMBERS: Final = 200
"""Members of an operator `in`."""

DATE_FORMS: Final = "A date is written 1990, 1990-05, 1990-05-01 or 1990-05-01T12:30:00Z."
QUOTES: Final = 'What is in quotes is a text: "1990-05".'

_INFINITIES: dict[str, Literal_["INF", "-INF"]] = {"INF": "INF", "+INF": "INF", "-INF": "-INF"}
_LIKE_A_DATE = re.compile(r"-?[0-9]{4,}-[0-9]{1,2}(?:-[0-9]{1,2}(?:[T ][0-9:.]*)?)?(?:Z|[+-][0-9:]*)?")
_LIKE_A_NUMBER = re.compile(r"[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?")
_UNQUOTED = re.compile(r"\\([\"'\\])")
_IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_QUOTES = "\"'"


@dataclass(frozen=True, slots=True)
class ValueText:
    """A value as it is written.

    Attributes:
        text: The text, without quotes.
        is_quoted: Whether it was written in quotes, so that it is no number and no date.
    """

    text: str
    is_quoted: bool = False


def read_value(text: str) -> ValueText:
    """Return the value that a text is.

    Raises:
        InputError: A quote is not closed, or something stands behind it.
    """
    end = _closing_quote(text, 0)
    if end is None:
        if text.startswith('"'):
            raise InputError(
                f"where: the quote of {quoted(text)} is not closed.", next_step=r"Write \" for a quote in it."
            )
        return ValueText(text)
    if text[end + 1 :].strip():
        if text.startswith("'"):
            return ValueText(text)
        raise InputError(
            f"where: something stands behind the closing quote in {quoted(text)}.",
            valid='A text is written "like this", several as members of in: in "one", "two".',
        )
    return ValueText(_UNQUOTED.sub(r"\1", text[1:end]), is_quoted=True)


def read_members(text: str) -> tuple[ValueText, ...]:
    """Return the members of an operator `in`.

    Raises:
        InputError: One is empty or not closed, or there are too many.
    """
    if _IN_BRACKETS.fullmatch(text):
        text = text[1:-1]
    parts = _parts(text)
    if not all(parts):
        raise InputError(
            f"where: a member of {quoted(text)} is empty.",
            valid='Members are written with commas between, in quotes where they hold one: in red, "dark, blue".',
        )
    if len(parts) > MOST_MEMBERS:
        raise InputError(
            f"where: in has {len(parts):,} members.",
            valid=f"It takes {MOST_MEMBERS} at most.",
            next_step="Ask for the others in a call of their own.",
        )
    return tuple(map(read_value, parts))


def _parts(text: str) -> list[str]:
    """Return what stands between the commas that are not in quotes, without blanks around it."""
    parts, start, place = [], 0, 0
    while place < len(text):
        if text[place] in _QUOTES and not text[start:place].strip():
            place = _closing_quote(text, place) or place
        elif text[place] == ",":
            parts.append(text[start:place].strip())
            start = place + 1
        place += 1
    return [*parts, text[start:].strip()]


def _closing_quote(text: str, opening: int) -> int | None:
    """Return where the quote is closed that is opened at a place; None if there is none, or it is not closed."""
    quote = text[opening : opening + 1]
    if not quote or quote not in _QUOTES:
        return None
    place = opening + 1
    while place < len(text):
        if text[place] == "\\":
            place += 1
        elif text[place] == quote:
            return place
        place += 1
    return None


def literal_value(value: ValueText) -> Number | Period | Text:
    """Return what a value is where it is no node: a number, a date, or a text.

    Raises:
        InputError: It looks like a number or a date and is none; in quotes it is a text.
    """
    text = value.text.strip()
    if value.is_quoted:
        return Text(folded(value.text))
    if text in _INFINITIES:
        return Number(_INFINITIES[text])
    number = number_in(text)
    if number is not None:
        return Number(number.value, year_in(text))
    period = period_in(text)
    if period is not None:
        return period
    if _LIKE_A_DATE.fullmatch(text):
        raise InputError(f"where: {quoted(text)} is no date.", valid=DATE_FORMS, next_step=QUOTES)
    if _LIKE_A_NUMBER.fullmatch(text) and any(map(str.isdigit, text)) and text.count(".") <= 1:
        raise InputError(f"where: the number {quoted(text)} is too long to be compared.", next_step=QUOTES)
    return Text(folded(value.text))


def kind_of(value: Number | Period | Text) -> str:
    """Return the word for what a value was taken for."""
    match value:
        case Number():
            return "number"
        case Period():
            return "date"
        case Text():
            return "text"
