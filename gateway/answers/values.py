"""Values of a node on a page, and the survey of its edges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import islice
from typing import Any, Self, TypeVar

import msgspec

from gateway.graph.values import Evidence, Iri, NoValue, Value
from gateway.graph.values import Properties as GraphProperties
from gateway.terms.iri import ARRAY, ORDER, POSITION, is_sendable, is_shown, local_name
from gateway.terms.literals import JsonScalar, Literal
from gateway.terms.names import compact, cut
from gateway.traversal.gaps import Cause

SHORTER = ((1_000, 100), (200, 30), (80, 10))
"""Characters of a text and elements of a list that are left, by how hard it must be tried."""


class Id(str):
    """A canonical ID among the values of a page: a part of it would name nothing, so it is never shortened.

    Attributes:
        uncoined: The same without a coined prefix; orders rest on it.
    """

    __slots__ = ("uncoined",)
    uncoined: str

    def __new__(cls, text: str, uncoined: str | None = None) -> Self:
        """Return an ID; without a coined prefix, its two forms are the same."""
        made = super().__new__(cls, text)
        made.uncoined = text if uncoined is None else uncoined
        return made


def uncoined(text: str) -> str:
    """Return the text by which an ID, or any other text, is sorted."""
    return text.uncoined if isinstance(text, Id) else text


@dataclass(frozen=True, slots=True)
class Amount:
    """A number with the ID of its unit."""

    number: JsonScalar
    unit: Id


@dataclass(frozen=True, slots=True)
class Nested:
    """The content of a blank node by the ID of the predicate.

    Attributes:
        properties: The values.
        cut: Whether there is more below.
        id: Its ID, if it is a node.
    """

    properties: Mapping[str, Sequence[PageValue]]
    cut: bool = False
    id: Id | None = None


@dataclass(frozen=True, slots=True)
class Array:
    """A list of the graph as one value, its members in their order."""

    members: Sequence[PageValue]


PageValue = JsonScalar | Amount | NoValue | Nested | Array
Properties = Mapping[str, Sequence[PageValue]]
Listed = TypeVar("Listed")


@dataclass(slots=True)
class Shortener:
    """Shortens texts and lists, and counts how many.

    Attributes:
        text: Characters above which a text is cut.
        elements: Elements above which a list is cut.
        shortened: How many values were cut.
    """

    text: int
    elements: int
    shortened: int = 0

    def __call__(self, text: str) -> str:
        """Return a text, cut where it is too long."""
        if len(text) <= self.text:
            return text
        self.shortened += 1
        return cut(text, self.text)

    def beginning(self, values: Sequence[Listed]) -> Sequence[Listed]:
        """Return as many of the first values as a list may have."""
        if len(values) <= self.elements:
            return values
        self.shortened += 1
        return values[: self.elements]


@dataclass(frozen=True, slots=True)
class PageAssertion:
    """What one assertion says of an edge, or what several say together.

    Attributes:
        negated: Whether it denies the edge.
        confidence: Its confidence; several numbers where the graph has several.
        source_documents: The documents that state it, sorted.
        properties: All else, by the ID of the predicate, in the order of these.
    """

    negated: bool = False
    confidence: Sequence[JsonScalar] = ()
    source_documents: Sequence[str] = ()
    properties: Properties = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing."""
        return not (self.negated or self.confidence or self.source_documents or self.properties)

    def shortened(self, shortener: Shortener) -> PageAssertion:
        """Return it with shorter texts and lists."""
        return replace(
            self,
            confidence=shortened_values(self.confidence, shortener),
            source_documents=shortened_values(self.source_documents, shortener),
            properties=_shortened_properties(self.properties, shortener),
        )


@dataclass(frozen=True, slots=True)
class EdgeMetadata:
    """The evidence of an edge.

    Attributes:
        assertions: At least one; those that deny the edge first.
        combined: What several assertions say together: the sources of all, and the confidence on which all agree. None
            for one assertion.
    """

    assertions: Sequence[PageAssertion]
    combined: PageAssertion | None = None

    @property
    def is_negated(self) -> bool:
        """Whether every assertion denies the edge."""
        return (self.combined or self.assertions[0]).negated

    @property
    def negations(self) -> int:
        """How many assertions deny the edge."""
        return sum(assertion.negated for assertion in self.assertions)

    def shortened(self, shortener: Shortener) -> EdgeMetadata:
        """Return it with shorter texts and lists."""
        assertions = [assertion.shortened(shortener) for assertion in shortener.beginning(self.assertions)]
        return EdgeMetadata(assertions, self.combined and self.combined.shortened(shortener))


NEGATED = EdgeMetadata([PageAssertion(negated=True)])
"""What stays of the evidence of an edge that every assertion denies: the edge must not look like a fact."""


@dataclass(frozen=True, slots=True)
class NodeMetadata:
    """What is known of a node beside its edges, in the order in which answers list it.

    Attributes:
        name: Its name; None where it has none.
        types: Its types, where there are several.
        descriptions: What it is, in words.
        synonyms: Its other names.
        total_mentions: How often it is mentioned; several numbers where the graph has several.
        confidence: Its confidence; several numbers where the graph has several.
        source_documents: The documents that state it, sorted.
        properties: All else, by the ID of the predicate, sorted by it.
        beyond: Of a blank node at the end of a traversal, where it leads outside of the answer.
        other_languages: How many of its texts are not shown because others say the same, by language.
    """

    name: str | None = None
    types: Sequence[Id] = ()
    descriptions: Sequence[str] = ()
    synonyms: Sequence[str] = ()
    total_mentions: Sequence[JsonScalar] = ()
    confidence: Sequence[JsonScalar] = ()
    source_documents: Sequence[str] = ()
    properties: Properties = field(default_factory=dict)
    beyond: Nested | None = None
    other_languages: Mapping[str, int] = field(default_factory=dict)

    def shortened(self, shortener: Shortener) -> NodeMetadata:
        """Return it with shorter texts and lists."""
        return NodeMetadata(
            name=None if self.name is None else shortener(self.name),
            types=shortened_values(self.types, shortener),
            descriptions=shortened_values(self.descriptions, shortener),
            synonyms=shortened_values(self.synonyms, shortener),
            total_mentions=shortened_values(self.total_mentions, shortener),
            confidence=shortened_values(self.confidence, shortener),
            source_documents=shortened_values(self.source_documents, shortener),
            properties=_shortened_properties(self.properties, shortener),
            beyond=_shortened(self.beyond, shortener),
            other_languages=self.other_languages,
        )

    @property
    def parts(self) -> list[NodeMetadata]:
        """Each field and each property by itself, in the order in which answers list them."""
        own = [NodeMetadata(**{name: value}) for name, value in self.fields_said.items()]
        return own + [NodeMetadata(properties={key: values}) for key, values in self.properties.items()]

    @classmethod
    def of_parts(cls, parts: Sequence[NodeMetadata]) -> NodeMetadata:
        """Return what some parts say together."""
        own = {name: value for part in parts for name, value in part.fields_said.items()}
        return cls(**own, properties={key: values for part in parts for key, values in part.properties.items()})

    @property
    def fields_said(self) -> dict[str, Any]:
        """The fields that say something, without the properties."""
        values: dict[str, Any] = {one.name: getattr(self, one.name) for one in fields(self)}
        return {
            name: value for name, value in values.items() if name != "properties" and (value or isinstance(value, str))
        }


def shortened_values(values: Sequence[Listed], shortener: Shortener) -> list[Listed]:
    """Return the beginning of a list, its texts shortened; an ID stays as it is."""
    return [_shortened(value, shortener) for value in shortener.beginning(values)]


def _shortened(value: Any, shortener: Shortener) -> Any:
    match value:
        case Id():
            return value
        case str():
            return shortener(value)
        case Amount(number=str(number)):
            return replace(value, number=shortener(number))
        case Array():
            return replace(value, members=shortened_values(value.members, shortener))
        case Nested():
            return replace(value, properties=_shortened_properties(value.properties, shortener))
        case _:
            return value


def _shortened_properties(properties: Properties, shortener: Shortener) -> Properties:
    return {key: shortened_values(values, shortener) for key, values in properties.items()}


ALL_SHOWN = 15
"""Neighbours that a row shows where it has no more (docs/decisions/0031)."""

EXAMPLES = 3
"""Neighbours that any other row shows."""

_LONGEST_NAME = 60
"""Characters of a name that are shown."""


@dataclass(frozen=True, slots=True)
class SurveyRow:
    """The edges of an entity that have the same predicate and direction.

    Attributes:
        predicate: The ID of their predicate.
        incoming: Whether they lead to the entity.
        count: How many there are.
        neighbours: IDs of some nodes at their other ends.
        ordered: Whether these are in the order of a list.
    """

    predicate: str
    incoming: bool
    count: int
    neighbours: tuple[str, ...] = ()
    ordered: bool = False


@dataclass(slots=True)
class EdgeSurvey:
    """The edges of an entity by predicate and direction.

    Attributes:
        rows: The most frequent ones.
        total: How many rows there are, those included that are left out.
        blank_edges: Triples left out because their other end is a blank node.
        is_exact: Whether the counts are exact; otherwise they are lower bounds.
        failed: Why not all edges were counted; None if they were.
        ids_left_out: Edges or rows left out because no caller could send their IDs back.
        names: Names of predicates and neighbours by ID.
    """

    rows: list[SurveyRow]
    total: int
    blank_edges: int = 0
    is_exact: bool = True
    failed: Cause | None = None
    ids_left_out: int = 0
    names: Mapping[str, str] = field(default_factory=dict)

    def name(self, names: Mapping[str, str]) -> None:
        """Add names, and leave as many neighbours as a row shows: those with a name first."""
        self.names = names
        self.rows = [replace(row, neighbours=_shown(row, names)) for row in self.rows]

    @property
    def mentioned(self) -> Iterator[str]:
        """The IDs of its predicates and neighbours."""
        for row in self.rows:
            yield row.predicate
            yield from row.neighbours

    def drop_examples(self) -> int:
        """Leave out all neighbours, to save room, and return how many."""
        count = sum(len(row.neighbours) for row in self.rows)
        self.rows = [replace(row, neighbours=()) for row in self.rows]
        return count

    def cut(self, most: int) -> None:
        """Leave only the first rows, to save room."""
        self.rows = self.rows[:most]

    def shown(self, id_: str) -> str:
        """Return an ID with its name behind it, unless the name says no more than the ID."""
        return with_name(id_, self.names.get(id_, ""))


def with_name(id_: str, name: str) -> str:
    """Return an ID with a name behind it, unless the name says no more than the ID."""
    says_more = compact(name) != compact(local_name(id_.strip("<>")))
    return f"{id_} {cut(name, _LONGEST_NAME)}" if name and says_more else id_


def _shown(row: SurveyRow, names: Mapping[str, str]) -> tuple[str, ...]:
    if row.ordered:
        return row.neighbours
    most = ALL_SHOWN if row.count <= ALL_SHOWN else EXAMPLES
    return tuple(sorted(row.neighbours, key=lambda node: node not in names)[:most])


DEEPEST = 64
"""Lists and expressions in each other that are shown; a store of this gateway has none as deep."""

_ORDERED = 20
"""Members of lists whose order is known."""


POSITION_KEY = "position"
"""The key of the place of a member in its list."""


def list_of(literal: Literal) -> list[object]:
    """Return the members of a list that is one value, as JSON-LD has them; none where its text is damaged."""
    try:
        found = msgspec.json.decode(literal.value)
    except (msgspec.DecodeError, RecursionError):
        return []
    return found if isinstance(found, list) else []


def positions_of(evidence: Evidence) -> Evidence:
    """Return what is known of the positions of the end of an edge, whatever else is stated about it."""
    return replace(evidence, assertions=tuple(one for one in evidence.assertions if POSITION in one.properties))


def expression_of(member: object) -> Mapping[Iri, Sequence[object]]:
    """Return what a member of a list says by predicate that is a class expression; nothing where it is none."""
    try:
        said = msgspec.convert(member, dict[str, list[object]])
    except msgspec.ValidationError:
        return {}
    return said if all(map(is_sendable, said)) else {}


def members_in_order(values: Iterable[Value]) -> list[Iri]:
    """Return the nodes in lists that are among the values of one predicate, in their order, one list after another."""
    lists = [value for value in values if isinstance(value, Literal) and value.datatype in {ARRAY, ORDER}]
    lists.sort(key=lambda literal: literal.value)
    return list(dict.fromkeys(_nodes_of(map(list_of, lists), DEEPEST)))


def orders_of(properties: GraphProperties) -> dict[Iri, list[Iri]]:
    """Return the first members of lists of nodes in their order, by predicate."""
    orders = {predicate: members_in_order(values) for predicate, values in properties.items()}
    return {predicate: list(islice(members, _ORDERED)) for predicate, members in orders.items() if members}


def without_orders(properties: GraphProperties) -> dict[Iri, tuple[Value, ...]]:
    """Return properties without what says the order of others only."""
    shown = {
        predicate: tuple(value for value in values if not (isinstance(value, Literal) and value.datatype == ORDER))
        for predicate, values in properties.items()
    }
    return {predicate: values for predicate, values in shown.items() if values}


def position_key(position: object) -> tuple[int, ...]:
    """Return what orders the positions of members, of which one in an inner list is a text such as `2.1`."""
    return tuple(int(part) for part in str(position).split(".") if part.isdecimal())


def _nodes_of(members: Iterable[object], levels: int) -> Iterator[Iri]:
    """Yield the nodes in a list, and in lists in it."""
    for member in members:
        match member:
            case list() if levels:
                yield from _nodes_of(member, levels - 1)
            case {"@id": str(iri)} if is_shown(iri):
                yield iri
