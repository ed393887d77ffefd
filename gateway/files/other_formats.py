"""Formats that are not read: recognised by their content, and refused by name with what converts them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from gateway.files.parser_streams import RefusedError
from gateway.terms.iri import OWL, RDF

_ROBOT = "robot convert --input FILE --output FILE.ttl (ROBOT, robot.obolibrary.org)"
_RAPPER = "rapper -i {} -o ntriples FILE > FILE.nt (Raptor, package raptor2-utils)"
_TABLES = "save each sheet as CSV, then: tarql QUERY FILE.csv > FILE.ttl (Tarql, tarql.github.io)"
_TEXTS = "write what it says as RDF, or give the file that it was made from"

TRIX_NAMESPACES = ("http://www.w3.org/2004/03/trix/trix-1/", "http://www.w3.org/2004/03/trix/")
_XHTML = "http://www.w3.org/1999/xhtml"


class _OtherFormat(NamedTuple):
    """A format that is not read: how it begins, what it is, and what to do."""

    start: re.Pattern[bytes]
    name: str
    converts: str

    def refusal(self) -> RefusedError:
        return _refused(self.name, self.converts)


_BINARY: Sequence[_OtherFormat] = (
    _OtherFormat(re.compile(rb"\$HDT"), "HDT", "hdt2rdf FILE FILE.nt (hdt-cpp), or hdt2rdf.sh of hdt-java"),
    _OtherFormat(re.compile(rb"BRDF"), "the binary RDF of RDF4J", "RDF4J's console, with another format"),
    _OtherFormat(re.compile(rb"\x28\xb5\x2f\xfd"), "a file packed by Zstandard", "zstd -d FILE"),
    _OtherFormat(re.compile(rb"7z\xbc\xaf\x27\x1c"), "a 7-Zip archive", "7z x FILE"),
    _OtherFormat(re.compile(rb"(?s:.{257})ustar"), "a tar archive", "tar -xf FILE, and give the folder"),
    _OtherFormat(
        re.compile(rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
        "a file of Microsoft Office up to 2003, or an encrypted one",
        f"of a workbook, {_TABLES}",
    ),
)
_TEXT: Sequence[_OtherFormat] = (
    _OtherFormat(re.compile(rb"version https://git-lfs\.github\.com/spec/"), "a pointer of Git LFS", "git lfs pull"),
    _OtherFormat(re.compile(rb"\S*/annex/objects/"), "a pointer of git-annex", "git annex get FILE"),
    _OtherFormat(re.compile(rb"(?:Prefix|Ontology)\s*\("), "OWL in functional syntax", _ROBOT),
    _OtherFormat(re.compile(rb"(?:Prefix|Ontology):\s"), "OWL in Manchester syntax", _ROBOT),
    _OtherFormat(re.compile(rb"format-version:\s"), "OBO", _ROBOT),
)
_OFFICE_PARTS = "[Content_Types].xml"
"""The file of every package of Office Open XML (ECMA-376, part 2, 7.2.3)."""
_OFFICE: Mapping[str, tuple[str, str]] = {
    "xl": ("an Excel workbook", _TABLES),
    "word": ("a Word document", _TEXTS),
    "ppt": ("a PowerPoint presentation", _TEXTS),
}
"""What a package of Office Open XML is, by its folder, and what to do."""
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument."
_RDF_JSON = _OtherFormat(
    re.compile(rb'\{\s*"[^"\\]*"\s*:\s*\{\s*"[^"\\]*"\s*:\s*\[\s*\{(?:[^{}"]|"(?:[^"\\]|\\.)*")*\}'),
    "RDF/JSON",
    _RAPPER.format("json"),
)
_KIND_OF_VALUE = re.compile(rb'"type"\s*:\s*"(?:uri|literal|bnode)"')
_HTML = re.compile(rb"<!doctype html|<html\b", re.IGNORECASE)
# `<html>` alone may be an IRI of Turtle.
_SURE_HTML = re.compile(rb"<!doctype html|<html(?:\s+[\w:-]+\s*=|\s*>\s*<(?:head|body|meta|title|!))", re.IGNORECASE)


def refuse_other_text(start: bytes) -> None:
    """Refuse a content by its beginning.

    Args:
        start: The first bytes, without a byte order mark.

    Raises:
        RefusedError: It is of a format that is known and not read.
    """
    for other in _BINARY:
        if other.start.match(start):
            raise other.refusal()
    # Comments of the two syntaxes of OWL begin as those of Turtle.
    first = re.sub(rb"\A(?:[ \t\r\n]+|#[^\n]*\n)+", b"", start)
    for other in _TEXT:
        if other.start.match(first):
            raise other.refusal()
    if _SURE_HTML.match(first):
        raise html_refused()


def refuse_office_file(names: Collection[str], media_type: str) -> None:
    """Refuse a workbook or a document, which is a zip archive of XML.

    Args:
        names: The names of the files in an archive.
        media_type: What the archive says that it is; empty where it does not.

    Raises:
        RefusedError: It is one.
    """
    if _OFFICE_PARTS in names:
        folders = {name.partition("/")[0] for name in names}
        kinds = (said for folder, said in _OFFICE.items() if folder in folders)
        raise _refused(*next(kinds, ("a package of Office Open XML", "unpack it, and give the graph files in it")))
    if media_type.startswith(_OPEN_DOCUMENT):
        is_spreadsheet = media_type.startswith(f"{_OPEN_DOCUMENT}spreadsheet")
        raise _refused(
            "an OpenDocument spreadsheet" if is_spreadsheet else "an OpenDocument file",
            _TABLES if is_spreadsheet else _TEXTS,
        )


def refuse_rdf_json(start: bytes) -> None:
    """Refuse RDF/JSON, which is JSON-LD too, about other things.

    Raises:
        RefusedError: It is that.
    """
    found = _RDF_JSON.start.match(start.lstrip())
    if found is not None and _KIND_OF_VALUE.search(found[0]):
        raise _RDF_JSON.refusal()


def other_json_refused() -> RefusedError:
    """Return the refusal of JSON that is not meant as JSON-LD."""
    return RefusedError(
        "this is JSON, but it holds no RDF", valid="JSON-LD has an @context, or whole IRIs for its keys."
    )


def is_html(start: bytes) -> bool:
    """Return whether a text begins as an HTML page."""
    return _HTML.match(start.lstrip()) is not None


def refuse_other_xml(root: tuple[str, str], *, has_rdf: bool) -> None:
    """Refuse XML that is no RDF/XML.

    Args:
        root: The namespace and the name of its first element.
        has_rdf: Whether an attribute in it is one of RDF.

    Raises:
        RefusedError: It is none.
    """
    namespace, name = root
    if namespace == RDF:
        return
    if namespace == _XHTML or name.lower() == "html":
        raise html_refused()
    if has_rdf:
        return
    if namespace == OWL and name == "Ontology":
        raise _refused("OWL/XML", _ROBOT)
    raise RefusedError(
        f"this is XML and no RDF/XML: its first element is <{name[:100]}>",
        valid="RDF/XML begins with <rdf:RDF>, or its elements have attributes of RDF.",
        next_step="If it holds RDF/XML, take <rdf:RDF> out of it into a file of its own.",
    )


def _refused(name: str, converts: str) -> RefusedError:
    return RefusedError(f"this is {name}, which is not read", next_step=f"First: {converts}")


def html_refused() -> RefusedError:
    """Return the refusal of an HTML page."""
    return RefusedError("this is an HTML page and not RDF", next_step=f"If it has RDFa in it: {_RAPPER.format('rdfa')}")
