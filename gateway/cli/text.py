"""Escapes text from a graph for a terminal; no text from a graph is printed without it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from gateway.escaping import printable, visible

_BREAKS = re.compile(r"\s*[\t\n\v\f\r\x85\u2028\u2029]\s*")


def clean(value: str) -> str:
    """Return a value on one line, with control characters escaped reversibly."""
    return visible(value)


def line(sentence: str) -> str:
    """Return a sentence of this program on one line, with control characters escaped."""
    return printable(_BREAKS.sub(" ", sentence).strip())


def local_part(term: str) -> str:
    """Return the part of an ID after its last `:`, `/` or `#`, or the ID if that is empty."""
    bare = term.removeprefix("<").removesuffix(">")
    return bare.replace("#", "/").replace(":", "/").rstrip("/").rpartition("/")[2] or term


def short_names(terms: Iterable[str], labels: Mapping[str, str] | None) -> dict[str, str]:
    """Return a name for each type or predicate: its label or local part if no other has the same, else its ID."""
    given = labels or {}
    preferred = {term: given.get(term) or local_part(term) for term in terms}
    times = Counter(preferred.values())
    return {term: clean(name if times[name] == 1 else term) for term, name in preferred.items()}


def counted(count: int, noun: str) -> str:
    """Return `1 node`, `1,200 nodes`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def listed_values(texts: Sequence[str]) -> str:
    """Return values from a graph, separated by commas."""
    return ", ".join(clean(text) for text in texts)
