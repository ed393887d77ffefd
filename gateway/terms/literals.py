"""Literals, and the best text among those of several languages.

Engines keep different lexical forms of the same value (``0.95`` and ``0.95e0``, ``1`` and ``1.0``, ``@en-US`` and
``@en-us``; docs/notes/endpoints.md, "Values that engines change"). The gateway decodes by datatype: one graph gives
one answer wherever it is stored.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from gateway.terms.iri import XSD

JsonScalar = str | int | float | bool

INTEGERS = frozenset(f"{XSD}{name}" for name in (
    "integer", "int", "long", "short", "byte", "nonNegativeInteger", "positiveInteger", "nonPositiveInteger",
    "negativeInteger", "unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte",
))  # fmt: skip
_REALS = frozenset(f"{XSD}{name}" for name in ("decimal", "double", "float"))
_DATES = frozenset(f"{XSD}{name}" for name in (
    "date", "dateTime", "dateTimeStamp", "time", "gYear", "gYearMonth", "gMonth", "gMonthDay", "gDay",
))  # fmt: skip
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}

_INTEGER_FORM = re.compile(r"[+-]?[0-9]+")
_REAL_FORM = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WHOLE_FORM = re.compile(r"[+-]?[0-9]+(?:\.0*)?")
_ZERO_FRACTION = re.compile(r"(\d\d:\d\d:\d\d)(?:\.0+|(\.\d*?[1-9])0+)(?=$|Z|[+-])")
_UTC_OFFSET = re.compile(r"(\d)[+-]00:00$")
"""Lexical forms of XML Schema, and the parts of dates and times that engines write in different ways."""

_FLOAT = f"{XSD}float"
_DECIMAL = f"{XSD}decimal"
_SPECIAL = {"INF": "INF", "+INF": "INF", "-INF": "-INF", "Infinity": "INF", "-Infinity": "-INF", "NaN": "NaN"}
"""Numbers that JSON lacks; engines in Java write `Infinity` for numbers that are too large."""

_EXACT_INTEGERS = 2**53
"""Integers from here on are sent as text: many JSON parsers read numbers as doubles."""

_SEVERAL_TAGS = 3
"""Languages from which on numbers of translations may differ by one: a translation is missing."""

_MANY_TAGS = 6
"""Languages of translations among which some write a number as a word."""

NO_LANGUAGES = frozenset({"", "mis", "und", "zxx"})
"""Tags of texts that are in no language that is known (BCP 47), and none."""

_SHORT = 40
_FIGURES = 0.15
_FEW_DIGITS = 2
"""Characters of a text at most, and the share of digits among them, and their number, from which on it is a time or a
measure."""

_NUMBER = re.compile(r"\d+")
_ROMAN = re.compile(r"\b(?=[IVXLCDM]{2})M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})(?<=[IVXLCDM])\b")

_DIGITS = 40
"""Longer runs of digits stay text: no reader can use them, and Python refuses to parse very long ones."""


@dataclass(frozen=True, slots=True)
class Literal:
    """An RDF literal.

    Attributes:
        value: The lexical form.
        datatype: The datatype's IRI; empty for a plain or language-tagged string.
        language: The language tag in lower case; empty where there is none.
    """

    value: str
    datatype: str = ""
    language: str = ""

    @property
    def json(self) -> JsonScalar:
        """The JSON value: a number, a boolean, or text."""
        if not self.datatype:
            return self.value
        text = self.value.strip()
        if self.datatype in INTEGERS:
            return _integer(text, self.value)
        if self.datatype in _REALS:
            return _real(text, self.value, self.datatype)
        if self.datatype == f"{XSD}boolean":
            return _BOOLEANS.get(text, self.value)
        if self.datatype in _DATES:
            return _date(text)
        return self.value

    @property
    def text(self) -> str:
        """The JSON value as text, which is Turtle's `true` for a boolean."""
        found = self.json
        return str(found).lower() if isinstance(found, bool) else str(found)


def is_number(datatype: str) -> bool:
    """Return whether a datatype is one of numbers."""
    return datatype in INTEGERS or datatype in _REALS


def is_date(datatype: str) -> bool:
    """Return whether a datatype is one of dates and times."""
    return datatype in _DATES


def _integer(text: str, original: str) -> JsonScalar:
    if not _INTEGER_FORM.fullmatch(text):
        return original
    digits = text.lstrip("+-").lstrip("0") or "0"
    sign = "-" if text.startswith("-") and digits != "0" else ""
    if len(digits) > _DIGITS:
        return sign + digits
    number = int(sign + digits)
    return number if abs(number) < _EXACT_INTEGERS else str(number)


def _real(text: str, original: str, datatype: str) -> JsonScalar:
    if not _REAL_FORM.fullmatch(text):
        return _SPECIAL.get(text, original)
    if datatype == _DECIMAL and _WHOLE_FORM.fullmatch(text):
        # One engine stores large integers as decimals, and a float would change their value.
        whole = _integer(text.partition(".")[0], original)
        if isinstance(whole, str):
            return whole
    number = _single(float(text)) if datatype == _FLOAT else float(text)
    if not math.isfinite(number):
        if datatype == _DECIMAL:
            return text
        return "INF" if number > 0 else "-INF"
    return number + 0.0  # -0.0 becomes 0.0: engines store either


def _single(number: float) -> float:
    """Return the shortest decimal that is equal to a number in single precision."""
    try:
        packed = struct.pack("f", number)
    except OverflowError:
        return math.copysign(math.inf, number)
    rounded = float(struct.unpack("f", packed)[0])
    texts = (f"{rounded:.{digits}g}" for digits in range(6, 10))
    return next((float(text) for text in texts if struct.pack("f", float(text)) == packed), rounded)


def _date(text: str) -> str:
    return _UTC_OFFSET.sub(r"\1Z", _ZERO_FRACTION.sub(r"\1\2", text))


def language_order(preferred: Sequence[str], asked: str = "", commonest: Sequence[str] = ()) -> tuple[str, ...]:
    """Return language tags in the order in which texts are shown.

    Args:
        preferred: The tags that the profile prefers, the best first.
        asked: The tag that the caller asks for, which comes first; empty for none.
        commonest: The tags of the graph, the commonest first, for what is in none of the others.
    """
    return tuple(dict.fromkeys([*([asked] if asked else []), *preferred, "", "mul", "en", *commonest]))


def language_rank(language: str, order: Sequence[str]) -> tuple[int, str]:
    """Return the rank of a language tag: those in the order, then by alphabet.

    A tag such as ``en-us`` comes directly after ``en``, and where ``en-us`` is preferred, ``en`` directly after it.
    """
    for rank, wanted in enumerate(order):
        if language == wanted:
            return (3 * rank, language)
        if wanted and language.startswith(f"{wanted}-"):
            return (3 * rank + 1, language)
        if language and wanted.startswith(f"{language}-"):
            return (3 * rank + 2, language)
    return (3 * len(order), language)


def is_relative(language: str, other: str) -> bool:
    """Return whether a language tag is another one or its regional relative, or there is none."""
    return not language or language.partition("-")[0] == other.partition("-")[0]


def are_translations(literals: Iterable[Literal]) -> bool:
    """Return whether the tagged texts of one predicate say the same in several languages.

    They do where every tag has equally many, or, from three tags on, numbers that differ by one at most; not where
    untagged texts stand beside a tag with two, nor where one of them is of figures that no other has: `19.-20. sec.`
    and `ohne Klavier`. A tag that names no language counts as none.
    """
    by_tag: dict[str, list[str]] = {}
    is_untagged = False
    for literal in literals:
        if _is_in_none(literal):
            is_untagged = is_untagged or not literal.datatype
        else:
            by_tag.setdefault(literal.language, []).append(literal.value)
    if len(by_tag) <= 1:
        return False
    counts = list(map(len, by_tag.values()))
    most, least = max(counts), min(counts)
    differ = 1 if len(counts) >= _SEVERAL_TAGS else 0
    if most - least > differ or (is_untagged and most > 1):
        return False
    return len(counts) > _MANY_TAGS or not any(
        _is_of_figures(text) and not any(_shares_figures(text, other) for other in _of_others(by_tag, tag))
        for tag, texts in by_tag.items()
        for text in texts
    )


def _is_in_none(literal: Literal) -> bool:
    """Return whether a literal is in no language that is known, in whatever script."""
    return literal.language.partition("-")[0] in NO_LANGUAGES


def _is_of_figures(text: str) -> bool:
    """Return whether a text is short, and some of it digits: a time or a measure, which translations have, too."""
    digits = sum(map(str.isdecimal, text))
    return len(text) <= _SHORT and digits >= max(_FEW_DIGITS, _FIGURES * len(text))


def _shares_figures(text: str, other: str) -> bool:
    """Return whether another text has one of the numbers of a text, or Roman numerals, which may be it."""
    numbers = set(_NUMBER.findall(text))
    return not numbers.isdisjoint(_NUMBER.findall(other)) or _ROMAN.search(other) is not None


def _of_others(by_tag: Mapping[str, Sequence[str]], tag: str) -> Iterator[str]:
    return chain.from_iterable(texts for other, texts in by_tag.items() if other != tag)


def is_in(literal: Literal, language: str) -> bool:
    """Return whether a literal is in a language, as `de-AT` is in `de` (RFC 4647, 3.3.1), or in none; empty: in any."""
    return not language or _is_in_none(literal) or f"{literal.language}-".startswith(f"{language}-")


def shown_texts(literals: Iterable[Literal], order: Sequence[str], only: str = "") -> list[Literal]:
    """Return the literals without translations of others: those in the best language, and untagged ones.

    With `only`, they are without all that are in another language too.
    """
    given = [literal for literal in literals if is_in(literal, only)]
    if not are_translations(given):
        return given
    tags = {one.language for one in given if not _is_in_none(one)}
    best = min(tags, key=lambda tag: language_rank(tag, order))
    return [literal for literal in given if literal.language == best or _is_in_none(literal)]


def in_best_language(literals: Iterable[Literal], order: Sequence[str]) -> list[Literal]:
    """Return the texts in the best language that occurs, and all literals that are not text."""
    given = list(literals)
    texts = [literal for literal in given if literal.language or not literal.datatype]
    if not texts or len(given) == 1:
        return given
    best = min((literal.language for literal in texts), key=lambda tag: language_rank(tag, order))
    return [literal for literal in given if literal.language == best or (literal.datatype and not literal.language)]


def sorted_values(values: Iterable[JsonScalar], text_key: Callable[[str], str] = str) -> list[JsonScalar]:
    """Return the distinct JSON values, sorted: booleans, then numbers, then text by the code points of its key."""

    def key(value: JsonScalar) -> tuple[int, float, str]:
        if isinstance(value, bool):
            return (0, float(value), "")
        if isinstance(value, int | float):
            return (1, float(value), str(value))
        return (2, 0.0, text_key(value))

    distinct = {(type(value), value): value for value in values}
    return [*distinct.values()] if len(distinct) == 1 else sorted(distinct.values(), key=key)


def best_text(texts: Mapping[str, Collection[Literal]], predicates: Sequence[str], order: Sequence[str]) -> str:
    """Return the name or description to show: empty if there is none.

    Args:
        texts: The texts of a node, by predicate.
        predicates: The first of these that has a text decides.
        order: The languages, the best first; of several texts in the best one, the first by code point.
    """
    for predicate in predicates:
        found = texts.get(predicate)
        if found:
            if len(found) == 1:
                (text,) = found
                return text.text
            return min(text.text for text in in_best_language(found, order))
    return ""
