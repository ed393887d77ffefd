"""Graphs with odd values as databases hold them, and where walks end and conditions hold in them.

By a naive computation over triples, and plain arithmetic on what literals say, as docs/values.md has it.
"""

import operator
import random
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final, Literal

from gateway.graph.values import Iri
from gateway.graph.walks import (
    ANY_LITERAL,
    LONGEST_WALK,
    NAMES,
    Alternatives,
    Condition,
    Ends,
    Nodes,
    Operator,
    Step,
    Walk,
)
from gateway.settings.profile import Profile
from gateway.terms.comparable import Number, Period, Text
from gateway.terms.iri import NAME_PREDICATES, RDF_TYPE, SYNONYM_PREDICATES, XSD
from gateway.terms.literals import Literal as Value

VOCABULARY: Final = "urn:x-bfsql:term:"

EXCEPTED: Final = f"{VOCABULARY}seeAlso"
"""A predicate that is no edge, though the database has relationships of it."""

PROFILE: Final = Profile.model_validate({"edges": {"also_excepted": (EXCEPTED,)}})

_EDGES: Final = ("next", "part of", "seeAlso")
_PROPERTIES: Final = ("price", "born", "note", "links", "seeAlso")
_NESTED: Final = ("price", "detail", "links", "seeAlso")
TYPES: Final = ("Thing", "Odd thing", "Place")

NUMBERS: Final[Sequence[Any]] = (
    *(0, 1, -7, 49, 50, 51, 10**30, -(2**63) - 1, 0.5, 49.99, 1e-7, 123456.25),
    *(
        "50",
        " 50 ",
        "+050.0",
        "5e1",
        "INF",
        "-INF",
        "NaN",
        "1e400",
        "1e-400",
        "50.0.0",
        ".",
        "1,000",
        "\u0665\u0660",
        "0x32",
        "-",
    ),
)
TEXTS: Final[Sequence[Any]] = (
    *("Toulouse", "TOULOUSE", "toulouse ", "straße", "STRASSE", "café", "cafe\u0301", "CAFE", "K", "\u212a", "İ", "i"),
    *("", " ", "a'b\"c\\d", "%_", "{", "\u1f600", "\U0001f600", "x" * 5_000, True, False),
)
DATES: Final[Sequence[Any]] = (
    *("1990", "1990-05", "1990-05-01", "-0044-03-15", "1990-05-01T23:30:00-05:00", "12026-01-01", "1990-05-01Z"),
)


def _typed(text: str, datatype: str) -> Mapping[str, Any]:
    return {"@value": text, "@type": f"{XSD}{datatype}"}


@dataclass(frozen=True)
class DrawnNode:
    """A row of a node.

    Attributes:
        id: Its ID, which is its IRI.
        types: Its types.
        name: Its name; empty where it has none.
        synonyms: Its synonyms.
        plain: Numbers, texts and truth values by key, one or a list.
        json: Values as JSON has them, by key; others than in `plain`.
    """

    id: str
    types: tuple[str, ...]
    name: str
    synonyms: tuple[str, ...]
    plain: Mapping[str, Any]
    json: Mapping[str, Any]


@dataclass(frozen=True)
class DrawnGraph:
    """Rows of nodes and edges."""

    nodes: Sequence[DrawnNode]
    edges: Sequence[tuple[str, str, str]]

    @property
    def ids(self) -> list[Iri]:
        """All nodes, one that is only an end of edges, and one that is not there."""
        return [node.id for node in self.nodes]


def drawn_graph(seed: str, count: int = 60) -> DrawnGraph:
    """Draw a graph."""
    return _Draw(seed, count).graph()


class _Draw:
    def __init__(self, seed: str, count: int) -> None:
        self._draw = random.Random(seed)  # noqa: S311 - a test that can be repeated
        self._ids = [f"urn:n:{number}" for number in range(count)]

    def graph(self) -> DrawnGraph:
        nodes = [self._node(node) for node in self._ids]
        edges = {
            (self._draw.choice(self._ids), self._draw.choice(_EDGES), self._draw.choice(self._ids))
            for _ in range(2 * len(self._ids))
        }
        return DrawnGraph(nodes, sorted(edges))

    def _node(self, node: str) -> DrawnNode:
        draw = self._draw
        types = draw.choice([(), ("Thing",), ("Thing", "Odd thing"), ("Place",), ("Thing",)])
        name = draw.choice(["", *filter(str.strip, map(str, TEXTS[:10])), "49", f"name {node}"])
        synonyms = draw.sample(["Tolosa", "Café", "straße", "50", "1990-05"], draw.randrange(3))
        json = {key: self._json() for key in draw.sample(_NESTED, draw.randrange(3))}
        keys = [key for key in draw.sample(_PROPERTIES, draw.randrange(5)) if key not in json]
        return DrawnNode(
            node, types, name, tuple(sorted({*synonyms} - {name})), {key: self._plain() for key in keys}, json
        )

    def _plain(self) -> Any:
        values = self._draw.choice([NUMBERS, TEXTS, DATES])
        kinds = [[value for value in values if type(value) is kind and _fits(value)] for kind in (int, float, str)]
        kind = self._draw.choice([some for some in kinds if some])
        return self._draw.choice([self._draw.choice(kind), self._draw.sample(kind, min(len(kind), 3))])

    def _json(self, levels: int = 2) -> Any:
        values = [self._one(levels) for _ in range(self._draw.randrange(4))]
        return values[0] if len(values) == 1 else [values[:1], *values[1:]]

    def _one(self, levels: int) -> Any:
        draw = self._draw
        match draw.randrange(7):
            case 0:
                return _typed(
                    str(draw.choice(NUMBERS)), draw.choice(["integer", "decimal", "double", "string", "byte"])
                )
            case 1:
                return _typed(draw.choice(DATES), draw.choice(["date", "dateTime", "gYear", "gYearMonth"]))
            case 2:
                return {"@value": str(draw.choice(TEXTS)), "@language": draw.choice(["en", "fr-FR"])}
            case 3:
                return None if draw.randrange(2) else draw.choice([True, "x", 50, 49.5])
            case 4 | 5 if levels:
                return {inner: self._json(levels - 1) for inner in draw.sample(["price", "detail", "of"], 2)}
            case _:
                return {"@id": draw.choice(self._ids)}


def _fits(value: Any) -> bool:
    """Return whether every database has numbers so large."""
    return not isinstance(value, int) or -(2**63) <= value < 2**63


Way = Literal["postgresql", "neo4j"]


def _literal(value: Any, way: Way, *, in_json: bool) -> Value:
    match value:
        case bool():
            return Value(str(value).lower(), f"{XSD}boolean")
        case int():
            return Value(str(value), f"{XSD}integer")
        case float() if way == "neo4j" and not in_json:
            return Value(repr(value), f"{XSD}double")
        case float():
            # JSONB writes a number without an exponent.
            text = f"{value:.7f}".rstrip("0") if way == "postgresql" else repr(value)
            return Value(text, f"{XSD}double" if "e" in text else f"{XSD}decimal")
    return Value(str(value))


Blank = tuple[Any, ...]
"""A nested value: whose it is, by which predicate, and its place."""

End = Iri | Blank | Value


@dataclass
class Triples:
    """A graph as triples, each with whether it is an edge or leads to a nested value as one would."""

    way: Way
    by_subject: dict[Any, list[tuple[Iri, End, bool]]] = field(default_factory=dict)
    by_object: dict[Any, list[tuple[Iri, Any, bool]]] = field(default_factory=dict)

    @classmethod
    def of(cls, graph: DrawnGraph, way: Way) -> "Triples":
        """Return the triples of a graph."""
        triples = cls(way)
        for node in graph.nodes:
            for one in node.types:
                triples._add(node.id, RDF_TYPE, VOCABULARY + _encoded(one), is_edge=False)
            if node.name:
                triples._add(node.id, NAME_PREDICATES[0], Value(node.name), is_edge=False)
            for synonym in node.synonyms:
                triples._add(node.id, SYNONYM_PREDICATES[0], Value(synonym), is_edge=False)
            for key, value in node.plain.items():
                for scalar in value if isinstance(value, list) else [value]:
                    triples._add(node.id, VOCABULARY + key, _literal(scalar, way, in_json=False), is_edge=False)
            triples._add_json(node.id, node.json)
        for subject, predicate, target in graph.edges:
            iri = VOCABULARY + _encoded(predicate)
            triples._add(subject, iri, target, is_edge=iri != EXCEPTED)
        return triples

    def _add(self, subject: Any, predicate: Iri, target: End, *, is_edge: bool) -> None:
        self.by_subject.setdefault(subject, []).append((predicate, target, is_edge))
        self.by_object.setdefault(target, []).append((predicate, subject, is_edge))

    def _add_json(self, owner: Any, content: Mapping[str, Any]) -> None:
        for key, listed in content.items():
            predicate = VOCABULARY + key
            may_be_edge = predicate != EXCEPTED
            for place, value in enumerate(_flat(listed)):
                match value:
                    case None:
                        continue
                    case {"@id": str(iri)}:
                        self._add(owner, predicate, iri, is_edge=may_be_edge and isinstance(owner, tuple))
                    case {"@value": str(text)}:
                        literal = Value(text, value.get("@type", ""), value.get("@language", "").lower())
                        self._add(owner, predicate, literal, is_edge=False)
                    case dict():
                        blank = (owner, predicate, place)
                        self._add(owner, predicate, blank, is_edge=may_be_edge)
                        self._add_json(blank, value)
                    case _:
                        self._add(owner, predicate, _literal(value, self.way, in_json=True), is_edge=False)

    def ends(self, node: Iri, walk: Walk) -> tuple[set[Any], int]:
        """Return where a walk ends, and at how many nested values."""
        if walk in (NAMES, ANY_LITERAL):
            named = {*NAME_PREDICATES, *SYNONYM_PREDICATES}
            literals = {
                target
                for predicate, target, _ in self.by_subject.get(node, ())
                if isinstance(target, Value) and (walk == ANY_LITERAL or predicate in named)
            }
            return literals, 0
        places: set[Any] = {node}
        for step in walk:
            places = {end for place in places if not isinstance(place, Value) for end in self._led(place, step)}
        return {end for end in places if not isinstance(end, tuple)}, sum(isinstance(end, tuple) for end in places)

    def _led(self, place: Any, step: Step) -> Iterator[Any]:
        triples = (self.by_object if step.is_inverse else self.by_subject).get(place, ())
        return (end for predicate, end, _ in triples if predicate in step.predicates)

    def typed(self, types: Iterable[Iri]) -> set[Iri]:
        """Return the nodes of some types, or those without any."""
        wanted = {*types}
        own = {
            node: {target for predicate, target, _ in triples if predicate == RDF_TYPE}
            for node, triples in self.by_subject.items()
            if isinstance(node, str)
        }
        known = {*own, *(end for end in self.by_object if isinstance(end, str) and end.startswith("urn:n:"))}
        return {node for node in known if (own.get(node, set()) & wanted if wanted else not own.get(node))}


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for one in value:
            yield from _flat(one)
    else:
        yield value


def _encoded(text: str) -> str:
    return text.replace(" ", "%20")


def drawn_walks(triples: Triples, seed: str, count: int) -> list[Walk]:
    """Draw walks that lead somewhere from one node at least, but for a few."""
    draw = random.Random(seed)  # noqa: S311 - a test that can be repeated
    walks: list[Walk] = [NAMES, ANY_LITERAL, (Step((RDF_TYPE,)),), (Step((RDF_TYPE,), is_inverse=True),)]
    for number in range(count):
        place: Any = draw.choice([*triples.by_subject])
        while isinstance(place, tuple):
            place = place[0]
        steps: list[Step] = []
        for left in reversed(range(1 + number % LONGEST_WALK)):
            ways = [
                (predicate, end, is_inverse)
                for is_inverse, by in ((False, triples.by_subject), (True, triples.by_object))
                for predicate, end, is_edge in by.get(place, ())
                if not left or (is_edge and not isinstance(end, Value))
            ]
            predicate, place, is_inverse = draw.choice(ways or [(EXCEPTED, place, False)])
            others = draw.sample([RDF_TYPE, EXCEPTED, *(f"{VOCABULARY}{_encoded(name)}" for name in _EDGES)], 1)
            steps.append(Step(tuple(sorted({predicate, *(others if draw.random() < 0.3 else ())})), is_inverse))
        walks.append(tuple(steps))
    return walks


def difference(found: Ends, expected: tuple[set[Any], int]) -> object:
    """Return what is wrong about the ends of a walk that was read where nothing fails; None if nothing is."""
    ends, blank = expected
    if not found.mark.whole:
        return found.mark
    if len({*found.ends}) != len(found.ends):
        return "not distinct"
    return None if ({*found.ends}, found.blank) == (ends, blank) else ({*found.ends} ^ ends, found.blank, blank)


# Conditions


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
        case Number(value, year) if isinstance(end, Value):
            number = number_of(end.value)
            if number is not None and _COMPARED[compared](
                number, value if isinstance(value, Fraction) else float(value)
            ):
                return True
            return year is not None and _fulfils(end, compared, year)
        case Period() as bound if isinstance(end, Value):
            return any(_in_order(period, compared, bound) for period in filter(None, [period_of(end.value)]))
        case Text(sought) if isinstance(end, Value):
            return any(_of_text(text, compared, sought) for text in _texts(end))
    return False


def _texts(end: Value) -> Iterator[str]:
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
    texts = [end.value for end in ends if isinstance(end, Value)]
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
