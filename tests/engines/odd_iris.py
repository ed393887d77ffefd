"""A graph of IRIs that are read otherwise somewhere on the way, and the questions about them."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from tests.drawn.questions import Question
from tests.graphs import ODD_TRIPLES

GRAPH: Final = "odd-iris"

_EX: Final = "http://ex.org/"
_A, _B, _P = f"{_EX}a", f"{_EX}b", f"{_EX}p"
_LABEL: Final = "http://www.w3.org/2000/01/rdf-schema#label"

_NO_IRI: Final = re.compile(r"\s|%(?![0-9A-Fa-f]{2})")

ODD: Final[Sequence[str]] = (
    # A form that is decoded twice, a path that is decoded once, and one that is written in capitals.
    *(f"{_EX}odd/{name}" for name in ("a%3Ab", "a%20b", "a%2Fb", "caf%C3%A9", "caf%c3%a9", "100%25", "a%2Bb", "a+b")),
    *(
        f"{_EX}odd/{name}"
        for name in ("a&b=c", "a'b", "a(b)", "a;b,c", "~tilde", "a?q=1&r=%26", "a#frag/ment", "a:b:c")
    ),
    # Composed and not, and one letter that has two code points.
    *(f"{_EX}form/{name}" for name in ("caf\u00e9", "cafe\u0301", "\u00c5ngstr\u00f6m", "\u212bngstr\u00f6m")),
    *(f"{_EX}script/{name}" for name in ("\u6771\u4eac", "\u0645\u062d\u0645\u062f", "\U0001d4b3")),
    # Together longer than the URL of a GET may be at many servers; none longer than an ID may be.
    *(f"{_EX}long/{letter * 900}" for letter in "abcdefghi"),
)
"""None of them stands in a line of `ODD_TRIPLES`, which this graph has too."""


def odd_graph() -> Iterator[str]:
    """Yield the triples of the graph, as N-Triples without the dot."""
    yield from ODD_TRIPLES
    for number, iri in enumerate(ODD):
        yield f"<{_A}> <{_P}> <{iri}>"
        yield f"<{iri}> <{_P}> <{ODD[(number + 1) % len(ODD)]}>"
        yield f"<{iri}> <{_EX}odd/p%3A{number % 3}> <{_B}>"
        yield f'<{iri}> <{_LABEL}> "odd one number {number}"'


def write(path: Path, *, composed: bool = False) -> Path:
    """Write the graph to a file, and where `composed`, each IRI in one Unicode form only."""
    lines = dict.fromkeys(unicodedata.normalize("NFC", line) if composed else line for line in odd_graph())
    path.write_text("".join(f"{line} .\n" for line in lines), encoding="utf-8", newline="\n")
    return path


def questions() -> list[Question]:
    """Return questions about each odd IRI, and about what it would be if it were read otherwise."""
    asked = []
    for iri in ODD:
        asked.append(Question(GRAPH, "bfs_query", (iri,), hops=2))
        asked.append(Question(GRAPH, "describe_entities", (iri, _A, *_otherwise(iri))))
        asked.append(Question(GRAPH, "intersect_subgraphs", (iri, _B), hops=1, via=True))
        asked += [Question(GRAPH, "bfs_query", (other, _A), hops=1) for other in _otherwise(iri)]
    return asked


def _otherwise(iri: str) -> list[str]:
    """Return what an IRI may be taken for."""
    forms = [unquote(iri), *(unicodedata.normalize(form, iri) for form in ("NFC", "NFD"))]
    # What is no IRI is taken for a name.
    return sorted({form for form in forms if not _NO_IRI.search(form)} - {iri})
