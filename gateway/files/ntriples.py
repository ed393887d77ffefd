"""Lines of N-Triples as Oxigraph writes them: one blank between the terms, and the same text for the same term."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from gateway.terms.iri import RDF


class TripleLine(NamedTuple):
    """A triple, each term as N-Triples write it."""

    subject: str
    predicate: str
    object: str

    @classmethod
    def of(cls, line: str) -> TripleLine:
        """Return the triple of a line without its end."""
        subject, predicate, rest = line.split(" ", 2)
        return cls(subject, predicate, rest[:-2])

    @property
    def line(self) -> str:
        """The line, with its end."""
        return f"{self.subject} {self.predicate} {self.object} .\n"


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


MAY_BE_ASIDE = re.compile(rb"_:|" + re.escape(RDF.encode()) + rb"(?:first|rest|nil|_[1-9])")
"""What a line has that names a blank node or a part of a list; a few other lines have it too."""

_LABELS = re.compile(r'"(?:[^"\\]|\\.)*"|<[^<>]*>|(_:[^\s)]+)')
"""Texts and IRIs, in which nothing is a label; and labels."""


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
