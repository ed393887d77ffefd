"""What JSON may have that the decoder does not report: repeated names, and halves of surrogate pairs.

Of a name that occurs twice in one object, the decoder takes the last and cannot say so. An engine that writes a name
twice does so in every row, so the first rows of an answer are looked at, and all rows of a short one. To count the
quotation marks in all rows of a long one would take a third of the time that decoding takes.

A half of a surrogate pair, which JSON can escape and no encoding can write, becomes U+FFFD. Only its bytes are
replaced: reading and writing the whole text anew takes seconds for an answer of some megabytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec

from gateway.transport.json_names import RepeatedNameError, loads

_Row = TypeVar("_Row")

_LOOKED_AT = 1 << 12
"""Bytes of rows that are looked at."""

_MOST_ENDS = 8
"""Closing braces of which one should end a row; where none does, rows are long, and all are looked at."""

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

_MOST_BYTES = 1 << 24
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
    if len(text) > _MOST_BYTES:
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
