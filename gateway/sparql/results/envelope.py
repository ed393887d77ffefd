"""The parts of a SPARQL JSON answer around its rows, read strictly: each name once, nothing that contradicts rows.

It is small enough for Python's own parser, which shows repeated names; the rows in the middle are left to a faster
one (`gateway.sparql.results.decoder`).
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gateway.transport.json_names import RepeatedNameError, loads

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
        start: The byte of the body at which the list of rows begins.
        end: The byte behind it.
    """

    variables: frozenset[str]
    total: int | None
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
            return Envelope(frozenset(variables), total if isinstance(total, int) else None, start, end)
    return None
