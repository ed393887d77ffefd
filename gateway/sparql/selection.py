"""Nodes of some types under a condition, and the first of them by numbers: what an engine can select (docs/values.md).

No engine compares values as the contract does, so each query selects a superset. For the first nodes, the engine orders
by a guarded cast; all its rows up to the number of the last node that is wanted have the first nodes, and those with
the same number. Source of the forms and of what each misses: docs/notes/endpoints.md, "Values in conditions".
"""

from __future__ import annotations

import contextlib
import datetime as dt
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from gateway.errors import AnswerCut, Fault, QueryRefused
from gateway.graph.call import Call, together
from gateway.graph.values import WHOLE, Iri, Mark
from gateway.graph.walks import (
    ANY_LITERAL,
    TYPES,
    Alternatives,
    Condition,
    Nodes,
    Operator,
    OtherWalk,
    Selected,
    Selection,
)
from gateway.sparql.client import SparqlClient
from gateway.sparql.engines import TRAITS
from gateway.sparql.learned import LetterClassProbe
from gateway.sparql.rule import EdgeRule
from gateway.sparql.search import EntityLister
from gateway.sparql.table import BlankTerm, IriTerm, Table, Term, literal, optional, read, term
from gateway.sparql.template import Parameter
from gateway.sparql.walks import SinglePredicates, WalkReader, patterns_of, turns_of
from gateway.terms.comparable import Number, Period, Text, comparable, number_in
from gateway.terms.iri import ARRAY, is_shown
from gateway.terms.literals import Literal
from gateway.terms.names import folded_words, patterns_inside

_FURTHER = 200
"""Rows more than the nodes that are wanted: nodes have several values, and other types the same predicates."""

_MOST_ROWS = 5_000
"""Rows that are asked for at most; where more are needed, all nodes are listed."""

MAY_BE_NUMBER = "^[ \t\r\n]*[+-]?([0-9.][0-9.eE+-]*|[Ii][Nn][Ff][a-z]*)[ \t\r\n]*$"
"""Matches every text that reads as a number, and what an engine stores as one without knowing it."""


@dataclass(frozen=True, slots=True)
class _Row:
    node: Term
    number: float
    is_number: bool
    is_wanted: bool


class FirstNodes:
    """Finds the first nodes of one graph by numbers."""

    def __init__(self, client: SparqlClient, rule: EdgeRule, type_predicates: Sequence[Iri]) -> None:
        self._client = client
        self._rule = rule
        self._type_predicates = type_predicates

    async def first(
        self, steps: SinglePredicates, types: Sequence[Iri], limit: int, call: Call, *, descending: bool
    ) -> Selected | None:
        """Return nodes among which are the first ones, and all with the number of the last; None if it cannot tell.

        Args:
            steps: The walk.
            types: The types of the nodes.
            limit: How many are wanted.
            call: The call that asks.
            descending: Whether the largest numbers come first.

        Raises:
            Fault: The endpoint did not give a whole answer.
        """
        if turns_of(steps):
            return None
        given: dict[str, Parameter] = {
            "steps": patterns_of(steps),
            "types": self._type_predicates,
            "wanted": types,
            **self._rule.evidence_of_nodes,
        }
        of_odd: dict[str, Parameter] = {**given, "numbers": MAY_BE_NUMBER}
        async with together() as tasks:
            asking = tasks.create_task(self._client.rows("walks/odd_numbers", call, of_odd))
            first = await self._ordered(given, limit, call, descending=descending)
        odd = asking.result().whole()
        if first is None:
            return None
        others = (node for node, type_ in read(odd, term("n"), optional("type")) if type_ is not None)
        return selected((*first, *others))

    async def _ordered(
        self, given: dict[str, Parameter], limit: int, call: Call, *, descending: bool
    ) -> list[Term] | None:
        most = limit + _FURTHER
        while most <= _MOST_ROWS:
            asked: dict[str, Parameter] = {**given, "sign": -1 if descending else 1, "most": most}
            rows = _rows((await self._client.rows("walks/first", call, asked)).whole(), -1 if descending else 1)
            found = _first(rows, limit, descending=descending)
            if found is not None:
                return found
            if len(rows) < most or not any(row.is_number for row in rows):
                # These are all nodes with a number, and fewer than are wanted: others come behind them. Or these are
                # years, and all may be.
                return None
            most *= 8
        return None


def selected(terms: Iterable[Term]) -> Selected:
    """Return the nodes among some terms, and whether there are blank nodes beside them."""
    found = dict.fromkeys(terms)
    nodes = tuple(one.value for one in found if isinstance(one, IriTerm))
    return Selected(nodes, blank=any(isinstance(one, BlankTerm) for one in found))


def _rows(table: Table, sign: int) -> list[_Row]:
    return [
        _Row(node, sign * float(number.value), _is_number(value), type_ is not None)
        for node, number, value, type_ in read(table, term("n"), literal("number"), literal("v"), optional("type"))
    ]


def _is_number(value: Literal) -> bool:
    """Return whether a value that has the form of a number is one, and no year."""
    match comparable(value):
        case Number():
            return True
        case Text(folded=text):
            return number_in(text) is not None
        case _:
            return False


def _first(rows: Sequence[_Row], limit: int, *, descending: bool) -> list[Term] | None:
    """Return the nodes up to the number of the last that is wanted; None if a row with that number may be missing."""
    sign = -1 if descending else 1
    ordered = sorted(rows, key=lambda row: sign * row.number)
    wanted: dict[Term, float] = {}
    for row in ordered:
        if row.is_wanted and row.is_number and isinstance(row.node, IriTerm) and len(wanted) < limit:
            wanted.setdefault(row.node, sign * row.number)
    if len(wanted) < limit:
        return None
    last = max(wanted.values())
    if sign * ordered[-1].number <= last:
        return None
    return list(dict.fromkeys(row.node for row in ordered if row.is_wanted and sign * row.number <= last))


_WIDER = 1e-5
"""By how much of itself a bound is wider than asked: a float of 0.3 is no double of 0.3."""

_LARGEST = 1e300
"""Bounds above it are compared by the gateway alone."""

_DAYS_WIDER = 2
"""Time zones shift a date by less, and engines that store dates in UTC too."""

_FIRST_DAY = dt.date(1, 1, 5)
_LAST_DAY = dt.date(9980, 1, 1)
"""Dates before and after these are compared by the gateway alone."""

_SECONDS_A_DAY = 86_400

_INFINITE = ("INF", "-INF", "+INF", "Infinity", "-Infinity")
"""How engines write infinite numbers."""

_MOST_QUERIES = 8
"""Queries of single predicates for one condition at most."""

_OF_TEXTS: frozenset[Operator] = frozenset({"=", "contains", "starts"})
"""Operators that a text fulfils only if it has the words of another one."""

_BOOLEANS = frozenset({"true", "false"})
"""What a boolean equals however it is written: as 1 or 0 too."""

_Filter = dict[str, Parameter]

_NO_FILTER: Mapping[str, Parameter] = {
    "equal": [],
    "at_most": [],
    "at_least": [],
    "since": [],
    "before": [],
    "matching": [],
    "numbers": [],
}

_FIRST: tuple[Operator, ...] = ("=", "in", "starts", "contains", "<", "<=", ">", ">=", "exists")
"""The operators that an engine can be asked for, first those of conditions that few nodes fulfil."""


class SelectionReader:
    """Selects nodes of some types."""

    def __init__(
        self,
        client: SparqlClient,
        rule: EdgeRule,
        walks: WalkReader,
        lister: EntityLister,
        type_predicates: Sequence[Iri],
    ) -> None:
        self._client = client
        self._rule = rule
        self._walks = walks
        self._lister = lister
        self._type_predicates = type_predicates
        self._first_nodes = FirstNodes(client, rule, type_predicates)
        self._letter_classes = LetterClassProbe(client)

    async def select(self, selection: Selection, call: Call) -> Selected:
        """Return the nodes of some types that fulfil conditions, and others of these types; see `GraphStore.select`."""
        await self._rule.refresh(call)
        if (first := await self._first(selection, call)) is not None:
            return first
        may_push = selection.types and (len(self._type_predicates) == 1 or not self._client.hides_evidence)
        for condition in sorted(filter(_may_be_asked, selection.conditions), key=_rank) if may_push else ():
            filters, walks = await self._filters(condition, call), self._walks.combinations(condition.walk)
            if filters is None or not 0 < len(walks) * len(filters) <= _MOST_QUERIES:
                continue
            try:
                return await self._under(walks, filters, selection.types, call)
            except (AnswerCut, QueryRefused):
                # The types may have fewer nodes than fulfil the condition.
                continue
        return await self._listed(selection.types, call)

    async def _first(self, selection: Selection, call: Call) -> Selected | None:
        """Return the first nodes by a number; None where all have to be read for that."""
        order = selection.order
        if order is None or selection.conditions or not (selection.types and selection.limit):
            return None
        walks = self._walks.combinations(order.walk) if not isinstance(order.walk[0].predicates, str) else []
        if len(walks) != 1 or not self._client.is_remote:
            return None
        with contextlib.suppress(AnswerCut, QueryRefused):
            async with together() as tasks:
                counting = tasks.create_task(self._lister.count(selection.types, call))
                first = await self._first_nodes.first(
                    walks[0], selection.types, selection.limit, call, descending=order.descending
                )
                if first is None:
                    counting.cancel()
            if first is not None:
                return replace(first, total=counting.result())
        return None

    async def _under(
        self, walks: Sequence[SinglePredicates], filters: Sequence[_Filter], types: Sequence[Iri], call: Call
    ) -> Selected:
        """Return the nodes that may fulfil a condition: those that pass one of some filters.

        Raises:
            Fault: The endpoint did not give a whole answer.
        """
        async with together() as tasks:
            readings = [
                tasks.create_task(self._along(steps, chosen, types, call)) for steps in walks for chosen in filters
            ]
        return selected(node for reading in readings for node in reading.result())

    async def _along(self, steps: SinglePredicates, chosen: _Filter, types: Sequence[Iri], call: Call) -> list[Term]:
        compares_infinite = not self._client.is_remote or TRAITS[await self._client.engine(call)].compares_infinite
        given = {
            **_NO_FILTER,
            **chosen,
            "steps": patterns_of(steps),
            "infinite": [] if compares_infinite else _INFINITE,
            # Lists are values of this process alone; their members are compared.
            "arrays": [] if self._client.is_remote else [ARRAY],
            "types": self._type_predicates,
            "wanted": types,
            **self._rule.evidence_of_nodes,
        }
        rows = (await self._client.rows("walks/selected", call, given)).whole()
        return [node for node, type_ in read(rows, term("n"), optional("type")) if type_ is not None]

    async def _listed(self, types: Sequence[Iri], call: Call) -> Selected:
        most = self._client.query_rows
        hits = await (self._lister.of_types(types, call, at_most=most) if types else self._lister.untyped(call))
        nodes = tuple(hit.iri for hit in hits.hits if is_shown(hit.iri))
        return Selected(nodes, Mark(_cut(), at_least=len(nodes) + 1) if hits.truncated else WHOLE)

    async def _filters(self, condition: Condition, call: Call) -> list[_Filter] | None:
        """Return filters of which every value that fulfils a condition passes one; None if there are none such."""
        operand, operator = condition.operand, condition.operator
        if operand is None:
            return [{}]
        if not isinstance(operand, Alternatives):
            return None if isinstance(operand, OtherWalk) else await self._of_value(operator, operand, call)
        if operator not in {"=", "in"}:
            return None
        filters: list[_Filter] = []
        for member in operand.members:
            of_member = await self._of_value("=", member, call)
            if of_member is None:
                return None
            filters += of_member
        return filters

    async def _of_value(
        self, operator: Operator, value: Number | Period | Text | Nodes, call: Call
    ) -> list[_Filter] | None:
        """Return the filters of a comparison with one value."""
        filters: list[_Filter | None] = []
        match value:
            case Number(value=Fraction() as number, year=year):
                filters = [number_filter(operator, number)]
                filters += [] if year is None else [period_filter(operator, year)]
            case Period():
                filters = [period_filter(operator, value)]
            case Nodes(iris=nodes):
                filters = [{"equal": [sorted(nodes)]} if operator == "=" else None]
            # A duration is written in many ways, and looked into as it is written.
            case Text(folded=text, duration=duration) if (
                operator in _OF_TEXTS and text not in _BOOLEANS and (duration is None or operator != "=")
            ):
                filters = [await self._text_filter(text, call)]
        found = [one for one in filters if one is not None]
        return found if found and len(found) == len(filters) else None

    async def _text_filter(self, text: str, call: Call) -> _Filter | None:
        """Return the patterns of the words of a text."""
        words = folded_words(text)
        if not words or not await self._letter_classes.is_supported(call):
            return None
        return {"matching": patterns_inside(words)}


def _may_be_asked(condition: Condition) -> bool:
    return condition.operator in _FIRST and condition.walk not in {ANY_LITERAL, TYPES}


def _rank(condition: Condition) -> int:
    return _FIRST.index(condition.operator)


def number_filter(operator: Operator, number: Fraction) -> _Filter | None:
    """Return bounds that no value misses which fulfils a comparison with a number."""
    if abs(number) > _LARGEST or operator not in {"=", "<", "<=", ">", ">="}:
        return None
    below, above = _wider(number, -1), _wider(number, 1)
    bounds: _Filter = {"numbers": [MAY_BE_NUMBER]}
    if operator in {"=", "<", "<="}:
        bounds["at_most"] = [above]
    if operator in {"=", ">", ">="}:
        bounds["at_least"] = [below]
    return bounds


def _wider(value: Fraction, sign: int) -> float:
    near = float(value)
    return math.nextafter(near + sign * max(abs(near) * _WIDER, 1e-300), sign * math.inf)


def period_filter(operator: Operator, period: Period) -> _Filter | None:
    """Return bounds of texts that no date misses which fulfils a comparison with a period."""
    first, last = _day(period.start, -_DAYS_WIDER), _day(period.end, _DAYS_WIDER + 1)
    if operator in {"=", ">", ">="} and first is None:
        return None
    if operator in {"=", "<", "<="} and last is None:
        return None
    bounds: _Filter = {}
    if first is not None and operator in {"=", ">", ">="}:
        bounds["since"] = [first]
    if last is not None and operator in {"=", "<", "<="}:
        bounds["before"] = [last]
    return bounds or None


def _day(seconds: Fraction, days: int) -> str | None:
    number = math.floor(seconds / _SECONDS_A_DAY) + days + 1
    if not _FIRST_DAY.toordinal() <= number <= _LAST_DAY.toordinal():
        return None
    return dt.date.fromordinal(number).isoformat()


def _cut() -> Fault:
    return AnswerCut("There are more entities of these types than are looked at.", next_step="Add a condition.")
