"""Walks, and conditions on where they end: docs/values.md.

A condition selects a superset at the store, and is decided by `gateway.members`: no engine compares values as the
contract does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from typing import Final
from typing import Literal as Literal_

import msgspec

from gateway.errors import EndpointFault
from gateway.graph.values import WHOLE, Iri, Mark
from gateway.terms.comparable import Number, Period, Text
from gateway.terms.iri import ARRAY, ORDER, RDF, XSD, is_shown
from gateway.terms.literals import Literal

LONGEST_WALK: Final = 4
"""Steps of a walk at most."""

Role = Literal_["name", "any", "type"]
"""What stands for the predicates of a step: those of names and aliases, of every literal, or of entity types."""


@dataclass(frozen=True, slots=True, order=True)
class Step:
    """One step of a walk.

    Attributes:
        predicates: The predicates, sorted; any of them is followed. Of roles, `type` alone leads to nodes: the types.
        is_inverse: Whether they are followed against their direction, which is written `^p`.
    """

    predicates: tuple[Iri, ...] | Role
    is_inverse: bool = False


Walk = tuple[Step, ...]
"""One to four steps; the last may lead to a literal, and a role is the only step of its walk."""

_PLAIN = frozenset({f"{XSD}string", f"{RDF}langString"})

NAMES: Final[Walk] = (Step("name"),)
ANY_LITERAL: Final[Walk] = (Step("any"),)
TYPES: Final[Walk] = (Step("type"),)

End = Iri | Literal
"""Where a walk ends: a node, or a literal as `STR()`, `DATATYPE()` and `LANG()` give it."""


def list_members(array: Literal) -> Iterator[End]:
    """Yield the nodes and literals of a list that is one value (`ARRAY`), and of lists in it."""
    for member in _members(array):
        match member:
            case {"@id": str(iri)}:
                if is_shown(iri):
                    yield iri
            case {"@value": str(text), **about}:
                datatype = str(about.get("@type", ""))
                yield Literal(text, "" if datatype in _PLAIN else datatype, str(about.get("@language", "")).lower())
            case str() as text:
                yield Literal(text)


def _members(array: Literal) -> Iterator[object]:
    """Yield the members of a list that is one value, and of lists in it, as JSON-LD has them."""
    try:
        listed: list[object] = msgspec.json.decode(array.value, type=list)
    except (msgspec.DecodeError, RecursionError):
        return
    while listed:
        member = listed.pop(0)
        if isinstance(member, list):
            listed[:0] = member
        else:
            yield member


def expressions_in(ends: Iterable[End]) -> int:
    """Return how many members of lists that are values are class expressions, which are blank nodes without an ID."""
    lists = (end for end in ends if isinstance(end, Literal) and end.datatype in {ARRAY, ORDER})
    members = chain.from_iterable(map(_members, lists))
    return sum(isinstance(one, Mapping) and one.keys().isdisjoint({"@id", "@value"}) for one in members)


def in_lists(ends: Iterable[End]) -> dict[End, None]:
    """Return distinct ends with the members of lists in the place of lists that are values."""
    found: dict[End, None] = {}
    for end in ends:
        if not isinstance(end, Literal) or end.datatype not in {ARRAY, ORDER}:
            found[end] = None
        elif end.datatype == ARRAY:
            found |= dict.fromkeys(list_members(end))
    return found


@dataclass(frozen=True, slots=True)
class Ends:
    """Where one walk ends that begins at one node.

    Attributes:
        ends: Distinct ends, in no particular order.
        blank: How many further ends are blank nodes, which have no ID.
        mark: Whether these are all.
        ways: How many ways lead to ends to which more than one does, over distinct edges; where that was asked for,
            and then the members of lists stand in the place of lists.
        content: How many of the blank nodes are content of class expressions: known, and equal to nothing.
    """

    ends: tuple[End, ...] = ()
    blank: int = 0
    mark: Mark = WHOLE
    ways: Mapping[End, int] = field(default_factory=dict)
    content: int = 0


def several(ways: Mapping[End, int]) -> dict[End, int]:
    """Return those counts of ways that are more than one."""
    return {end: count for end, count in ways.items() if count > 1}


@dataclass(frozen=True, slots=True)
class Nodes:
    """Nodes that ends are compared with; a name may mean several."""

    iris: frozenset[Iri]


@dataclass(frozen=True, slots=True)
class OtherWalk:
    """The ends of another walk from the same node."""

    walk: Walk


@dataclass(frozen=True, slots=True)
class Alternatives:
    """What an end may equal any of: the members of an operator `in`, or one text read as text and as nodes."""

    members: tuple[Number | Period | Text | Nodes, ...]


Operand = Number | Period | Text | Nodes | OtherWalk | Alternatives

Operator = Literal_["=", "!=", "<", "<=", ">", ">=", "in", "contains", "starts", "exists", "missing"]


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on the ends of a walk.

    Attributes:
        walk: The walk from a node, or `NAMES`, `ANY_LITERAL` or `TYPES`.
        operator: How its ends are compared.
        operand: What with; None for `exists` and `missing`.
    """

    walk: Walk
    operator: Operator
    operand: Operand | None = None

    @property
    def nodes(self) -> Iterator[Iri]:
        """The nodes that ends are compared with."""
        members = self.operand.members if isinstance(self.operand, Alternatives) else [self.operand]
        return chain.from_iterable(one.iris for one in members if isinstance(one, Nodes))


@dataclass(frozen=True, slots=True)
class Order:
    """An order of nodes: by the smallest end of a walk, or by the largest, descending.

    Attributes:
        walk: The walk, or `NAMES` for the display name.
        descending: Whether the largest stand first. Nodes without an end are last in both orders.
    """

    walk: Walk
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Selection:
    """Which nodes of some types a store is asked for.

    Attributes:
        types: The types, of which a node has at least one; none for nodes without any type.
        conditions: All hold for the nodes that are wanted. A store may use any of them, or none, to send fewer nodes.
        order: In which order the first nodes are wanted; None for any.
        limit: How many nodes are wanted at most.
    """

    types: tuple[Iri, ...]
    conditions: tuple[Condition, ...] = ()
    order: Order | None = None
    limit: int = 0


@dataclass(frozen=True, slots=True)
class Selected:
    """The nodes that a store selected.

    Attributes:
        nodes: Distinct nodes: every node that is wanted, if the mark is whole, and perhaps others.
        mark: Whether no node that is wanted is missing; with an order, whether those missing stand behind the nodes.
        total: How many nodes there are, where some are missing because they stand behind these in the order; else None.
        blank: Whether blank nodes that are no nodes may be wanted too; None where they were not looked for.
    """

    nodes: tuple[Iri, ...]
    mark: Mark = WHOLE
    total: int | None = None
    blank: bool | None = None


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One thing to compute over the nodes that have one of some types.

    Attributes:
        types: The types.
        by: The step by whose ends the nodes are in groups; None where they are all in one.
        walk: The walk over whose ends something is computed, once for each way; None: how many nodes there are.
        is_of_rest: Whether it is about the nodes alone from which `by` leads nowhere.
    """

    types: tuple[Iri, ...]
    by: Step | None = None
    walk: Walk | None = None
    is_of_rest: bool = False


@dataclass(frozen=True, slots=True)
class Totals:
    """What was computed over one group.

    Attributes:
        count: How many nodes there are, or how many ways lead to ends of the walk, all of which are exact numbers.
        sum: The sum of the ends.
        least: The smallest end; None without any.
        most: The largest.
    """

    count: int
    sum: Fraction = Fraction(0)
    least: Literal | None = None
    most: Literal | None = None


@dataclass(frozen=True, slots=True)
class Aggregated:
    """What was computed over each group.

    Attributes:
        groups: By the end of the step; of None for all nodes in one, and for those from which it leads nowhere.
        mark: Whether it is proven.
    """

    groups: Mapping[End | None, Totals] = field(default_factory=dict)
    mark: Mark = WHOLE


NOTHING_AGGREGATED = Aggregated()


class FigureUnproven(EndpointFault):
    """What an engine computed does not show that it is right, or nothing could show it."""

    cause = "budget"

    def __init__(self) -> None:
        super().__init__(
            "There are more entities than are read, and no answer of the engine proves the figures over all of them.",
            next_step="Add a condition, or group by something with fewer values.",
        )


UNPROVEN = Aggregated(mark=Mark(FigureUnproven()))
