"""SPARQL JSON bytes become rows here, and only here (SPARQL 1.1 Query Results JSON Format).

A row is believed only when the whole body parsed. `gateway.transport.marks` has what engines leave in a broken one.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable
from typing import Any

import msgspec

from gateway.errors import AnswerCut, BrokenAnswer, EndpointFault, GaveUp
from gateway.graph.values import Edge, Resource
from gateway.terms.literals import Literal
from gateway.terms.vocabulary import RDF, XSD
from gateway.transport import marks


class _Term(msgspec.Struct, frozen=True, gc=False, tag_field="type"):
    """A bound RDF term; the collector need not look at it, because it is part of no cycle."""


class IriTerm(_Term, frozen=True, gc=False, tag="uri"):
    """A bound IRI."""

    value: str


class BlankTerm(_Term, frozen=True, gc=False, tag="bnode"):
    """A bound blank node; its label means something within one answer."""

    value: str


class LiteralTerm(_Term, frozen=True, gc=False, tag="literal"):
    """A bound literal.

    Attributes:
        value: Its lexical form.
        datatype: The IRI of its datatype, where the engine tells one.
        language: Its language tag, as the engine keeps it.
    """

    value: str
    datatype: str | None = None
    language: str | None = msgspec.field(default=None, name="xml:lang")


class TypedLiteralTerm(LiteralTerm, frozen=True, gc=False, tag="typed-literal"):
    """A bound literal as some engines still call it."""


class TripleTerm(_Term, frozen=True, gc=False, tag="triple"):
    """A bound triple (RDF 1.2).

    Attributes:
        value: Its three terms as JSON, which nobody here reads.
    """

    value: Any


Term = IriTerm | BlankTerm | LiteralTerm | TypedLiteralTerm | TripleTerm
Row = dict[str, Term]


class _Head(msgspec.Struct):
    vars: list[str]


class _Results(msgspec.Struct):
    bindings: list[Row]


class _Meta(msgspec.Struct):
    total: Any = msgspec.field(default=None, name="result-size-total")


class _Answer(msgspec.Struct):
    head: _Head
    results: _Results
    meta: _Meta | None = None


_decoder = msgspec.json.Decoder(_Answer)

_PLAIN_TYPES = frozenset({"", f"{XSD}string", f"{RDF}langString", f"{RDF}dirLangString"})
_ESCAPED_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_LESS = "Ask for fewer seeds or hops, or try again later."
_START = 64
_LEADING = b"\xef\xbb\xbf \t\r\n"
"""What may stand before a JSON object."""


def decode(body: bytes, variables: Iterable[str] = ()) -> list[Row]:
    """Parse a whole answer.

    Args:
        body: SPARQL JSON.
        variables: What the query projects, which the answer must know.

    Raises:
        EndpointFault: The body is no whole SPARQL JSON answer to such a query; `BrokenAnswer` where it began as one,
            `GaveUp` where the engine says why it ends.
        AnswerCut: The engine itself says that there are more rows (QLever does).
    """
    answer: _Answer | EndpointFault
    try:
        answer = _parsed(body)
    except msgspec.ValidationError:
        # JSON, and something else than rows of terms. A kind of term that nobody here knows is no answer either: it
        # would be left out without a word.
        answer = _no_answer()
    except (ValueError, RecursionError):
        answer = _unreadable(body)
    if isinstance(answer, EndpointFault):
        # Raised here and not where it was caught: the error of the parser holds the whole body.
        raise answer
    if not set(answer.head.vars).issuperset(variables):
        raise _no_answer()
    rows = answer.results.bindings
    total = answer.meta.total if answer.meta else None
    if isinstance(total, int) and total > len(rows):
        raise AnswerCut("The endpoint sent only a part of an answer and said so.", next_step=_LESS)
    return rows


def _parsed(body: bytes) -> _Answer:
    try:
        return _decoder.decode(body.removeprefix(codecs.BOM_UTF8))
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        if not _ESCAPED_SURROGATE.search(body):
            raise
    return _decoder.decode(_without_half_pairs(body))


def _without_half_pairs(body: bytes) -> str:
    """Replace escaped surrogates that have no other half: JSON can say them and no encoding can write them.

    `json` takes them, and its bytes are strictly UTF-8.
    """
    text = json.dumps(json.loads(body.decode("utf-8-sig")), ensure_ascii=False)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unreadable(body: bytes) -> EndpointFault:
    """Say what a body is that does not parse."""
    if marks.gave_up_at_the_end(body):
        return GaveUp(
            "The endpoint gave up in the middle of an answer.",
            next_step=_LESS,
        )
    if body[:_START].lstrip(_LEADING)[:1] in {b"", b"{"}:
        return BrokenAnswer(
            "The endpoint's answer is no whole SPARQL JSON: it broke off, or was damaged on its way.",
            next_step=_LESS,
        )
    return _no_answer()


def _no_answer() -> EndpointFault:
    return EndpointFault(
        "The endpoint's answer is no whole SPARQL JSON.",
        next_step="Try again; if it stays, whoever runs this gateway should check the endpoint's URL.",
    )


def is_iri(term: Term | None) -> bool:
    """Tell whether a variable is bound to an IRI."""
    return isinstance(term, IriTerm)


def is_blank(term: Term | None) -> bool:
    """Tell whether a variable is bound to a blank node."""
    return isinstance(term, BlankTerm)


def edge_of(row: Row) -> Edge:
    """Return the triple that a row's ?s, ?p and ?o are."""
    return Edge(row["s"].value, row["p"].value, row["o"].value)


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
