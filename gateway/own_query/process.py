"""Starts the process that reads a query and runs it, and reads what it sends."""

from __future__ import annotations

import json
import logging
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import IO, Any, NamedTuple, Self

import msgspec

from gateway.errors import ConfigurationError, DeadlinePassed, EndpointFault, Fault
from gateway.files.parser_process import environment
from gateway.own_query.frames import BEGUN, END, HEAD, HEADER, READ, REFUSED, ROWS, Request
from gateway.sparql.table import Term

_log = logging.getLogger(__name__)

Row = Sequence[Term | None]

_START = "from gateway.own_query.evaluator import main; main()"
_LAST_WORDS = 4_000
"""Bytes of what a process that failed wrote on standard error."""

_rows = msgspec.json.Decoder(list[list[Term | None]])


class ReadQuery(NamedTuple):
    """What the parser says of a query; see `gateway.own_query.text.QueryText`.

    Attributes:
        kind: The kind.
        sent: The text with what it does not declare.
        prologue: Its declarations.
        body: What follows.
        has_dataset: Whether it says which graphs it is about.
        has_graph: Whether it asks named graphs.
        has_service: Whether it asks another endpoint.
        has_empty_path: Whether it has a path that may have no step.
    """

    kind: str
    sent: str
    prologue: str
    body: str
    has_dataset: bool
    has_graph: bool
    has_service: bool
    has_empty_path: bool


class Head(NamedTuple):
    """How an answer begins.

    Attributes:
        kind: Which query it answers.
        variables: The names of the columns.
        is_true: The answer to an ASK.
    """

    kind: str
    variables: Sequence[str] = ()
    is_true: bool = False


class QueryProcess:
    """A process that does what a request says.

    Args:
        request: What it is to do.
        seconds: How long a query may take to be read, and then to be run; opening the graph does not count.
        write_data: Writes what the request says that follows it.

    Attributes:
        are_more: Whether there are more rows than were asked for; known when all were read.
    """

    def __init__(self, request: Request, seconds: float, write_data: Callable[[IO[bytes]], None] | None = None) -> None:
        self._seconds = seconds
        self._timer: threading.Timer | None = None
        self._is_late = False
        self._has_begun = False
        self._is_data = bool(request.rdf)
        self.are_more = False
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - it ends with the process
        with tempfile.TemporaryFile() as source:
            text = json.dumps({**request._asdict(), "prefixes": dict(request.prefixes)}).encode()
            source.write(HEADER.pack(b"?", len(text)) + text)
            if write_data is not None:
                write_data(source)
            source.seek(0)
            try:
                self._process = subprocess.Popen(  # noqa: S603 - this Python, our module, and no shell
                    [sys.executable, "-P", "-c", _START],
                    stdin=source,
                    stdout=subprocess.PIPE,
                    stderr=self._errors,
                    env=environment(),
                )
            except OSError as error:
                self._errors.close()
                raise ConfigurationError(
                    f"The process that runs the query cannot be started: {error.strerror or error}."
                ) from error
        self._start_clock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop_clock()
        self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._errors.close()

    def read(self) -> ReadQuery:
        """Return what the query is.

        Raises:
            ConfigurationError: It is none, or must not be run.
            Fault: It could not be read in time, or at all.
        """
        found = ReadQuery(**json.loads(self._content(READ)))
        self._stop_clock()
        return found

    def begin(self) -> Head:
        """Return the beginning of the answer.

        Raises:
            Fault: The query failed, or took too long.
        """
        if not self._is_data:
            self._content(BEGUN)
            self._has_begun = True
            self._start_clock()
        return Head(**json.loads(self._content(HEAD)))

    def rows(self) -> Iterator[Sequence[Row]]:
        """Yield the rows, some together.

        Raises:
            Fault: The query failed, or took too long.
        """
        while True:
            kind, content = self._frame()
            if kind == END:
                self._stop_clock()
                self.are_more = json.loads(content)["are_more"]
                return
            self._expect(ROWS, kind, content)
            yield _rows.decode(content)

    def _start_clock(self) -> None:
        self._timer = threading.Timer(self._seconds, self._end_late)
        self._timer.daemon = True
        self._timer.start()

    def _stop_clock(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _end_late(self) -> None:
        self._is_late = True
        self._process.kill()

    def _content(self, wanted: bytes) -> bytes:
        kind, content = self._frame()
        self._expect(wanted, kind, content)
        return content

    def _expect(self, wanted: bytes, kind: bytes, content: bytes) -> None:
        if kind == REFUSED:
            refusal: Mapping[str, Any] = json.loads(content)
            raise (Fault if self._has_begun or self._is_data else ConfigurationError)(**refusal)
        if kind != wanted:
            raise self._failed()

    def _frame(self) -> tuple[bytes, bytes]:
        kind, size = HEADER.unpack(self._exactly(HEADER.size))
        return kind, self._exactly(size)

    def _exactly(self, size: int) -> bytes:
        assert self._process.stdout is not None  # noqa: S101 - it was started with a pipe
        content = self._process.stdout.read(size)
        if len(content) < size:
            raise self._failed()
        return content

    def _failed(self) -> Fault:
        """Return why the process ended before the answer did."""
        status = self._process.wait()
        if self._is_late:
            return DeadlinePassed(
                f"The query was ended after {self._seconds:g} seconds.",
                next_step="Ask for less, or allow more time: --timeout SECONDS.",
            )
        self._errors.seek(0)
        last_words = self._errors.read(_LAST_WORDS)
        _log.debug("the process of a query ended with %s: %r", status, last_words)
        if b"memory allocation" in last_words or b"MemoryError" in last_words:
            return EndpointFault("The query takes more memory than it may.", next_step="Ask for less.")
        if b"total order" in last_words:
            return EndpointFault(
                "The query ended the engine: it orders values of several kinds, such as numbers and dates.",
                next_step="Order by one kind: ORDER BY STR(?x), or xsd:double(?x).",
            )
        if b"stack" in last_words or (sys.platform != "win32" and status == -signal.SIGSEGV):
            return EndpointFault("The query ended the engine: it is nested too deep.", next_step="Nest it less.")
        return EndpointFault(
            "The query ended the engine.", next_step="Ask in another way; -vv shows what the engine wrote."
        )
