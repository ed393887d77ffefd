"""Where in RDF/XML the mistake is of which its parser says no place."""

from __future__ import annotations

import re
from contextlib import suppress
from enum import Enum, auto
from typing import IO, NamedTuple
from xml.parsers import expat

from gateway.terms.iri import RDF

_ID = re.compile(r"(?P<value>.*) is not a valid rdf:(?P<name>ID|nodeID|bagID) value", re.DOTALL)
_IRI = re.compile(r"error while parsing IRI '(?P<value>.*)': ", re.DOTALL)
_LANGUAGE = re.compile(r"error while parsing language tag '(?P<value>.*)': ", re.DOTALL)
_NO_NAMESPACE = "XML namespaces are required in RDF/XML"

# No XML has this character, so no namespace does: expat refuses one with the separator in it.
_SEPARATOR = "\x1f"
_OF_RDF = f"{RDF}{_SEPARATOR}"
_OF_XML = f"http://www.w3.org/XML/1998/namespace{_SEPARATOR}"
_IRI_ATTRIBUTES = (*(f"{_OF_RDF}{name}" for name in ("about", "resource", "datatype", "type")), f"{_OF_XML}base")
_SPACE = re.compile(r"\r\n|[\t\r\n]")
_SHOWN = 80


class _Kind(Enum):
    NODE = auto()
    PROPERTY = auto()
    VALUE = auto()
    """Any XML, which the parser takes as it is."""


_IN_PROPERTY = {None: _Kind.NODE, "Collection": _Kind.NODE, "Triple": _Kind.NODE, "Resource": _Kind.PROPERTY}
"""What the elements in a property are, by its rdf:parseType; with another, they are a value."""


class Mistake(NamedTuple):
    """A mistake in XML, and where the element begins that has it.

    Attributes:
        line: Counted from 1.
        column: Counted from 1.
        reason: What is wrong, if that can be said in better words than the parser's.
    """

    line: int
    column: int
    reason: str = ""


class _FoundError(Exception):
    """The element is found."""


class _Finder:
    """Looks for the element with a mistake that the parser of RDF/XML names."""

    def __init__(self, reason: str) -> None:
        self._attributes: dict[str, str] = {}
        self._iri: str | None = None
        if match := _ID.fullmatch(reason):
            self._attributes = {f"{_OF_RDF}{match['name']}": _on_one_line(match["value"])}
        elif match := _LANGUAGE.match(reason):
            self._attributes = {f"{_OF_XML}lang": _on_one_line(match["value"])}
        elif match := _IRI.match(reason):
            self._iri = _on_one_line(match["value"])
            self._attributes = dict.fromkeys(_IRI_ATTRIBUTES, self._iri)
        self._needs_namespace = reason == _NO_NAMESPACE
        self._kinds = [_Kind.NODE]
        self._parser = expat.ParserCreate(namespace_separator=_SEPARATOR)
        self._parser.StartElementHandler = self._on_element
        self._parser.EndElementHandler = self._on_end
        self._found: Mistake | None = None

    def find(self, stream: IO[bytes]) -> Mistake | None:
        if self._attributes or self._needs_namespace:
            with suppress(_FoundError, expat.ExpatError):
                self._parser.ParseFile(stream)
        return self._found

    def _on_element(self, element: str, attributes: dict[str, str]) -> None:
        kind = self._kinds[-1]
        if kind is _Kind.VALUE:
            self._kinds.append(kind)
            return
        self._check(element, attributes)
        if kind is _Kind.PROPERTY:
            self._kinds.append(_IN_PROPERTY.get(attributes.get(f"{_OF_RDF}parseType"), _Kind.VALUE))
        else:
            self._kinds.append(_Kind.NODE if element == f"{_OF_RDF}RDF" else _Kind.PROPERTY)

    def _on_end(self, _element: str) -> None:
        self._kinds.pop()

    def _check(self, element: str, attributes: dict[str, str]) -> None:
        for name, value in attributes.items():
            if self._attributes.get(name) == _on_one_line(value):
                self._stop("")
        for name in (element, *attributes):
            if self._iri is not None and _on_one_line(name.replace(_SEPARATOR, "")) == self._iri:
                self._stop("")
            if self._needs_namespace and _SEPARATOR not in name and not name.startswith("xml"):
                what = "element" if name == element else "attribute"
                self._stop(f"the {what} {name[:_SHOWN]} has no namespace, which it must have in RDF/XML")

    def _stop(self, reason: str) -> None:
        self._found = Mistake(self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1, reason)
        raise _FoundError


def _on_one_line(value: str) -> str:
    # The parser of RDF/XML keeps the ends of lines in an attribute, which are spaces in XML.
    return _SPACE.sub(" ", value)


def find_mistake(stream: IO[bytes], reason: str) -> Mistake | None:
    """Find the first element with the mistake that a parser of RDF/XML names; None where there is none, or no XML."""
    return _Finder(reason).find(stream)
