"""Rows of an answer, by typed columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import compress
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

import msgspec

from gateway.errors import AnswerCut, EndpointFault
from gateway.graph.reading import ReceivedRows
from gateway.graph.values import Edge, Iri, Resource, edges_of
from gateway.terms.iri import RDF, XSD
from gateway.terms.literals import Literal

if TYPE_CHECKING:
    _Unread = Any
else:
    _Unread = msgspec.Raw

_PLAIN_TYPES = frozenset({"", f"{XSD}string", f"{RDF}langString", f"{RDF}dirLangString"})


class _Term(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag_field="type"):
    """A bound RDF term; the collector need not look at it, because it is part of no cycle."""


class IriTerm(_Term, frozen=True, gc=False, tag="uri"):
    """A bound IRI."""

    value: str


class BlankTerm(_Term, frozen=True, gc=False, tag="bnode"):
    """A bound blank node; its label means something within one answer."""

    value: str


class LiteralTerm(_Term, frozen=True, gc=False, tag="literal"):
    """A bound literal; datatype and language are as the engine states them."""

    value: str
    datatype: str | None = None
    language: str | None = msgspec.field(default=None, name="xml:lang")


class TypedLiteralTerm(LiteralTerm, frozen=True, gc=False, tag="typed-literal"):
    """A bound literal as some engines still call it."""


class TripleTerm(_Term, frozen=True, gc=False, tag="triple"):
    """A bound triple (RDF 1.2): its three terms as JSON, which no reader uses."""

    value: _Unread


Term = IriTerm | BlankTerm | LiteralTerm | TypedLiteralTerm | TripleTerm


def literal_of(term: LiteralTerm) -> Literal:
    """Return a bound literal, its datatype left away where it says no more than that this is text."""
    datatype = term.datatype
    return Literal(
        term.value,
        "" if datatype is None or datatype in _PLAIN_TYPES else datatype,
        (term.language or "").lower(),
    )


def value(term: Term) -> Literal | Resource | None:
    """Return a bound literal or IRI; None for a blank node or a triple term, which have no value of their own."""
    if isinstance(term, LiteralTerm):
        return literal_of(term)
    if isinstance(term, IriTerm):
        return Resource(term.value)
    return None


_IRIS = frozenset[type]({IriTerm})

_text_of = attrgetter("value")


class Table:
    """Rows of terms.

    Args:
        length: How many rows there are.
        terms: The bound term of each row, by variable; None where a row binds nothing.
        iris: The same for variables that are bound to nothing but IRIs: the text of each.
    """

    __slots__ = ("_iris", "_length", "_terms")

    def __init__(
        self,
        length: int,
        terms: Mapping[str, Sequence[Term | None]],
        iris: Mapping[str, Sequence[Iri | None]] | None = None,
    ) -> None:
        self._length = length
        self._terms = terms
        self._iris = {**(iris or {})}

    def __len__(self) -> int:
        """Return how many rows there are."""
        return self._length

    def terms(self, variable: str) -> Sequence[Term | None]:
        """Return the term of each row; None where it binds none."""
        if (terms := self._terms.get(variable)) is not None:
            return terms
        if (iris := self._iris.get(variable)) is not None:
            return [iri if iri is None else IriTerm(iri) for iri in iris]
        return [None] * self._length

    def iris(self, variable: str) -> Sequence[Iri] | None:
        """Return the IRI of each row; None where a row binds none, or another term."""
        if (iris := self._iris.get(variable)) is not None:
            return None if None in iris else cast("Sequence[Iri]", iris)
        terms = self._terms.get(variable)
        if terms is None:
            return None if self._length else ()
        if not _IRIS.issuperset(map(type, terms)):
            return None
        self._iris[variable] = texts = [*map(_text_of, terms)]
        return texts

    def repeated(self, variables: Sequence[str]) -> bool:
        """Return whether two rows are the same in all of these variables."""
        columns = [self.iris(variable) or self.terms(variable) for variable in variables]
        return len(set(zip(*columns, strict=True))) < self._length if columns else self._length > 1

    def first(self, count: int) -> Table:
        """Return the first rows."""
        return self._of(min(count, self._length), itemgetter(slice(count)))

    def at(self, positions: Sequence[int]) -> Table:
        """Return the rows at some positions, in their order."""
        return self._of(len(positions), lambda column: [column[position] for position in positions])

    def where(self, wanted: Sequence[bool]) -> Table:
        """Return the rows of which it is said that they are wanted."""
        return self._of(sum(wanted), lambda column: [*compress(column, wanted)])

    def _of(self, length: int, part: Callable[[Sequence[Any]], Sequence[Any]]) -> Table:
        terms = {variable: part(column) for variable, column in self._terms.items()}
        return Table(length, terms, {variable: part(column) for variable, column in self._iris.items()})


EMPTY = Table(0, {})
"""No rows."""


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


def term(variable: str, text: str = "") -> Column[Term]:
    """Return the column of a variable that is bound to terms of any kind.

    Args:
        variable: The variable.
        text: The variable of what `STR()` gives of a literal, which some engines write in other ways beside it. Where
            it is unbound or empty, the literal is as it is written.
    """
    return lambda rows: _terms(rows, variable, text)


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


def literal(variable: str, text: str = "") -> Column[Literal]:
    """Return the column of a variable that is bound to literals.

    Args:
        variable: The variable.
        text: As for `term`.
    """
    return lambda rows: map(literal_of, _terms(rows, variable, text, _LITERALS))


def integer(variable: str) -> Column[int]:
    """Return the column of a variable that is bound to whole numbers."""

    def numbers(rows: Table) -> Sequence[int]:
        try:
            return [int(number.value) for number in _terms(rows, variable, kinds=_LITERALS)]
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


_T = TypeVar("_T", bound=Term)


def _as_said(term: _T, text: Term | None) -> _T:
    if not isinstance(term, LiteralTerm) or not isinstance(text, LiteralTerm):
        return term
    said, written = text.value, term.value
    # Of a number that is too large, Virtuoso's `STR()` says `inf`, which is no form of XML Schema, and its results INF.
    if said in {"", written} or said.lower() == written.lower():
        return term
    return msgspec.structs.replace(term, value=said)


def _terms(rows: Table, variable: str, text: str = "", kinds: frozenset[type] | None = None) -> Iterable[Any]:
    """Return what a variable is bound to, as `text` says it; of the given kinds only, where some are given."""
    terms = rows.terms(variable)
    if (None in terms) if kinds is None else not kinds.issuperset(map(type, terms)):
        raise UnexpectedRows
    return map(_as_said, terms, rows.terms(text)) if text else terms


_OF_ONE = (
    "Its neighborhood can be read by bfs_query. For the whole entity, the operator of this gateway has to raise "
    "`limits.query_rows`."
)


class Overflow(AnswerCut):
    """There are more rows than one query may return."""

    def __init__(self, *, about_one: bool = False) -> None:
        what, next_step = ("One entity", _OF_ONE) if about_one else ("The answer", "Ask for fewer entities at once.")
        super().__init__(f"{what} has more rows than one query may return.", next_step=next_step)


class EndedEarly(AnswerCut):
    """The last row did not come that proves the end of an answer."""

    def __init__(self) -> None:
        super().__init__(
            "The endpoint sent only a part of an answer, and did not say so.",
            next_step="Ask for fewer entities at once, or try again later.",
        )


class EndUnproven(AnswerCut):
    """Nothing proves the end of an answer at this endpoint."""

    cause = "end_unproven"
    smaller = False

    def __init__(self) -> None:
        super().__init__(
            "Nothing proves that the endpoint sent all rows of an answer.",
            next_step="The operator of this gateway should run `bfsql-gateway check`, and set `endpoint.sentinel`.",
        )


Rows = ReceivedRows[Table]
"""The rows of one answer; what is missing is an `Overflow`, or may be: `EndedEarly`, `EndUnproven`."""
