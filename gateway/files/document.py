"""Parses one RDF document into N-Triples: the content of a file, or of one that is packed in an archive.

Every format goes through pyoxigraph in one pass, with prefixes, progress and the place of an error
(docs/notes/embedded-engines.md, "Loading files"). Names of graphs are dropped: the same triple in three graphs is one
edge.
"""

from __future__ import annotations

import io
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import IO, cast
from xml.parsers import expat

import pyoxigraph

from gateway.files import recognition
from gateway.files.parser_streams import MEGABYTE, ContentReader, RefusedError, TripleWriter

_FORMATS: Mapping[str, pyoxigraph.RdfFormat] = {
    "Turtle": pyoxigraph.RdfFormat.TURTLE,
    "N-Triples": pyoxigraph.RdfFormat.N_TRIPLES,
    "N-Quads": pyoxigraph.RdfFormat.N_QUADS,
    "TriG": pyoxigraph.RdfFormat.TRIG,
    "N3": pyoxigraph.RdfFormat.N3,
    "JSON-LD": pyoxigraph.RdfFormat.JSON_LD,
    "RDF/XML": pyoxigraph.RdfFormat.RDF_XML,
}
CHUNK = 1 << 18
"""Bytes read, unpacked or written at once."""

_DEEPEST = 32
"""Triple terms in each other; the engine follows them by recursion, in threads with small stacks too."""

_LONGEST_REASON = 300
"""Characters of what the parser says is wrong."""

_HTML_STARTS = (b"<!doctype html", b"<html")
_OTHER_MARKS = {BOM_UTF32_LE: "UTF-32", BOM_UTF32_BE: "UTF-32", BOM_UTF16_LE: "UTF-16", BOM_UTF16_BE: "UTF-16"}
_XML_NO_ELEMENTS = expat.errors.codes[expat.errors.XML_ERROR_NO_ELEMENTS]
_XML_ENDS_EARLY = frozenset(
    {
        _XML_NO_ELEMENTS,
        expat.errors.codes[expat.errors.XML_ERROR_UNCLOSED_TOKEN],
        expat.errors.codes[expat.errors.XML_ERROR_PARTIAL_CHAR],
        expat.errors.codes[expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION],
    }
)

Reopen = Callable[[], "IO[bytes] | None"]
"""Opens a content again from its beginning; None where that cannot be done."""


class Document:
    """One RDF document, parsed from front to end.

    Attributes:
        format: The name of its format; the one by its name until its first bytes were seen.
    """

    def __init__(self, by_name: str, base_iri: str, reopen: Reopen, hidden_graphs: Sequence[str] = ()) -> None:
        self.format = by_name
        self._hidden_graphs = frozenset(map(pyoxigraph.NamedNode, hidden_graphs))
        self._base_iri = base_iri
        self._reopen = reopen

    def parse(self, stream: ContentReader, output: TripleWriter) -> dict[str, str]:
        """Write all triples, and return the prefixes.

        Raises:
            RefusedError: It is no RDF of its format, or is cut.
        """
        written = output.written
        with io.BufferedReader(stream, CHUNK) as content:
            self._skip_mark(content)
            self.format = recognition.format_of(content.peek(recognition.START)[: recognition.START], self.format)
            if not self.format:
                raise RefusedError(recognition.UNKNOWN, valid=recognition.known())
            prefixes = self._parse(content, output)
        if self.format == "RDF/XML":
            self._refuse_cut_xml()
        if output.written == written:
            self._refuse_other_json()
        return prefixes

    def _parse(self, content: io.BufferedReader[ContentReader], output: TripleWriter) -> dict[str, str]:
        parser = pyoxigraph.parse(content, _FORMATS[self.format], base_iri=self._base_iri, rename_blank_nodes=True)
        try:
            first = list(islice(parser, 1))
            # RDF/XML forgets its prefixes when the root element ends; the others declare them anywhere.
            prefixes = dict(parser.prefixes)
            buffered = io.BufferedWriter(output, CHUNK)
            triples = self._bounded(chain(first, parser))
            pyoxigraph.serialize(triples, cast("IO[bytes]", buffered), pyoxigraph.RdfFormat.N_TRIPLES)
            buffered.flush()
            # The buffer would close the writer, which the next document of an archive goes on with.
            buffered.detach()
        except SyntaxError as error:
            raise self._not_rdf(error) from error
        return prefixes | parser.prefixes

    def _bounded(self, quads: Iterator[pyoxigraph.Quad]) -> Iterator[pyoxigraph.Triple]:
        """Yield the triples without the names of their graphs, each nested no deeper than is safe."""
        for quad in quads:
            triple = quad.triple
            if isinstance(triple.object, pyoxigraph.Triple):
                _check_depth(triple.object)
            if self.format == "N3" and quad.graph_name != pyoxigraph.DefaultGraph():
                raise RefusedError(
                    "it holds rules or quoted formulas, which state nothing by themselves",
                    valid="Of N3 files, those that state triples only are read.",
                )
            if quad.graph_name not in self._hidden_graphs:
                yield triple

    def _skip_mark(self, content: io.BufferedReader[ContentReader]) -> None:
        """Skip a mark of UTF-8, and refuse that of another encoding."""
        start = content.peek(4)[:4]
        if start.startswith(BOM_UTF8):
            content.read(len(BOM_UTF8))
        for mark, encoding in _OTHER_MARKS.items():
            if start.startswith(mark):
                raise RefusedError(
                    f"not valid {self.format or 'RDF'}: the file is {encoding}",
                    valid="RDF files are UTF-8.",
                    next_step=f"Convert it, for example with iconv -f {encoding} -t UTF-8.",
                )

    def _start(self, size: int) -> bytes:
        """Return the first bytes of the content; none where it cannot be read again."""
        stream = self._reopen()
        return b"" if stream is None else stream.read(size)

    def _refuse_other_json(self) -> None:
        """Refuse JSON that says nothing in RDF: any JSON is JSON-LD, and almost none of it is meant so."""
        if self.format != "JSON-LD":
            return
        start = self._start(MEGABYTE).removeprefix(BOM_UTF8).strip()
        if start not in {b"", b"[]", b"{}"} and b'"@' not in start:
            raise RefusedError(
                "this is JSON, but it holds no RDF", valid="JSON-LD has an @context, or whole IRIs for its keys."
            )

    def _not_rdf(self, error: SyntaxError) -> RefusedError:
        if self._start(512).lstrip(BOM_UTF8 + b" \t\r\n").lower().startswith(_HTML_STARTS):
            return RefusedError("this is an HTML page and not RDF")
        line, column = error.lineno, error.offset
        if line is None and self.format == "RDF/XML" and (malformed := self._xml_error()):
            line, column = malformed.lineno, malformed.offset + 1
        place = f":{line}:{column}" if line is not None else ""
        reason = str(error.msg).removesuffix(f" (line {line})").rstrip(".")
        # It repeats what stands in the file, however long that is.
        reason = reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON]}…"
        return RefusedError(
            f"not valid {self.format}: {reason}",
            place=place,
            next_step="Repair the file, or give it the suffix of its real format.",
        )

    def _refuse_cut_xml(self) -> None:
        """Raise when the file ends early, which the RDF/XML parser takes for its end."""
        error = self._xml_error()
        if error is None or error.code not in _XML_ENDS_EARLY:
            return
        if error.code == _XML_NO_ELEMENTS and self._start(CHUNK) in {b"", BOM_UTF8}:
            return  # There is nothing at all in the file: an empty graph, as in the other formats.
        raise RefusedError(
            "the file is cut: its XML does not end",
            place=f":{error.lineno}:{error.offset + 1}",
            next_step="Fetch it again.",
        )

    def _xml_error(self) -> expat.ExpatError | None:
        """Find where XML is malformed, which the RDF/XML parser does not say."""
        stream = self._reopen()
        if stream is None:
            return None
        parser = expat.ParserCreate()
        try:
            parser.ParseFile(stream)
        except expat.ExpatError as error:
            return error
        return None


def _check_depth(term: pyoxigraph.Triple) -> None:
    inner: object = term
    for _ in range(_DEEPEST):
        if not isinstance(inner, pyoxigraph.Triple):
            return
        inner = inner.object
    raise RefusedError(
        f"its triple terms are nested more than {_DEEPEST} deep", valid=f"Triple terms may be nested {_DEEPEST} deep."
    )
