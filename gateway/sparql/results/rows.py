"""The rows of one answer, with whether they are all, and the RDF terms in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from gateway.errors import AnswerCut
from gateway.graph.values import Resource
from gateway.terms.known_iris import RDF, XSD
from gateway.terms.literals import Literal

if TYPE_CHECKING:
    _Unread = Any
else:
    _Unread = msgspec.Raw

_PLAIN_TYPES = frozenset({"", f"{XSD}string", f"{RDF}langString", f"{RDF}dirLangString"})

_OF_ONE = (
    "Its neighborhood can be read by bfs_query. For the whole entity, the operator of this gateway has to raise "
    "`limits.query_rows`."
)


class _Term(msgspec.Struct, frozen=True, gc=False, tag_field="type"):
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

Row = dict[str, Term]
"""Bound terms by variable."""


def literal(term: LiteralTerm) -> Literal:
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
        return literal(term)
    if isinstance(term, IriTerm):
        return Resource(term.value)
    return None


class Overflow(AnswerCut):
    """There are more rows than one query may return."""

    def __init__(self, *, about_one: bool = False) -> None:
        what, next_step = ("One entity", _OF_ONE) if about_one else ("The answer", "Ask for fewer entities at once.")
        super().__init__(f"{what} has more rows than one query may return.", next_step=next_step)


class Rows:
    """The rows of one answer.

    This is no sequence: a reader asks for the whole or accepts a part, so it cannot overlook that rows are missing.
    """

    __slots__ = ("_is_cut", "_rows")

    def __init__(self, rows: Sequence[Row], *, is_cut: bool = False) -> None:
        self._rows = rows
        self._is_cut = is_cut

    def whole(self) -> Sequence[Row]:
        """Return all rows.

        Raises:
            Overflow: There are more than came.
        """
        if self._is_cut:
            raise Overflow
        return self._rows

    def part(self) -> tuple[Sequence[Row], bool]:
        """Return the rows that came, and whether there are more."""
        return self._rows, self._is_cut
