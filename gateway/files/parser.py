"""Parses one RDF file into N-Triples, in a process of its own (`gateway.files.parser_process` starts it).

The file is standard input. Standard output gets frames: a kind, a length and content. What leaves here is safe to
parse in the process that asked: each triple is bounded in length and depth, and all of them together in size.

Every format goes through pyoxigraph in one pass, with prefixes, progress and the place of an error
(docs/notes/embedded-engines.md, "Loading files"). Names of graphs are dropped: the same triple in three graphs is one
edge.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import json
import lzma
import os
import signal
import sys
import time
import zipfile
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, islice
from typing import IO, cast
from urllib.parse import quote
from xml.parsers import expat

import pyoxigraph

from gateway.files import recognition
from gateway.files.parser_streams import (
    HEADER,
    MEGABYTE,
    REFUSAL,
    REQUEST,
    RESULT,
    ContentReader,
    FileReader,
    ParseRequest,
    RefusedError,
    Result,
    Send,
    TripleWriter,
    grant_cpu,
)

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


_MOST_PREFIXES = MEGABYTE
"""Bytes of all prefixes of a file."""

_MOST_MEMBERS = 10_000
"""Files in an archive."""

_PACKING_FAULTS = (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)


class FileParser:
    """Parses one file, from front to end, and sends each frame."""

    def __init__(self, file: io.FileIO, request: ParseRequest, send: Send) -> None:
        self._file = file
        self._request = request
        self._send = send
        self._packing = ""

    def parse(self) -> Result:
        """Send all triples.

        Raises:
            RefusedError: The file is no RDF of its format, is cut, or is larger than allowed.
        """
        opened_ns = time.time_ns()
        stat = os.fstat(self._file.fileno())
        reader = FileReader(self._file, stat.st_size, self._request, self._send)
        output = TripleWriter(reader, self._request.growth, self._send)
        with io.BufferedReader(reader, CHUNK) as raw:
            self._packing = recognition.packing_of(raw.peek(recognition.START))
            if (expected := self._request.packing) and not self._packing:
                # A packed file that was cut at its first byte would read as an empty graph.
                raise RefusedError(f"its name is that of a {expected} file, but this is none")
            try:
                if self._packing == "zip":
                    prefixes, note, sha256 = *self._parse_archive(reader, output), self._hash()
                else:
                    prefixes, note = self._parse_file(raw, reader, output)
                    sha256 = reader.sha256
            except (*_PACKING_FAULTS, OSError) as error:
                # An error of the disk has a number; bzip2 and gzip raise one without it.
                if isinstance(error, OSError) and error.errno is not None:
                    raise
                raise self._bad_packing() from error
        if sum(len(name) + len(namespace) for name, namespace in prefixes.items()) > _MOST_PREFIXES:
            raise RefusedError("it declares more than 1 MB of prefixes", next_step="Remove those that are not used.")
        times = (stat.st_mtime_ns, stat.st_ctime_ns)
        return Result(prefixes, stat.st_size, times, opened_ns, sha256, is_empty=not output.written, note=note)

    def _parse_file(
        self, raw: io.BufferedReader[FileReader], reader: FileReader, output: TripleWriter
    ) -> tuple[dict[str, str], str]:
        """Parse the file itself; return its prefixes, and what it is where its name says otherwise."""
        document = Document(self._request.format, self._request.base_iri, self._reopened, self._request.hidden_graphs)
        stream = self._unpacked(cast("IO[bytes]", raw))
        prefixes = document.parse(ContentReader(stream, reader, self._request), output)
        is_named_so = document.format == self._request.format
        return prefixes, "" if is_named_so else f"it is read as {document.format}, which it looks like"

    def _parse_archive(self, reader: FileReader, output: TripleWriter) -> tuple[dict[str, str], str]:
        """Parse each graph file in an archive; return all prefixes, and which other files there are."""
        if not self._file.seekable():
            raise RefusedError("a zip archive cannot be read from a pipe", next_step="Write it to a file first.")
        prefixes: dict[str, str] = {}
        with zipfile.ZipFile(self._file) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            graphs = [member for member in members if _is_graph(member)]
            if len(members) > _MOST_MEMBERS:
                raise RefusedError(f"it holds more than {_MOST_MEMBERS:,} files", next_step="Unpack it.")
            if not graphs:
                raise RefusedError("no file in it has the suffix of an RDF format")
            for member in graphs:
                for name, namespace in self._parse_member(archive, member, reader, output).items():
                    prefixes.setdefault(name, namespace)
        others = len(members) - len(graphs)
        return prefixes, f"what is hidden in it, or no RDF by its suffix, is passed over ({others:,})" if others else ""

    def _parse_member(
        self, archive: zipfile.ZipFile, member: zipfile.ZipInfo, reader: FileReader, output: TripleWriter
    ) -> dict[str, str]:
        if member.flag_bits & 1:
            raise RefusedError(f"{member.filename!r} in it is encrypted", next_step="Unpack it.")
        base_iri = f"{self._request.base_iri}/{quote(member.filename)}"
        document = Document(
            recognition.format_by_name(member.filename),
            base_iri,
            lambda: _opened_member(archive, member),
            self._request.hidden_graphs,
        )
        try:
            return document.parse(ContentReader(_opened_member(archive, member), reader, self._request), output)
        except RefusedError as error:
            raise error.inside(member.filename) from error

    def _unpacked(self, raw: IO[bytes]) -> IO[bytes]:
        return _unpacked(raw, self._packing)

    def _reopened(self) -> IO[bytes] | None:
        """Open the file's content again; None where it cannot be read again."""
        if not self._file.seekable():
            return None
        self._file.seek(0)
        # It is closed when it is collected, and must leave the file open.
        again = io.FileIO(self._file.fileno(), closefd=False)
        return self._unpacked(cast("IO[bytes]", io.BufferedReader(again)))

    def _hash(self) -> str:
        self._file.seek(0)
        return hashlib.file_digest(self._file, "sha256").hexdigest()

    def _bad_packing(self) -> RefusedError:
        return RefusedError(f"the {self._packing} file is cut or damaged", next_step="Fetch it again.")


def _unpacked(raw: IO[bytes], packing: str) -> IO[bytes]:
    match packing:
        case "gzip":
            return cast("IO[bytes]", gzip.open(raw))
        case "bzip2":
            return cast("IO[bytes]", bz2.open(raw))
        case "xz":
            return cast("IO[bytes]", lzma.open(raw))
        case _:
            return raw


def _is_graph(member: zipfile.ZipInfo) -> bool:
    """Return whether a file of an archive is a graph by its suffix, and not hidden or one of macOS's own."""
    parts = member.filename.split("/")
    is_hidden = any(part.startswith(".") or part == "__MACOSX" for part in parts)
    return not is_hidden and bool(recognition.format_by_name(member.filename))


def _opened_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> IO[bytes]:
    """Open a file of an archive, which may be packed once more."""
    stream = io.BufferedReader(cast("io.RawIOBase", archive.open(member)))
    packing = recognition.packing_of(stream.peek(recognition.START))
    return _unpacked(cast("IO[bytes]", stream), "" if packing == "zip" else packing)


def _limit(request: ParseRequest) -> None:
    """Limit this process, as far as the system can."""
    if sys.platform == "win32":
        return
    import resource  # noqa: PLC0415 - not there on Windows

    for name, most in (
        ("RLIMIT_CORE", 0),
        ("RLIMIT_DATA", request.memory_megabytes * MEGABYTE),
        ("RLIMIT_AS", request.memory_megabytes * MEGABYTE),
    ):
        # macOS knows these limits and refuses some.
        with suppress(AttributeError, ValueError, OSError):
            resource.setrlimit(getattr(resource, name), (most, most))
    grant_cpu(request.cpu_seconds)


def answer(file: io.FileIO, request: ParseRequest, send: Send) -> None:
    """Parse a file, and send what came of it: triples and a result, or a refusal.

    Args:
        file: From its start.
        request: How to parse it.
        send: Takes each frame.

    Raises:
        BrokenPipeError: Nobody waits for the triples any more.
    """
    try:
        result = FileParser(file, request, send).parse()
    except RefusedError as error:
        send(REFUSAL, json.dumps(error.content).encode())
    except MemoryError as error:
        reached = "Reached the buffer maximal size" in str(error)
        send(REFUSAL, json.dumps({"wrong": "a term in it is longer than 16 MiB"} if reached else {}).encode())
    except BrokenPipeError:
        raise
    except OSError as error:
        send(REFUSAL, json.dumps({"wrong": error.strerror or str(error)}).encode())
    else:
        send(RESULT, json.dumps(result._asdict()).encode())


def main() -> None:
    """Parse standard input as the request in the environment says."""
    # Ctrl-C reaches all processes of a terminal; the one that asked ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    request = ParseRequest(**json.loads(os.environ[REQUEST]))
    _limit(request)
    output = sys.stdout.buffer

    def send(kind: bytes, content: bytes) -> None:
        output.write(HEADER.pack(kind, len(content)))
        output.write(content)
        output.flush()

    try:
        answer(io.FileIO(sys.stdin.fileno(), closefd=False), request, send)
    except BrokenPipeError:
        os._exit(1)
