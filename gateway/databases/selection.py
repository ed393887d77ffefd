"""The nodes of some types under conditions: those with values that may fulfil one, or all of these types."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Final

from gateway.databases.client import DatabaseClient, DatabaseReader
from gateway.databases.nodes import NodeReader
from gateway.databases.search import TypedNodeReader, sendable_nodes
from gateway.databases.walks import WalkReader
from gateway.errors import Fault
from gateway.graph.call import Call
from gateway.graph.values import WHOLE, Iri, Mark
from gateway.graph.walks import Alternatives, Condition, Nodes, Operator, Selected, Selection, Walk
from gateway.terms.comparable import Number, Period, Text

_WIDER: Final = Fraction(1, 100_000)
"""By how much of itself a bound is wider than asked: a float of 0.3 is no double of 0.3."""

_LARGEST: Final = Fraction(10) ** 300
"""Bounds beyond it are compared by the gateway alone."""

_YEAR_SECONDS: Final = Fraction(31_556_952)
"""Seconds of a year on average, by the Gregorian calendar."""

_YEARS_WIDER: Final = 2
"""Years by which bounds are wider: time zones, and the parts of a year by which its average is wrong."""

_DIGITS: Final = 30
"""Digits of bounds, which are wider than asked by far more."""

_TO_EQUAL: Final[frozenset[Operator]] = frozenset({"=", "in"})
_UPWARDS: Final[frozenset[Operator]] = frozenset({">", ">="})
_DOWNWARDS: Final[frozenset[Operator]] = frozenset({"<", "<="})
_OF_TEXTS: Final[frozenset[Operator]] = frozenset({"contains", "starts"})


@dataclass(frozen=True, slots=True)
class Bounds:
    """Numbers between which a value may fulfil a condition; None: no bound.

    Attributes:
        least: The least.
        most: The largest.
    """

    least: Fraction | None
    most: Fraction | None

    @property
    def texts(self) -> tuple[str | None, str | None]:
        """Them as decimal texts, no narrower."""
        return _text(self.least, ROUND_FLOOR), _text(self.most, ROUND_CEILING)


@dataclass(frozen=True, slots=True)
class Sought:
    """What the ends of a walk are compared with, so that none is missed that fulfils a condition.

    Attributes:
        nodes: Nodes that an end may equal.
        numbers: Bounds of numbers; None where no number is asked for.
        years: Bounds of the years of dates; None where no date is asked for.
        texts: Texts without case; None where no text is asked for.
        texts_as: How values are compared with the texts: `equal`, `starts` or `contains`.
    """

    nodes: frozenset[Iri] = frozenset()
    numbers: Bounds | None = None
    years: Bounds | None = None
    texts: tuple[str, ...] | None = None
    texts_as: str = "equal"

    @property
    def has_literals(self) -> bool:
        """Whether a literal may fulfil the condition."""
        return self.numbers is not None or self.years is not None or self.texts is not None

    @property
    def parameters(self) -> Sequence[object]:
        """What is asked for, as the parameters of the query `holding`."""
        none = (None, None)
        return (
            *(self.numbers is not None, *(none if self.numbers is None else self.numbers.texts)),
            *(self.years is not None, *(none if self.years is None else self.years.texts)),
            *(None if self.texts is None else list(self.texts), self.texts_as),
        )


def sought_by(condition: Condition) -> Sought | None:
    """Return what a condition asks for; None where a database cannot say which values may fulfil it."""
    operand, asked = condition.operand, condition.operator
    members = operand.members if isinstance(operand, Alternatives) else (operand,)
    numbers = [one for one in members if isinstance(one, Number)]
    values = [
        number.value for number in numbers if isinstance(number.value, Fraction) and abs(number.value) <= _LARGEST
    ]
    periods = [one for one in members if isinstance(one, Period)]
    # A duration is written in many ways, and looked into as it is written.
    texts = [
        one.folded
        for one in members
        if isinstance(one, Text) and (one.duration is None or asked in _OF_TEXTS) and _can_be_sent(one.folded)
    ]
    nodes = [one.iris for one in members if isinstance(one, Nodes)]
    is_all = len(values) + len(periods) + len(texts) + len(nodes) == len(members)
    if not is_all or not _can_be_asked(asked, is_of_texts=len(texts) == len(members), has_texts=bool(texts)):
        return None
    # A number that is written like a year is compared with dates, too.
    periods += [number.year for number in numbers if number.year is not None]
    return Sought(
        frozenset[Iri]().union(*nodes),
        _bounds(asked, min(map(_below, values)), max(map(_above, values))) if values else None,
        _bounds(asked, _year(min(one.start for one in periods), -1), _year(max(one.end for one in periods), 1))
        if periods
        else None,
        tuple(texts) if texts else None,
        asked if asked in _OF_TEXTS else "equal",
    )


def _can_be_asked(asked: Operator, *, is_of_texts: bool, has_texts: bool) -> bool:
    """Return whether a database can select by an operator, where texts are all that is compared with, or a part."""
    return (
        asked in _TO_EQUAL or (asked in _OF_TEXTS and is_of_texts) or (asked in _UPWARDS | _DOWNWARDS and not has_texts)
    )


def _can_be_sent(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def _bounds(asked: Operator, least: Fraction, most: Fraction) -> Bounds:
    return Bounds(None if asked in _DOWNWARDS else least, None if asked in _UPWARDS else most)


def _below(number: Fraction) -> Fraction:
    return number - abs(number) * _WIDER


def _above(number: Fraction) -> Fraction:
    return number + abs(number) * _WIDER


def _text(number: Fraction | None, rounding: str) -> str | None:
    if number is None:
        return None
    return str(Context(prec=_DIGITS, rounding=rounding).divide(Decimal(number.numerator), Decimal(number.denominator)))


def _year(seconds: Fraction, sign: int) -> Fraction:
    return Fraction(math.floor(seconds / _YEAR_SECONDS) + 1 + sign * _YEARS_WIDER)


_MOST_ROWS: Final = 50_000
"""Rows that are read for one condition; where there are more, all nodes of the types are listed."""

_FEW: Final = 1_000
"""Nodes that are no reason to ask for those of another condition as well."""

_FIRST: Final[Sequence[Operator]] = ("=", "in", "starts", "contains", "<", "<=", ">", ">=")
"""Operators by how few nodes fulfil conditions with them, as a rule."""


class SelectionReader(DatabaseReader):
    """Selects nodes of one graph."""

    def __init__(self, client: DatabaseClient, *, typed: TypedNodeReader, walks: WalkReader, nodes: NodeReader) -> None:
        super().__init__(client)
        roles = client.profile.roles
        self._name_predicates = (*roles.name, *roles.synonym)
        self._typed = typed
        self._walks = walks
        self._nodes = nodes

    async def select(self, selection: Selection, call: Call) -> Selected:
        """Return the nodes of some types that fulfil conditions, and perhaps others; see `GraphStore.select`."""
        candidates = await self._candidates(selection.conditions, call)
        if candidates is None:
            types = selection.types
            return Selected(*(await self._typed.of_types(types, call) if types else await self._typed.untyped(call)))
        return await self._of_types(sorted(candidates), selection.types, call)

    async def _candidates(self, conditions: Sequence[Condition], call: Call) -> frozenset[Iri] | None:
        """Return nodes among which are all that fulfil some of the conditions; None where no condition says which."""
        asked = [(condition, sought_by(condition)) for condition in conditions]
        known = [(condition, sought) for condition, sought in asked if sought is not None]
        found: frozenset[Iri] | None = None
        for condition, sought in sorted(known, key=lambda one: _FIRST.index(one[0].operator)):
            rows = min(call.rows // 2, _MOST_ROWS)
            with call.reserving(requests=0.5, time=0.5), call.part(requests=call.requests, rows=rows) as part:
                some = await self._fulfilling(condition.walk, sought, part)
            if some is not None:
                found = some if found is None else found & some
            if found is not None and len(found) <= _FEW:
                break
        return found

    async def _fulfilling(self, walk: Walk, sought: Sought, call: Call) -> frozenset[Iri] | None:
        """Return the nodes from which a walk may lead to what is sought; None where they are too many, or unknown."""
        found: set[Iri] = set()
        if sought.nodes:
            origins = await self._origins(sorted(sought.nodes), walk, call)
            if origins is None:
                return None
            found |= origins
        # A step against the direction of its predicates leads to no literal.
        if sought.has_literals and not walk[-1].is_inverse:
            try:
                owners = await self._holding(walk, sought, call)
            except Fault:
                return None
            origins = (
                owners if owners is None or not walk[:-1] else await self._origins(sorted(owners), walk[:-1], call)
            )
            if origins is None:
                return None
            found |= origins
        return frozenset(found)

    async def _origins(self, ends: Sequence[Iri], walk: Walk, call: Call) -> frozenset[Iri] | None:
        origins = (await self._walks.origins(ends, walk, call)).values()
        if not all(one.mark.whole for one in origins):
            return None
        return frozenset(end for one in origins for end in one.ends if isinstance(end, str))

    async def _holding(self, walk: Walk, sought: Sought, call: Call) -> frozenset[Iri] | None:
        """Return the nodes that may have a value that is sought; None where one that is nested may have it.

        Raises:
            Fault: They could not be read, or are too many.
        """
        named = [predicate for step in walk if not isinstance(step.predicates, str) for predicate in step.predicates]
        if walk[:-1] and await self._walks.have_objects(named, call):
            return None
        role_or_predicates = walk[-1].predicates
        if isinstance(role_or_predicates, str):
            with_names = role_or_predicates in {"name", "any"}
            keys = None if role_or_predicates == "any" else self._name_predicates if with_names else ()
        else:
            with_names = not frozenset(role_or_predicates).isdisjoint(self._name_predicates)
            keys = role_or_predicates
        texts = None if keys is None else self._terms.texts_of(keys)
        found = await self._client.rows(
            "holding", call, texts, with_names, *sought.parameters, at_most=max(1, call.rows)
        )
        return frozenset(self._ids.iri(node) for (node,) in found.whole())

    async def _of_types(self, candidates: Sequence[Iri], types: Sequence[Iri], call: Call) -> Selected:
        """Return those of some nodes that have one of some types, or none where there are no types."""
        facts = await self._nodes.facts(candidates, call, names=False)
        wanted = frozenset(types)
        unknown = [one.mark.fault for one in facts.values() if one.mark.fault is not None]
        if types:
            kept = [node for node, one in facts.items() if not wanted.isdisjoint(one.types)]
        else:
            untyped = [node for node, one in facts.items() if one.are_types_known and not one.types]
            # A type is no node, unless something else is said of it.
            there = await self._nodes.existing(untyped, call)
            kept = [node for node, one in there.items() if one.exists]
            unknown += [one.mark.fault for one in there.values() if one.mark.fault is not None]
        if unknown and not kept:
            raise unknown[0]
        return Selected(*sendable_nodes(dict.fromkeys(kept), Mark(unknown[0], len(kept)) if unknown else WHOLE))
