"""The 60 questions about the shop, their answers by SPARQL, and the answers as they are stored."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Final, TypeAlias

import pyoxigraph

from tests.values.shop import SHOP, turtle

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


if __name__ == "__main__":
    engine = store()
    rows = {question.id: answered(engine, question) for question in questions()}
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(of_question)}" for key, of_question in rows.items())
    GOLD.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
