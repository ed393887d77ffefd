"""Rows read by typed columns: the one place where a missing term, or one of another kind, is a fault."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter, itemgetter
from typing import Any, TypeVar, overload

from gateway.errors import EndpointFault
from gateway.graph.values import Edge, Iri
from gateway.sparql.results.rows import IriTerm, LiteralTerm, Row, Term, TypedLiteralTerm
from gateway.sparql.results.rows import literal as literal_of
from gateway.terms.literals import Literal

T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
E = TypeVar("E")
F = TypeVar("F")

Column = Callable[[Sequence[Row]], Iterable[T]]
"""Returns what each row has in one column, or raises `UnexpectedRows` before the first."""

_IRIS = frozenset[type]({IriTerm})
_LITERALS = frozenset[type]({LiteralTerm, TypedLiteralTerm})

_text_of = attrgetter("value")


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
    return lambda rows: [row.get(variable) for row in rows]


def iri(variable: str) -> Column[Iri]:
    """Return the column of a variable that is bound to IRIs."""
    return lambda rows: map(_text_of, _terms(rows, variable, _IRIS))


def literal(variable: str) -> Column[Literal]:
    """Return the column of a variable that is bound to literals."""
    return lambda rows: map(literal_of, _literals(rows, variable))


def integer(variable: str) -> Column[int]:
    """Return the column of a variable that is bound to whole numbers."""

    def numbers(rows: Sequence[Row]) -> Sequence[int]:
        try:
            return [int(number.value) for number in _literals(rows, variable)]
        except ValueError as error:
            raise UnexpectedRows from error

    return numbers


def edge(rows: Sequence[Row]) -> Iterable[Edge]:
    """Return the edge that ?s, ?p and ?o of each row are."""
    return map(Edge, *(iri(variable)(rows) for variable in "spo"))


@overload
def read(rows: Sequence[Row], a: Column[A], b: Column[B], /) -> Iterable[tuple[A, B]]: ...
@overload
def read(rows: Sequence[Row], a: Column[A], b: Column[B], c: Column[C], /) -> Iterable[tuple[A, B, C]]: ...
@overload
def read(
    rows: Sequence[Row], a: Column[A], b: Column[B], c: Column[C], d: Column[D], /
) -> Iterable[tuple[A, B, C, D]]: ...
@overload
def read(
    rows: Sequence[Row], a: Column[A], b: Column[B], c: Column[C], d: Column[D], e: Column[E], f: Column[F], /
) -> Iterable[tuple[A, B, C, D, E, F]]: ...
def read(rows: Sequence[Row], *columns: Column[Any]) -> Iterable[tuple[Any, ...]]:
    """Return what each row has in some columns.

    Raises:
        UnexpectedRows: A row lacks a term, or has one of another kind.
    """
    return zip(*(column(rows) for column in columns), strict=True)


def binding(rows: Sequence[Row], *variables: str) -> Sequence[Row]:
    """Return those of the rows that bind some variables."""
    wanted = {*variables}
    return [row for row in rows if row.keys() >= wanted]


def node_values(rows: Iterable[Row]) -> Iterator[tuple[Iri, Iri, Term]]:
    """Yield what ?n, ?p and ?v of each row are bound to; as `read`, in half the time.

    Raises:
        UnexpectedRows: A row lacks a term, or its node or predicate is no IRI.
    """
    try:
        for row in rows:
            node, predicate = row["n"], row["p"]
            if type(node) is not IriTerm or type(predicate) is not IriTerm:
                raise UnexpectedRows
            yield node.value, predicate.value, row["v"]
    except KeyError as error:
        raise UnexpectedRows from error


def _literals(rows: Sequence[Row], variable: str) -> Iterable[LiteralTerm]:
    return _terms(rows, variable, _LITERALS)


def _terms(rows: Sequence[Row], variable: str, kinds: frozenset[type] | None = None) -> Iterable[Any]:
    """Return what a variable is bound to; of the given kinds only, where some are given."""
    bound = itemgetter(variable)
    try:
        terms = list(map(bound, rows))
    except KeyError as error:
        raise UnexpectedRows from error
    if kinds is not None and not kinds.issuperset(map(type, terms)):
        raise UnexpectedRows
    return terms
