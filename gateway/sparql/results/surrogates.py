"""Halves of surrogate pairs, which JSON can escape and no encoding can write: they become U+FFFD.

Only their bytes are replaced. Reading and writing the whole text anew takes seconds for an answer of some megabytes.
"""

from __future__ import annotations

import re

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
