"""SPARQL JSON becomes rows, or a fault that says why it cannot.

It is small enough for Python's own parser, which shows repeated names; the rows in the middle are left to a faster
one (`gateway.sparql.json_rows`).

Of a name that occurs twice in one object, the decoder takes the last and cannot say so. An engine that writes a name
twice does so in every row, so the first rows of an answer are looked at, and all rows of a short one. To count the
quotation marks in all rows of a long one would take a third of the time that decoding takes.

A half of a surrogate pair, which JSON can escape and no encoding can write, becomes U+FFFD. Only its bytes are
replaced: reading and writing the whole text anew takes seconds for an answer of some megabytes.

A row is believed only when the whole body parsed. `gateway.transport.engine_errors` has what engines leave in a broken
one.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Any, TypeVar

import msgspec

from gateway.errors import AnswerCut, BrokenAnswer, EndpointFault, GaveUp, quoted
from gateway.sparql.table import LiteralTerm, Table, Term
from gateway.transport import engine_errors
from gateway.transport.base import RepeatedNameError, loads

_ROWS = re.compile(rb'"bindings"\s*:\s*\[')
_SEARCHED = 1 << 20
"""Bytes before the rows in which these are searched for."""

_MOST_BYTES = 1 << 20
"""Bytes around the rows; the head of no query is as large."""

_MOST_ENDS = 8
"""Closing brackets that are tried, the last ones: what stands behind the rows may have lists of its own."""

_CONTRADICTIONS = frozenset({"boolean", "error", "errors", "exception"})
"""Names that no answer with rows has: the answer to an ASK, and how engines say that they failed."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """An answer without its rows.

    Attributes:
        variables: The variables of its head.
        total: How many rows there are, where the engine says so (QLever does).
        warning: What the server says beside the rows of their not being all (4store's `warnings`); empty if nothing.
        start: The byte of the body at which the list of rows begins.
        end: The byte behind it.
    """

    variables: frozenset[str]
    total: int | None
    warning: str
    start: int
    end: int


def envelope_of(body: bytes) -> Envelope | None:
    """Return what stands around the rows; None where nothing can.

    Of the brackets that may end the rows, the first one with a whole envelope behind it does: behind a bracket inside a
    row stands the end of that row, which closes something that the envelope does not open. So rows are decoded once.

    Raises:
        RepeatedNameError: A name occurs twice in an object of it.
    """
    found = _ROWS.search(body, 0, _SEARCHED)
    if found is None:
        return None
    start = found.end() - 1
    before = body[:start].removeprefix(codecs.BOM_UTF8)
    for end in reversed([*_ends(body, start)]):
        if len(before) + len(body) - end > _MOST_BYTES:
            continue
        try:
            content = loads(b"".join((before, b"[]", body[end:])))
        except RepeatedNameError:
            raise
        except (ValueError, RecursionError):
            # This bracket ends something else.
            continue
        envelope = _checked(content, start, end)
        if envelope is not None:
            return envelope
    return None


def _ends(body: bytes, start: int) -> Iterator[int]:
    end = len(body)
    for _ in range(_MOST_ENDS):
        end = body.rfind(b"]", start, end)
        if end < 0:
            return
        yield end + 1


def _checked(content: Any, start: int, end: int) -> Envelope | None:
    match content:
        case {"head": {"vars": [*variables]}, "results": {"bindings": []} as results} if all(
            isinstance(name, str) for name in variables
        ):
            if not _CONTRADICTIONS.isdisjoint({*content, *results}):
                return None
            meta = content.get("meta")
            total = meta.get("result-size-total") if isinstance(meta, dict) else None
            total = total if isinstance(total, int) else None
            return Envelope(frozenset(variables), total, _warning(content, content["head"], results), start, end)
    return None


def _warning(*objects: Mapping[str, Any]) -> str:
    """Return what members of an answer say of its not being whole."""
    for one in objects:
        if one.get("truncated"):
            return "truncated"
        if warnings := one.get("warnings"):
            first = warnings[0] if isinstance(warnings, list) else warnings
            return first if isinstance(first, str) and first else "warnings"
    return ""


_Row = TypeVar("_Row")

_LOOKED_AT = 1 << 12
"""Bytes of rows that are looked at."""


_MOST_BRACKETS = 100_000
"""Objects and lists that Python's own parser may be given: each takes up to 200 bytes and a microsecond."""

_raw_rows = msgspec.json.Decoder(list[msgspec.Raw])

_HALF = re.compile(
    rb"\\u[dD](?:[89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    rb"|[c-fC-F][0-9a-fA-F]{2}(?<!\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}))"
)
_REPLACEMENT = rb"\ufffd"
_MOST = 10_000
"""Halves in one answer; one that has more is no text."""

_MOST_BYTES_CHECKED = 1 << 24
"""Of a longer answer nothing is replaced: the event loop would stand."""

_MOST_BACKSLASHES = 100
"""Backslashes in a row that are counted; with more of them, the text is not repaired."""


def has_repeated_names(text: memoryview, rows: Sequence[_Row], quotes_of: Callable[[Sequence[_Row]], int]) -> bool:
    """Tell whether a name occurs twice in one object of the first rows of a text.

    Args:
        text: JSON: a list of rows.
        rows: What it was decoded to.
        quotes_of: Returns how many quotation marks the JSON of some rows has that says nothing more than they do.
    """
    looked_at, count = _first_rows(text, len(rows))
    if looked_at.count(b'"') == quotes_of(rows[:count]):
        return False
    if looked_at.count(b"{") + looked_at.count(b"[") > _MOST_BRACKETS:
        return True
    return any(
        raw.count(b'"') != quotes_of([row]) and _has(raw)
        for raw, row in zip(map(bytes, _raw_rows.decode(looked_at)), rows[:count], strict=True)
    )


def _first_rows(text: memoryview, count: int) -> tuple[bytes, int]:
    """Return the beginning of a list as a list, and how many rows it has."""
    if len(text) > _LOOKED_AT:
        beginning = bytes(text[:_LOOKED_AT])
        for _ in range(_MOST_ENDS):
            beginning, _, _ = beginning.rpartition(b"}")
            first = beginning + b"}]"
            try:
                return first, len(_raw_rows.decode(first))
            except msgspec.DecodeError:
                # This brace ends a term and not a row, or is part of a text.
                continue
    return bytes(text), count


def _has(text: bytes) -> bool:
    try:
        loads(text)
    except RepeatedNameError:
        return True
    except (ValueError, RecursionError):
        # The decoder skipped something that is no JSON.
        return True
    return False


def without_halves(text: bytes) -> bytes | None:
    """Return JSON text with U+FFFD for each escaped surrogate that lacks its other half.

    Returns:
        The text; None where there is no such half, or where there is too much to replace.
    """
    if len(text) > _MOST_BYTES_CHECKED:
        return None
    pieces: list[bytes] = []
    at = 0
    for found in _HALF.finditer(text):
        escaped = _is_escaped(text, found.start())
        if escaped is None or len(pieces) >= 2 * _MOST:
            return None
        if not escaped:
            pieces += [text[at : found.start()], _REPLACEMENT]
            at = found.end()
    return b"".join((*pieces, text[at:])) if pieces else None


def _is_escaped(text: bytes, at: int) -> bool | None:
    """Tell whether a backslash is itself escaped by one before it; None where there are too many to count."""
    before = text[max(0, at - _MOST_BACKSLASHES) : at]
    backslashes = len(before) - len(before.rstrip(b"\\"))
    return None if backslashes == _MOST_BACKSLASHES else backslashes % 2 == 1


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
        AnswerCut: The server itself says that there are more rows, or may be, or there are far more than asked for.
    """
    envelope, rows = _parsed(body, tuple(variables), at_most * len(variables))
    if isinstance(rows, EndpointFault):
        # Raised here and not where it was caught: the error of a parser holds the whole body.
        raise rows
    if envelope is None or not envelope.variables.issuperset(variables):
        raise _no_answer()
    if envelope.warning:
        raise AnswerCut(
            f"The endpoint says beside an answer that it may not be whole: {quoted(envelope.warning)}.", next_step=_LESS
        )
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
