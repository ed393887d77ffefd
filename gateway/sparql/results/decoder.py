"""SPARQL JSON bytes become rows here, and only here (SPARQL 1.1 Query Results JSON Format).

A row is believed only when the whole body parsed. `gateway.transport.engine_errors` has what engines leave in a broken
one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from operator import attrgetter

import msgspec

from gateway.errors import AnswerCut, BrokenAnswer, EndpointFault, GaveUp
from gateway.sparql.results.envelope import Envelope, envelope_of
from gateway.sparql.results.json_defects import has_repeated_names, without_halves
from gateway.sparql.results.table import Table
from gateway.sparql.results.terms import LiteralTerm, Term
from gateway.transport import engine_errors
from gateway.transport.json_names import RepeatedNameError

_QUOTES_OF_A_TERM = 10
"""Quotation marks in the JSON of a term: its variable, `type` and `value`."""

_QUOTES_OF_A_FURTHER_NAME = 4
"""Quotation marks of a datatype or a language: its name and its value."""

_MANY_BYTES = 1 << 20
_VERY_MANY_BYTES = 1 << 23
"""Bytes of rows from which their braces, and their quotation marks, are counted before they are decoded."""

_MOST_QUOTES = 1_000_000
_MOST_QUOTES_OF_A_TERM = 40
"""Quotation marks in a long answer: at most so many, or so many for each term that the query asks for.

A decoded term takes up to 300 bytes, so this bounds the memory of an answer and the time that the event loop stands.
"""

_MOST_OBJECTS = 250_000
_MOST_OBJECTS_OF_A_TERM = 10
"""Braces that open in a long answer: a row without a term has no quotation mark, and takes memory as well."""

_FEW_BYTES = 1 << 14
"""Of rows, any of which may be without a term. There is no reason for one in a longer answer."""

_MOST_DECODERS = 256
"""Lists of variables whose decoders are kept: more than there are templates."""

_LESS = "Ask for fewer seeds or hops, or try again later."

_START = 64
"""Bytes within which a JSON answer must show its first brace."""

_LEADING = b"\xef\xbb\xbf \t\r\n"
"""What may stand before a JSON object."""


class _Skipped(msgspec.Struct):
    """Any JSON object, of which nothing is read."""


def decode(body: bytes, variables: Sequence[str], at_most: int = 0) -> Table:
    """Parse a whole answer.

    Args:
        body: SPARQL JSON.
        variables: What the query projects, which the answer must know; nothing else is read.
        at_most: The rows that the query asks for, where these are many.

    Raises:
        EndpointFault: The body is no whole SPARQL JSON answer to such a query; `BrokenAnswer` where it began as one,
            `GaveUp` where the engine says why it ends.
        AnswerCut: The engine itself says that there are more rows (QLever does), or there are far more than asked for.
    """
    envelope, rows = _parsed(body, tuple(variables), at_most * len(variables))
    if isinstance(rows, EndpointFault):
        # Raised here and not where it was caught: the error of a parser holds the whole body.
        raise rows
    if envelope is None or not envelope.variables.issuperset(variables):
        raise _no_answer()
    if envelope.total is not None and envelope.total > len(rows):
        raise AnswerCut("The endpoint sent only a part of an answer and said so.", next_step=_LESS)
    return rows


def _parsed(body: bytes, variables: tuple[str, ...], terms: int) -> tuple[Envelope | None, Table | EndpointFault]:
    try:
        envelope = envelope_of(body)
    except RepeatedNameError:
        fault = _other(body)
        return None, fault if isinstance(fault, BrokenAnswer | GaveUp) else _repeated()
    if envelope is None:
        return None, _other(body)
    if _is_too_much(body, envelope, terms):
        return envelope, AnswerCut("One answer has more rows than were asked for.", next_step=_LESS)
    rows = _decoded(memoryview(body)[envelope.start : envelope.end], variables)
    return (envelope, rows) if rows is not None else (None, _other(body))


def _is_too_much(body: bytes, envelope: Envelope, terms: int) -> bool:
    """Return whether rows have far more terms, or rows, than `terms` terms need."""
    where = envelope.start, envelope.end
    size = envelope.end - envelope.start
    return (size > _MANY_BYTES and body.count(b"{", *where) > max(_MOST_OBJECTS, _MOST_OBJECTS_OF_A_TERM * terms)) or (
        size > _VERY_MANY_BYTES and body.count(b'"', *where) > max(_MOST_QUOTES, _MOST_QUOTES_OF_A_TERM * terms)
    )


def _decoded(text: memoryview, variables: tuple[str, ...]) -> Table | EndpointFault | None:
    """Return the rows of a list of them; None where it is not one whole JSON list."""
    try:
        rows = _decoder(variables).decode(text)
    except msgspec.ValidationError:
        # JSON, but no rows of terms. An unknown kind of term is no answer either: the value would be missing unseen.
        return _no_answer()
    except (ValueError, RecursionError):
        mended = without_halves(bytes(text))
        return None if mended is None else _decoded(memoryview(mended), variables)
    if has_repeated_names(text, rows, _quotes_of):
        return _repeated()
    columns = [[*map(attrgetter(name), rows)] for name in _fields(variables)]
    if (
        len(text) > _FEW_BYTES
        and all(None in column for column in columns)
        and not all(map(any, zip(*columns, strict=True)))
    ):
        return _no_answer()
    return Table(len(rows), dict(zip(variables, columns, strict=True)))


@lru_cache(_MOST_DECODERS)
def _decoder(variables: tuple[str, ...]) -> msgspec.json.Decoder[list[msgspec.Struct]]:
    """Return what decodes rows that may bind some variables, as objects with these fields; None where one does not."""
    names = _fields(variables)
    # Not `Term | None`: a term that is null is none. The default value is not checked.
    row = msgspec.defstruct(
        "Row", [(name, Term, None) for name in names], rename=dict(zip(names, variables, strict=True)), gc=False
    )
    return msgspec.json.Decoder(list[row])  # type: ignore[valid-type] # its type is made here


def _fields(variables: Sequence[str]) -> list[str]:
    return [f"v{number}" for number in range(len(variables))]


def _quotes_of(rows: Sequence[msgspec.Struct]) -> int:
    """Return how many quotation marks the JSON of some rows has, if it says nothing more than they do."""
    terms = [term for row in rows for term in msgspec.structs.astuple(row) if term is not None]
    further = sum(
        [(term.datatype is not None) + (term.language is not None) for term in terms if isinstance(term, LiteralTerm)]
    )
    return _QUOTES_OF_A_TERM * len(terms) + _QUOTES_OF_A_FURTHER_NAME * further


def _other(body: bytes) -> EndpointFault:
    """Say what a body is that has no rows."""
    try:
        msgspec.json.decode(body.decode("utf-8-sig"), type=_Skipped)
    except msgspec.ValidationError:
        return _no_answer()
    except (ValueError, RecursionError):
        return _unreadable(body)
    return _no_answer()


def _unreadable(body: bytes) -> EndpointFault:
    """Say what a body is that does not parse."""
    if engine_errors.gave_up_at_the_end(body):
        return GaveUp("The endpoint gave up in the middle of an answer.", next_step=_LESS)
    if body[:_START].lstrip(_LEADING)[:1] in {b"", b"{"}:
        return BrokenAnswer(
            "The endpoint's answer is no whole SPARQL JSON: it broke off, or was damaged on its way.", next_step=_LESS
        )
    return _no_answer()


def _repeated() -> EndpointFault:
    return EndpointFault(
        "The endpoint's answer is no whole SPARQL JSON: a name occurs twice in one object.",
        next_step="Try again; if it stays, the operator of this gateway should check the endpoint's URL.",
    )


def _no_answer() -> EndpointFault:
    return EndpointFault(
        "The endpoint's answer is no whole SPARQL JSON.",
        next_step="Try again; if it stays, the operator of this gateway should check the endpoint's URL.",
    )
