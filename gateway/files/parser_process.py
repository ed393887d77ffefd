"""Starts the process that parses a file, and reads what it sends.

A file can make a parser crash, or take all memory of a machine (docs/notes/embedded-engines.md, "Loading files"): in a
process of its own, with limits, that ends the process and not the gateway.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, BinaryIO, NamedTuple, Self

from gateway.errors import ConfigurationError
from gateway.files.parser_streams import (
    HEADER,
    MEGABYTE,
    POSITION,
    PROGRESS,
    REFUSAL,
    REQUEST,
    TRIPLES,
    ParseRequest,
    PieceReader,
    Result,
)

_log = logging.getLogger(__name__)

Progress = Callable[[Path, int, int], None]
"""Called now and then while a file loads: with the file, its bytes read so far, and its size in bytes."""

_START = "from gateway.files.parser import {main}; {main}()"
_LAST_WORDS = 2_000
"""Bytes of what a process that failed wrote on standard error."""


class FileToParse(NamedTuple):
    """A file, and how to parse it.

    Attributes:
        path: Where it is.
        request: How to parse it.
        size: Its size in bytes, for the progress of several files.
    """

    path: Path
    request: ParseRequest
    size: int = 0


class Parsed(NamedTuple):
    """What came of a file.

    Attributes:
        result: What was parsed; None where it was not read to its end.
        failure: Why it was not; that is raised unless it is read as far as it is valid.
        is_empty: Whether it has no triples.
    """

    result: Result | None
    failure: ConfigurationError | None
    is_empty: bool


class ParserProcess(PieceReader):
    """A process that parses a file, or several small ones; to be read as N-Triples.

    Its end comes only when all files were parsed to their ends: whatever else ends the process is raised, and so is
    what `progress` raises. Where files are read as far as they are valid, the end comes in any case.

    Args:
        files: The files, of which all are read in the same way.
        file: The one file, where there is one, opened; several are opened by the process.
        progress: Receives how far it is; of several files, under the name of the first.

    Attributes:
        parsed: What came of each file so far.
    """

    def __init__(self, files: Sequence[FileToParse], file: BinaryIO | None, progress: Progress | None) -> None:
        super().__init__()
        self._files = files
        self._progress = progress
        self._triples = memoryview(b"")
        self._unended = b""
        self._is_empty = True
        self._is_dead = self._is_careful = self._is_final = False
        self._read = self._reported = 0
        self._size = sum(one.size for one in files)
        self.parsed: list[Parsed] = []
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - it ends with the process
        self._start(file)

    def _start(self, file: BinaryIO | None) -> None:
        """Start a process for the files that are not parsed yet."""
        if file is not None:
            self._start_with(file, "main")
            return
        left = [(str(path.absolute()), request._asdict()) for path, request, _ in self._files[len(self.parsed) :]]
        with tempfile.TemporaryFile() as listed:
            listed.write(json.dumps(left).encode())
            listed.seek(0)
            self._start_with(listed, "main_of_each" if self._is_careful else "main_of_several")

    def _start_with(self, stdin: IO[bytes], main: str) -> None:
        path, request, _ = self._file
        try:
            self._process = subprocess.Popen(  # noqa: S603 - this Python, our module, and no shell
                [sys.executable, "-P", "-c", _START.format(main=main)],
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env={**environment(), REQUEST: json.dumps(request._asdict())},
            )
        except OSError as error:
            self._errors.close()
            raise ConfigurationError(
                f"{path}: the process that parses it cannot be started: {error.strerror or error}."
            ) from error

    @property
    def _file(self) -> FileToParse:
        """The file that is being parsed."""
        return self._files[len(self.parsed)]

    def _piece(self) -> memoryview:
        """Return some N-Triples; none only at the end of all files.

        Raises:
            ConfigurationError: A file was refused, or the process ended early.
        """
        self._triples = memoryview(b"")
        while not self._triples and len(self.parsed) < len(self._files):
            try:
                self._next()
            except ConfigurationError as error:
                if self._is_dead and len(self._files) > 1 and not self._is_careful:
                    # What it had parsed and not sent yet is not known; another one finds out which file it is.
                    self._is_careful = True
                elif self._is_final or not self._file.request.lenient:
                    raise
                else:
                    self._end_file(None, error)
                if self._is_dead and len(self.parsed) < len(self._files):
                    self._restart()
        return self._triples

    def _end_file(self, result: Result | None, failure: ConfigurationError | None) -> None:
        size = self._file.size
        self.parsed.append(Parsed(result, failure, self._is_empty))
        self._unended, self._is_empty = b"", True
        self._read += size
        if len(self._files) > 1:
            self._report(self._read, is_last=len(self.parsed) == len(self._files))

    def _restart(self) -> None:
        """Go on with the files of which nothing has come."""
        self._is_dead, self._unended, self._is_empty = False, b"", True
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._errors.truncate(0)
        self._errors.seek(0)
        self._start(None)

    def _report(self, read: int, *, is_last: bool = False) -> None:
        """Report how far several files are, every megabyte."""
        if self._progress is not None and (is_last or read - self._reported >= MEGABYTE):
            self._reported = read
            self._progress(self._files[0].path, read, self._size)

    def end(self) -> None:
        """End the process, whether it is done or not."""
        self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._errors.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def _next(self) -> None:
        kind, size = HEADER.unpack(self._exactly(HEADER.size))
        content = self._exactly(size)
        if kind == TRIPLES:
            self._triples = memoryview(self._whole_lines(content) if self._file.request.lenient else content)
            self._is_empty = self._is_empty and not self._triples
        elif kind == PROGRESS:
            read, size = POSITION.unpack(content)
            if len(self._files) > 1:
                self._report(self._read + read)
            elif self._progress is not None:
                self._progress(self._file.path, read, size)
        elif kind == REFUSAL:
            refusal = json.loads(content)
            self._is_final = refusal.pop("is_final", False)
            raise self._refusal(**refusal)
        else:
            answer = json.loads(content)
            self._end_file(Result(**{**answer, "times": tuple(answer["times"])}), None)

    def _whole_lines(self, content: bytes) -> bytes:
        """Return lines that are whole: what comes after them may never come."""
        content = self._unended + content
        end = content.rfind(b"\n") + 1
        self._unended = content[end:]
        return content[:end]

    def _exactly(self, size: int) -> bytes:
        assert self._process.stdout is not None  # noqa: S101 - it was started with a pipe
        content = self._process.stdout.read(size)
        if len(content) < size:
            self._is_dead = True
            raise self._failed()
        return content

    def _refusal(self, wrong: str = "", place: str = "", valid: str = "", next_step: str = "") -> ConfigurationError:
        if not wrong:
            return self._too_little_memory()
        return ConfigurationError(f"{self._file.path}{place}: {wrong}.", valid=valid, next_step=next_step)

    def _failed(self) -> ConfigurationError:
        """Return why the process ended before the file did."""
        status = self._process.wait()
        self._errors.seek(0)
        last_words = self._errors.read(_LAST_WORDS)
        _log.debug("the process that parsed %s ended with %s: %r", self._file.path, status, last_words)
        if b"memory allocation" in last_words or b"MemoryError" in last_words:
            return self._too_little_memory()
        if sys.platform != "win32" and status == -signal.SIGXCPU:
            seconds = self._file.request.cpu_seconds
            return ConfigurationError(
                f"{self._file.path}: parsing it takes more than {seconds} seconds of processor time for 100 MB.",
                next_step="If you trust the file, allow more: --file-limit cpu_seconds=NUMBER, or [files] in the"
                " profile.",
            )
        return ConfigurationError(
            f"{self._file.path}: the parser crashed on it ({_named(status)}).",
            valid="Terms or elements that are nested thousands deep can do that.",
            next_step="Repair the file, or convert it to N-Triples with another program.",
        )

    def _too_little_memory(self) -> ConfigurationError:
        return ConfigurationError(
            f"{self._file.path}: parsing it takes more than {self._file.request.memory_megabytes} MB of memory.",
            next_step="If you trust the file, allow more: --file-limit memory_megabytes=NUMBER, or [files] in the"
            " profile. N-Triples need the least memory.",
        )


def _named(status: int) -> str:
    """Return how a process ended, in words."""
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"exit status {status}"


def environment() -> Mapping[str, str]:
    """Return the environment in which the same modules are imported as here, and a crash is short."""
    path = os.pathsep.join(entry for entry in sys.path if entry)
    return {**os.environ, "PYTHONPATH": path, "RUST_BACKTRACE": "0"}
