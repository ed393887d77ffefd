"""Text from a graph, made fit for a terminal. Nothing from a graph reaches a terminal another way."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from gateway.escaping import printable, visible

_BREAKS = re.compile(r"\s*[\t\n\v\f\r\x85\u2028\u2029]\s*")


def clean(value: str) -> str:
    """Return a value on one line, so that it can be read back: what a terminal would obey is escaped."""
    return visible(value)


def line(sentence: str) -> str:
    """Return a sentence of this program on one line, with what a terminal would obey escaped."""
    return printable(_BREAKS.sub(" ", sentence).strip())


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
    """Return values from a graph as one list."""
    return ", ".join(clean(text) for text in texts)
