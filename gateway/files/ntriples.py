"""Lines of N-Triples as Oxigraph writes them: one blank between the terms, and the same text for the same term."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from gateway.terms.iri import OWN, RDF

Terms: TypeAlias = tuple[str, str, str]
"""Subject, predicate and object of a triple, each as N-Triples write it. No class: files have millions."""


def terms_of(lines: bytes) -> list[Terms]:
    """Return the terms of each of some lines."""
    # Only the object may have a blank in it.
    return [tuple(line[:-2].split(" ", 2)) for line in lines.decode().split("\n")[:-1]]  # type: ignore[misc]


_STRING_OR_OWN = re.compile(rb'"(?:[^"\\]|\\.)*"|<' + re.escape(OWN.encode()))


def without_own(lines: bytes) -> bytes:
    """Return lines in which no IRI is one of the gateway's own: a file that has one means another thing by it."""
    if b"<" + OWN.encode() not in lines:
        return lines
    foreign = OWN.encode()[:-1] + b"-of-file:"
    return _STRING_OR_OWN.sub(lambda found: found[0] if found[0][:1] == b'"' else b"<" + foreign, lines)


def node(iri: str) -> str:
    """Return an IRI as N-Triples write it."""
    return f"<{iri}>"


_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})


def literal(text: str, datatype: str) -> str:
    """Return a literal as N-Triples write it."""
    return f'"{text.translate(_ESCAPES)}"^^<{datatype}>'


def is_blank(term: str) -> bool:
    """Return whether a term is a blank node."""
    return term.startswith("_:")


def is_node(term: str) -> bool:
    """Return whether a term is an IRI or a blank node."""
    return is_blank(term) or (term.startswith("<") and not term.startswith("<<"))


_RDF = RDF.encode()
_PART_OF_LIST = re.compile(re.escape(_RDF) + rb"(?:first|rest|nil|_[1-9])")
_OWN = OWN.encode()
_MAY_BE_ASIDE = re.compile(rb"_:|" + re.escape(_OWN) + rb"|" + _PART_OF_LIST.pattern)


def may_be_aside(lines: bytes) -> bool:
    """Return whether some of the lines name a blank node or a part of a list; a text may look as if it did."""
    return _MAY_BE_ASIDE.search(lines) is not None


def is_aside(line: bytes) -> bool:
    """Return whether one line does; it takes a third of the time."""
    return b"_:" in line or _OWN in line or (_RDF in line and _PART_OF_LIST.search(line) is not None)


_LABELS = re.compile(r'"(?:[^"\\]|\\.)*"|<[^<>]*>|(_:[^\s)]+)')
"""Texts and IRIs, in which nothing is a label; and labels."""


TRIPLE_TERM = re.compile(r"<<\( (\S+) (\S+) (\S+) \)>>")


def labels_in(term: str) -> list[str]:
    """Return the labels of the blank nodes in a term, those in a triple term too."""
    if is_blank(term):
        return [term]
    return [found for found in _LABELS.findall(term) if found] if term.startswith("<<") else []


def with_names(term: str, renamed: Callable[[str], str]) -> str:
    """Return a term with other names for the blank nodes in it."""
    if is_blank(term):
        return renamed(term)
    if not term.startswith("<<"):
        return term
    return _LABELS.sub(lambda found: renamed(found[1]) if found[1] else found[0], term)
