"""The first nodes of some types by the numbers where a walk ends, without reading the others (docs/values.md).

The engine orders by a guarded cast; all its rows up to the number of the last node that is wanted have the first nodes,
and those with the same number. Source: docs/notes/endpoints.md, "Values in conditions".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gateway.graph.call import Call, together
from gateway.graph.values import Iri
from gateway.graph.walks import Selected
from gateway.sparql.client import SparqlClient
from gateway.sparql.rule import EdgeRule
from gateway.sparql.table import BlankTerm, IriTerm, Table, Term, literal, optional, read, term
from gateway.sparql.template import Parameter
from gateway.sparql.walks import SinglePredicates, patterns_of, turns_of
from gateway.terms.comparable import Number, Text, comparable, number_in
from gateway.terms.iri import is_sendable
from gateway.terms.literals import Literal

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
    """Finds the first nodes of one graph by numbers.

    Args:
        client: Sends the queries.
        rule: What is evidence and no entity.
        type_predicates: The predicates from a node to its types.
    """

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
    """Return the nodes among some terms, and how many blank nodes there are beside them."""
    found = dict.fromkeys(terms)
    nodes = tuple(one.value for one in found if isinstance(one, IriTerm) and is_sendable(one.value))
    return Selected(nodes, blank=sum(isinstance(one, BlankTerm) for one in found))


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
