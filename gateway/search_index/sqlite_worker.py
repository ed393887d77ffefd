"""A SQLite connection and its one thread, off the event loop."""

from __future__ import annotations

import asyncio
import functools
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar, TypeVarTuple

from gateway.errors import ConfigurationError
from gateway.graph.call import Deadline, deadline_passed

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")

_STEPS = 20_000
"""Instructions of SQLite's virtual machine, some ten a microsecond, between two checks of the deadline."""

_BUSY_SECONDS = 2.0
"""Time to wait for the lock of another process."""

_CACHE_KILOBYTES = 32 << 10
"""Memory for pages of the database; further pages are on disk, those of temporary tables too."""


class ClosedError(Exception):
    """The worker is closed."""


class SqliteWorker:
    """Runs functions on a connection, one at a time, in one thread; they attach the databases that they need."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "labels")
        self._closed = threading.Event()
        self._connection: sqlite3.Connection | None = None
        self._deadline: Deadline | None = None

    async def run(
        self,
        function: Callable[[sqlite3.Connection, *Arguments], Result],
        *arguments: *Arguments,
        deadline: Deadline | None = None,
    ) -> Result:
        """Return what a function of the connection returns; interrupt it at the deadline, if there is one.

        Raises:
            DeadlinePassed: No time is left.
            ClosedError: The worker was closed.
            sqlite3.Error: The database is broken, or cannot be written.
        """

        def in_thread() -> Result:
            self.check_open()
            self._deadline = deadline
            try:
                return function(self._open(), *arguments)
            except sqlite3.OperationalError as error:
                if self._must_stop():
                    self.check_open()
                    raise deadline_passed() from error
                raise
            except UnicodeDecodeError as error:
                # A broken file: SQLite quotes its bytes in the message of an error, which Python cannot decode.
                raise sqlite3.DatabaseError("it holds text that is not UTF-8") from error
            finally:
                self._deadline = None

        self.check_open()
        try:
            async with asyncio.timeout(None if deadline is None else deadline.seconds_left):
                return await asyncio.get_running_loop().run_in_executor(self._thread, in_thread)
        except TimeoutError as error:
            raise deadline_passed() from error

    def check_open(self) -> None:
        """Raise if the worker was closed: for functions that SQLite cannot interrupt."""
        if self._closed.is_set():
            raise ClosedError

    def close(self) -> None:
        """Interrupt the function that runs, and close the connection."""
        if not self._closed.is_set():
            self._closed.set()
            self._thread.submit(self._close_connection)
            self._thread.shutdown(wait=False)

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            require_fts5()
            # An empty name: a temporary database of this connection, in memory up to the cache size and then on disk.
            self._connection = sqlite3.connect("", timeout=_BUSY_SECONDS, isolation_level=None, uri=True)
            self._connection.execute(f"PRAGMA cache_size = -{_CACHE_KILOBYTES}")
            # Views and triggers in a file may come from somebody else.
            self._connection.execute("PRAGMA trusted_schema = OFF")
            self._connection.set_progress_handler(self._must_stop, _STEPS)
        return self._connection

    def _must_stop(self) -> bool:
        return self._closed.is_set() or (self._deadline is not None and self._deadline.seconds_left <= 0)

    def _close_connection(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def attach(database: sqlite3.Connection, name: str, path: Path | None, *, writable: bool) -> None:
    """Attach a file under a name; a temporary database if the path is None.

    Raises:
        sqlite3.Error: It cannot be opened.
    """
    place = "" if path is None else f"{path.absolute().as_uri()}?mode={'rwc' if writable else 'ro'}"
    database.execute(f"ATTACH DATABASE ? AS {name}", (place,))
    database.execute(f"PRAGMA {name}.cache_size = -{_CACHE_KILOBYTES}")


@functools.cache
def require_fts5() -> None:
    """Check that the SQLite of this Python has FTS5 with trigrams.

    Raises:
        ConfigurationError: It does not.
    """
    try:
        with sqlite3.connect(":memory:") as database:
            database.execute("CREATE VIRTUAL TABLE probe USING fts5(word, tokenize='trigram')")
        database.close()
    except sqlite3.Error as error:
        raise ConfigurationError(
            f"The SQLite {sqlite3.sqlite_version} of this Python lacks FTS5, which the label index needs.",
            next_step="Use a Python with SQLite 3.34 or newer.",
        ) from error
