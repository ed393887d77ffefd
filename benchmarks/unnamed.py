"""Graphs whose nodes have local names or notations and no other names, made of the names of a reference graph."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final
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


def write_local_names(names: Iterable[tuple[str, str]], file: Path) -> Mapping[str, frozenset[str]]:
    """Write nodes without a name, every other one in camel case; return the nodes of each name.

    Args:
        names: Names, each with a type; empty for none.
        file: Where to write them, as N-Triples.
    """
    found: dict[str, frozenset[str]] = {}

    def lines() -> Iterator[str]:
        for place, (name, kind) in enumerate(names):
            local = local_name(name, camel=bool(place % 2))
            if local is None:
                continue
            node = f"{_BASE}{quote(local)}"
            found[name] = frozenset({node})
            yield f"<{node}> <{_BASE}next> <{_BASE}node> .\n"
            if kind:
                yield f"<{node}> <{RDF_TYPE}> <{kind}> .\n"

    _write(file, lines())
    return found


def write_notations(nodes: Iterable[tuple[str, str]], file: Path) -> Mapping[str, frozenset[str]]:
    """Write nodes of a graph with what their IRIs end in as notations; return the nodes of each notation.

    Args:
        nodes: IRIs, each with a type; empty for none.
        file: Where to write them, as N-Triples.
    """
    found: dict[str, frozenset[str]] = {}

    def lines() -> Iterator[str]:
        for place, (node, kind) in enumerate(nodes):
            notation = re.split("[/#:]", node)[-1]
            found[notation] = found.get(notation, frozenset()) | {f"{_BASE}n{place}"}
            yield f'<{_BASE}n{place}> <{_NOTATION}> "{notation}" .\n'
            yield f"<{_BASE}n{place}> <{_BASE}next> <{_BASE}n0> .\n"
            if kind:
                yield f"<{_BASE}n{place}> <{RDF_TYPE}> <{kind}> .\n"

    _write(file, lines())
    return found


def _write(file: Path, lines: Iterable[str]) -> None:
    with file.open("w", encoding="utf-8") as written:
        written.writelines(lines)
