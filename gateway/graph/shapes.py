"""What values predicates have, and what instances of a type have, as `describe_schema` tells it (docs/tools.md)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple, get_args
from typing import Literal as Literal_

from gateway.graph.values import (
    BlankNode,
    Description,
    Edge,
    Iri,
    NodeFacts,
    NoValue,
    Properties,
    Quantity,
    Resource,
    Value,
)
from gateway.graph.walks import expressions_in, list_members
from gateway.terms.iri import ARRAY, ORDER, RDF, XSD, is_sendable
from gateway.terms.literals import Literal, is_date, is_number

Kind = Literal_["number", "date", "boolean", "text", "language text"]
"""What a literal is, whatever its datatype."""

KINDS: Sequence[Kind] = get_args(Kind)
"""The kinds in the order in which they are told."""

_LONGEST = 100
"""Characters of a number or a date that is compared."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,6})?")
_INFINITE = {"INF": "Infinity", "+INF": "Infinity", "-INF": "-Infinity", "Infinity": "Infinity"}
_NO_NUMBER = "NaN"
_DATE = re.compile(
    r"(?P<year>-?[0-9]{3,})(?:-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2})(?:T(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})"
    r":(?P<second>[0-9]{2}(?:\.[0-9]+)?))?)?)?(?:Z|(?P<sign>[+-])(?P<hours>[0-9]{2}):(?P<minutes>[0-9]{2}))?"
)
_MINUTES_OF_A_DAY = 1440
_FEBRUARY = 2

Key = tuple[Decimal, ...]
"""By what numbers, or dates, are compared."""


def kind_of(literal: Literal) -> Kind:
    """Return the kind of a literal; what its datatype calls a number is a text if it does not read as one."""
    if literal.language:
        return "language text"
    kind = kind_of_datatype(literal.datatype)
    if kind == "number" and literal.value.strip() != _NO_NUMBER and number_key(literal) is None:
        return "text"
    return kind


def kind_of_datatype(datatype: Iri) -> Kind:
    """Return the kind that literals of a datatype have if their text fits; empty is that of plain text."""
    if datatype == f"{RDF}langString":
        return "language text"
    if is_number(datatype):
        return "number"
    if is_date(datatype):
        return "date"
    return "boolean" if datatype == f"{XSD}boolean" else "text"


def number_key(literal: Literal) -> Key | None:
    """Return by what a number is compared; None for what is no number that compares."""
    text = literal.value.strip()
    if text in _INFINITE:
        return (Decimal(_INFINITE[text]),)
    return (Decimal(text),) if len(text) <= _LONGEST and _NUMBER.fullmatch(text) else None


def date_key(literal: Literal) -> Key | None:
    """Return by what a date is compared, in UTC; None for one without a year."""
    found = _DATE.fullmatch(literal.value.strip()) if len(literal.value) <= _LONGEST else None
    if found is None:
        return None
    part = {name: int(text or 0) for name, text in found.groupdict().items() if name not in {"sign", "second"}}
    offset = (part["hours"] * 60 + part["minutes"]) * (-1 if found["sign"] == "-" else 1)
    days = _days(part["year"], part["month"] or 1, part["day"] or 1)
    minutes = days * _MINUTES_OF_A_DAY + part["hour"] * 60 + part["minute"] - offset
    return (Decimal(minutes), Decimal(found["second"] or 0))


def _days(year: int, month: int, day: int) -> int:
    """Return the number of a day in the proleptic Gregorian calendar; a day too many is the next month's first."""
    # The year begins in March, so that the day that only some years have is its last.
    year -= month <= _FEBRUARY
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return 365 * year + year // 4 - year // 100 + year // 400 + of_year


def _text_key(literal: Literal) -> tuple[str]:
    return (literal.value,)


_KEYS: Mapping[Kind, Callable[[Literal], tuple[Any, ...] | None]] = {
    "number": number_key,
    "date": date_key,
    "text": _text_key,
    "language text": _text_key,
}
"""What values are compared by; texts by code point, which is no order for people but gives the same two everywhere."""


class Extremes(NamedTuple):
    """The first and the last of some values of one kind."""

    first: Literal
    last: Literal


@dataclass(slots=True)
class ValueTally:
    """What some values of one predicate are.

    Attributes:
        kinds: How many values there are of each kind, or nodes that have one.
        extremes: The first and the last value of each kind, of those that compare.
        has_lists: Whether some of them are lists (`ARRAY`), whose members may be nodes.
        content: How many are known to be nothing but content of class expressions, which equals nothing.
        unshown: Whether there are some that no answer shows (`ORDER`), which are counted nowhere else.
    """

    kinds: Counter[Kind] = field(default_factory=Counter)
    extremes: dict[Kind, Extremes] = field(default_factory=dict)
    has_lists: bool = False
    content: int = 0
    unshown: bool = False

    @property
    def is_content(self) -> bool:
        """Whether all of them are content of class expressions, or are not shown."""
        return (self.content > 0 or self.unshown) and self.content == self.kinds.total()

    def add(self, literal: Literal) -> None:
        """Count a value."""
        if literal.datatype == ORDER:
            self.unshown = True
            return
        kind = kind_of(literal)
        self.kinds[kind] += 1
        self.has_lists = self.has_lists or literal.datatype == ARRAY
        self.content += literal.datatype == ARRAY and not any(isinstance(end, Literal) for end in list_members(literal))
        # How a list is written is for the gateway alone.
        key_of = None if literal.datatype == ARRAY else _KEYS.get(kind)
        key = None if key_of is None else key_of(literal)
        if key is None or key_of is None:
            return
        first, last = self.extremes.get(kind) or Extremes(literal, literal)
        self.extremes[kind] = Extremes(
            literal if key < (key_of(first) or key) else first, literal if key > (key_of(last) or key) else last
        )

    def add_texts(self, kind: Kind, texts: Iterable[str]) -> None:
        """Compare texts of a kind whose values were counted elsewhere."""
        known = self.extremes.get(kind, ())
        values = sorted({literal.value for literal in known}.union(texts))
        self.extremes[kind] = Extremes(Literal(values[0]), Literal(values[-1]))

    def with_ranges(self, read: ValueTally) -> ValueTally:
        """Return it with the ranges of some of its values, which were read, and with kinds that only these show."""
        kinds = Counter(self.kinds)
        for kind in read.kinds:
            kinds[kind] = kinds[kind] or 1
        return ValueTally(
            kinds,
            read.extremes | self.extremes,
            has_lists=self.has_lists or read.has_lists,
            unshown=self.unshown or read.unshown,
        )


@dataclass(frozen=True, slots=True)
class ValuePredicate:
    """A predicate of literals.

    Attributes:
        iri: Its IRI.
        nodes: How many nodes have a literal by it: of the graph, or of the nodes that were looked at.
        tally: What its values are, of all or of those that were read.
        is_whole: Whether the tally is of all its values.
    """

    iri: Iri
    nodes: int
    tally: ValueTally
    is_whole: bool


@dataclass(frozen=True, slots=True)
class ValuePredicates:
    """The predicates of literals of nodes, those that most nodes have first, then by IRI.

    Attributes:
        predicates: The predicates.
        counted: Whether every node was counted; otherwise some were looked at, and there may be further predicates.
    """

    predicates: tuple[ValuePredicate, ...] = ()
    counted: bool = False

    @property
    def shown(self) -> Sequence[ValuePredicate]:
        """The predicates of which answers show literals."""
        return [one for one in self.predicates if one.tally.kinds]


NO_VALUES = ValuePredicates()


def literals_of(properties: Properties) -> Mapping[Iri, list[Literal]]:
    """Return the literals of a node by predicate; of a quantity its number."""
    found: dict[Iri, list[Literal]] = {}
    for predicate, values in properties.items():
        for value in values:
            literal = value.amount if isinstance(value, Quantity) else value
            if isinstance(literal, Literal):
                found.setdefault(predicate, []).append(literal)
    return found


def value_predicates_of(descriptions: Iterable[Description], *, counted: bool) -> ValuePredicates:
    """Return the predicates of literals of nodes that were read; `counted` if these are all nodes of the graph."""
    nodes: Counter[Iri] = Counter()
    tallies: dict[Iri, ValueTally] = {}
    for description in descriptions:
        counted = counted and description.mark.whole and not description.left_out
        for predicate, literals in literals_of(description.properties).items():
            nodes[predicate] += 1
            tally = tallies.setdefault(predicate, ValueTally())
            for literal in literals:
                tally.add(literal)
    return ValuePredicates(
        in_order(ValuePredicate(iri, nodes[iri], tally, counted) for iri, tally in tallies.items()), counted
    )


def in_order(predicates: Iterable[ValuePredicate]) -> tuple[ValuePredicate, ...]:
    """Return the predicates that callers can send back, those that most nodes have first, then by IRI."""
    sendable = (one for one in predicates if is_sendable(one.iri))
    return tuple(sorted(sendable, key=lambda one: (-one.nodes, one.iri)))


@dataclass(slots=True)
class PredicateTally:
    """What some instances of a type have by one predicate, in one direction.

    Attributes:
        having: How many of them have it.
        has_several: Whether one of them has several values by it, or edges.
        values: What their literals are.
        ends: The nodes at the other ends.
        iris: How many other IRIs there are, which are no nodes.
        blank: How many blank nodes there are that are no nodes.
    """

    having: int = 0
    has_several: bool = False
    values: ValueTally = field(default_factory=ValueTally)
    ends: dict[Iri, None] = field(default_factory=dict)
    iris: int = 0
    blank: int = 0


Direction = tuple[Iri, bool]
"""A predicate, and whether its edges come in."""


@dataclass(frozen=True, slots=True)
class TypeShape:
    """What instances of one type have.

    Attributes:
        iri: The type.
        subclasses: Its subclasses whose instances are among them, sorted.
        read: How many instances were looked at.
        total: How many there are; None if that is not known.
        uncut: How many of those that were looked at show all of their outgoing edges, and of their incoming ones.
        predicates: What they have, by predicate and direction.
    """

    iri: Iri
    subclasses: tuple[Iri, ...] = ()
    read: int = 0
    total: int | None = None
    uncut: tuple[int, int] = (0, 0)
    predicates: Mapping[Direction, PredicateTally] = field(default_factory=dict)

    @property
    def counted(self) -> bool:
        """Whether all instances were looked at, with all that they have; otherwise this is a sample."""
        return self.read == self.total and self.uncut == (self.read, self.read)

    def in_order(self) -> list[tuple[Direction, PredicateTally]]:
        """Return the predicates, those that most instances have first, outgoing before incoming ones, then by IRI."""
        return sorted(self.predicates.items(), key=lambda item: (-item[1].having, item[0][1], item[0][0]))


@dataclass(frozen=True, slots=True)
class ReadShape:
    """The shape of a type, and facts about nodes at the other ends.

    Attributes:
        shape: The shape.
        facts: The types and names of those of them that were looked at.
        labels: Names of predicates, where IDs are opaque.
    """

    shape: TypeShape
    facts: Mapping[Iri, NodeFacts]
    labels: Mapping[Iri, str]


@dataclass(frozen=True, slots=True)
class Instance:
    """What was read of one instance.

    Attributes:
        iri: The instance.
        properties: Its literals and other values that are no edges.
        outgoing: Its outgoing edges, or some.
        incoming: Its incoming edges, or some.
        are_all: Whether these are all outgoing, and all incoming edges.
    """

    iri: Iri
    properties: Properties
    outgoing: Sequence[Edge]
    incoming: Sequence[Edge]
    are_all: tuple[bool, bool]


def shape_of(
    iri: Iri, subclasses: tuple[Iri, ...], total: int | None, instances: Sequence[Instance], ignored: Container[Iri]
) -> TypeShape:
    """Return the shape that some instances of a type have; `ignored` are predicates that give types."""
    predicates: dict[Direction, PredicateTally] = {}
    for instance in instances:
        of_one: dict[Direction, PredicateTally] = {}
        counts: Counter[Direction] = Counter()
        for predicate, values in instance.properties.items():
            if predicate in ignored or not is_sendable(predicate):
                continue
            tally = predicates.get((predicate, False)) or PredicateTally()
            if shown := _add_values(tally, values):
                predicates[predicate, False] = of_one[predicate, False] = tally
                counts[predicate, False] += shown
        for edges, incoming in ((instance.outgoing, False), (instance.incoming, True)):
            for edge in edges:
                tally = predicates.setdefault((edge.predicate, incoming), PredicateTally())
                tally.ends[edge.subject if incoming else edge.object] = None
                of_one[edge.predicate, incoming] = tally
                counts[edge.predicate, incoming] += 1
        for direction, tally in of_one.items():
            tally.having += 1
            tally.has_several = tally.has_several or counts[direction] > 1
    uncut = tuple(sum(instance.are_all[at] for instance in instances) for at in (0, 1))
    return TypeShape(iri, subclasses, len(instances), total, (uncut[0], uncut[1]), predicates)


def _add_values(tally: PredicateTally, values: Sequence[Value]) -> int:
    """Add values, and return how many there are: of lists of nodes their edges are counted."""
    shown = 0
    for value in values:
        shown += 1
        match value:
            case Literal(datatype=datatype) if datatype == ORDER:
                # What class expressions say stands under other predicates.
                expressions = expressions_in([value])
                tally.blank += expressions
                shown += expressions - 1
            case Literal():
                tally.values.add(value)
            case Quantity():
                tally.values.add(value.amount)
            case Resource():
                tally.iris += 1
            case BlankNode():
                tally.blank += 1
            case NoValue():
                pass
    return shown
