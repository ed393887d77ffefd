"""Draws small graphs of things with values, makers and prices, each by its number, and writes them to files."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.values.odd_values import BOOLEANS, OF_KINDS, PLAIN, Draw
from tests.values.terms import ALIAS, FIRST, LABEL, NIL, RDFS, REST, SUBCLASS, TYPE, End, Literal, Triple, text, written

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


def _as_name(value: Literal) -> Literal:
    """Return a text: engines write numbers in other ways, and names are ordered as they are written."""
    return text(value.text, value.language)


def literals_of(triples: Sequence[Triple], predicate: str) -> list[Literal]:
    """Return the literals of a predicate in a graph, in order."""
    return sorted({o for _, p, o in triples if p == predicate and isinstance(o, Literal)})
