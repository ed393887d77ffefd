"""Starts the process that parses a file, and reads what it sends.

A file can make a parser crash, or take all memory of a machine (docs/notes/embedded-engines.md, "Loading files"): in a
process of its own, with limits, that ends the process and not the gateway.
"""

from __future__ import annotations

import io
import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, BinaryIO, Self

from typing_extensions import Buffer

from gateway.errors import ConfigurationError
from gateway.files.parser_streams import (
    HEADER,
    POSITION,
    PROGRESS,
    REFUSAL,
    REQUEST,
    TRIPLES,
    ParseRequest,
    Result,
)

_log = logging.getLogger(__name__)

Progress = Callable[[Path, int, int], None]
"""Called now and then while a file loads: with the file, its bytes read so far, and its size in bytes."""

_START = "from gateway.files.parser import main; main()"
_LAST_WORDS = 2_000
"""Bytes of what a process that failed wrote on standard error."""


class ParserProcess(io.RawIOBase):
    """A process that parses one file; to be read as N-Triples.

    Its end comes only when the whole file was parsed: whatever else ends the process is raised, and so is what
    `progress` raises. Of a file that is read as far as it is valid, the end comes in any case, and `failure` says why.

    Attributes:
        is_empty: Whether no triple has come yet.
    """

    def __init__(self, path: Path, file: BinaryIO, request: ParseRequest, progress: Progress | None) -> None:
        super().__init__()
        self._path = path
        self._request = request
        self._progress = progress
        self._triples = memoryview(b"")
        self._unended = b""
        self.is_empty = True
        self._failure: ConfigurationError | None = None
        self._result: Result | None = None
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - it ends with the process
        try:
            self._process = subprocess.Popen(  # noqa: S603 - this Python, our module, and no shell
                [sys.executable, "-P", "-c", _START],
                stdin=file,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env={**_environment(), REQUEST: json.dumps(request._asdict())},
            )
        except OSError as error:
            self._errors.close()
            raise ConfigurationError(
                f"{path}: the process that parses it cannot be started: {error.strerror or error}."
            ) from error

    @property
    def failure(self) -> ConfigurationError | None:
        """Why a file that is read as far as it is valid was not read to its end; None where it was."""
        return self._failure

    @property
    def result(self) -> Result:
        """What was parsed; a ValueError where not all triples were read."""
        if self._result is None:
            raise ValueError("the file was not parsed to its end")
        return self._result

    def readinto(self, buffer: Buffer, /) -> int:
        """Fill a buffer with N-Triples; 0 only at the end of the whole file.

        Raises:
            ConfigurationError: The file was refused, or the process ended early.
        """
        view = memoryview(buffer).cast("B")
        while not self._triples and self._result is None and self._failure is None:
            try:
                self._next()
            except ConfigurationError as error:
                if not self._request.lenient:
                    raise
                self._failure = error
        self.is_empty = self.is_empty and not self._triples
        part = self._triples[: len(view)]
        self._triples = self._triples[len(part) :]
        view[: len(part)] = part
        return len(part)

    def readable(self) -> bool:
        """Return True."""
        return True

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
        """Read one frame."""
        kind, size = HEADER.unpack(self._exactly(HEADER.size))
        content = self._exactly(size)
        if kind == TRIPLES:
            self._triples = memoryview(self._whole_lines(content) if self._request.lenient else content)
        elif kind == PROGRESS:
            if self._progress is not None:
                self._progress(self._path, *POSITION.unpack(content))
        elif kind == REFUSAL:
            raise self._refusal(**json.loads(content))
        else:
            answer = json.loads(content)
            self._result = Result(**{**answer, "times": tuple(answer["times"])})

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
            raise self._failed()
        return content

    def _refusal(self, wrong: str = "", place: str = "", valid: str = "", next_step: str = "") -> ConfigurationError:
        if not wrong:
            return self._too_little_memory()
        return ConfigurationError(f"{self._path}{place}: {wrong}.", valid=valid, next_step=next_step)

    def _failed(self) -> ConfigurationError:
        """Return why the process ended before the file did."""
        status = self._process.wait()
        self._errors.seek(0)
        last_words = self._errors.read(_LAST_WORDS)
        _log.debug("the process that parsed %s ended with %s: %r", self._path, status, last_words)
        if b"memory allocation" in last_words or b"MemoryError" in last_words:
            return self._too_little_memory()
        if sys.platform != "win32" and status == -signal.SIGXCPU:
            return ConfigurationError(
                f"{self._path}: parsing it takes more than {self._request.cpu_seconds} seconds of processor time"
                " for 100 MB.",
                next_step="If you trust the file, allow more: --file-limit cpu_seconds=NUMBER, or [files] in the"
                " profile.",
            )
        return ConfigurationError(
            f"{self._path}: the parser crashed on it ({_named(status)}).",
            valid="Terms or elements that are nested thousands deep can do that.",
            next_step="Repair the file, or convert it to N-Triples with another program.",
        )

    def _too_little_memory(self) -> ConfigurationError:
        return ConfigurationError(
            f"{self._path}: parsing it takes more than {self._request.memory_megabytes} MB of memory.",
            next_step="If you trust the file, allow more: --file-limit memory_megabytes=NUMBER, or [files] in the"
            " profile. N-Triples need the least memory.",
        )


def _named(status: int) -> str:
    """Return how a process ended, in words."""
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"exit status {status}"


def _environment() -> Mapping[str, str]:
    """Return the environment in which the same modules are imported as here, and a crash is short."""
    path = os.pathsep.join(entry for entry in sys.path if entry)
    return {**os.environ, "PYTHONPATH": path, "RUST_BACKTRACE": "0"}
