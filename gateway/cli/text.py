"""Text from a graph, made fit for a terminal. Nothing from a graph reaches a terminal another way."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

_BLANKS = frozenset("\t\n\v\f\r\x85\u2028\u2029")
_REORDERING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that turn the text after them around, so that it reads as another."""


def clean(text: str) -> str:
    """Return text on one line, with what a terminal would obey written out: an escape becomes four characters."""
    written = "".join(_shown(character) for character in text)
    return " ".join(written.split()) if any(character in _BLANKS for character in text) else written


def _shown(character: str) -> str:
    if character in _BLANKS:
        return " "
    if character in _REORDERING or unicodedata.category(character) in {"Cc", "Cs"}:
        return ascii(character)[1:-1]
    return character


def local_part(term: str) -> str:
    """Return what follows the last `:`, `/` or `#` of an ID, or the ID where nothing does."""
    bare = term.removeprefix("<").removesuffix(">")
    return bare.replace("#", "/").replace(":", "/").rstrip("/").rpartition("/")[2] or term


def short_names(terms: Iterable[str], labels: Mapping[str, str] | None) -> dict[str, str]:
    """Return for types or predicates the shortest name that still tells them apart: label, local part or ID."""
    given = labels or {}
    wished = {term: given.get(term) or local_part(term) for term in terms}
    times = Counter(wished.values())
    return {term: clean(name if times[name] == 1 else term) for term, name in wished.items()}


def counted(count: int, noun: str) -> str:
    """Return `1 node`, `1,200 nodes`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def listed(texts: Sequence[str]) -> str:
    """Return texts from a graph as one list."""
    return ", ".join(clean(text) for text in texts)
