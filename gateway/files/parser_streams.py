"""The streams between a file, the parser and the gateway, each with a bound, their messages, and what is left out.

Everything that the parser process imports is paid for at each file, so the messages are named tuples: `dataclasses`
takes longer to import than a small file takes to parse.
"""

from __future__ import annotations

import hashlib
import io
import re
import struct
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Final, NamedTuple, cast

import pyoxigraph

from gateway.files.recognition import START

if TYPE_CHECKING:
    from typing_extensions import Buffer

HEADER = struct.Struct(">cI")
"""Of a frame: its kind, and the bytes that follow."""

POSITION = struct.Struct(">QQ")
"""The content of a frame of progress: bytes read, and the size of the file."""

TRIPLES, PROGRESS, RESULT, REFUSAL = b"T", b"P", b"R", b"E"

Send = Callable[[bytes, bytes], None]
"""Takes one frame: its kind and its content."""

MEGABYTE = 1 << 20
_ALWAYS_ALLOWED = 64 * MEGABYTE
"""Bytes that even the smallest file may unpack to."""

_CPU_UNIT = 100_000_000
"""Unpacked bytes after which the parser is granted further processor time."""

_LONGEST = 15 * MEGABYTE
"""Bytes of one triple; the engine's own parser takes no term above 16 MiB."""


REQUEST: Final = "BFSQL_PARSER_REQUEST"
"""The variable of the environment with the request: any user of a machine sees the arguments of its processes, and a
request may name hidden graphs."""


class ParseRequest(NamedTuple):
    """What to parse, and what that may take.

    Attributes:
        format: The format that the file's name means; empty where it means none.
        packing: The packing that the file's name means; empty where it means none.
        base_iri: What relative IRIs are resolved against.
        memory_megabytes: Memory of this process.
        cpu_seconds: Processor time for each 100 MB, unpacked.
        growth: How many times larger than the file its content and its triples may be.
        hidden_graphs: Named graphs that are left out.
        encoding: The encoding of text that shows and declares none; empty for UTF-8.
        lenient: Whether what is not valid is left out, and the rest read.
        contexts: The file of each context of JSON-LD, by its URL.
    """

    format: str
    packing: str
    base_iri: str
    memory_megabytes: int
    cpu_seconds: int
    growth: int
    hidden_graphs: Sequence[str] = ()
    encoding: str = ""
    lenient: bool = False
    contexts: Mapping[str, str] = {}


class Result(NamedTuple):
    """What was parsed.

    Attributes:
        prefixes: What the file declares.
        size: Of the file, in bytes, from before it was read.
        times: When its content and when its state changed, in nanoseconds since the epoch.
        opened_ns: When it was opened, in nanoseconds since the epoch.
        sha256: The hash of what was read, in hexadecimal.
        is_empty: Whether it has no triples.
        note: What the file is, where its name says otherwise; or empty.
        skipped: How many terms, lines and parts are left out because they are not valid.
        shown_skips: What is said about the first of these.
    """

    prefixes: dict[str, str]
    size: int
    times: tuple[int, int]
    opened_ns: int
    sha256: str
    is_empty: bool
    note: str = ""
    skipped: int = 0
    shown_skips: Sequence[str] = ()


class RefusedError(Exception):
    """The file is refused. Its place is `:line:column`.

    `is_final`: also where files are read as far as they are valid, because what was read of it is nothing.
    """

    def __init__(
        self, wrong: str, *, place: str = "", valid: str = "", next_step: str = "", is_final: bool = False
    ) -> None:
        super().__init__(wrong)
        self.content = {"wrong": wrong, "place": place, "valid": valid, "next_step": next_step}
        self.is_final = is_final

    @property
    def text(self) -> str:
        """What is wrong, with its place."""
        return f"{self.content['place'].removeprefix(':')}: {self.content['wrong']}".removeprefix(": ")

    def inside(self, member: str) -> RefusedError:
        """Return the refusal of an archive because of a file in it."""
        content = self.content
        wrong = f"{member!r} in it{content['place']}: {content['wrong']}"
        return RefusedError(wrong, valid=content["valid"], next_step=content["next_step"])


class Readable(io.RawIOBase):
    """A stream to read."""

    def readable(self) -> bool:
        """Return True."""
        return True


class PieceReader(Readable):
    """A stream that comes in pieces, of which a reader takes as much as it has room for."""

    _rest = memoryview(b"")

    def _piece(self) -> bytes | memoryview:
        """Return the next piece; an empty one only at the end."""
        raise NotImplementedError

    def readinto(self, buffer: Buffer, /) -> int:
        """Read some of a piece."""
        view = memoryview(buffer).cast("B")
        if not self._rest:
            self._rest = memoryview(self._piece())
        part = self._rest[: len(view)]
        self._rest = self._rest[len(part) :]
        view[: len(part)] = part
        return len(part)


class FileReader(Readable):
    """The bytes of the file: hashes them and reports how far it is.

    Attributes:
        unpacked: Bytes of content that were unpacked from it, all files of an archive together.
        cpu_before: Seconds of processor time that this process took for other files.
    """

    def __init__(self, file: io.RawIOBase, size: int, request: ParseRequest, send: Send) -> None:
        super().__init__()
        # Nobody expects bytes later.
        self._file = cast("io.FileIO", file)
        self._size = size
        self._hash = hashlib.sha256()
        self._send = send
        self._read = 0
        self._reported = 0
        self._growth = request.growth
        self.unpacked = 0
        self.cpu_before = int(time.process_time())

    @property
    def sha256(self) -> str:
        """The hash of what was read."""
        return self._hash.hexdigest()

    @property
    def allowed(self) -> int:
        """Bytes that may be made of the file."""
        return _ALWAYS_ALLOWED + self._growth * max(self._size, self._read)

    def readinto(self, buffer: Buffer, /) -> int:
        """Read some of the file, and report every megabyte of it."""
        view = memoryview(buffer).cast("B")
        size = self._file.readinto(view) or 0
        # The first bytes show what the file is; a pipe may bring them one by one.
        while self._read == 0 and 0 < size < min(START, len(view)) and (more := self._file.readinto(view[size:]) or 0):
            size += more
        self._hash.update(view[:size])
        self._read += size
        if self._read - self._reported >= MEGABYTE:
            self._reported = self._read
            self._send(PROGRESS, POSITION.pack(self._read, self._size))
        return size


class ContentReader(Readable):
    """The unpacked bytes, up to what is allowed; each 100 MB are granted further processor time."""

    def __init__(self, stream: IO[bytes], reader: FileReader, request: ParseRequest) -> None:
        super().__init__()
        self._stream = cast("io.BufferedReader", stream)
        self._reader = reader
        self._request = request
        self._read = 0

    def readinto(self, buffer: Buffer, /) -> int:
        """Read some of the content; refuse the file where there is more than is allowed."""
        view = memoryview(buffer).cast("B")
        size = self._stream.readinto(view)
        while self._read == 0 and 0 < size < min(START, len(view)) and (more := self._stream.readinto(view[size:])):
            size += more
        self._read += size
        reader = self._reader
        units = reader.unpacked // _CPU_UNIT
        reader.unpacked += size
        if reader.unpacked // _CPU_UNIT > units:
            grant_cpu(reader.cpu_before + (reader.unpacked // _CPU_UNIT + 1) * self._request.cpu_seconds)
        if reader.unpacked > reader.allowed:
            raise _too_much("it unpacks", self._request.growth)
        return size


class TripleWriter(io.RawIOBase):
    """Sends N-Triples, as long as each triple and all of them together are of a size that is allowed.

    Attributes:
        written: Bytes so far.
        is_discarding: Whether what is written now is dropped.
    """

    def __init__(self, reader: FileReader, growth: int, send: Send) -> None:
        super().__init__()
        self._reader = reader
        self._growth = growth
        self._send = send
        self._line = 0
        self.written = 0
        self.is_discarding = False

    @property
    def is_within_line(self) -> bool:
        """Whether what was sent last does not end a line."""
        return self._line > 0

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Buffer, /) -> int:
        """Send some N-Triples; refuse the file where a triple, or all of them, are longer than allowed."""
        content = bytes(data)
        if self.is_discarding:
            return len(content)
        end = content.rfind(b"\n")
        # What is longer than the buffer before this comes alone, so a piece with an end of line adds little.
        self._line = self._line + len(content) if end < 0 else len(content) - end - 1
        if self._line > _LONGEST:
            raise RefusedError("a triple in it takes more than 15 MB")
        self.written += len(content)
        if self.written > self._reader.allowed:
            raise _too_much("its triples grow", self._growth)
        self._send(TRIPLES, content)
        return len(content)


def grant_cpu(seconds: int) -> None:
    """Allow this process so many seconds of processor time in total; the system ends it after that."""
    if sys.platform == "win32":
        return
    import resource  # noqa: PLC0415 - not there on Windows

    with suppress(ValueError, OSError):
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds if hard < 0 else min(seconds, hard), hard))


def _too_much(what: str, growth: int) -> RefusedError:
    return RefusedError(
        f"{what} to more than {growth} times the size of the file",
        next_step="If you trust the file, allow more: --file-limit growth=NUMBER, or [files] in the profile.",
    )


MOST_SHOWN = 10
_LONGEST_SHOWN = 200
"""Characters of what is said about one."""

_BLOCK = 1 << 16


class Skips:
    """Terms, lines and parts of files that are left out.

    Attributes:
        within: What stands before what is said about one: which file of an archive it is.
        count: How many; the rest of a file counts as one.
        shown: What is said about the first of them.
    """

    def __init__(self) -> None:
        self.within = ""
        self.count = 0
        self.shown: list[str] = []

    def add(self, reason: str, line: int | None = None) -> None:
        """Note one."""
        self.count += 1
        if len(self.shown) < MOST_SHOWN:
            text = reason if len(reason) <= _LONGEST_SHOWN else f"{reason[:_LONGEST_SHOWN]}…"
            self.shown.append(self.within + (text if line is None else f"line {line}: {text}"))

    def add_all(self, count: int, shown: Sequence[str]) -> None:
        """Note those of a file."""
        self.count += count
        self.shown += [self.within + text for text in shown[: MOST_SHOWN - len(self.shown)]]


class Lines(Readable):
    """A stream that gives no more than a line at once, so that it is known how far its reader is.

    Attributes:
        number: The number of the line that was given last.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__()
        self._stream = stream
        self._is_at_start = True
        self.number = 0

    def readinto(self, buffer: Buffer, /) -> int:
        """Read a line, or a part of one."""
        view = memoryview(buffer).cast("B")
        part = self._stream.readline(len(view))
        if part:
            self.number += self._is_at_start
            self._is_at_start = part.endswith(b"\n")
        view[: len(part)] = part
        return len(part)


class ValidLines(PieceReader):
    """The valid lines of N-Triples or N-Quads; the others are empty lines."""

    def __init__(self, stream: IO[bytes], form: pyoxigraph.RdfFormat, skips: Skips) -> None:
        super().__init__()
        self._stream = stream
        self._form = form
        self._skips = skips
        self._number = 0

    def _piece(self) -> bytes:
        return b"".join(self._checked(self._stream.readlines(_BLOCK)))

    def _checked(self, lines: list[bytes]) -> Iterator[bytes]:
        is_valid = not self._problem(b"".join(lines))
        for line in lines:
            self._number += 1
            problem = "" if is_valid else self._problem(line)
            if problem:
                self._skips.add(problem, self._number)
            yield b"\n" if problem else line

    def _problem(self, lines: bytes) -> str:
        """Return what is wrong with some lines; empty if nothing is."""
        try:
            for _ in pyoxigraph.parse(lines, self._form):
                pass
        except SyntaxError as error:
            # Its place is that in the line.
            return re.sub(r"^Parser error .*?\d: ", "", str(error.msg))
        except MemoryError:
            return "a term in it is longer than 16 MiB"
        return ""


def problem_of(term: object) -> str:
    """Return why a term that was read without being checked is no RDF; empty where it is."""
    try:
        match term:
            case pyoxigraph.NamedNode():
                pyoxigraph.NamedNode(term.value)
            case pyoxigraph.Literal():
                if term.language is not None:
                    pyoxigraph.Literal(term.value, language=term.language)
                else:
                    pyoxigraph.NamedNode(term.datatype.value)
            case pyoxigraph.Triple():
                return next(filter(None, map(problem_of, cast("Iterator[object]", iter(term)))), "")
    except ValueError as error:
        return f"{error} ({str(term)[:_LONGEST_SHOWN]})"
    return ""
