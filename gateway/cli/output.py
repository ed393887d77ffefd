"""What is written where: answers on standard output, everything else on standard error."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import sys
from collections.abc import Iterator

from gateway.cli.text import clean


def print_json(text: str) -> None:
    """Print one line of JSON as UTF-8, whatever the terminal's encoding."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    sys.stdout.write(f"{text}\n")


def print_error(text: str) -> None:
    """Print one line on standard error; nobody hears of it where that is closed."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"error: {clean(text)}\n")


def print_note(text: str) -> None:
    """Print one line on standard error that is no error."""
    sys.stderr.write(f"{clean(text)}\n")
    sys.stderr.flush()


def flush() -> None:
    """Write out what was printed, so that a reader that went away is noticed here and not at exit."""
    sys.stdout.flush()


def give_up_stdout() -> None:
    """Let standard output lead nowhere: its reader went away, and the flush at exit would fail again."""
    with contextlib.suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


class _OneLine(logging.Formatter):
    """Writes a record on one line; a traceback, of a defect, keeps its own."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name is logging's
        return clean(f"{record.levelname.lower()}: {record.getMessage()}")


@contextlib.contextmanager
def logging_to_stderr() -> Iterator[None]:
    """Log warnings to standard error while this lasts; `louder` shows more."""
    root = logging.getLogger()
    before = root.level
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_OneLine())
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(before)


def louder(steps: int) -> None:
    """Log one level more for each step."""
    root = logging.getLogger()
    root.setLevel(max(logging.DEBUG, root.level - steps * (logging.WARNING - logging.INFO)))
