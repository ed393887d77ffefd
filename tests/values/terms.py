"""Triples as plain data, and N-Triples: what the oracle of values works on, with the standard library alone."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
SKOS: Final = "http://www.w3.org/2004/02/skos/core#"
XSD: Final = "http://www.w3.org/2001/XMLSchema#"
OWL: Final = "http://www.w3.org/2002/07/owl#"

TYPE: Final = RDF + "type"
FIRST: Final = RDF + "first"
REST: Final = RDF + "rest"
NIL: Final = RDF + "nil"
LABEL: Final = RDFS + "label"
ALIAS: Final = SKOS + "altLabel"
SUBCLASS: Final = RDFS + "subClassOf"
STRING: Final = XSD + "string"
IN_LANGUAGE: Final = RDF + "langString"


CONTENT: Final = "_:content "
"""How ends begin that stand for class expressions."""


@dataclass(frozen=True, order=True)
class Literal:
    """A literal as `STR()`, `DATATYPE()` and `LANG()` give it."""

    text: str
    datatype: str = STRING
    language: str = ""


End: TypeAlias = str | Literal
"""An IRI, a blank node, which begins with `_:`, or a literal."""

Triple: TypeAlias = tuple[str, str, End]

_NODE: Final = r"<[^<>\"{}|^`\x00-\x20]*>|_:[^\s<>\"]+"
_LINE: Final = re.compile(
    rf"\s*(?P<subject>{_NODE})\s*(?P<predicate><[^<>]*>)\s*"
    rf"(?:(?P<node>{_NODE})|\"(?P<text>(?:[^\"\\\n\r]|\\.)*)\"(?:@(?P<language>[A-Za-z0-9-]+)|\^\^<(?P<datatype>[^<>]*)>)?)"
    r"\s*\.\s*(?:#.*)?"
)
_ESCAPE: Final = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_LETTERS: Final = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_WRITTEN: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def is_blank(end: End) -> bool:
    """Return whether an end is a blank node."""
    return isinstance(end, str) and end.startswith("_:")


def is_content(end: End) -> bool:
    """Return whether an end is an expression of which no edge has the predicate: it is there, and equals nothing."""
    return isinstance(end, str) and end.startswith(CONTENT)


def text(value: str, language: str = "") -> Literal:
    """Return a text, in a language or in none."""
    return Literal(value, IN_LANGUAGE if language else STRING, language)


def typed(value: str, name: str) -> Literal:
    """Return a literal of a datatype of XML Schema."""
    return Literal(value, XSD + name)


def read(lines: Iterable[str]) -> Iterator[Triple]:
    """Yield the triples of N-Triples.

    Raises:
        ValueError: A line is no triple.
    """
    for line in lines:
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = _LINE.fullmatch(line.rstrip("\n"))
        if found is None:
            raise ValueError(f"not a triple: {line!r}")
        subject, predicate = _node(found["subject"]), _node(found["predicate"])
        if found["node"] is not None:
            yield subject, predicate, _node(found["node"])
            continue
        language = found["language"] or ""
        datatype = found["datatype"] or (IN_LANGUAGE if language else STRING)
        yield subject, predicate, Literal(_unescaped(found["text"]), datatype, language)


def written(triples: Iterable[Triple]) -> str:
    """Return triples as N-Triples, which is Turtle too."""
    return "".join(f"{_term(s)} {_term(p)} {_term(o)} .\n" for s, p, o in triples)


def _node(given: str) -> str:
    return given if given.startswith("_:") else _unescaped(given[1:-1])


def _unescaped(given: str) -> str:
    return _ESCAPE.sub(lambda m: chr(int(m[1] or m[2], 16)) if m[1] or m[2] else _LETTERS[m[3]], given)


def _term(end: End) -> str:
    if isinstance(end, str):
        return end if is_blank(end) else f"<{end}>"
    quoted = '"' + "".join(_WRITTEN.get(sign, sign) for sign in end.text) + '"'
    if end.language:
        return f"{quoted}@{end.language}"
    return quoted if end.datatype == STRING else f"{quoted}^^<{end.datatype}>"
