"""A SQLite database and the one thread that works on it, off the event loop."""

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
from gateway.graph.deadline import Deadline, deadline_passed

Result = TypeVar("Result")
Given = TypeVarTuple("Given")

_STEPS = 20_000
"""Steps of SQLite's machine, some ten a microsecond, after which it looks at the time."""

_BUSY_SECONDS = 2.0
"""Time for another process to let go of a file."""

_CACHE_KILOBYTES = 32 << 10
"""Memory for pages of the database; what is above that is on disk, temporary tables too."""


class ClosedError(Exception):
    """The desk is closed, so nothing is worked on any more."""


class SqliteWorker:
    """A connection without tables of its own; whoever works at it attaches what it needs."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "labels")
        self._closed = threading.Event()
        self._connection: sqlite3.Connection | None = None
        self._deadline: Deadline | None = None

    async def run(
        self,
        work: Callable[[sqlite3.Connection, *Given], Result],
        *given: *Given,
    ) -> Result:
        """Work on the database in its thread.

        Raises:
            ClosedError: The desk was closed.
            sqlite3.Error: The database is broken, or cannot be written.
        """
        return await self._in_time(None, lambda database: work(database, *given))

    async def run_until(
        self,
        deadline: Deadline,
        work: Callable[[sqlite3.Connection, *Given], Result],
        *given: *Given,
    ) -> Result:
        """Work on the database in its thread, and stop when the time is up.

        Raises:
            DeadlinePassed: No time is left.
            ClosedError: The desk was closed.
            sqlite3.Error: The database is broken.
        """
        try:
            async with asyncio.timeout(deadline.seconds_left):
                return await self._in_time(deadline, lambda database: work(database, *given))
        except TimeoutError as error:
            raise deadline_passed() from error

    def go_on(self) -> None:
        """Raise when the desk was closed: for work that SQLite does not interrupt."""
        if self._closed.is_set():
            raise ClosedError

    def close(self) -> None:
        """Stop what is being worked on, and let go of the database."""
        if not self._closed.is_set():
            self._closed.set()
            self._thread.submit(self._let_go)
            self._thread.shutdown(wait=False)

    async def _in_time(self, deadline: Deadline | None, work: Callable[[sqlite3.Connection], Result]) -> Result:
        def there() -> Result:
            self.go_on()
            self._deadline = deadline
            try:
                return work(self._open())
            except sqlite3.OperationalError as error:
                if self._too_late():
                    self.go_on()
                    raise deadline_passed() from error
                raise
            finally:
                self._deadline = None

        self.go_on()
        return await asyncio.get_running_loop().run_in_executor(self._thread, there)

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            require_fts5()
            # Without a name: a database of this connection alone, in memory as far as the cache goes and then on disk.
            self._connection = sqlite3.connect("", timeout=_BUSY_SECONDS, isolation_level=None, uri=True)
            self._connection.execute(f"PRAGMA cache_size = -{_CACHE_KILOBYTES}")
            # A file may hold views and triggers of somebody else.
            self._connection.execute("PRAGMA trusted_schema = OFF")
            self._connection.set_progress_handler(self._too_late, _STEPS)
        return self._connection

    def _too_late(self) -> bool:
        return self._closed.is_set() or (self._deadline is not None and self._deadline.seconds_left <= 0)

    def _let_go(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def attach(database: sqlite3.Connection, schema: str, path: Path | None, *, writable: bool) -> None:
    """Attach a file under a schema's name; without a path, a temporary database.

    Raises:
        sqlite3.Error: It cannot be opened.
    """
    place = "" if path is None else f"{path.absolute().as_uri()}?mode={'rwc' if writable else 'ro'}"
    database.execute(f"ATTACH DATABASE ? AS {schema}", (place,))
    database.execute(f"PRAGMA {schema}.cache_size = -{_CACHE_KILOBYTES}")


@functools.cache
def require_fts5() -> None:
    """See that this Python's SQLite has what the index needs.

    Raises:
        ConfigurationError: It has not.
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
