"""What a file is, by its name and by its first bytes, which count where the two contradict each other."""

from __future__ import annotations

import re
from collections.abc import Mapping

FORMATS: Mapping[str, str] = {
    ".ttl": "Turtle",
    ".turtle": "Turtle",
    ".nt": "N-Triples",
    ".ntriples": "N-Triples",
    ".nq": "N-Quads",
    ".nquads": "N-Quads",
    ".trig": "TriG",
    ".n3": "N3",
    ".jsonld": "JSON-LD",
    ".json": "JSON-LD",
    ".rdf": "RDF/XML",
    ".xml": "RDF/XML",
    ".owl": "RDF/XML",
}
"""The names of formats by suffix."""

PACKINGS: Mapping[str, str] = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zip": "zip"}
"""The names of packings by suffix."""

_NO_GRAPHS = re.compile(r"catalog-v[0-9]+\.xml|package(-lock)?\.json|tsconfig\.json|pom\.xml")
"""Names of files beside graphs that are none: Protege writes a catalogue into each folder with imports."""

UNKNOWN = "its suffix names no RDF format, and its first bytes show none"
"""What is wrong with a file that is not recognised."""

START = 4096
"""Bytes of a file that are looked at."""

_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"PK\x03\x04": "zip", b"PK\x05\x06": "zip"}
_XML, _JSON = "RDF/XML", "JSON-LD"

# A TriG file may begin with a brace or a bracket too, but no statement in it with a key or with an object.
_JSON_START = re.compile(rb'\{\s*"|\[\s*\{')
_XML_START = re.compile(rb"<\?xml\b|<rdf:RDF\b|<!DOCTYPE rdf:RDF\b")
_TERM = rb'(?:<[^<>"{}|^`\\\s]*>|_:[^\s<>"]+)'
_LITERAL = rb'"(?:[^"\\]|\\.)*"(?:@[A-Za-z0-9-]+|\^\^<[^<>\s]*>)?'
_TRIPLE = rb"%b[ \t]+<[^<>\s]*>[ \t]+(?:%b|%b)[ \t]*" % (_TERM, _TERM, _LITERAL)
_TRIPLE_START = re.compile(rb"%b\." % _TRIPLE)
_QUAD_START = re.compile(rb"%b%b[ \t]*\." % (_TRIPLE, _TERM))
_DIRECTIVE = re.compile(rb"@prefix|@base|prefix\s|base\s", re.IGNORECASE)


def known() -> str:
    """Return the suffixes that are known, for errors."""
    return f"A graph file ends in {', '.join(FORMATS)}, each also with {', '.join(PACKINGS)}."


def format_by_name(name: str) -> str:
    """Return the format that a file's name means, packed or not; empty where it means none."""
    lower = name.lower()
    packing = next((suffix for suffix in PACKINGS if lower.endswith(suffix)), "")
    plain = lower.removesuffix(packing)
    return next((FORMATS[suffix] for suffix in FORMATS if plain.endswith(suffix)), "")


def is_no_graph(name: str) -> bool:
    """Return whether a file has a name that no graph has, so that it is not meant where it is found beside graphs."""
    return _NO_GRAPHS.fullmatch(name) is not None


def packing_by_name(name: str) -> str:
    """Return the packing that a file's name means; empty where it means none."""
    return next((PACKINGS[suffix] for suffix in PACKINGS if name.lower().endswith(suffix)), "")


def packing_of(start: bytes) -> str:
    """Return the packing of a file that begins so; empty where it is not packed."""
    return next((name for magic, name in _MAGIC.items() if start.startswith(magic)), "")


def format_of(start: bytes, by_name: str) -> str:
    """Return the format of a content that begins so; the one that its name means, unless they contradict each other.

    Args:
        start: The first bytes, without a byte order mark.
        by_name: The format by name; empty where that means none.

    Returns:
        A format; empty where neither shows one.
    """
    first = _first_line(start)
    if _XML_START.match(first):
        return _XML
    if by_name not in {_JSON, "N3"} and _JSON_START.match(first):
        return _JSON
    if by_name not in {"N-Quads", "TriG", "N3"} and _QUAD_START.match(first):
        return "N-Quads"
    has_statement = _DIRECTIVE.match(first) or _TRIPLE_START.match(first)
    if by_name in {_XML, _JSON, ""} and has_statement:
        return "TriG"
    return "TriG" if by_name in {"N-Triples", "N-Quads"} and _DIRECTIVE.match(first) else by_name


def _first_line(start: bytes) -> bytes:
    """Return what stands behind the blank lines and comments at the beginning."""
    lines = start.split(b"\n")
    for place, line in enumerate(lines):
        if (stripped := line.strip()) and not stripped.startswith(b"#"):
            return b"\n".join(lines[place:]).lstrip()
    return b""
