"""Graphs whose nodes have local names or notations and no other names, made of the names of a reference graph."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import quote

from gateway.terms.iri import RDF_TYPE

_BASE: Final = "http://example.org/unnamed#"
_LETTERS: Final = re.compile(r"[^\W\d_]{3}")
_NOTATION: Final = "http://www.w3.org/2004/02/skos/core#notation"


def local_name(name: str, *, camel: bool) -> str | None:
    """Return a name as an IRI's local name has it, in camel case or with `_`; None where it is not made of words."""
    words = name.split()
    if not _LETTERS.search(name) or not all(map(str.isalpha, words)):
        return None
    return "".join(f"{word[0].upper()}{word[1:]}" for word in words) if camel else "_".join(words)


Found: TypeAlias = Mapping[str, tuple[str, str]]
"""The node that a text finds, and its type."""


def write_local_names(names: Iterable[tuple[str, str]], file: Path) -> Found:
    """Write nodes without a name, every other one in camel case, and return them by name.

    Args:
        names: Names, each with a type; empty for none.
        file: Where to write them, as N-Triples.
    """
    found: dict[str, tuple[str, str]] = {}

    def lines() -> Iterator[str]:
        for place, (name, kind) in enumerate(names):
            local = local_name(name, camel=bool(place % 2))
            if local is None:
                continue
            node = f"{_BASE}{quote(local)}"
            found[name] = node, kind
            yield f"<{node}> <{_BASE}next> <{_BASE}node> .\n"
            if kind:
                yield f"<{node}> <{RDF_TYPE}> <{kind}> .\n"

    _write(file, lines())
    return found


def write_notations(nodes: Iterable[tuple[str, str]], file: Path) -> Found:
    """Write nodes of a graph with what their IRIs end in as notations, and return them by notation.

    Args:
        nodes: IRIs, each with a type; empty for none.
        file: Where to write them, as N-Triples.
    """
    found: dict[str, tuple[str, str]] = {}

    def lines() -> Iterator[str]:
        for place, (node, kind) in enumerate(nodes):
            notation = re.split("[/#:]", node)[-1]
            found[notation] = f"{_BASE}n{place}", kind
            yield f'<{_BASE}n{place}> <{_NOTATION}> "{notation}" .\n'
            yield f"<{_BASE}n{place}> <{_BASE}next> <{_BASE}n0> .\n"
            if kind:
                yield f"<{_BASE}n{place}> <{RDF_TYPE}> <{kind}> .\n"

    _write(file, lines())
    return found


def _write(file: Path, lines: Iterable[str]) -> None:
    with file.open("w", encoding="utf-8") as written:
        written.writelines(lines)
