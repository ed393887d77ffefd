"""Where an index of names comes from: built in this process, or stored.

It is in a temporary database, or in a folder that belongs to exactly this graph, where the next run opens it.

Three files: `labels.sqlite` is the index, `labels.draft` the partial index of an unfinished build, and `labels.json`
describes the index to people. Searches use the old index until a new one is complete.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import hashlib
import logging
import os
import secrets
import sqlite3
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from gateway.errors import ConfigurationError, DeadlinePassed, GatewayError
from gateway.escaping import json_text
from gateway.graph.call import Deadline
from gateway.graph.store import NameReader, OnProgress
from gateway.graph.values import Iri
from gateway.search_index.index import OPENING_SECONDS, IndexInfo, LabelIndex, WrongFormatError, build_index
from gateway.search_index.partial_index import Allowance, no_progress, read_names
from gateway.search_index.sqlite_worker import ClosedError, SqliteWorker
from gateway.settings.storage import GraphIdentity, graph_folder, make_folder, write_file

_log = logging.getLogger(__name__)

_SHARE = 0.5
"""The share of its time that a search waits for the index at most; the rest is for a search without it."""

_SMALL = 20_000
"""Entities up to which every search waits for the index: building it takes about a second."""

_PATIENCE_SECONDS = 2.0
"""Seconds that a search waits for the index of a larger graph."""

_DAY = 86_400.0
"""Seconds after which an unfinished file has no owner: no build takes as long."""

_ATTEMPTS = 3
"""Indexes that may fail or break before no other one is built."""


class InProcessIndexSource:
    """Builds an index when the first search needs it; see `gateway.search_index.index.LabelIndexSource`.

    Args:
        names: Lists the names of the graph.
        allowance: What each page of names may spend.
        folder: A folder that belongs to exactly this graph, to store the index in; it need not exist.
        patience: Seconds that a search waits for the index of a large graph.
    """

    def __init__(
        self,
        names: NameReader,
        allowance: Allowance,
        folder: Path | None = None,
        *,
        patience: float = _PATIENCE_SECONDS,
    ) -> None:
        self._names = names
        self._allowance = allowance
        self._folder = folder
        self._patience = patience
        self._so_far = (0, 0)
        self._page_read = asyncio.Event()
        self._building: asyncio.Task[LabelIndex | None] | None = None
        self._is_large = asyncio.Event()
        self._predicates: Sequence[Iri] = ()
        self._failed = 0
        self._is_closed = False

    @property
    def is_pending(self) -> bool:
        """Whether there is no index yet, and one is being built or will be."""
        return self._may_build and _result(self._building) is None

    @property
    def _may_build(self) -> bool:
        return self._failed < _ATTEMPTS and not self._is_closed

    async def index(self, deadline: Deadline) -> LabelIndex | None:
        """Return the index; None if it takes too long, then building goes on."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(deadline.seconds_left * _SHARE):
                while self._may_build:
                    building = await self._current()
                    await self._wait_for(building)
                    if not building.done():
                        return None
                    if building is self._building and not self._is_outdated:
                        return building.result()
        return None

    def start(self) -> None:
        """Start to build the index before the first search."""
        if self._building is None:
            self._start()

    async def built(self, on_progress: OnProgress) -> None:
        """Wait until the index by the predicates in force is built, however long that takes."""
        while self._may_build:
            building = await self._current()
            while not building.done():
                page = asyncio.create_task(self._page_read.wait())
                try:
                    await asyncio.wait([building, page], return_when=asyncio.FIRST_COMPLETED)
                finally:
                    page.cancel()
                # A small graph is read before anybody would see it.
                if self._is_large.is_set():
                    await on_progress(*self._so_far)
            if building is self._building and not self._is_outdated:
                return

    @property
    def _is_outdated(self) -> bool:
        """Whether other predicates turned out to name the nodes, since the build started."""
        return self._predicates != self._names.predicates

    async def _current(self) -> asyncio.Task[LabelIndex | None]:
        """Return the build of an index by the predicates in force; start one if there is none."""
        building = self._building
        if self._is_outdated or (building is not None and building.done() and _result(building) is None):
            await self._drop()
        return self._building or self._start()

    def _start(self) -> asyncio.Task[LabelIndex | None]:
        self._predicates = self._names.predicates
        self._is_large.clear()
        self._building = asyncio.create_task(self._build(), name="label index")
        return self._building

    async def _wait_for(self, building: asyncio.Task[LabelIndex | None]) -> None:
        """Wait until the index is built; only for the patience once the graph is known to be large."""
        if building.done():
            return
        large = asyncio.create_task(self._is_large.wait())
        try:
            await asyncio.wait([building, large], return_when=asyncio.FIRST_COMPLETED)
        finally:
            large.cancel()
        await asyncio.wait([building], timeout=self._patience if self._is_large.is_set() else None)

    def discard(self, index: LabelIndex) -> None:
        """Never return that index again; build another one if it is the current one."""
        index.close()
        if _result(self._building) is index:
            self._failed += 1
            self._building = None

    async def close(self) -> None:
        """Close the index, and build no other one."""
        self._is_closed = True
        await self._drop()

    async def _drop(self) -> None:
        if self._building is None:
            return
        building, self._building = self._building, None
        building.cancel()
        await asyncio.wait([building])
        if (index := _result(building)) is not None:
            index.close()

    async def _report(self, read: int, total: int) -> None:
        if total > _SMALL:
            self._is_large.set()
        self._so_far = (read, total)
        self._page_read.set()
        self._page_read = asyncio.Event()

    async def _build(self) -> LabelIndex | None:
        stored = None if self._folder is None else self._folder / f"labels-{_digest(self._predicates)}.sqlite"
        # After a failure the stored index may be the broken one.
        if stored is not None and not self._failed and (index := await _open_stored(stored)) is not None:
            return index
        try:
            return await self._built(stored)
        except (GatewayError, ClosedError, sqlite3.Error) as error:
            _log.warning("there is no label index, so searches scan all names: %s", error)
        self._failed += 1
        return None

    async def _built(self, stored: Path | None) -> LabelIndex | None:
        worker, missing = await self._read(None if stored is None else stored.with_suffix(".draft"))
        try:
            if stored is not None and not missing and await _store(worker, stored):
                worker.close()
                return await _open_stored(stored)
            return await build_index(worker, date="", missing=missing)
        except BaseException:
            worker.close()
            raise

    async def _read(self, draft: Path | None) -> tuple[SqliteWorker, int]:
        """Read all names with a new worker; return how many are missing.

        The names are in a file, where an interrupted reading is resumed, or in a temporary database if that cannot be.
        """
        worker = SqliteWorker()
        try:
            if draft is not None:
                make_folder(draft.parent)
                await worker.run(_refuse_to_wait)
            missing = await read_names(self._names, worker, self._allowance, path=draft, on_progress=self._report)
        except (ConfigurationError, sqlite3.Error) as error:
            worker.close()
            if draft is None:
                raise
            _log.info("names are not read into %s: %s", draft, error)
            if not isinstance(error, sqlite3.OperationalError):
                _remove(draft)
            return await self._read(None)
        except BaseException:
            worker.close()
            raise
        return worker, missing


def _refuse_to_wait(database: sqlite3.Connection) -> None:
    """Let another process read names into the same file: this one has no time to wait for it."""
    database.execute("PRAGMA busy_timeout = 0")


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)


def _result(building: asyncio.Task[LabelIndex | None] | None) -> LabelIndex | None:
    """Return the index of a build; None if it has not ended, was cancelled or failed."""
    return None if building is None or not building.done() or building.cancelled() else building.result()


def _is_there(path: Path) -> bool:
    """Return whether a file exists: the linter forbids the call in a coroutine, but it takes no time."""
    return path.is_file()


async def _open_stored(path: Path) -> LabelIndex | None:
    """Return the stored index; None if there is none that can be used."""
    _remove_unfinished(path.parent)
    try:
        return await LabelIndex.open(path, Deadline.after(OPENING_SECONDS)) if _is_there(path) else None
    except (sqlite3.Error, WrongFormatError, DeadlinePassed) as error:
        _log.warning("%s is not used and is rebuilt: %s", path, error)
        return None


async def _store(worker: SqliteWorker, path: Path) -> bool:
    """Build the index of a worker in its file; return whether the file could be written."""
    # A unique name, because several gateways, even in one process, may build the index of one graph at once.
    new = path.with_suffix(f".{secrets.token_hex(8)}.new")
    try:
        make_folder(path.parent)
        await build_index(worker, date="", missing=0, path=new)
        new.replace(path)
        # It was detached, so nobody reads it.
        _remove(path.with_suffix(".draft"))
        _remove_others(path)
    except (OSError, sqlite3.OperationalError, ConfigurationError) as error:
        _log.warning("the label index cannot be stored in %s: %s", path.parent, error)
        return False
    finally:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)
    return True


def _remove_others(path: Path) -> None:
    """Remove the indexes by other predicates, which were built before the predicates in force were detected."""
    for other in path.parent.glob("labels-*.sqlite"):
        if other != path:
            # Some systems refuse to remove a file that another process has open.
            with contextlib.suppress(OSError):
                other.unlink()


def _remove_unfinished(folder: Path) -> None:
    """Remove the unfinished files of killed processes."""
    for left in folder.glob("labels-*.new"):
        with contextlib.suppress(OSError):
            if left.stat().st_mtime < time.time() - _DAY:
                left.unlink()


def _digest(predicates: Sequence[Iri]) -> str:
    return hashlib.sha256(" ".join(predicates).encode()).hexdigest()[:16]


Stamp = tuple[int, int, int]
"""Inode, modification time and size: they differ once a file is replaced."""


@dataclass(frozen=True, slots=True)
class StoredIndex:
    """The folder with the label index of one graph.

    Attributes:
        identity: The graph.
        folder: The folder.
    """

    identity: GraphIdentity
    folder: Path

    @classmethod
    def of(cls, identity: GraphIdentity, store_dir: Path) -> StoredIndex:
        """Return the stored index of a graph; its folder need not exist."""
        return cls(identity, graph_folder(identity, store_dir))

    @property
    def index(self) -> Path:
        """The file of the index."""
        return self.folder / "labels.sqlite"

    @property
    def partial(self) -> Path:
        """The file of the partial index."""
        return self.folder / "labels.draft"

    async def build(
        self, names: NameReader, allowance: Allowance, *, restart: bool = False, on_progress: OnProgress = no_progress
    ) -> IndexInfo:
        """Build the index and put it in place of the old one; resume an interrupted build unless it is to restart.

        Raises:
            Fault: The graph could not be asked; the next build resumes here.
            ConfigurationError: Another process builds this index, or the folder cannot be written.
        """
        make_folder(self.folder)
        try:
            info = await self._build(names, allowance, on_progress, restart=restart)
        except sqlite3.OperationalError as error:
            raise self._unwritable(error) from error
        except sqlite3.DatabaseError as error:
            _log.warning("%s is broken, so all names are read again: %s", self.partial, error)
            self.partial.unlink(missing_ok=True)
            info = await self._build(names, allowance, on_progress, restart=True)
        write_file(self.folder / "labels.json", json_text({**asdict(info), "of": self.identity.readable}, indent=1))
        return info

    async def _build(
        self, names: NameReader, allowance: Allowance, on_progress: OnProgress, *, restart: bool
    ) -> IndexInfo:
        new = self.folder / f"labels.{os.getpid()}.new"
        worker = SqliteWorker()
        try:
            missing = await read_names(
                names,
                worker,
                allowance,
                source=self.identity.digest,
                path=self.partial,
                restart=restart,
                on_progress=on_progress,
            )
            # Only one process has the partial index, so these are of killed processes.
            for left in self.folder.glob("labels.*.new"):
                left.unlink(missing_ok=True)
            today = dt.datetime.now(dt.UTC).date().isoformat()
            index = await build_index(worker, date=today, missing=missing, path=new)
            new.replace(self.index)
            self.partial.unlink(missing_ok=True)
            return index.info
        finally:
            worker.close()
            new.unlink(missing_ok=True)

    def _unwritable(self, error: sqlite3.Error) -> ConfigurationError:
        if "locked" in str(error):
            return ConfigurationError(
                "Another process is making this label index now.", next_step="Wait for it, or stop it."
            )
        return ConfigurationError(
            f"The label index cannot be written to {self.folder}: {error}.",
            next_step="Give another folder with --store.",
        )


class StoredIndexSource:
    """The stored index of an endpoint, reopened when its file is replaced; see `LabelIndexSource`."""

    def __init__(self, stored: StoredIndex) -> None:
        self._path = stored.index
        self._opening = asyncio.Lock()
        self._stamp: Stamp | None = None
        self._index: LabelIndex | None = None

    @property
    def is_pending(self) -> bool:
        """False: the index of an endpoint is built by a command, not by the gateway."""
        return False

    def start(self) -> None:
        """Do nothing: the index of an endpoint is built by a command."""

    async def built(self, on_progress: OnProgress) -> None:
        """Return at once: the index of an endpoint is built by a command."""

    async def index(self, deadline: Deadline) -> LabelIndex | None:
        """Return the index, opened again if its file was replaced; None if there is none."""
        deadline.check()
        async with self._opening:
            stamp = self._current_stamp()
            if stamp != self._stamp:
                self._close_index()
                if stamp is not None:
                    with self._logging_damage(deadline):
                        self._index = await LabelIndex.open(self._path, deadline.within(OPENING_SECONDS))
                # Last: if this call is cancelled, the next one opens the index.
                self._stamp = stamp
            return self._index

    def discard(self, index: LabelIndex) -> None:
        """Never return that index again; one that replaces its file is used."""
        if index is self._index:
            self._close_index()

    async def close(self) -> None:
        """Close the index."""
        self._close_index()

    def _close_index(self) -> None:
        if self._index is not None:
            self._index.close()
            self._index = None

    def _current_stamp(self) -> Stamp | None:
        try:
            status = self._path.stat()
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size

    @contextlib.contextmanager
    def _logging_damage(self, deadline: Deadline) -> Iterator[None]:
        try:
            yield
        except DeadlinePassed:
            deadline.check()
            _log.warning("%s takes too long to open: `bfsql-gateway refresh` rebuilds it", self._path)
        except WrongFormatError:
            _log.warning("%s was built by another version: `bfsql-gateway refresh` rebuilds it", self._path)
        except sqlite3.Error as error:
            _log.warning("%s is broken: `bfsql-gateway refresh` rebuilds it: %s", self._path, error)
