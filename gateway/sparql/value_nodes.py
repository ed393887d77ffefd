"""Precisions of dates and units of quantities, which a Wikibase states in value nodes beside the simple values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from gateway.graph.call import Call
from gateway.graph.values import WHOLE, Iri, Mark, Quantity, Value
from gateway.sparql.batches import BatchedQuery
from gateway.sparql.client import SparqlClient
from gateway.sparql.table import IriTerm, Table, Term, iri, read, term, value
from gateway.terms.iri import XSD
from gateway.terms.literals import Literal

Pair = tuple[Iri, Iri]
"""An item, a statement or a reference, and one of its predicates."""

_WITH_VALUE_NODES = frozenset({f"{XSD}dateTime", f"{XSD}decimal"})

_DATE = re.compile(r"([+-]?\d{4,})-(\d\d)-(\d\d)T")

_NO_UNIT = "/entity/Q199"
"""How the IRI of the unit of a mere number ends: https://www.wikidata.org/wiki/Q199, in every Wikibase."""

_COARSE = {
    "8": "decade",
    "7": "century",
    "6": "millennium",
    "5": "10,000 years",
    "4": "100,000 years",
    "3": "million years",
    "2": "10 million years",
    "1": "100 million years",
    "0": "billion years",
}
"""Precisions by their number: https://www.wikidata.org/wiki/Help:Dates#Precision."""


@dataclass(frozen=True, slots=True)
class Refinement:
    """The values to show in place of each simple one of a pair, by its value nodes, and whether these could be read."""

    values: Mapping[Literal, tuple[Value, ...]] = field(default_factory=dict)
    mark: Mark = WHOLE

    def of(self, simple: Iterable[Value]) -> tuple[Value, ...]:
        """Return values with their precisions and units, each once."""
        return tuple(
            dict.fromkeys(
                one
                for item in simple
                for one in (self.values.get(item, (item,)) if isinstance(item, Literal) else (item,))
            )
        )


class ValueNodeReader:
    """Asks for value nodes.

    Attributes:
        are_there: Whether the graph has some: the profile says that it is a Wikibase.
    """

    def __init__(self, client: SparqlClient, batch: int, *, is_wikibase: bool) -> None:
        self.are_there = is_wikibase
        self._query = BatchedQuery[Pair, Refinement](
            client, "wikibase/value_nodes", batch, lambda batch: {"pairs": batch}, _read
        )

    async def refinements(
        self, values: Iterable[tuple[Pair, Iterable[Value]]], call: Call
    ) -> Mapping[Pair, Refinement]:
        """Return what value nodes say of values, by pair; pairs without dates and quantities are not asked about."""
        pairs = [pair for pair, simple in values if any(map(_may_be_refined, simple))]
        return await self._query.run(pairs, call) if pairs else {}


def _may_be_refined(item: Value) -> bool:
    return isinstance(item, Literal) and item.datatype in _WITH_VALUE_NODES


def _read(batch: Sequence[Pair], rows: Table, mark: Mark) -> dict[Pair, Refinement]:
    found: dict[Pair, dict[Literal, dict[Value, None]]] = {pair: {} for pair in batch}
    for subject, predicate, bound, said in read(rows, iri("n"), iri("k"), term("v"), term("said")):
        simple = value(bound)
        if isinstance(simple, Literal):
            found[subject, predicate].setdefault(simple, {})[_refined(simple, said)] = None
    return {
        pair: Refinement({simple: tuple(refined) for simple, refined in by_value.items()}, mark)
        for pair, by_value in found.items()
    }


def _refined(simple: Literal, said: Term) -> Value:
    """Return a date as exact as it is known, or a number with its unit."""
    if isinstance(said, IriTerm):
        return simple if said.value.endswith(_NO_UNIT) else Quantity(simple, said.value)
    date = _DATE.match(simple.value)
    return simple if date is None else _as_exact(date, said.value) or simple


def _as_exact(date: re.Match[str], precision: str) -> Literal | None:
    """Return a date as exact as a precision says; None for a precision that is none of Wikibase's for dates."""
    year, month, day = date.groups()
    exact = {
        "11": Literal(f"{year}-{month}-{day}", f"{XSD}date"),
        "10": Literal(f"{year}-{month}", f"{XSD}gYearMonth"),
        "9": Literal(year, f"{XSD}gYear"),
    }
    if precision in _COARSE:
        return Literal(f"{year} (precision: {_COARSE[precision]})")
    return exact.get(precision)
