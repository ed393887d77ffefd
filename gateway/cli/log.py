"""The log of the command line, on standard error."""

from __future__ import annotations

import contextlib
import logging
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, TextIO

from gateway.cli.standard_streams import line, print_note, shortened
from gateway.escaping import json_text, printable
from gateway.telemetry.record import FIELDS
from gateway.telemetry.tracing import trace_ids

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
