"""Parses one RDF file into N-Triples, in a process of its own (`gateway.files.parser_process` starts it).

The file is standard input. Standard output gets frames: a kind, a length and content. What leaves here is safe to
parse in the process that asked: each triple is bounded in length and depth, and all of them together in size.

What is parsed is a `Document`: the file itself, or each of an archive.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, cast
from urllib.parse import quote

from gateway.files import recognition
from gateway.files.archives import is_encrypted, members_of, opened_member, unpacked
from gateway.files.document import CHUNK, PACKING_FAULTS, Document, is_of_packing
from gateway.files.parser_streams import (
    HEADER,
    MEGABYTE,
    REFUSAL,
    REQUEST,
    RESULT,
    ContentReader,
    FileReader,
    ParseRequest,
    Readable,
    RefusedError,
    Result,
    Send,
    Skips,
    TripleWriter,
    grant_cpu,
)

if TYPE_CHECKING:
    from typing_extensions import Buffer

_MOST_PREFIXES = MEGABYTE
"""Bytes of all prefixes of a file."""


class _AgainReader(Readable):
    """The file once more from its beginning, while another reader goes on where it is."""

    def __init__(self, file: io.FileIO) -> None:
        super().__init__()
        self._file = file
        self._place = 0

    def readinto(self, buffer: Buffer, /) -> int:
        """Read on from its own place."""
        if hasattr(os, "pread"):
            view = memoryview(buffer).cast("B")
            content = os.pread(self._file.fileno(), len(view), self._place)
            size = len(content)
            view[:size] = content
        else:
            other = self._file.tell()
            self._file.seek(self._place)
            try:
                size = self._file.readinto(buffer) or 0
            finally:
                self._file.seek(other)
        self._place += size
        return size


class FileParser:
    """Parses one file, from front to end, and sends each frame."""

    def __init__(self, file: io.FileIO, request: ParseRequest, send: Send) -> None:
        self._file = file
        self._request = request
        self._send = send
        self._packing = ""
        self._skips = Skips()

    def parse(self) -> Result:
        """Send all triples.

        Raises:
            RefusedError: The file is no RDF of its format, is cut, or is larger than allowed.
        """
        opened_ns = time.time_ns()
        before = os.fstat(self._file.fileno())
        try:
            result = self._parsed(before, opened_ns)
        except RefusedError:
            self._refuse_changed(before)
            raise
        self._refuse_changed(before)
        return result

    def _parsed(self, stat: os.stat_result, opened_ns: int) -> Result:
        reader = FileReader(self._file, stat.st_size, self._request, self._send)
        grant_cpu(reader.cpu_before + self._request.cpu_seconds)
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
                    # The rest of a file that is read in part is not read.
                    sha256 = self._hash() if self._request.lenient and self._skips.count else reader.sha256
            except (*PACKING_FAULTS, OSError) as error:
                if not is_of_packing(error):
                    raise
                raise RefusedError(
                    f"the {self._packing} file is cut or damaged", next_step="Fetch it again."
                ) from error
        if self._skips.count and not output.written:
            raise RefusedError(f"nothing in it is valid: {self._skips.shown[0]}")
        if sum(len(name) + len(namespace) for name, namespace in prefixes.items()) > _MOST_PREFIXES:
            raise RefusedError("it declares more than 1 MB of prefixes", next_step="Remove those that are not used.")
        times = (stat.st_mtime_ns, stat.st_ctime_ns)
        return Result(
            prefixes,
            stat.st_size,
            times,
            opened_ns,
            sha256,
            is_empty=not output.written,
            note=note,
            skipped=self._skips.count,
            shown_skips=self._skips.shown,
        )

    def _refuse_changed(self, before: os.stat_result) -> None:
        """Refuse a file that changed while it was read: what was read may be a mixture that it never was."""
        now = os.fstat(self._file.fileno())
        if (now.st_size, now.st_mtime_ns) != (before.st_size, before.st_mtime_ns) and self._file.seekable():
            raise RefusedError(
                "it changed while it was read", next_step="Load it again when it is written.", is_final=True
            )

    def _parse_file(
        self, raw: io.BufferedReader[FileReader], reader: FileReader, output: TripleWriter
    ) -> tuple[dict[str, str], str]:
        """Parse the file itself; return its prefixes, and what it is where its name says otherwise."""
        document = Document(self._request.format, self._request.base_iri, self._reopened, self._request, self._skips)
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
            graphs, others = members_of(archive)
            for member in graphs:
                for name, namespace in self._parse_member(archive, member, reader, output).items():
                    prefixes.setdefault(name, namespace)
        return prefixes, f"what is hidden in it, or no graph by its name, is passed over ({others:,})" if others else ""

    def _parse_member(
        self, archive: zipfile.ZipFile, member: zipfile.ZipInfo, reader: FileReader, output: TripleWriter
    ) -> dict[str, str]:
        if is_encrypted(member):
            raise RefusedError(f"{member.filename!r} in it is encrypted", next_step="Unpack it.")
        base_iri = f"{self._request.base_iri}/{quote(member.filename)}"
        document = Document(
            recognition.format_by_name(member.filename),
            base_iri,
            lambda: opened_member(archive, member),
            self._request,
            self._skips,
        )
        self._skips.within = f"{member.filename!r} in it: "
        try:
            return document.parse(ContentReader(opened_member(archive, member), reader, self._request), output)
        except RefusedError as error:
            if not self._request.lenient or output.is_within_line:
                raise error.inside(member.filename) from error
            self._skips.add(error.text)
            return {}
        finally:
            self._skips.within = ""

    def _unpacked(self, raw: IO[bytes]) -> IO[bytes]:
        return unpacked(raw, self._packing)

    def _reopened(self) -> IO[bytes] | None:
        """Open the file's content again; None where it cannot be read again."""
        if not self._file.seekable():
            return None
        size = os.fstat(self._file.fileno()).st_size
        again = FileReader(_AgainReader(self._file), size, self._request, lambda *_: None)
        unpacked = self._unpacked(cast("IO[bytes]", io.BufferedReader(again, CHUNK)))
        return cast("IO[bytes]", ContentReader(unpacked, again, self._request))

    def _hash(self) -> str:
        self._file.seek(0)
        return hashlib.file_digest(self._file, "sha256").hexdigest()


@contextmanager
def _read_as(file: io.FileIO, request: ParseRequest) -> Iterator[io.FileIO]:
    """Provide a file that can be read several times, as what is not valid is, with the content of one that cannot."""
    if not request.lenient or file.seekable():
        yield file
        return
    with tempfile.TemporaryFile(buffering=0) as copy:
        shutil.copyfileobj(file, copy, CHUNK)
        copy.seek(0)
        yield copy


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
        with _read_as(file, request) as content:
            result = FileParser(content, request, send).parse()
    except RefusedError as error:
        send(REFUSAL, json.dumps({**error.content, "is_final": error.is_final}).encode())
    except MemoryError as error:
        reached = "Reached the buffer maximal size" in str(error)
        send(REFUSAL, json.dumps({"wrong": "a term in it is longer than 16 MiB"} if reached else {}).encode())
    except BrokenPipeError:
        raise
    except OSError as error:
        send(REFUSAL, json.dumps({"wrong": error.strerror or str(error)}).encode())
    else:
        send(RESULT, json.dumps(result._asdict()).encode())


def answer_several(listed: bytes, send: Send) -> None:
    """Parse files, and send what came of each.

    Args:
        listed: Their paths, each with how to parse it, as JSON.
        send: Takes each frame.
    """
    for path, request in json.loads(listed):
        try:
            file = io.FileIO(path)
        except OSError as error:
            send(REFUSAL, json.dumps({"wrong": error.strerror or str(error)}).encode())
            continue
        with file:
            answer(file, ParseRequest(**request), send)


def main() -> None:
    """Parse standard input as the request in the environment says."""
    _run(lambda request, send: answer(io.FileIO(sys.stdin.fileno(), closefd=False), request, send))


def main_of_several() -> None:
    """Parse the files that standard input lists, within the limits of the request in the environment."""
    _run(lambda _, send: answer_several(sys.stdin.buffer.read(), send), _Together)


def main_of_each() -> None:
    """Do the same, and send each frame at once: then it is known which file ended the process."""
    _run(lambda _, send: answer_several(sys.stdin.buffer.read(), send))


class _AtOnce:
    """Sends each frame at once."""

    def __init__(self, output: IO[bytes]) -> None:
        self._output = output

    def __call__(self, kind: bytes, content: bytes) -> None:
        self._output.write(HEADER.pack(kind, len(content)) + content)
        self._output.flush()

    def flush(self) -> None:
        """Do nothing: all is sent."""


class _Together:
    """Sends frames of small files together; of each file all of them, or those of no later one."""

    def __init__(self, output: IO[bytes]) -> None:
        self._output = output
        self._frames: list[bytes] = []
        self._size = 0
        self._is_within = False

    def __call__(self, kind: bytes, content: bytes) -> None:
        self._frames += HEADER.pack(kind, len(content)), content
        self._size += len(content)
        is_end = kind in {RESULT, REFUSAL}
        if self._size >= CHUNK or (is_end and self._is_within):
            self.flush()
            self._is_within = not is_end

    def flush(self) -> None:
        """Send what is left."""
        self._output.write(b"".join(self._frames))
        self._output.flush()
        self._frames, self._size = [], 0


def _run(
    parse: Callable[[ParseRequest, Send], None], sender: Callable[[IO[bytes]], _AtOnce | _Together] = _AtOnce
) -> None:
    # Ctrl-C reaches all processes of a terminal; the one that asked ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    request = ParseRequest(**json.loads(os.environ[REQUEST]))
    _limit(request)
    send = sender(sys.stdout.buffer)
    try:
        parse(request, send)
        send.flush()
    except BrokenPipeError:
        os._exit(1)
