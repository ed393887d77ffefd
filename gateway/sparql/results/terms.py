"""The RDF terms that an answer binds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from gateway.graph.values import Resource
from gateway.terms.known_iris import RDF, XSD
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
