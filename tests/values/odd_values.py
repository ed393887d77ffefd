"""Values that engines, parsers and readers disagree about."""

import random
from collections.abc import Callable, Mapping
from typing import Final

from tests.values.terms import XSD, Literal, text, typed

Draw = Callable[[random.Random], Literal]

_LONG: Final = "123456789012345678901234567890"

NUMBERS: Final = (
    *(typed(one, "integer") for one in ("0", "1", "01", "+1", "-1", "7", "49", " 49 ", "50", "100", "-300")),
    *(typed(one, "integer") for one in ("9007199254740993", "9223372036854775808", _LONG, "1" + "0" * 29)),
    *(typed(one, "decimal") for one in ("1.0", "1.50", "1.5", ".5", "5.", "49.99", "49.9900", "50.00", "-0.5")),
    *(typed(one, "decimal") for one in ("0.1", "0.3", "0.1234567890123456789", f"{_LONG}.5")),
    *(
        typed(one, "double")
        for one in ("1e0", "1.0E0", "4.9e1", "5.0E1", "0.1", "-0.0", "1e-7", "1.7976931348623157e308")
    ),
    *(typed(one, "double") for one in ("NaN", "INF", "-INF", "1e400", "49.99999999999999")),
    *(typed(one, "float") for one in ("0.3", "1.5", "INF", "NaN", "50")),
    *(typed("7", name) for name in ("long", "int", "short", "byte", "nonNegativeInteger", "positiveInteger")),
    typed("300", "int"),
)

BROKEN_NUMBERS: Final = (
    *(typed(one, "integer") for one in ("abc", "", "1.5", "12 34")),
    *(typed(one, "decimal") for one in ("1e3", "n/a", "1,5")),
    typed("fifty", "double"),
)

TEXT_NUMBERS: Final = (
    *(text(one) for one in ("49", "50", "7", "1.50", " 49 ", "4.9e1", "-3", "+7", "0049", ".5", "1e400", "100")),
    text("49", "en"),
    Literal("49", "https://example.org/values/kg"),
)

WORDS_FOR_NUMBERS: Final = (
    *(
        text(one)
        for one in ("forty-nine", "49 kg", "about 50", "1,50", "--5", "1.2.3", "", "NaN", "INF", "n/a", "0x31")
    ),
    text("unknown", "en"),
)

DATES: Final = (
    *(typed(one, "date") for one in ("1990-05-01", "1990-05-31", "1989-12-31", "2000-02-29", "1999-01-01")),
    *(typed(one, "date") for one in ("1990-05-01Z", "1990-05-01+14:00", "1990-04-30-14:00", "1990-01-01+02:00")),
    *(typed(one, "date") for one in ("-0044-03-15", "0001-01-01", "-0001-12-31", "9999-12-31", "12345-06-07")),
    *(typed(one, "dateTime") for one in ("1990-05-01T00:00:00", "1990-05-01T23:59:59Z", "1990-05-01T24:00:00")),
    *(
        typed(one, "dateTime")
        for one in ("1990-05-01T01:30:00+02:00", "1990-04-30T23:30:00Z", "1990-05-01T12:00:00.500Z")
    ),
    *(
        typed(one, "dateTime")
        for one in ("2000-01-01T00:00:00.000Z", "-0044-03-15T12:00:00", "2016-12-31T23:59:59.9999999Z")
    ),
    *(typed(one, "gYear") for one in ("1990", "1989", "-0044", "2000Z", "1990+02:00")),
    *(typed(one, "gYearMonth") for one in ("1990-05", "1990-04", "2000-02")),
)

BROKEN_DATES: Final = (
    *(typed(one, "date") for one in ("1990-13-01", "1990-02-30", "May 1990", "")),
    typed("1990-05-01", "dateTime"),
    typed("1990-05-01T25:00:00", "dateTime"),
    *(text(one) for one in ("1990-05-01", "May 1990", "n.d.")),
    typed("12:30:00", "time"),
    typed("--05-01", "gMonthDay"),
)

TEXTS: Final = (
    *(
        text(one)
        for one in ("cafe", "caf\u00e9", "cafe\u0301", "CAF\u00c9", "Cafe", "Stra\u00dfe", "STRASSE", "strasse")
    ),
    *(
        text(one)
        for one in (
            "Kelvin",
            "\u212aelvin",
            "\u00c5ngstrom",
            "\u212bngstrom",
            "A\u030angstrom",
            "\ufb01ne",
            "fine",
            "FINE",
        )
    ),
    *(
        text(one)
        for one in (
            "\u0130stanbul",
            "Istanbul",
            "\u0131stanbul",
            "istanbul",
            "\u1e9e",
            "\u03a3\u0399\u0393\u039c\u0391\u03a3",
            "\u03c3\u03b9\u03b3\u03bc\u03b1\u03c2",
        )
    ),
    *(
        text(one)
        for one in (
            "\ud55c\uae00",
            "\u1112\u1161\u11ab\u1100\u1173\u11af",
            "\U0001f600 grin",
            "\U00010400",
            "\U00010428",
            "\uff21",
            "z",
        )
    ),
    *(
        text(one)
        for one in ('say "hi"', "back\\slash", "a|b", "a.c", "abc", "two\nlines", "tab\there", "x = y", "a, b", "@home")
    ),
    *(text(one) for one in ("", " ", " padded ", "true", "1990", "null", "%", "_")),
    *(text("colour", tag) for tag in ("en", "en-GB", "fr-FR", "de")),
    *(
        text(one, tag)
        for one, tag in (
            ("Farbe", "de"),
            ("couleur", "fr"),
            ("Color", "es"),
            ("COLOUR", "en"),
            ("\u0438\u043c\u044f", "ru"),
        )
    ),
    Literal("https://example.org/values/home", XSD + "anyURI"),
    Literal("POINT(1 2)", "https://example.org/values/wkt"),
)

BOOLEANS: Final = (typed("true", "boolean"), typed("false", "boolean"), typed("1", "boolean"), typed("0", "boolean"))


def plain_number(dice: random.Random) -> Literal:
    """Draw a number as most graphs have them; of few, so that there are ties."""
    kind = dice.choice(("integer", "integer", "decimal", "double"))
    size = dice.choice((9, 60, 60, 1000))
    value = str(dice.randint(0, size)) if kind == "integer" else f"{dice.randint(0, size * 4) / 4}"
    return typed(value, kind)


def plain_date(dice: random.Random) -> Literal:
    """Draw a date of some years."""
    day = f"{dice.randint(1988, 1993)}-{dice.randint(1, 12):02}-{dice.randint(1, 28):02}"
    match dice.random():
        case share if share < 0.7:
            return typed(day, "date")
        case share if share < 0.9:
            return typed(f"{day}T{dice.randint(0, 23):02}:{dice.randint(0, 59):02}:00Z", "dateTime")
        case _:
            return typed(day[:4], "gYear")


def plain_text(dice: random.Random) -> Literal:
    """Draw a text of two words, in a language or in none."""
    words = ("red", "Green", "blue", "Large", "small", "Old", "new", "round", "Flat")
    return text(" ".join(dice.sample(words, 2)), dice.choice(("", "", "en", "de")))


def mixed(share: float, *pools: tuple[Literal, ...], otherwise: Draw) -> Draw:
    """Return what draws a share of its values from pools, each as often as the others."""

    def draw(dice: random.Random) -> Literal:
        return dice.choice(dice.choice(pools)) if dice.random() < share else otherwise(dice)

    return draw


OF_KINDS: Final[Mapping[str, Mapping[str, Draw]]] = {
    "plain": {},
    "numbers": {
        "weight": mixed(0.8, NUMBERS, NUMBERS, BROKEN_NUMBERS, otherwise=plain_number),
        "height": mixed(0.6, NUMBERS, TEXT_NUMBERS, otherwise=plain_number),
        "code": mixed(0.9, TEXT_NUMBERS, WORDS_FOR_NUMBERS, otherwise=plain_number),
    },
    "dates": {
        "released": mixed(0.8, DATES, DATES, DATES, BROKEN_DATES, otherwise=plain_date),
        "updated": mixed(0.8, DATES, otherwise=plain_date),
    },
    "texts": {
        "note": mixed(0.9, TEXTS, otherwise=plain_text),
        "motto": mixed(0.9, TEXTS, otherwise=plain_text),
    },
    "blank": {"weight": mixed(0.2, NUMBERS, otherwise=plain_number)},
    "mixture": {
        "weight": mixed(0.6, NUMBERS, DATES, TEXTS, TEXT_NUMBERS, BOOLEANS, BROKEN_NUMBERS, otherwise=plain_number),
        "height": mixed(0.5, NUMBERS, BROKEN_NUMBERS, TEXT_NUMBERS, otherwise=plain_number),
        "released": mixed(0.5, DATES, NUMBERS, TEXTS, BROKEN_DATES, otherwise=plain_date),
        "updated": mixed(0.5, DATES, otherwise=plain_date),
        "note": mixed(0.6, TEXTS, NUMBERS, WORDS_FOR_NUMBERS, otherwise=plain_text),
        "code": mixed(0.9, TEXT_NUMBERS, WORDS_FOR_NUMBERS, NUMBERS, otherwise=plain_number),
    },
}
"""What draws the values of a predicate in a kind of graph; the others are plain."""

PLAIN: Final[Mapping[str, Draw]] = {
    "weight": plain_number,
    "height": plain_number,
    "released": plain_date,
    "updated": plain_date,
    "note": plain_text,
    "motto": plain_text,
    "code": mixed(0.5, TEXT_NUMBERS[:6], otherwise=plain_number),
}
