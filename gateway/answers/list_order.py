"""The order of the members of lists, which answers keep wherever they show several (docs/contract.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

import msgspec

from gateway.graph.values import Evidence, Iri, Properties, Value
from gateway.terms.iri import ARRAY, ORDER, POSITION, is_sendable, is_shown
from gateway.terms.literals import Literal

DEEPEST = 64
"""Lists and expressions in each other that are shown; a store of this gateway has none as deep."""

_ORDERED = 20
"""Members of lists whose order is known."""


POSITION_KEY = "position"
"""The key of the place of a member in its list."""


def is_array(literal: Literal) -> bool:
    """Return whether a literal is a list that is one value."""
    return literal.datatype == ARRAY


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


def orders_of(properties: Properties) -> dict[Iri, list[Iri]]:
    """Return the first members of lists of nodes in their order, by predicate."""
    orders = {predicate: members_in_order(values) for predicate, values in properties.items()}
    return {predicate: list(islice(members, _ORDERED)) for predicate, members in orders.items() if members}


def without_orders(properties: Properties) -> dict[Iri, tuple[Value, ...]]:
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
