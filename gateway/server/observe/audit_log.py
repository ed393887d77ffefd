"""A line for each request that reads a graph: who asked, which tool, how much; no text of the graph or of the caller.

A thread writes the lines, so a slow disk holds up no answer. What cannot be written is lost, counted and said in the
log, and the server goes on. A file that was moved away is opened anew with the next line, as `logrotate` expects.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import queue
import secrets
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from gateway.errors import ConfigurationError, quoted
from gateway.server.observe.watching import WatchedRequest
from gateway.telemetry.tally import Clock

_log = logging.getLogger(__name__)

MOST_WAITING: Final = 10_000
"""Lines that wait to be written at most: a few megabytes."""

_SAID_EVERY_SECONDS: Final = 60.0
"""How often the log says that lines are lost, at most."""

_CLOSE_SECONDS: Final = 2.0
"""The time in which the last lines must be written."""

_PRIVATE: Final = 0o600
_FLAGS: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT


def ignore_loss() -> None:
    """Do nothing about a line that is lost; the log says it."""


class AuditLog:
    """An observer of requests that writes a line of JSON for each.

    Args:
        path: The file; lines are added to it.
        on_loss: Called for each line that is lost, in any thread.
        wall_clock: Seconds since the epoch.
        clock: A monotonic clock, in seconds.

    Raises:
        ConfigurationError: The file cannot be opened.
    """

    def __init__(
        self,
        path: Path,
        on_loss: Callable[[], object] = ignore_loss,
        wall_clock: Clock = time.time,
        clock: Clock = time.monotonic,
    ) -> None:
        self._path = path
        self._on_loss = on_loss
        self._wall_clock = wall_clock
        self._clock = clock
        # Equal arguments can be recognised within one run, and short ones not be guessed from their digest.
        self._key = secrets.token_bytes(32)
        self._lines: queue.Queue[bytes | None] = queue.Queue(MOST_WAITING)
        self._lost = 0
        self._said_at: float | None = None
        try:
            self._file = _opened(path)
        except OSError as error:
            raise ConfigurationError(
                f"The audit log {quoted(str(path))} cannot be opened: {error.strerror or error}.",
                next_step="Name a file in a folder that exists and that this user may write to.",
            ) from error
        self._is_broken_off = _is_broken_off(path)
        self._thread = threading.Thread(target=self._write_all, name="audit log", daemon=True)
        self._thread.start()

    def observe(self, request: WatchedRequest) -> None:
        """Have a line about a request written."""
        try:
            self._lines.put_nowait(self._line(request))
        except queue.Full:
            self._lose("the disk is too slow")

    def close(self) -> None:
        """Write what waits, within a bound, and close the file."""
        try:
            self._lines.put(None, timeout=_CLOSE_SECONDS)
        except queue.Full:
            _log.error("the audit log is closed without its last lines: the disk is too slow")
            return
        self._thread.join(_CLOSE_SECONDS)

    def _line(self, request: WatchedRequest) -> bytes:
        arguments = json.dumps(request.arguments, sort_keys=True, default=str).encode()
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(self._wall_clock(), UTC).isoformat(timespec="milliseconds"),
            "client": request.client or None,
            "graph": request.graph or None,
            "method": request.method,
            "tool": request.tool or None,
            "arguments_bytes": len(arguments),
            "arguments_digest": hashlib.blake2b(arguments, key=self._key, digest_size=12).hexdigest(),
            "outcome": request.outcome,
            "errors": [record.error for record in request.records if record.error],
            "causes": sorted({cause for record in request.records for cause in record.causes}),
            "ms": round(request.seconds * 1000, 1),
            "queries": sum(record.queries for record in request.records),
            "rows": sum(record.rows for record in request.records),
            "bytes": sum(record.bytes for record in request.records),
            "answer_bytes": request.answer_bytes,
        }
        return json.dumps(line).encode() + b"\n"

    def _write_all(self) -> None:
        while (line := self._lines.get()) is not None:
            try:
                self._write(line)
            except OSError as error:
                self._lose(error.strerror or str(error))
        os.close(self._file)

    def _write(self, line: bytes) -> None:
        """Write one line whole; what a full disk took of the line before it stays a line of its own."""
        self._follow()
        whole = b"\n" + line if self._is_broken_off else line
        written = os.write(self._file, whole)
        self._is_broken_off = written < len(whole)
        if self._is_broken_off:
            self._lose("the disk is full")

    def _follow(self) -> None:
        """Open the file anew if another one, or none, is at its path."""
        try:
            at_path, opened = self._path.stat(), os.fstat(self._file)
            if (at_path.st_dev, at_path.st_ino) == (opened.st_dev, opened.st_ino):
                return
        except FileNotFoundError:
            pass
        file = _opened(self._path)
        os.close(self._file)
        self._file, self._is_broken_off = file, _is_broken_off(self._path)

    def _lose(self, reason: str) -> None:
        self._lost += 1
        self._on_loss()
        now = self._clock()
        if self._said_at is None or now - self._said_at >= _SAID_EVERY_SECONDS:
            self._said_at = now
            _log.error("the audit log cannot be written: %s; %d lines are lost so far", reason, self._lost)


def _opened(path: Path) -> int:
    """Return the descriptor of a file to which lines are added.

    Raises:
        OSError: It cannot be opened, or is a pipe that nobody reads: the system would wait for one who does.
    """
    file = os.open(path, _FLAGS | getattr(os, "O_NONBLOCK", 0), _PRIVATE)
    if sys.platform != "win32":
        os.set_blocking(file, True)
    return file


def _is_broken_off(path: Path) -> bool:
    """Return whether a file ends within a line, because a full disk took only a part of it."""
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            if file.seek(0, os.SEEK_END) == 0:
                return False
            file.seek(-1, os.SEEK_END)
            return file.read(1) != b"\n"
    except OSError:
        # It may be written and not read.
        return False
