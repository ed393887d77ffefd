"""Rows read by typed columns: the one place where a missing term, or one of another kind, is a fault."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar, overload

from gateway.errors import EndpointFault
from gateway.graph.values import Edge, Iri, edges_of
from gateway.sparql.results.table import Table
from gateway.sparql.results.terms import LiteralTerm, Term, TypedLiteralTerm
from gateway.sparql.results.terms import literal as literal_of
from gateway.terms.literals import Literal

T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
E = TypeVar("E")
F = TypeVar("F")

Column = Callable[[Table], Iterable[T]]
"""Returns what each row has in one column, or raises `UnexpectedRows` before the first."""

_LITERALS = frozenset[type]({LiteralTerm, TypedLiteralTerm})


class UnexpectedRows(EndpointFault):
    """The rows lack a term, have one of another kind, or are about IRIs that were not asked for."""

    def __init__(self) -> None:
        super().__init__(
            "The endpoint's rows are not about what the query asked for.",
            next_step="The operator of this gateway should check the endpoint.",
        )


def term(variable: str) -> Column[Term]:
    """Return the column of a variable that is bound to terms of any kind."""
    return lambda rows: _terms(rows, variable)


def optional(variable: str) -> Column[Term | None]:
    """Return the column of a variable that need not be bound."""
    return lambda rows: rows.terms(variable)


def iri(variable: str) -> Column[Iri]:
    """Return the column of a variable that is bound to IRIs."""

    def texts(rows: Table) -> Sequence[Iri]:
        found = rows.iris(variable)
        if found is None:
            raise UnexpectedRows
        return found

    return texts


def literal(variable: str) -> Column[Literal]:
    """Return the column of a variable that is bound to literals."""
    return lambda rows: map(literal_of, _literals(rows, variable))


def integer(variable: str) -> Column[int]:
    """Return the column of a variable that is bound to whole numbers."""

    def numbers(rows: Table) -> Sequence[int]:
        try:
            return [int(number.value) for number in _literals(rows, variable)]
        except ValueError as error:
            raise UnexpectedRows from error

    return numbers


def edge(rows: Table) -> Iterable[Edge]:
    """Return the edge that ?s, ?p and ?o of each row are."""
    return edges_of(*(iri(variable)(rows) for variable in "spo"))


@overload
def read(rows: Table, a: Column[A], b: Column[B], /) -> Iterable[tuple[A, B]]: ...
@overload
def read(rows: Table, a: Column[A], b: Column[B], c: Column[C], /) -> Iterable[tuple[A, B, C]]: ...
@overload
def read(rows: Table, a: Column[A], b: Column[B], c: Column[C], d: Column[D], /) -> Iterable[tuple[A, B, C, D]]: ...
@overload
def read(
    rows: Table, a: Column[A], b: Column[B], c: Column[C], d: Column[D], e: Column[E], f: Column[F], /
) -> Iterable[tuple[A, B, C, D, E, F]]: ...
def read(rows: Table, *columns: Column[Any]) -> Iterable[tuple[Any, ...]]:
    """Return what each row has in some columns.

    Raises:
        UnexpectedRows: A row lacks a term, or has one of another kind.
    """
    return zip(*(column(rows) for column in columns), strict=True)


def binding(rows: Table, *variables: str) -> Table:
    """Return those of the rows that bind some variables."""
    bound = [[term is not None for term in rows.terms(variable)] for variable in variables]
    return rows.where([all(row) for row in zip(*bound, strict=True)])


def _literals(rows: Table, variable: str) -> Iterable[LiteralTerm]:
    return _terms(rows, variable, _LITERALS)


def _terms(rows: Table, variable: str, kinds: frozenset[type] | None = None) -> Iterable[Any]:
    """Return what a variable is bound to; of the given kinds only, where some are given."""
    terms = rows.terms(variable)
    if (None in terms) if kinds is None else not kinds.issuperset(map(type, terms)):
        raise UnexpectedRows
    return terms
