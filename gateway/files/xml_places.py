"""Where in RDF/XML the mistake is of which its parser says no place."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import IO, NamedTuple
from xml.parsers import expat

from gateway.terms.iri import RDF

_ID = re.compile(r"(?P<value>.*) is not a valid rdf:ID value", re.DOTALL)
_IRI = re.compile(r"error while parsing IRI '(?P<value>.*)': ", re.DOTALL)
_NO_NAMESPACE = "XML namespaces are required in RDF/XML"

_SEPARATOR = " "
_IRI_ATTRIBUTES = frozenset(f"{RDF}{_SEPARATOR}{name}" for name in ("about", "resource", "datatype"))
_ID_ATTRIBUTE = f"{RDF}{_SEPARATOR}ID"
_SHOWN = 80


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
        wanted_id, wanted_iri = _ID.fullmatch(reason), _IRI.match(reason)
        self._wanted: dict[str, str] = {}
        if wanted_id is not None:
            self._wanted = {_ID_ATTRIBUTE: wanted_id["value"]}
        elif wanted_iri is not None:
            self._wanted = dict.fromkeys(_IRI_ATTRIBUTES, wanted_iri["value"])
        self._needs_namespace = reason == _NO_NAMESPACE
        self._parser = expat.ParserCreate(namespace_separator=_SEPARATOR)
        self._parser.StartElementHandler = self._on_element
        self._found: Mistake | None = None

    def find(self, stream: IO[bytes]) -> Mistake | None:
        if self._wanted or self._needs_namespace:
            with suppress(_FoundError, expat.ExpatError):
                self._parser.ParseFile(stream)
        return self._found

    def _on_element(self, element: str, attributes: dict[str, str]) -> None:
        if any(attributes.get(name) == value for name, value in self._wanted.items()):
            self._stop("")
        names = (element, *attributes) if self._needs_namespace else ()
        for name in names:
            if _SEPARATOR not in name and not name.startswith("xml"):
                what = "element" if name == element else "attribute"
                self._stop(f"the {what} {name[:_SHOWN]} has no namespace, which it must have in RDF/XML")

    def _stop(self, reason: str) -> None:
        self._found = Mistake(self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1, reason)
        raise _FoundError


def find_mistake(stream: IO[bytes], reason: str) -> Mistake | None:
    """Find the first element with the mistake that a parser of RDF/XML names; None where there is none, or no XML."""
    return _Finder(reason).find(stream)
