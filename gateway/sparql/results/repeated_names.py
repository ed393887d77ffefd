"""Whether rows that were decoded have lost something because a name occurred twice in one object.

The decoder takes the last of several and cannot say so. An engine that writes a name twice does so in every row, so
the first rows of an answer are looked at, and all rows of a short one. Counting quotation marks in all rows of a long
one would take a third of the time that decoding takes.
"""

from __future__ import annotations

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
