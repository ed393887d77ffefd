"""A shop whose prices, stock and sales are nodes, 60 questions about it, and their answers by SPARQL.

The same triples in each run; `python -m tests.values.shop FILE` writes them, and without a file the answers.
"""

import argparse
import json
import random
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Final, TypeAlias

import pyoxigraph

SHOP: Final = "https://example.org/shop/"

_HEADER: Final = f"""@prefix s: <{SHOP}> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

"""

_CLASSES: Final = {
    "Pump": "Device",
    "Sensor": "Device",
    "PressureSensor": "Sensor",
    "TemperatureSensor": "Sensor",
    "Centrifuge": "Device",
    "Device": "Product",
    "Consumable": "Product",
    "Filter": "Consumable",
    "Reagent": "Consumable",
}
_KINDS: Final = {
    "Pump": ("Peristaltic pump", "Vacuum pump", "Syringe pump"),
    "PressureSensor": ("Pressure gauge", "Pressure probe"),
    "TemperatureSensor": ("Thermometer", "Thermocouple"),
    "Centrifuge": ("Bench centrifuge",),
    "Filter": ("Membrane filter", "Syringe filter"),
    "Reagent": ("Buffer solution", "Dye kit", "Enzyme kit"),
}
_LABELS: Final = {
    "suppliedBy": "supplied by",
    "weight": "weight in g",
    "Device": "laboratory device",
    "price": "list price",
}
_CITIES: Final = {
    "Aachen": ("Germany", 249_070),
    "Basel": ("Switzerland", 173_863),
    "Delft": ("Netherlands", 106_086),
    "Ghent": ("Belgium", 265_086),
    "Graz": ("Austria", 291_134),
    "Lund": ("Sweden", 94_703),
    "Nantes": ("France", 320_732),
    "Turin": ("Italy", 848_885),
}
_SUPPLIERS: Final = (
    *("Alpha Labs", "Brandt & Sons", "Corvus", "Delta Flow", "Elbe Optik", "Fjord Bio", "Gamma", "Helix", "Isar"),
    *("Jura Medical", "Kappa", "Lumen"),
)
_FIRST: Final = ("Anna", "Bruno", "Carla", "David", "Elif", "Farid", "Greta", "Hugo", "Ines", "Jonas", "Karin", "Luc")
_LAST: Final = ("Abel", "Berg", "Costa", "Dahl", "Egger", "Faber", "Gros", "Hahn")
_DEPARTMENTS: Final = ("Sales", "Purchasing", "Service", "Quality")
_CUSTOMERS: Final = (
    "Northern Hospital",
    "Delta University",
    "Riverside Clinic",
    "Hill Institute",
    "Bay Pharma",
    "City Lab",
)
_PRICES: Final = ("4.50", "12.00", "19.90", "49.99", "50.00", "75.00", "120.00", "349.00", "349.0", "990.00", "1250.00")


def turtle() -> str:
    """Return the graph as Turtle."""
    shop = _Shop()
    return _HEADER + "".join(f"{line}\n" for line in shop.lines())


@dataclass
class _Shop:
    """Writes the graph line by line, a triple each."""

    dice: random.Random = field(default_factory=lambda: random.Random(43))  # noqa: S311 - not for security
    said: dict[str, None] = field(default_factory=dict)

    def lines(self) -> Sequence[str]:
        for below, above in _CLASSES.items():
            self.say(below, "rdfs:subClassOf", f"s:{above}")
        for term, label in _LABELS.items():
            self.say(term, "rdfs:label", f'"{label}"')
        for city, (country, inhabitants) in _CITIES.items():
            self.name(city, "City", city)
            self.say(city, "s:country", f"s:{country}")
            self.say(city, "s:population", str(inhabitants))
            self.name(country, "Country", country)
        people = self.people()
        suppliers = self.suppliers()
        products = self.products(people, suppliers)
        self.orders(products, people)
        return [*self.said]

    def people(self) -> list[str]:
        names = [f"{first} {last}" for last in _LAST for first in _FIRST][:60]
        people = [f"person{number:02}" for number in range(len(names))]
        for department in _DEPARTMENTS:
            self.name(department, "Department", department)
        for number, (person, name) in enumerate(zip(people, names, strict=True)):
            self.name(person, "Person", name)
            self.say(person, "s:department", f"s:{_DEPARTMENTS[number % 4]}")
            if number >= 4:
                self.say(person, "s:manager", f"s:{people[number // 3 % 4 if number < 20 else 4 + number * 3 % 16]}")
            self.date(person, "s:hired", date(2005, 1, 10) + timedelta(days=self.dice.randrange(6_500)))
            if self.dice.random() < 0.85:
                self.say(person, "s:phoneExtension", f'"{self.dice.randint(100, 999)}"')
            for language in self.dice.sample(("de", "en", "fr", "it"), self.dice.randint(0, 3)):
                self.say(person, "s:speaks", f'"{language}"')
        return people

    def suppliers(self) -> list[str]:
        suppliers = [f"supplier{number:02}" for number in range(len(_SUPPLIERS))]
        for supplier, name in zip(suppliers, _SUPPLIERS, strict=True):
            self.name(supplier, "Supplier", name)
            for city in self.dice.sample(list(_CITIES), self.dice.choice((1, 1, 1, 2))):
                self.say(supplier, "s:city", f"s:{city}")
            if self.dice.random() < 0.75:
                self.say(supplier, "s:rating", f"{self.dice.randint(2, 10) / 2}")
            self.say(supplier, "s:founded", f'"{self.dice.randint(1890, 2015)}"^^xsd:gYear')
        return suppliers

    def products(self, people: Sequence[str], suppliers: Sequence[str]) -> list[str]:
        products = [f"product{number:03}" for number in range(120)]
        for number, product in enumerate(products):
            kind = list(_KINDS)[number % len(_KINDS)]
            title = f"{self.dice.choice(_KINDS[kind])} {self.dice.choice('ABCDEFGHKLMNPQRSTUVWXYZ')}{100 + number}"
            self.name(product, kind, title)
            if self.dice.random() < 0.15:
                self.say(product, "skos:altLabel", f'"{title.rsplit(maxsplit=1)[-1]} classic"@en')
            self.measure(product)
            for supplier in self.dice.sample(list(suppliers), self.dice.choice((1, 1, 1, 2))):
                self.say(product, "s:suppliedBy", f"s:{supplier}")
            if self.dice.random() < 0.8:
                self.say(product, "s:responsible", f"s:{self.dice.choice(people)}")
            if number >= 6 and self.dice.random() < 0.3:
                self.say(product, "s:replaces", f"s:{self.dice.choice(products[:number])}")
            if number % 5 == 0:
                self.say(product, "s:compatibleWith", f"s:{self.dice.choice(products)}")
        return products

    def measure(self, product: str) -> None:
        dice = self.dice
        if dice.random() < 0.9:
            # Some weights are texts, as in a table that was imported.
            weight = dice.choice((12, 50, 50, 180, 180, 420, 950, 2_400, 5_000, 7_500, 12_000))
            self.say(product, "s:weight", f'"{weight}"' if dice.random() < 0.1 else str(weight))
        for size in ("s:width", "s:height"):
            if dice.random() < 0.7:
                self.say(product, size, f"{dice.randint(10, 400)}")
        if dice.random() < 0.85:
            self.date(product, "s:launched", date(2010, 1, 1) + timedelta(days=dice.randrange(5_000)))
        for colour in dice.sample(("white", "grey", "blue", "green"), dice.choice((0, 1, 1, 2))):
            self.say(product, "s:colour", f'"{colour}"')
        if dice.random() < 0.6:
            self.say(product, "s:discontinued", dice.choice(("true", "false", "false")))
        for currency in dice.choice((("EUR",), ("EUR",), ("EUR", "USD"), ())):
            price = f"{product}_{currency}"
            self.say(product, "s:price", f"s:{price}")
            self.say(price, "s:amount", dice.choice(_PRICES))
            self.say(price, "s:currency", f"s:{currency}")
            self.say(price, "s:validFrom", f'"{dice.randint(2022, 2025)}-01-01"^^xsd:date')

    def orders(self, products: Sequence[str], people: Sequence[str]) -> None:
        for number, name in enumerate(_CUSTOMERS):
            self.name(f"customer{number}", "Customer", name)
            self.say(f"customer{number}", "s:city", f"s:{self.dice.choice(list(_CITIES))}")
        for number in range(150):
            order = f"order{number:03}"
            self.say(order, "a", "s:Order")
            self.say(order, "s:customer", f"s:customer{self.dice.randrange(len(_CUSTOMERS))}")
            self.date(order, "s:placed", date(2023, 1, 1) + timedelta(days=self.dice.randrange(900)))
            if self.dice.random() < 0.8:
                self.say(order, "s:handledBy", f"s:{self.dice.choice(people[:24])}")
            for product in self.dice.sample(list(products), self.dice.choice((1, 1, 2, 3))):
                line = f"{order}_{product}"
                self.say(order, "s:line", f"s:{line}")
                self.say(line, "s:product", f"s:{product}")
                self.say(line, "s:quantity", str(self.dice.choice((1, 1, 2, 5, 10, 25))))

    def name(self, node: str, kind: str, label: str) -> None:
        self.say(node, "a", f"s:{kind}")
        self.say(node, "rdfs:label", f'"{label}"@en')

    def date(self, node: str, predicate: str, day: date) -> None:
        self.say(node, predicate, f'"{day.isoformat()}"^^xsd:date')

    def say(self, node: str, predicate: str, value: str) -> None:
        self.said[f"s:{node} {predicate} {value} ."] = None


FOLDER: Final = Path(__file__).parent
GOLD: Final = FOLDER / "shop_gold.json"

PREFIXES: Final = (
    f"PREFIX s: <{SHOP}>\n"
    "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>\n"
    "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"
)

Rows: TypeAlias = list[list[str]]
"""The rows of an answer, sorted: nodes as `s:` and their local names, numbers without zeros at their end."""


@dataclass(frozen=True)
class ShopQuestion:
    """A question.

    Attributes:
        id: Its number.
        kind: One of eight.
        text: In plain English.
        sparql: The query of its answer, with `PREFIXES` before it.
    """

    id: str
    kind: str
    text: str
    sparql: str


def questions() -> Sequence[ShopQuestion]:
    """Return all questions."""
    given = tomllib.loads((FOLDER / "shop_questions.toml").read_text(encoding="utf-8"))
    return [ShopQuestion(**one) for one in given["question"]]


def gold() -> Mapping[str, Rows]:
    """Return the answers as they are stored, by the number of the question."""
    stored: Mapping[str, Rows] = json.loads(GOLD.read_text(encoding="utf-8"))
    return stored


def store() -> pyoxigraph.Store:
    """Return an engine that holds the shop."""
    engine = pyoxigraph.Store()
    engine.load(turtle().encode(), pyoxigraph.RdfFormat.TURTLE)
    return engine


def answered(engine: pyoxigraph.Store, question: ShopQuestion) -> Rows:
    """Return the answer to a question by its query."""
    found = engine.query(PREFIXES + question.sparql)
    assert isinstance(found, pyoxigraph.QuerySolutions)
    return ordered([[_text(value) for value in solution] for solution in found])


def ordered(rows: Rows) -> Rows:
    """Return rows in the one order, each value in the one spelling."""
    return sorted([normal(value) for value in row] for row in rows)


def normal(value: str) -> str:
    """Return a value in the spelling of stored answers; engines differ in the digits of an average."""
    if value.startswith(SHOP):
        return f"s:{value.removeprefix(SHOP)}"
    try:
        number = round(Decimal(value), 6)
    except InvalidOperation:
        return value
    return f"{number:f}".rstrip("0").rstrip(".") if number % 1 else f"{number:.0f}"


def _text(value: object) -> str:
    assert isinstance(value, pyoxigraph.NamedNode | pyoxigraph.Literal), value
    return value.value


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the graph, or the answers, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.values.shop", description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help="where the graph goes, as Turtle")
    file = parser.parse_args(arguments).file
    if file is not None:
        file.write_text(turtle(), encoding="utf-8")
        return 0
    engine = store()
    rows = {question.id: answered(engine, question) for question in questions()}
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(of_question)}" for key, of_question in rows.items())
    GOLD.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
