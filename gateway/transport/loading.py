"""Reads RDF files into an Oxigraph store, graph names folded away.

Every format goes through pyoxigraph in one pass, with prefixes, progress and the place of an error
(field notes, ``embedded.md`` 2). Why graph names are folded: the same triple in three graphs is one edge.

What was parsed goes into the store as N-Triples, through the one loader that lets go of the GIL while it sorts and
writes: `bulk_extend` holds it for seconds, and a server that loads has to answer meanwhile.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import logging
import os
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import IO, cast
from xml.parsers import expat

import pyoxigraph
from typing_extensions import Buffer

from gateway.errors import ConfigurationError
from gateway.transport.fingerprint import Fingerprint

_log = logging.getLogger(__name__)

Progress = Callable[[Path, int, int], None]
"""Told now and then while a file loads: the file, its bytes read so far, and its size in bytes."""

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
_HTML_STARTS = (b"<!doctype html", b"<html")
_GZIP_START = b"\x1f\x8b"
_XML_NO_ELEMENTS = expat.errors.codes[expat.errors.XML_ERROR_NO_ELEMENTS]
_XML_ENDS_EARLY = frozenset(
    {
        _XML_NO_ELEMENTS,
        expat.errors.codes[expat.errors.XML_ERROR_UNCLOSED_TOKEN],
        expat.errors.codes[expat.errors.XML_ERROR_PARTIAL_CHAR],
        expat.errors.codes[expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION],
    }
)
_REPORT_EVERY = 1 << 20
_CHUNK = 1 << 18
_TRIPLES_AT_ONCE = 1_000


@dataclass(slots=True)
class LoadedGraph:
    """A graph in this process.

    Attributes:
        engine: The store that answers queries.
        prefixes: What each source declares, in the order given: the source's name and its prefixes.
        version: A hash of the content that was loaded.
        lease: What keeps a store on disk from being removed, as long as it is held.
    """

    engine: pyoxigraph.Store
    prefixes: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    version: str = ""
    lease: object = None


@dataclass(slots=True)
class Content:
    """What was loaded into a store.

    Attributes:
        prefixes: As `LoadedGraph` has them.
        version: As `LoadedGraph` has it.
        sources: What each file was when it was read, in the order given.
    """

    prefixes: list[tuple[str, dict[str, str]]]
    version: str
    sources: list[Fingerprint]


def check_files(paths: Sequence[Path]) -> None:
    """Find at once what is wrong with files before any of them is read.

    Raises:
        ConfigurationError: A file cannot be opened, or its suffix names no RDF format.
    """
    for path in paths:
        _Source(path, None).check()


def load_files(paths: Sequence[Path], progress: Progress | None = None) -> LoadedGraph:
    """Load files into one graph in memory.

    Args:
        paths: Turtle, N-Triples, TriG, N-Quads, JSON-LD or RDF/XML by their suffix, plain or ``.gz``.
        progress: Told about every megabyte that was read; what it raises ends the load.

    Raises:
        ConfigurationError: A file is missing, is no RDF of its format or is cut; the text names the file and,
            where the format gives it, line and column.
    """
    engine = pyoxigraph.Store()
    content = fill(engine, paths, progress)
    return LoadedGraph(engine, content.prefixes, content.version)


def fill(engine: pyoxigraph.Store, paths: Sequence[Path], progress: Progress | None = None) -> Content:
    """Load files into an empty store; see `load_files`.

    Raises:
        ConfigurationError: A file cannot be read, or is no graph.
        OSError: The store could not be written; one in memory always can.
    """
    content = Content([], "", [])
    digest = hashlib.sha256()
    for path in paths:
        source = _Source(path, progress)
        content.prefixes.append((path.name, source.load_into(engine)))
        content.sources.append(source.fingerprint)
        digest.update(bytes.fromhex(source.fingerprint.sha256))
    content.version = short_hash(digest)
    return content


def short_hash(digest: hashlib._Hash) -> str:
    """Return the part of a hash that tells versions apart."""
    return digest.hexdigest()[:16]


class _Source:
    """One file, read once from front to end."""

    def __init__(self, path: Path, progress: Progress | None) -> None:
        self._path = path
        self._hash = hashlib.sha256()
        self._opened_ns = 0
        self._stat: os.stat_result | None = None
        self._progress = progress
        self._zipped = path.suffix.lower() == ".gz"
        suffix = Path(path.stem).suffix if self._zipped else path.suffix
        self._format = self._known(suffix.lower())

    def _known(self, suffix: str) -> pyoxigraph.RdfFormat:
        try:
            return _FORMATS[suffix]
        except KeyError:
            raise ConfigurationError(
                f"{self._path}: the suffix {suffix!r} names no RDF format.",
                valid=f"A graph file ends in {', '.join(_FORMATS)}, each also with .gz.",
            ) from None

    @property
    def fingerprint(self) -> Fingerprint:
        """What the file was when it was read."""
        if self._stat is None:
            raise ValueError("the file has not been read")
        return Fingerprint.of(self._stat, self._hash.hexdigest(), self._opened_ns)

    def check(self) -> None:
        """Open the file, and no more."""
        try:
            # A pipe is opened once, by who reads it.
            if not self._path.is_fifo():
                self._path.open("rb").close()
        except OSError as error:
            raise self._unreadable(error) from error

    def load_into(self, engine: pyoxigraph.Store) -> dict[str, str]:
        """Load the file and return the prefixes it declares."""
        try:
            return self._parse_into(engine)
        except _ReadError as error:
            raise self._unreadable(error.cause) from error
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            with self._path.open("rb") as file:
                is_gzip = file.read(len(_GZIP_START)) == _GZIP_START
            if not is_gzip:
                raise ConfigurationError(f"{self._path}: the name ends in .gz, but this is no gzip file.") from error
            raise ConfigurationError(
                f"{self._path}: the gzip file is cut or damaged.", next_step="Fetch it again."
            ) from error

    def _unreadable(self, error: OSError) -> ConfigurationError:
        return ConfigurationError(f"{self._path}: {error.strerror or error}.")

    def _parse_into(self, engine: pyoxigraph.Store) -> dict[str, str]:
        try:
            with self._open() as stream:
                parser = pyoxigraph.parse(
                    stream, self._format, base_iri=self._path.resolve().as_uri(), rename_blank_nodes=True
                )
                first = list(islice(parser, 1))
                # RDF/XML forgets its prefixes when the root element ends; the others declare them anywhere.
                prefixes = dict(parser.prefixes)
                with io.BufferedReader(_Triples(chain(first, parser)), _CHUNK) as triples:
                    # The parser has checked what it wrote.
                    engine.bulk_load(triples, pyoxigraph.RdfFormat.N_TRIPLES, lenient=True)
                prefixes |= parser.prefixes
        except SyntaxError as error:
            raise self._not_rdf(error) from error
        if not first:
            self._refuse_other_json()
            _log.warning("%s: the graph has no triples", self._path)
        if self._format == pyoxigraph.RdfFormat.RDF_XML:
            self._refuse_cut_xml()
        return prefixes

    @contextmanager
    def _open(self) -> Iterator[IO[bytes]]:
        self._opened_ns = time.time_ns()
        try:
            file = self._path.open("rb")
        except OSError as error:
            raise _ReadError(error) from error
        self._stat = os.fstat(file.fileno())
        with (
            file,
            io.BufferedReader(_Reader(self._path, file, self._stat.st_size, self._hash, self._progress), _CHUNK) as raw,
        ):
            if self._zipped:
                with gzip.open(raw) as unzipped:
                    yield cast("IO[bytes]", unzipped)
            else:
                yield raw

    def _refuse_other_json(self) -> None:
        """Refuse JSON that says nothing in RDF: any JSON is JSON-LD, and almost none of it is meant so."""
        if self._format != pyoxigraph.RdfFormat.JSON_LD:
            return
        with gzip.open(self._path, "rb") if self._zipped else self._path.open("rb") as stream:
            start = stream.read(_REPORT_EVERY).strip()
        if start not in {b"[]", b"{}"} and b'"@' not in start:
            raise ConfigurationError(
                f"{self._path}: this is JSON, but it holds no RDF.",
                valid="JSON-LD has an @context, or whole IRIs for its keys.",
            )

    def _not_rdf(self, error: SyntaxError) -> ConfigurationError:
        if self._looks_like_html():
            return ConfigurationError(f"{self._path}: this is an HTML page and not RDF.")
        line, column = error.lineno, error.offset
        if line is None and self._format == pyoxigraph.RdfFormat.RDF_XML and (malformed := self._xml_error()):
            line, column = malformed.lineno, malformed.offset + 1
        place = f":{line}:{column}" if line is not None else ""
        reason = str(error.msg).removesuffix(f" (line {line})").rstrip(".")
        return ConfigurationError(
            f"{self._path}{place}: not valid {self._format.name}: {reason}.",
            next_step="Repair the file, or give it the suffix of its real format.",
        )

    def _looks_like_html(self) -> bool:
        with gzip.open(self._path, "rb") if self._zipped else self._path.open("rb") as stream:
            return stream.read(512).lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(_HTML_STARTS)

    def _refuse_cut_xml(self) -> None:
        """Raise when the file ends early, which the RDF/XML parser takes for its end."""
        error = self._xml_error()
        if error is None or error.code not in _XML_ENDS_EARLY:
            return
        if error.code == _XML_NO_ELEMENTS and (error.lineno, error.offset) == (1, 0):
            return  # There is nothing at all in the file: an empty graph, as in the other formats.
        raise ConfigurationError(
            f"{self._path}:{error.lineno}:{error.offset + 1}: the file is cut: its XML does not end.",
            next_step="Fetch it again.",
        )

    def _xml_error(self) -> expat.ExpatError | None:
        """Find where XML is malformed, which the RDF/XML parser does not say."""
        parser = expat.ParserCreate()
        with gzip.open(self._path, "rb") if self._zipped else self._path.open("rb") as stream:
            try:
                parser.ParseFile(stream)
            except expat.ExpatError as error:
                return error
        return None


class _ReadError(Exception):
    """A file could not be read, in contrast to a store that could not be written.

    Attributes:
        cause: What the system said.
    """

    def __init__(self, cause: OSError) -> None:
        super().__init__(str(cause))
        self.cause = cause


class _Reader(io.RawIOBase):
    """A file that hashes what is read and tells how far it got."""

    def __init__(
        self, path: Path, stream: io.BufferedReader, size: int, content: hashlib._Hash, progress: Progress | None
    ) -> None:
        super().__init__()
        self._path = path
        self._stream = stream
        self._size = size
        self._hash = content
        self._progress = progress
        self._read = 0
        self._reported = 0

    def readinto(self, buffer: Buffer, /) -> int:
        view = memoryview(buffer).cast("B")
        try:
            size = self._stream.readinto(view)
        except OSError as error:
            raise _ReadError(error) from error
        self._hash.update(view[:size])
        self._read += size
        if self._progress is not None and self._read - self._reported >= _REPORT_EVERY:
            self._reported = self._read
            self._progress(self._path, self._read, self._size)
        return size

    def readable(self) -> bool:
        return True


class _Triples(io.RawIOBase):
    """Parsed quads as N-Triples, without the names of their graphs."""

    def __init__(self, quads: Iterator[pyoxigraph.Quad]) -> None:
        super().__init__()
        self._quads = quads
        self._written = b""

    def readinto(self, buffer: Buffer, /) -> int:
        view = memoryview(buffer).cast("B")
        if not self._written:
            triples = (quad.triple for quad in islice(self._quads, _TRIPLES_AT_ONCE))
            self._written = pyoxigraph.serialize(triples, format=pyoxigraph.RdfFormat.N_TRIPLES) or b""
        part = self._written[: len(view)]
        self._written = self._written[len(part) :]
        view[: len(part)] = part
        return len(part)

    def readable(self) -> bool:
        return True
