"""XML read by expat: the beginning of a file up to its first element, and the place of a mistake in RDF/XML.

The RDF/XML parser reads entities in double quotes only, and those in comments too. So the declarations are read here,
and handed to it in the one form that it knows. Of some mistakes it says no place.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from contextlib import suppress
from enum import Enum, auto
from typing import IO, TYPE_CHECKING, NamedTuple
from xml.parsers import expat

from gateway.files.parser_streams import MEGABYTE, PieceReader, RefusedError
from gateway.terms.iri import RDF

if TYPE_CHECKING:
    from typing_extensions import Buffer

_PIECE = 4096
_MOST_OF_ENTITIES = MEGABYTE
"""Characters of all entities; what grows further is left as it is, and meets the limits of the process."""

_DEEPEST = 50
"""Entities in each other."""

_SEPARATOR = " "
"""Between a namespace and a local name; no IRI has one."""

_DOCTYPE = b"<!DOCTYPE"
_REFERENCE = re.compile(r"&([^;&\s#]+);")
_PREDEFINED = frozenset({"amp", "lt", "gt", "quot", "apos"})
_BARE_AMPERSAND = re.compile(r"&(?!#?\w[^;&\s]*;)")


class Prologue(NamedTuple):
    """The beginning of an XML file.

    Attributes:
        content: The bytes that were read, entities declared as the parser knows them.
        root: The name of the first element, its namespace before a blank; empty where it is not known.
        attributes: The names of its attributes, in the same form.
        is_malformed: Whether it is no XML.
    """

    content: bytes
    root: str
    attributes: Sequence[str]
    is_malformed: bool


class _RootSeenError(Exception):
    """The first element begins."""


class _Reader:
    def __init__(self) -> None:
        self.root = ""
        self.attributes: Sequence[str] = ()
        self.entities: dict[str, str] = {}
        self.doctype = ""
        self.ends: tuple[int, int] | None = None
        self.is_malformed = False
        self._start = 0
        self._parser = parser = expat.ParserCreate("utf-8", _SEPARATOR)
        parser.ordered_attributes = True
        parser.StartDoctypeDeclHandler = self._on_doctype
        parser.EndDoctypeDeclHandler = self._on_doctype_end
        parser.EntityDeclHandler = self._on_entity
        parser.AttlistDeclHandler = self._on_attribute
        parser.StartElementHandler = self._on_element

    def feed(self, piece: bytes) -> bool:
        """Read on; return whether there is no more to find."""
        try:
            self._parser.Parse(piece, False)
        except _RootSeenError:
            return True
        except expat.ExpatError:
            self.is_malformed = True
            return True
        return False

    def _on_doctype(self, name: str, _system: str | None, _public: str | None, has_internal_subset: int) -> None:
        self._start = self._parser.CurrentByteIndex
        self.doctype = name if has_internal_subset else ""

    def _on_doctype_end(self) -> None:
        self.ends = (self._start, self._parser.CurrentByteIndex)

    def _on_entity(self, name: str, is_parameter: int, value: str | None, *_: str | None) -> None:
        if not is_parameter and value is not None:
            self.entities.setdefault(name, value)

    def _on_attribute(self, element: str, attribute: str, _kind: str, default: str | None, _required: int) -> None:
        if default is not None:
            raise RefusedError(
                f"its DTD gives {attribute} of {element} a default value, which the parser does not read",
                next_step="Convert it with another program: rapper -i rdfxml -o ntriples FILE > FILE.nt",
            )

    def _on_element(self, name: str, attributes: Sequence[str]) -> None:
        self.root, self.attributes = name, attributes[::2]
        raise _RootSeenError


class Rejoined(PieceReader):
    """What was read of a stream already, and then the rest of it."""

    def __init__(self, head: bytes, rest: io.BufferedReader[io.RawIOBase]) -> None:
        super().__init__()
        self._rest = memoryview(head)
        self._after = rest

    def readinto(self, buffer: Buffer, /) -> int:
        """Read some of either."""
        return super().readinto(buffer) if self._rest else self._after.readinto1(buffer)


def read_prologue(content: io.BufferedReader[io.RawIOBase]) -> Prologue:
    """Read a stream of UTF-8 until its first element, or for a megabyte.

    Raises:
        RefusedError: Its DTD gives attributes default values.
    """
    reader = _Reader()
    head = bytearray()
    while len(head) < MEGABYTE:
        piece = content.read(_PIECE)
        head += piece
        if not piece or reader.feed(piece):
            break
    return Prologue(_rewritten(bytes(head), reader), reader.root, reader.attributes, reader.is_malformed)


def root_of(prologue: Prologue) -> tuple[str, str]:
    """Return the namespace and the local name of the first element."""
    namespace, _, name = prologue.root.rpartition(_SEPARATOR)
    return namespace, name


def in_namespace(name: str, namespace: str) -> bool:
    """Return whether the name of an element or attribute is in a namespace."""
    return name.startswith(f"{namespace}{_SEPARATOR}")


def has_rdf(stream: IO[bytes], namespace: str) -> bool:
    """Return whether an attribute in a whole XML file is in a namespace; an element in it is another matter."""

    def on_element(_: str, attributes: Sequence[str]) -> None:
        if any(in_namespace(name, namespace) for name in attributes[::2]):
            raise _RootSeenError

    parser = expat.ParserCreate("utf-8", _SEPARATOR)
    parser.ordered_attributes = True
    parser.StartElementHandler = on_element
    try:
        parser.ParseFile(stream)
    except _RootSeenError:
        return True
    except expat.ExpatError:
        return False
    return False


def _rewritten(head: bytes, reader: _Reader) -> bytes:
    """Return the beginning with its entities as the RDF/XML parser reads them, on as many lines."""
    if not reader.doctype or reader.ends is None:
        return head
    entities = _expanded(reader.entities)
    if entities is None:
        return head
    start = head.rfind(_DOCTYPE, 0, reader.ends[0])
    end = head.find(b">", reader.ends[1])
    if start < 0 or end < 0:
        return head
    declared = "".join(f'<!ENTITY {name} "{value}">' for name, value in entities.items())
    lines = "\n" * head.count(b"\n", start, end)
    return head[:start] + f"<!DOCTYPE {reader.doctype} [{declared}{lines}]>".encode() + head[end + 1 :]


def _expanded(entities: dict[str, str]) -> dict[str, str] | None:
    """Return the entities without references to each other; None where they grow too much.

    One that holds an element, or refers to one that is not there, is left out: its use is an error.
    """
    done: dict[str, str] = {}
    left = _MOST_OF_ENTITIES

    def value_of(name: str, above: tuple[str, ...]) -> str | None:
        nonlocal left
        if name in done or name in above or name not in entities or len(above) == _DEEPEST:
            return done.get(name)
        parts = []
        place = 0
        for found in _REFERENCE.finditer(entities[name]):
            inner = found[0] if found[1] in _PREDEFINED else value_of(found[1], (*above, name))
            if inner is None:
                return None
            parts += [entities[name][place : found.start()], inner]
            place = found.end()
            left -= len(inner)
            if left < 0:
                return None
        value = "".join([*parts, entities[name][place:]])
        left -= len(value)
        if left < 0 or "<" in value or _BARE_AMPERSAND.search(value):
            return None
        done[name] = value
        return value

    for name in entities:
        value_of(name, ())
    if left < 0:
        return None
    return {name: value.replace('"', "&quot;").replace(">", "&gt;") for name, value in done.items()}


_ID = re.compile(r"(?P<value>.*) is not a valid rdf:(?P<name>ID|nodeID|bagID) value", re.DOTALL)
_IRI = re.compile(r"error while parsing IRI '(?P<value>.*)': ", re.DOTALL)
_LANGUAGE = re.compile(r"error while parsing language tag '(?P<value>.*)': ", re.DOTALL)
_NO_NAMESPACE = "XML namespaces are required in RDF/XML"

# No XML has this character, so no namespace does: expat refuses one with the separator in it.
_EXPAT_SEPARATOR = "\x1f"
_OF_RDF = f"{RDF}{_EXPAT_SEPARATOR}"
_OF_XML = f"http://www.w3.org/XML/1998/namespace{_EXPAT_SEPARATOR}"
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
        self._parser = expat.ParserCreate(namespace_separator=_EXPAT_SEPARATOR)
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
            if self._iri is not None and _on_one_line(name.replace(_EXPAT_SEPARATOR, "")) == self._iri:
                self._stop("")
            if self._needs_namespace and _EXPAT_SEPARATOR not in name and not name.startswith("xml"):
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
