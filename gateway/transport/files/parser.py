"""Parses one RDF file into N-Triples, in a process of its own (`gateway.transport.files.parser_process` starts it).

Every format goes through pyoxigraph in one pass, with prefixes, progress and the place of an error
(docs/notes/embedded-engines.md, "Loading files"). Names of graphs are dropped: the same triple in three
graphs is one edge.

The file is standard input. Standard output gets frames: a kind, a length and content. What leaves here is safe to
parse in the process that asked: each triple is bounded in length and depth, and all of them together in size.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import signal
import sys
import time
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain, islice
from typing import IO, cast
from xml.parsers import expat

import pyoxigraph

from gateway.transport.files.parser_streams import (
    HEADER,
    MEGABYTE,
    REFUSAL,
    RESULT,
    ContentReader,
    FileReader,
    RefusedError,
    Request,
    Result,
    Send,
    TripleWriter,
    grant_cpu,
)

_FORMATS: Mapping[str, pyoxigraph.RdfFormat] = {
    ".ttl": pyoxigraph.RdfFormat.TURTLE,
    ".turtle": pyoxigraph.RdfFormat.TURTLE,
    ".nt": pyoxigraph.RdfFormat.N_TRIPLES,
    ".ntriples": pyoxigraph.RdfFormat.N_TRIPLES,
    ".nq": pyoxigraph.RdfFormat.N_QUADS,
    ".nquads": pyoxigraph.RdfFormat.N_QUADS,
    ".trig": pyoxigraph.RdfFormat.TRIG,
    ".jsonld": pyoxigraph.RdfFormat.JSON_LD,
    ".json": pyoxigraph.RdfFormat.JSON_LD,
    ".rdf": pyoxigraph.RdfFormat.RDF_XML,
    ".xml": pyoxigraph.RdfFormat.RDF_XML,
    ".owl": pyoxigraph.RdfFormat.RDF_XML,
}
SUFFIXES = tuple(_FORMATS)

_CHUNK = 1 << 18
"""Bytes read, unpacked or written at once."""

_DEEPEST = 32
"""Triple terms in each other; the engine follows them by recursion, in threads with small stacks too."""

_LONGEST_REASON = 300
"""Characters of what the parser says is wrong."""

_MOST_PREFIXES = MEGABYTE
"""Bytes of all prefixes of a file."""

_HTML_STARTS = (b"<!doctype html", b"<html")
_GZIP_START = b"\x1f\x8b"
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


class FileParser:
    """Parses one file, from front to end, and sends each frame."""

    def __init__(self, file: io.FileIO, request: Request, send: Send) -> None:
        self._file = file
        self._request = request
        self._send = send
        self._format = _FORMATS[request.suffix]

    def parse(self) -> Result:
        """Send all triples.

        Raises:
            RefusedError: The file is no RDF of its format, is cut, or is larger than allowed.
        """
        opened_ns = time.time_ns()
        stat = os.fstat(self._file.fileno())
        reader = FileReader(self._file, stat.st_size, self._request, self._send)
        output = TripleWriter(reader, self._request.growth, self._send)
        try:
            prefixes = self._parse(reader, output)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise self._bad_gzip() from error
        if self._format == pyoxigraph.RdfFormat.RDF_XML:
            self._refuse_cut_xml()
        if not output.written:
            self._refuse_other_json()
        times = (stat.st_mtime_ns, stat.st_ctime_ns)
        return Result(prefixes, stat.st_size, times, opened_ns, reader.sha256, is_empty=not output.written)

    def _parse(self, reader: FileReader, output: TripleWriter) -> dict[str, str]:
        with (
            io.BufferedReader(reader, _CHUNK) as raw,
            io.BufferedReader(ContentReader(self._unpacked(raw), reader, self._request), _CHUNK) as content,
        ):
            self._skip_mark(content)
            parser = pyoxigraph.parse(content, self._format, base_iri=self._request.base_iri, rename_blank_nodes=True)
            try:
                first = list(islice(parser, 1))
                # RDF/XML forgets its prefixes when the root element ends; the others declare them anywhere.
                prefixes = dict(parser.prefixes)
                buffered = io.BufferedWriter(output, _CHUNK)
                pyoxigraph.serialize(
                    _bounded(chain(first, parser)), cast("IO[bytes]", buffered), pyoxigraph.RdfFormat.N_TRIPLES
                )
                buffered.flush()
            except SyntaxError as error:
                raise self._not_rdf(error) from error
            prefixes |= parser.prefixes
        if sum(len(name) + len(namespace) for name, namespace in prefixes.items()) > _MOST_PREFIXES:
            raise RefusedError("it declares more than 1 MB of prefixes", next_step="Remove those that are not used.")
        return prefixes

    def _unpacked(self, raw: io.BufferedReader[FileReader]) -> IO[bytes]:
        return cast("IO[bytes]", gzip.open(raw)) if self._request.zipped else raw

    def _skip_mark(self, content: io.BufferedReader[ContentReader]) -> None:
        """Skip a mark of UTF-8, and refuse that of another encoding."""
        start = content.peek(4)[:4]
        if start.startswith(BOM_UTF8):
            content.read(len(BOM_UTF8))
        for mark, encoding in _OTHER_MARKS.items():
            if start.startswith(mark):
                raise RefusedError(
                    f"not valid {self._format.name}: the file is {encoding}",
                    valid="RDF files are UTF-8.",
                    next_step=f"Convert it, for example with iconv -f {encoding} -t UTF-8.",
                )

    def _start(self, size: int) -> bytes:
        """Return the first bytes of the file's content; none where it cannot be read again."""
        if not self._file.seekable():
            return b""
        self._file.seek(0)
        return gzip.GzipFile(fileobj=self._file).read(size) if self._request.zipped else self._file.read(size)

    def _refuse_other_json(self) -> None:
        """Refuse JSON that says nothing in RDF: any JSON is JSON-LD, and almost none of it is meant so."""
        if self._format != pyoxigraph.RdfFormat.JSON_LD:
            return
        start = self._start(MEGABYTE).removeprefix(BOM_UTF8).strip()
        if start not in {b"", b"[]", b"{}"} and b'"@' not in start:
            raise RefusedError(
                "this is JSON, but it holds no RDF", valid="JSON-LD has an @context, or whole IRIs for its keys."
            )

    def _bad_gzip(self) -> RefusedError:
        if self._file.seekable():
            self._file.seek(0)
            if self._file.read(len(_GZIP_START)) != _GZIP_START:
                return RefusedError("the name ends in .gz, but this is no gzip file")
        return RefusedError("the gzip file is cut or damaged", next_step="Fetch it again.")

    def _not_rdf(self, error: SyntaxError) -> RefusedError:
        if self._start(512).lstrip(BOM_UTF8 + b" \t\r\n").lower().startswith(_HTML_STARTS):
            return RefusedError("this is an HTML page and not RDF")
        line, column = error.lineno, error.offset
        if line is None and self._format == pyoxigraph.RdfFormat.RDF_XML and (malformed := self._xml_error()):
            line, column = malformed.lineno, malformed.offset + 1
        place = f":{line}:{column}" if line is not None else ""
        reason = str(error.msg).removesuffix(f" (line {line})").rstrip(".")
        # It repeats what stands in the file, however long that is.
        reason = reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON]}…"
        return RefusedError(
            f"not valid {self._format.name}: {reason}",
            place=place,
            next_step="Repair the file, or give it the suffix of its real format.",
        )

    def _refuse_cut_xml(self) -> None:
        """Raise when the file ends early, which the RDF/XML parser takes for its end."""
        error = self._xml_error()
        if error is None or error.code not in _XML_ENDS_EARLY:
            return
        if error.code == _XML_NO_ELEMENTS and self._start(_CHUNK) in {b"", BOM_UTF8}:
            return  # There is nothing at all in the file: an empty graph, as in the other formats.
        raise RefusedError(
            "the file is cut: its XML does not end",
            place=f":{error.lineno}:{error.offset + 1}",
            next_step="Fetch it again.",
        )

    def _xml_error(self) -> expat.ExpatError | None:
        """Find where XML is malformed, which the RDF/XML parser does not say."""
        if not self._file.seekable():
            return None
        self._file.seek(0)
        parser = expat.ParserCreate()
        stream = gzip.GzipFile(fileobj=self._file) if self._request.zipped else self._file
        try:
            parser.ParseFile(stream)
        except expat.ExpatError as error:
            return error
        return None


def _bounded(quads: Iterator[pyoxigraph.Quad]) -> Iterator[pyoxigraph.Triple]:
    """Yield the triples without the names of their graphs, each nested no deeper than is safe."""
    for quad in quads:
        triple = quad.triple
        if isinstance(triple.object, pyoxigraph.Triple):
            _check_depth(triple.object)
        yield triple


def _check_depth(term: pyoxigraph.Triple) -> None:
    inner: object = term
    for _ in range(_DEEPEST):
        if not isinstance(inner, pyoxigraph.Triple):
            return
        inner = inner.object
    raise RefusedError(
        f"its triple terms are nested more than {_DEEPEST} deep", valid=f"Triple terms may be nested {_DEEPEST} deep."
    )


def _limit(request: Request) -> None:
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


def main() -> None:
    """Parse standard input as the first argument says."""
    # Ctrl-C reaches all processes of a terminal; the one that asked ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    request = Request(**json.loads(sys.argv[1]))
    _limit(request)
    output = sys.stdout.buffer

    def send(kind: bytes, content: bytes) -> None:
        output.write(HEADER.pack(kind, len(content)))
        output.write(content)
        output.flush()

    try:
        result = FileParser(io.FileIO(sys.stdin.fileno(), closefd=False), request, send).parse()
    except RefusedError as error:
        send(REFUSAL, json.dumps(error.content).encode())
    except MemoryError as error:
        reached = "Reached the buffer maximal size" in str(error)
        send(REFUSAL, json.dumps({"wrong": "a term in it is longer than 16 MiB"} if reached else {}).encode())
    except BrokenPipeError:
        # Nobody waits for the triples any more.
        os._exit(1)
    except OSError as error:
        send(REFUSAL, json.dumps({"wrong": error.strerror or str(error)}).encode())
    else:
        send(RESULT, json.dumps(result._asdict()).encode())
