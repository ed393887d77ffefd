"""Standard output and standard error, and the log on it."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import re
import sys
import textwrap
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, TextIO

from gateway.escaping import json_text, printable, visible
from gateway.telemetry.record import FIELDS
from gateway.telemetry.tally import trace_ids

DIFFERENT = 1
FAILED = 2
INTERRUPTED = 130
TERMINATED = 143
"""The exit statuses other than 0 (docs/errors.md). The last two are 128 and the number of the signal, as in shells."""

_MAX_CHARACTERS = 2_000
"""Of an error, or of a warning in the log."""

_WIDTH = 80
"""Cells of a terminal that does not say how wide it is."""

_END_CHARACTERS = 500
"""Of the end of an error that is shortened."""


def print_line(text: str) -> None:
    """Print a line for a program, as UTF-8, whatever the terminal's encoding."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    write(sys.stdout, f"{text}\n")


def print_error(text: str) -> None:
    """Print one line on standard error, or nothing if that is closed."""
    with contextlib.suppress(OSError):
        _write_to_stderr(f"error: {shortened(line(text))}")


def print_note(text: str, *, quiet: bool = False) -> None:
    """Print one line on standard error, for information, unless `quiet`."""
    if not quiet:
        with contextlib.suppress(OSError):
            _write_to_stderr(line(text))


def print_command(text: str) -> None:
    """Print one line with a command on standard error, which stays whole, so that it can be copied."""
    with contextlib.suppress(OSError):
        write(sys.stderr, f"{line(text)}\n")


def as_wide_as_it_is(text: str, columns: int | None) -> str:
    """Return a line for a terminal of so many columns, wrapped between words; None is no terminal."""
    if columns is None:
        return text
    return textwrap.fill(text, columns or _WIDTH, break_long_words=False, break_on_hyphens=False)


def _write_to_stderr(text: str) -> None:
    write(sys.stderr, as_wide_as_it_is(text, _columns()) + "\n")


def _columns() -> int | None:
    """Return the width of standard error; None if it is no terminal."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns
    except (AttributeError, OSError, ValueError):
        return None


def shortened(text: str) -> str:
    """Return a text without its middle if it is too long: the end says what to do next."""
    if len(text) <= _MAX_CHARACTERS:
        return text
    return f"{text[: _MAX_CHARACTERS - _END_CHARACTERS]}… ({len(text)} characters) …{text[-_END_CHARACTERS:]}"


def flush() -> None:
    """Flush standard output, because a closed pipe would otherwise be noticed only at exit."""
    write(sys.stdout, "")


def write(stream: TextIO | None, text: str) -> None:
    """Write text to a stream, and flush it."""
    # A process that is started with a stream closed has None for it.
    if stream is not None:
        stream.write(text)
        stream.flush()


def for_terminal(text: str) -> str:
    """Return text of several lines with all but line breaks and tabs that a terminal would obey escaped."""
    return _OF_LINE.sub(lambda found: printable(found[0]), text.replace("\r\n", "\n"))


def write_bytes(content: bytes) -> None:
    """Write bytes to standard output; a terminal gets them as text in UTF-8 with control characters escaped."""
    if sys.stdout is not None and sys.stdout.isatty():
        content = for_terminal(content.decode()).encode()
    if sys.stdout is not None:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()


def discard_stdout() -> None:
    """Discard further standard output: the pipe is closed, and the flush at exit would fail again."""
    with contextlib.suppress(OSError):
        null_device = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null_device, sys.stdout.fileno())
        os.close(null_device)


_BREAKS = re.compile(r"\s*[\t\n\v\f\r\x85\u2028\u2029]\s*")
"""Line breaks and tabs, with the blanks around them."""


_OF_LINE = re.compile(r"[^\n\t]+")


def clean(value: str) -> str:
    """Return a value on one line, with control characters escaped reversibly."""
    return visible(value)


def line(sentence: str) -> str:
    """Return a sentence of this program on one line, with control characters escaped."""
    return printable(_BREAKS.sub(" ", sentence).strip())


_ACCESS = "uvicorn.access"
_SDK = "mcp.server.streamable_http"
_BEHIND_PATH = re.compile(r"([?;&=]|%3[bdf]|%26).*", re.IGNORECASE | re.DOTALL)
_SESSION = re.compile(r"\b([0-9a-f]{8})[0-9a-f]{24}\b")
"""The ID of a session, of which a part is enough to tell it from others."""

_TIME = "%Y-%m-%dT%H:%M:%S%z"


def _without_secrets(record: logging.LogRecord) -> bool:
    """Take off the record of a library what would let its readers in: what follows a path, and IDs of sessions."""
    if record.name == _ACCESS and isinstance(record.args, tuple):
        # No page of a server takes a query, but some clients write their token there.
        record.args = tuple(_BEHIND_PATH.sub("", each) if isinstance(each, str) else each for each in record.args)
    elif record.name.startswith(_SDK):
        record.msg, record.args = _SESSION.sub(r"\1…", record.getMessage()), ()
    return True


class _OneLine(logging.Formatter):
    """Formats a record on one line; only the traceback of a defect has several."""

    with_time = False
    """Whether a line begins with the time, as that of a server and of a log that was asked for does."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name is logging's
        time = f"{self.formatTime(record, _TIME)} " if self.with_time else ""
        text = line(f"{time}{record.levelname.lower()}: {record.getMessage()}")
        # Queries, at the level of debugging, are logged in full.
        return shortened(text) if record.levelno >= logging.WARNING else text

    def formatException(self, ei: Any) -> str:  # noqa: N802 - the same
        return "\n".join(map(printable, super().formatException(ei).split("\n")))


class _Json(logging.Formatter):
    """Formats a record as one object of JSON, for programs that collect logs."""

    def format(self, record: logging.LogRecord) -> str:
        written: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        fields = getattr(record, FIELDS, None)
        if fields is not None:
            written |= {"message": "call", **fields}
        if record.exc_info:
            written["exception"] = super().formatException(record.exc_info)
        return json_text(written | trace_ids())


class StderrLog(logging.StreamHandler[TextIO]):
    """Writes log records to standard error.

    Warnings are held until `write_held`: if the command fails, only its error is printed. Errors are written at once,
    because they are for the operator.
    """

    def __init__(self) -> None:
        super().__init__(sys.stderr)
        self.addFilter(_without_secrets)
        self._format = _OneLine()
        self.setFormatter(self._format)
        self._waiting: list[logging.LogRecord] | None = []

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, or hold it until `write_held` if it is a warning and no option asks for more."""
        if self._waiting is None or record.levelno > logging.WARNING or logging.getLogger().level < logging.WARNING:
            super().emit(record)
        else:
            self._waiting.append(record)

    @property
    def is_json(self) -> bool:
        """Whether each record is written as an object of JSON."""
        return isinstance(self.formatter, _Json)

    def write_json(self) -> None:
        """Write each record as an object of JSON."""
        self.setFormatter(_Json())

    def show_times(self) -> None:
        """Begin each line with the time."""
        self._format.with_time = True

    def write_held(self) -> None:
        """Write the records on hold, and all later ones at once."""
        waiting, self._waiting = self._waiting, None
        for record in waiting or ():
            super().emit(record)


@contextlib.contextmanager
def logging_to_stderr() -> Iterator[StderrLog]:
    """Log warnings to standard error inside the block; `lower_level` logs more."""
    root = logging.getLogger()
    before = root.level
    log = StderrLog()
    root.addHandler(log)
    root.setLevel(logging.WARNING)
    # It logs each broken connection as an error, with addresses; the fault of the query says it.
    logging.getLogger("neo4j").setLevel(logging.CRITICAL)
    try:
        yield log
    finally:
        root.removeHandler(log)
        root.setLevel(before)


def print_server_note(text: str, *, quiet: bool) -> None:
    """Print what a server says of itself whatever the level of the log is, unless `quiet`: as a line, or in JSON."""
    log = next((handler for handler in logging.getLogger().handlers if isinstance(handler, StderrLog)), None)
    if log is None or not log.is_json:
        print_note(text, quiet=quiet)
    elif not quiet:
        log.handle(logging.LogRecord(__name__, logging.INFO, __file__, 0, line(text), None, None))


def only_errors() -> None:
    """Log no warnings."""
    logging.getLogger().setLevel(logging.ERROR)


def lower_level(steps: int) -> None:
    """Lower the level of the log by one for each step: a step adds information, two add debugging."""
    root = logging.getLogger()
    root.setLevel(max(logging.DEBUG, root.level - steps * (logging.WARNING - logging.INFO)))
