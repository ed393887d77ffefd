"""One RDF document: what it is by its content, and its triples.

Every format but TriX goes through pyoxigraph in one pass, with prefixes, progress and the place of an error
(docs/notes/embedded-engines.md, "Loading files"). Names of graphs are dropped: the same triple in three graphs is one
edge.
"""

from __future__ import annotations

import gzip
import io
import json
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any, cast
from xml.parsers import expat

import pyoxigraph

from gateway.files import encodings, other_formats, prologue, recognition
from gateway.files.parser_streams import (
    MEGABYTE,
    ContentReader,
    Lines,
    ParseRequest,
    RefusedError,
    Skips,
    TripleWriter,
    ValidLines,
    problem_of,
)
from gateway.files.prologue import Mistake, find_mistake
from gateway.terms.iri import RDF

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

_XML_NO_ELEMENTS = expat.errors.codes[expat.errors.XML_ERROR_NO_ELEMENTS]
_XML_ENDS_EARLY = frozenset(
    {
        _XML_NO_ELEMENTS,
        expat.errors.codes[expat.errors.XML_ERROR_UNCLOSED_TOKEN],
        expat.errors.codes[expat.errors.XML_ERROR_PARTIAL_CHAR],
        expat.errors.codes[expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION],
    }
)
_JSON_LD_KEY = re.compile(rb'"@(?:context|graph|id|type|value|list|set|included|reverse|nest)"\s*:')
_IRI_KEY = re.compile(rb'"(?:[A-Za-z][A-Za-z0-9+.-]*://|urn:)[^"]*"\s*:')
_LARGEST_NAMED = 64 * MEGABYTE
"""Bytes of a document in which a context is looked for, to name it."""

_NOT_UTF_8 = re.compile(r"utf-8", re.IGNORECASE)

PACKING_FAULTS = (
    *(EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, gzip.BadGzipFile),
    # A zip archive names a way of packing that there is not.
    NotImplementedError,
)
"""What is raised where a packed file is cut or damaged; bzip2 raises an OSError without a number."""


def is_of_packing(error: Exception) -> bool:
    """Return whether an error is one of unpacking: those of a disk have a number."""
    return not isinstance(error, OSError) or error.errno is None


Reopen = Callable[[], "IO[bytes] | None"]
"""Opens a content again from its beginning; None where that cannot be done."""


class Document:
    """One RDF document, parsed from front to end.

    Attributes:
        format: The name of its format; the one by its name until its first bytes were seen.
    """

    def __init__(self, by_name: str, base_iri: str, reopen: Reopen, request: ParseRequest, skips: Skips) -> None:
        self.format = by_name
        self._skips = skips
        self._is_lenient = request.lenient
        self._prefixes: dict[str, str] = {}
        self._hidden_graphs = frozenset(map(pyoxigraph.NamedNode, request.hidden_graphs))
        self._base_iri = base_iri
        self._reopen = reopen
        self._given_encoding = request.encoding
        self._contexts = request.contexts

    def parse(self, stream: ContentReader, output: TripleWriter) -> dict[str, str]:
        """Write all triples, and return the prefixes.

        Raises:
            RefusedError: It is no RDF of its format, or is cut.
        """
        written = output.written
        with self._text(stream) as content:
            start = content.peek(recognition.START)[: recognition.START]
            other_formats.refuse_other_text(start)
            self.format = recognition.format_of(start, self.format)
            if not self.format:
                raise RefusedError(recognition.UNKNOWN, valid=recognition.known())
            if self.format == "JSON-LD":
                other_formats.refuse_rdf_json(start)
                self._refuse_json_without_keys(content.peek(recognition.START))
            source = self._source(content)
            if self._is_lenient and not self._is_valid():
                self._write(self._valid_part(source), output)
                return self._prefixes
            self._write(self._triples(source), output)
        if self.format == "RDF/XML":
            self._refuse_cut_xml()
        if output.written == written:
            self._refuse_other_json()
        return self._prefixes

    def _text(self, stream: io.RawIOBase) -> io.BufferedReader[io.RawIOBase]:
        """Return the content as UTF-8, without a mark.

        What its first bytes show of the encoding counts most, then what XML declares, then what was given.
        """
        content: io.BufferedReader[io.RawIOBase] = io.BufferedReader(stream, CHUNK)
        start = content.peek(recognition.START)[: recognition.START]
        marked, size = encodings.mark_of(start)
        content.read(size)
        declared = encodings.declared_in(start)
        # Programs write by mistake that text is in UTF-16.
        encoding = marked or ("utf-8" if encodings.is_wide(declared) else declared) or self._given_encoding or "utf-8"
        if not encodings.needs_recoding(encoding) and declared in {"", "utf-8"}:
            return content
        return io.BufferedReader(encodings.Utf8Reader(cast("IO[bytes]", content), encoding), CHUNK)

    def _source(self, content: io.BufferedReader[io.RawIOBase]) -> IO[bytes]:
        """Return the content as its parser reads it."""
        if self.format in {"RDF/XML", "TriX"}:
            return self._xml(content)
        if self.format == "JSON-LD" and self._contexts:
            from gateway.files.contexts import with_contexts  # noqa: PLC0415 - most documents need none

            return io.BytesIO(with_contexts(content.read(), self._contexts, self._base_iri))
        return cast("IO[bytes]", content)

    def _xml(self, content: io.BufferedReader[io.RawIOBase]) -> IO[bytes]:
        """Return XML with its entities as the parser knows them; refuse what is no RDF."""
        found = prologue.read_prologue(content)
        rejoined = cast("IO[bytes]", io.BufferedReader(prologue.Rejoined(found.content, content), CHUNK))
        if found.is_malformed or not found.root:
            return rejoined
        root = prologue.root_of(found)
        if root[0] in other_formats.TRIX_NAMESPACES:
            self.format = "TriX"
            return rejoined
        namespace = RDF
        has_rdf = any(prologue.in_namespace(name, namespace) for name in found.attributes)
        if not has_rdf and root[0] != namespace and (again := self._again()) is not None:
            has_rdf = prologue.has_rdf(again, namespace)
        other_formats.refuse_other_xml(root, has_rdf=has_rdf)
        return rejoined

    def _quads(self, content: IO[bytes], *, checked: bool = True) -> Iterator[pyoxigraph.Quad]:
        """Yield the statements.

        Args:
            content: The text.
            checked: Whether terms are checked while they are read; never of JSON-LD, which would leave triples out in
                silence.

        Raises:
            RefusedError: It is not valid.
        """
        if self.format == "TriX":
            from gateway.files.rdflib_graphs import read_trix  # noqa: PLC0415 - it imports rdflib

            yield from read_trix(content)
            return
        form, base = _FORMATS[self.format], self._base_iri
        try:
            lenient = not checked or self.format == "JSON-LD"
            parser = pyoxigraph.parse(content, form, base_iri=base, rename_blank_nodes=True, lenient=lenient)
            for quad in parser:
                # RDF/XML forgets its prefixes when the root element ends; the others declare them anywhere.
                self._prefixes = self._prefixes or dict(parser.prefixes)
                yield quad
        except SyntaxError as error:
            raise self._not_rdf(error) from error
        self._prefixes |= parser.prefixes

    def _triples(self, content: IO[bytes]) -> Iterator[pyoxigraph.Triple]:
        """Yield the triples; count those that JSON-LD leaves out, because a term of them is no RDF."""
        for triple in self._bounded(self._quads(content)):
            if self.format == "JSON-LD" and (problem := problem_of(triple)):
                self._skips.add(problem)
            else:
                yield triple

    def _is_valid(self) -> bool:
        """Return whether all of the content can be read as it stands; True where it can be read once only."""
        content = self._again()
        if content is None:
            return True
        try:
            source = self._source(cast("Any", content))
            for triple in self._bounded(self._quads(source)):
                if self.format == "JSON-LD" and problem_of(triple):
                    return False
            if self.format == "RDF/XML":
                self._refuse_cut_xml()
        except (RefusedError, MemoryError, *PACKING_FAULTS):
            return False
        except OSError as error:
            if not is_of_packing(error):
                raise
            return False
        finally:
            self._prefixes = {}
        return True

    def _valid_part(self, content: IO[bytes]) -> Iterator[pyoxigraph.Triple]:
        """Yield what can be read of a content that is not valid; of lines, whatever stands in others.

        Raises:
            RefusedError: Nothing can.
        """
        before = self._skips.count
        is_of_lines = self.format in {"N-Triples", "N-Quads"}
        lines = Lines(content)
        source = ValidLines(content, _FORMATS[self.format], self._skips) if is_of_lines else lines
        is_empty = True
        reason = ""
        try:
            for triple in self._bounded(self._quads(cast("IO[bytes]", source), checked=is_of_lines)):
                if is_of_lines or not (problem := problem_of(triple)):
                    is_empty = False
                    yield triple
                else:
                    self._skips.add(problem, lines.number)
            if self.format == "RDF/XML":
                self._refuse_cut_xml()
        except RefusedError as error:
            if is_empty:
                raise
            reason = f"{error.text}; the rest of it is left out"
        except (*PACKING_FAULTS, OSError) as error:
            if is_empty or not is_of_packing(error):
                raise
            reason = "its packing is cut or damaged; the rest of it is left out"
        if is_empty:
            raise RefusedError(f"not valid {self.format}: no part of it is valid")
        if reason or self._skips.count == before:
            # What the strict reading refused, and this one read in another way, is not the file's.
            self._skips.add(reason or "it is not valid, and was read as far as it can be")

    def _write(self, triples: Iterator[pyoxigraph.Triple], output: TripleWriter) -> None:
        buffered = io.BufferedWriter(output, CHUNK)
        try:
            pyoxigraph.serialize(triples, cast("IO[bytes]", buffered), pyoxigraph.RdfFormat.N_TRIPLES)
            buffered.flush()
        except BaseException:
            # What is left in the buffer would come after the refusal, and may end within a line.
            output.is_discarding = True
            raise
        finally:
            # The buffer would close the writer, which the next document of an archive goes on with.
            buffered.detach()
            output.is_discarding = False

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

    def _again(self) -> IO[bytes] | None:
        """Open the text again from its beginning; None where that cannot be done."""
        stream = self._reopen()
        return None if stream is None else cast("IO[bytes]", self._text(cast("io.RawIOBase", stream)))

    def _start(self, size: int) -> bytes:
        """Return the first bytes of the text; none where it cannot be read again."""
        stream = self._again()
        return b"" if stream is None else stream.read(size)

    def _refuse_json_without_keys(self, peeked: bytes) -> None:
        """Refuse JSON that has neither a key of JSON-LD nor a whole IRI for a key: it was not meant so.

        Some of it would be read all the same: what looks like a prefix and a name is an IRI too.
        """
        start = (self._start(MEGABYTE) or peeked).strip()
        if start in {b"", b"[]", b"{}"} or _JSON_LD_KEY.search(start) or _IRI_KEY.search(start):
            return
        if len(start) < MEGABYTE and _is_json(start):
            raise other_formats.other_json_refused()

    def _refuse_other_json(self) -> None:
        """Refuse JSON that says nothing in RDF: any JSON is JSON-LD, and almost none of it is meant so."""
        if self.format != "JSON-LD":
            return
        start = self._start(MEGABYTE).strip()
        if start not in {b"", b"[]", b"{}"} and not _JSON_LD_KEY.search(start):
            raise other_formats.other_json_refused()

    def _not_rdf(self, error: SyntaxError) -> RefusedError:
        if other_formats.is_html(self._start(512)):
            return other_formats.html_refused()
        if self.format == "JSON-LD" and "LoadDocumentCallback" in str(error.msg):
            from gateway.files.contexts import with_contexts  # noqa: PLC0415 - most documents need none

            # It names the first context that is missing.
            with_contexts(self._start(_LARGEST_NAMED), {}, self._base_iri)
        line, column = error.lineno, error.offset
        if line is None and self.format == "RDF/XML" and (malformed := self._xml_error()):
            line, column = malformed.lineno, malformed.offset + 1
        reason = str(error.msg).removesuffix(f" (line {line})").rstrip(".")
        if line is None and (mistake := self._mistake(reason)):
            line, column, reason = mistake.line, mistake.column, mistake.reason or reason
        place = f":{line}:{column}" if line is not None else ""
        # It repeats what stands in the file, however long that is.
        reason = reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON]}…"
        repair = "Repair the file, or give it the suffix of its real format; --lenient leaves out what is not valid."
        encoding = "If its text is in another encoding, name that: --encoding cp1252."
        return RefusedError(
            f"not valid {self.format}: {reason}",
            place=place,
            next_step=encoding if _NOT_UTF_8.search(reason) and not self._given_encoding else repair,
        )

    def _refuse_cut_xml(self) -> None:
        """Raise when the file ends early, which the RDF/XML parser takes for its end."""
        error = self._xml_error()
        if error is None or error.code not in _XML_ENDS_EARLY:
            return
        if error.code == _XML_NO_ELEMENTS and not self._start(CHUNK):
            return  # There is nothing at all in the file: an empty graph, as in the other formats.
        raise RefusedError(
            "the file is cut: its XML does not end",
            place=f":{error.lineno}:{error.offset + 1}",
            next_step="Fetch it again.",
        )

    def _mistake(self, reason: str) -> Mistake | None:
        stream = self._again() if self.format == "RDF/XML" else None
        return None if stream is None else find_mistake(stream, reason)

    def _xml_error(self) -> expat.ExpatError | None:
        """Find where XML is malformed, which the RDF/XML parser does not say."""
        stream = self._again()
        if stream is None:
            return None
        parser = expat.ParserCreate()
        try:
            parser.ParseFile(stream)
        except expat.ExpatError as error:
            return error
        return None


def _is_json(text: bytes) -> bool:
    """Return whether a text is JSON as a whole; what is not is refused with the place of the mistake."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _check_depth(term: pyoxigraph.Triple) -> None:
    inner: object = term
    for _ in range(_DEEPEST):
        if not isinstance(inner, pyoxigraph.Triple):
            return
        inner = inner.object
    raise RefusedError(
        f"its triple terms are nested more than {_DEEPEST} deep", valid=f"Triple terms may be nested {_DEEPEST} deep."
    )
