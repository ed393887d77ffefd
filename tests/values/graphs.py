"""Draws graphs of values that engines, parsers and readers disagree about, each of one kind."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.values.terms import (
    ALIAS,
    FIRST,
    LABEL,
    NIL,
    OWL,
    RDFS,
    REST,
    SUBCLASS,
    TYPE,
    XSD,
    End,
    Literal,
    Triple,
    text,
    typed,
    written,
)

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


EX: Final = "https://example.org/values/"
PREFIXES: Final = {"ex": EX, "rdfs": RDFS}

KINDS: Final = tuple(OF_KINDS)

_CLASSES: Final = {"Tool": "Product", "Drill": "Tool", "Saw": "Tool", "Part": "Product"}
"""Each class with the one above it."""

_LABELS: Final = {
    "madeBy": "made by",
    "site": "located in/on site",
    "weight": "weight in grams",
    "Drill": "electric drill",
}
_CITIES: Final = ("Toulouse", "Oslo", "Porto", "Graz", "Lima")
_MAKERS: Final = ("Acme", "Bolt & Co", "Cutter", "Dremmel", "Eisen, Holz", "Forge = Fire")
_PEOPLE: Final = ("Ada", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gus")
_UNITS: Final = ("EUR", "USD")
_OF_ITEMS: Final = {"weight": 0.85, "height": 0.7, "released": 0.8, "updated": 0.5, "note": 0.7, "code": 0.6}
"""Values of items, each with the share of those that have it."""


@dataclass(frozen=True)
class DrawnGraph:
    """A graph of one file.

    Attributes:
        number: It is drawn again by this number.
        kind: What is odd about it.
        triples: Its triples, each once.
    """

    number: int
    kind: str
    triples: Sequence[Triple]

    def write(self, folder: Path) -> Path:
        """Write it as N-Triples, or as the Turtle that these are, with its prefixes before."""
        if self.number % 2:
            path = folder / f"values-{self.number}.nt"
            path.write_text(written(self.triples), encoding="utf-8")
        else:
            path = folder / f"values-{self.number}.ttl"
            header = "".join(f"@prefix {prefix}: <{namespace}> .\n" for prefix, namespace in PREFIXES.items())
            path.write_text(header + written(self.triples), encoding="utf-8")
        return path


def drawn(number: int) -> DrawnGraph:
    """Draw the graph of a number; numbers that leave the same rest have the same kind."""
    kind = KINDS[number % len(KINDS)]
    dice = random.Random(f"values {number}")  # noqa: S311 - not for security
    return DrawnGraph(number, kind, _Drawing(dice, kind).triples())


def drawn_ontology(number: int) -> DrawnGraph:
    """Draw a graph of plain values in which class expressions say something of items, and of properties."""
    dice = random.Random(f"values of expressions {number}")  # noqa: S311 - not for security
    return DrawnGraph(number, "expressions", _Ontology(dice, "plain").triples())


def without_blank_nodes(triples: Sequence[Triple]) -> list[Triple]:
    """Return the triples that every store can hold alike, those without a blank node at an end."""
    return [
        (s, p, o) for s, p, o in triples if not any(isinstance(end, str) and end.startswith("_:") for end in (s, o))
    ]


class _Drawing:
    """Draws one graph."""

    def __init__(self, dice: random.Random, kind: str) -> None:
        self._dice = dice
        self._has_blank_nodes = kind in {"blank", "mixture"}
        self._draws: dict[str, Draw] = {**PLAIN, **OF_KINDS[kind]}
        self._found: dict[Triple, None] = {}
        self._blank = 0

    def triples(self) -> list[Triple]:
        """Draw all triples."""
        for below, above in _CLASSES.items():
            self._add(below, SUBCLASS, EX + above)
        for local, label in _LABELS.items():
            self._add(local, LABEL, text(label))
        for city in _CITIES:
            self._named(city, "City", city)
        self._make_people()
        self._make_makers()
        items = [f"item{number:02}" for number in range(self._dice.randint(24, 44))]
        for item in items:
            self._make_item(item, items)
        return list(self._found)

    def _make_people(self) -> None:
        for person in _PEOPLE:
            self._named(person, "Person", person)
            self._add(person, EX + "manager", EX + self._dice.choice(_PEOPLE))
            self._some(person, "height", 0.7)

    def _make_makers(self) -> None:
        for number, name in enumerate(_MAKERS):
            maker = f"maker{number}"
            self._named(maker, "Maker", name)
            for city in self._few(_CITIES, (0, 1, 1, 2)):
                self._add(maker, EX + "city", EX + city)
            for person in self._few(_PEOPLE, (0, 1, 3)):
                self._add(maker, EX + "employs", EX + person)
            self._some(maker, "motto", 0.6)

    def _make_item(self, item: str, items: Sequence[str]) -> None:
        dice = self._dice
        for kind in self._few(("Product", "Tool", "Drill", "Saw", "Part"), (0, 1, 1, 1, 1, 2)):
            self._add(item, TYPE, EX + kind)
        for predicate, share in _OF_ITEMS.items():
            self._some(item, predicate, share)
        if dice.random() < 0.5:
            self._add(item, EX + "active", dice.choice(BOOLEANS))
        self._name_item(item)
        self._relate_item(item, items)
        for number in range(dice.choice((0, 1, 1, 2))):
            self._make_price(item, number)
        if dice.random() < 0.3:
            self._make_review(item)
        if self._has_blank_nodes and dice.random() < 0.5:
            self._add(item, EX + "tag", self._list(dice.randint(1, 3)))

    def _relate_item(self, item: str, items: Sequence[str]) -> None:
        for maker in self._few(range(len(_MAKERS)), (0, 1, 1, 2)):
            self._add(item, EX + "madeBy", f"{EX}maker{maker}")
        for city in self._few(_CITIES, (0, 0, 1)):
            self._add(item, EX + "site", EX + city)
        for other in self._few(items, (0, 1, 2)):
            # A part of itself, and of one another: cycles.
            self._add(item, EX + "partOf", EX + other)
            if self._dice.random() < 0.5:
                self._add(other, EX + "hasPart", EX + item)

    def _make_price(self, item: str, number: int) -> None:
        """Make a price with its amount and unit, some of them shared by two items."""
        price = f"{item}price{number}"
        if self._has_blank_nodes and self._dice.random() < 0.6:
            price = self._new_blank()
        self._add(item, EX + "price", price if price.startswith("_:") else EX + price)
        self._some(price, "weight", 0.1)
        for _ in range(self._dice.choice((0, 1, 1, 1, 1, 2))):
            self._add(price, EX + "amount", self._draws["weight"](self._dice))
        for unit in self._few(_UNITS, (0, 1, 1)):
            self._add(price, EX + "unit", EX + unit)

    def _make_review(self, item: str) -> None:
        review = f"{item}review"
        self._add(review, EX + "about", EX + item)
        self._add(review, EX + "reviewer", EX + self._dice.choice(_PEOPLE))
        self._some(review, "height", 0.8)

    def _name_item(self, item: str) -> None:
        dice = self._dice
        if dice.random() < 0.85:
            self._add(item, LABEL, dice.choice((text(f"Thing {item[4:]}"), _as_name(self._draws["note"](dice)))))
        if dice.random() < 0.3:
            self._add(item, LABEL, text(f"Ding {item[4:]}", "de"))
        if dice.random() < 0.3:
            self._add(item, ALIAS, text(dice.choice(("Gadget", "gizmo", "Thingamajig"))))

    def _list(self, length: int, depth: int = 0) -> str:
        """Make a list of values and nodes, and now and then of lists; return its head."""
        cells = [self._new_blank() for _ in range(length)]
        for cell, following in zip(cells, [*cells[1:], NIL], strict=True):
            member: End
            match self._dice.random():
                case share if share < 0.4:
                    member = EX + self._dice.choice(_CITIES)
                case share if share < 0.9 or depth:
                    member = self._draws[self._dice.choice(("weight", "note"))](self._dice)
                case _:
                    member = self._list(self._dice.randint(1, 2), depth + 1)
            self._add(cell, FIRST, member)
            self._add(cell, REST, following)
        return cells[0]

    def _named(self, node: str, kind: str, name: str) -> None:
        self._add(node, TYPE, EX + kind)
        self._add(node, LABEL, text(name))

    def _some(self, node: str, predicate: str, share: float) -> None:
        """Give a node a value of a predicate, with a likelihood, and now and then several."""
        if self._dice.random() < share:
            for _ in range(self._dice.choice((1, 1, 1, 1, 2, 3))):
                self._add(node, EX + predicate, self._draws[predicate](self._dice))

    def _few(self, given: Sequence[str] | range, counts: Sequence[int]) -> list[str]:
        return [str(one) for one in self._dice.sample(given, self._dice.choice(counts))]

    def _new_blank(self) -> str:
        self._blank += 1
        return f"_:b{self._blank}"

    def _add(self, node: str, predicate: str, end: End) -> None:
        subject = node if node.startswith("_:") else EX + node
        self._found[subject, predicate, end] = None


class _Ontology(_Drawing):
    """Draws one graph with class expressions."""

    def triples(self) -> list[Triple]:
        """Draw all triples."""
        super().triples()
        items = sorted({s.removeprefix(EX) for s, _, _ in self._found if s.startswith(f"{EX}item")})
        items = [item for item in items if item[4:].isdigit()]
        for item in items:
            for _ in range(self._dice.choice((0, 0, 1, 1, 2))):
                axiom = self._dice.choice((SUBCLASS, f"{OWL}equivalentClass"))
                self._add(item, axiom, self._expression(items) if self._dice.random() < 0.8 else self._one(items))
        return list(self._found)

    def _one(self, items: Sequence[str]) -> str:
        return EX + self._dice.choice(items)

    def _expression(self, items: Sequence[str]) -> str:
        match self._dice.randrange(7):
            case 0:
                return self._node((f"{OWL}onProperty", f"{EX}weight"), (f"{OWL}someValuesFrom", f"{XSD}integer"))
            case 1:
                return self._node((f"{OWL}complementOf", self._restriction(items)))
            case 2:
                return self._node((f"{OWL}unionOf", self._cells([self._one(items), self._one(items)])))
            case 3:
                return self._node((f"{OWL}intersectionOf", self._cells([self._one(items), self._restriction(items)])))
            case _:
                return self._restriction(items)

    def _restriction(self, items: Sequence[str]) -> str:
        how = self._dice.choice(("someValuesFrom", "allValuesFrom"))
        restriction = (TYPE, f"{OWL}Restriction")
        return self._node(restriction, (f"{OWL}onProperty", f"{EX}partOf"), (OWL + how, self._one(items)))

    def _node(self, *said: tuple[str, str]) -> str:
        node = self._new_blank()
        for predicate, end in said:
            self._add(node, predicate, end)
        return node

    def _cells(self, members: Sequence[str]) -> str:
        rest = NIL
        for member in reversed(members):
            rest = self._node((FIRST, member), (REST, rest))
        return rest


def _as_name(value: Literal) -> Literal:
    """Return a text: engines write numbers in other ways, and names are ordered as they are written."""
    return text(value.text, value.language)
