"""What a command gives to its caller: standard output, standard error, and exit statuses; and escapes for both."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from typing import TextIO

from gateway.escaping import printable, visible

DIFFERENT = 1
FAILED = 2
INTERRUPTED = 130
TERMINATED = 143
"""The exit statuses other than 0 (docs/errors.md). The last two are 128 and the number of the signal, as in shells."""

_MAX_CHARACTERS = 2_000
"""Of an error, or of a warning in the log."""

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
        write(sys.stderr, f"error: {shortened(line(text))}\n")


def print_note(text: str, *, quiet: bool = False) -> None:
    """Print one line on standard error, for information, unless `quiet`."""
    if not quiet:
        with contextlib.suppress(OSError):
            write(sys.stderr, f"{line(text)}\n")


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


def write_bytes(content: bytes) -> None:
    """Write bytes to standard output."""
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


def clean(value: str) -> str:
    """Return a value on one line, with control characters escaped reversibly."""
    return visible(value)


def line(sentence: str) -> str:
    """Return a sentence of this program on one line, with control characters escaped."""
    return printable(_BREAKS.sub(" ", sentence).strip())
