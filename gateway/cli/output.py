"""What is written where: answers on standard output, everything else on standard error."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO

from gateway.cli.text import line
from gateway.escaping import printable

_MOST = 2_000
_END = 500
"""Characters of an error, or of a warning in the log, and of its end."""


def print_json(text: str) -> None:
    """Print one line of JSON as UTF-8, whatever the terminal's encoding."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    write(sys.stdout, f"{text}\n")


def print_error(text: str) -> None:
    """Print one line on standard error; nobody hears of it where that is closed."""
    with contextlib.suppress(OSError):
        write(sys.stderr, f"error: {_bounded(line(text))}\n")


def print_note(text: str) -> None:
    """Print one line on standard error that is no error."""
    with contextlib.suppress(OSError):
        write(sys.stderr, f"{line(text)}\n")


def _bounded(text: str) -> str:
    """Leave out the middle of what is too long: the end says what to do next."""
    if len(text) <= _MOST:
        return text
    return f"{text[: _MOST - _END]}… ({len(text)} characters) …{text[-_END:]}"


def flush() -> None:
    """Write out what was printed, so that a reader that went away is noticed here and not at exit."""
    write(sys.stdout, "")


def write(stream: TextIO | None, text: str) -> None:
    """Write text to a stream at once."""
    # A process may be started with a stream closed; then there is none.
    if stream is not None:
        stream.write(text)
        stream.flush()


def give_up_stdout() -> None:
    """Let standard output lead nowhere: its reader went away, and the flush at exit would fail again."""
    with contextlib.suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


class _OneLine(logging.Formatter):
    """Writes a record on one line; a traceback, of a defect, keeps its own."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name is logging's
        told = line(f"{record.levelname.lower()}: {record.getMessage()}")
        # Queries are logged whole, where they are asked for.
        return _bounded(told) if record.levelno >= logging.WARNING else told

    def formatException(self, ei: Any) -> str:  # noqa: N802 - the same
        return "\n".join(map(printable, super().formatException(ei).split("\n")))


class Log(logging.StreamHandler[TextIO]):
    """Log records on standard error.

    Warnings wait for the outcome: an answer follows them, but an error says by itself what they led to. What is worse
    than a warning is written at once: it is for the operator, and what follows may not say it.
    """

    def __init__(self) -> None:
        super().__init__(sys.stderr)
        self.setFormatter(_OneLine())
        self._waiting: list[logging.LogRecord] | None = []

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, or keep it where warnings are all that is asked for."""
        if self._waiting is None or record.levelno > logging.WARNING or logging.getLogger().level < logging.WARNING:
            super().emit(record)
        else:
            self._waiting.append(record)

    def let_go(self) -> None:
        """Write what waits, and from now on everything at once."""
        waiting, self._waiting = self._waiting, None
        for record in waiting or ():
            super().emit(record)


@contextlib.contextmanager
def logging_to_stderr() -> Iterator[Log]:
    """Log warnings to standard error while this lasts; `louder` shows more."""
    root = logging.getLogger()
    before = root.level
    log = Log()
    root.addHandler(log)
    root.setLevel(logging.WARNING)
    try:
        yield log
    finally:
        root.removeHandler(log)
        root.setLevel(before)


def louder(steps: int) -> None:
    """Log one level more for each step."""
    root = logging.getLogger()
    root.setLevel(max(logging.DEBUG, root.level - steps * (logging.WARNING - logging.INFO)))
