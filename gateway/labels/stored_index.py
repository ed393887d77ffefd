"""The label index of an endpoint, stored in a folder: built page by page by one command, used by later runs.

Three files: `labels.sqlite` is the index, `labels.draft` the partial index of an unfinished build, and `labels.json`
describes the index to people. Searches use the old index until a new one is complete.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import logging
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from gateway.errors import ConfigurationError, DeadlinePassed
from gateway.escaping import json_text
from gateway.graph.deadline import Deadline
from gateway.graph.store import NameReader, OnProgress
from gateway.labels.index import OPENING_SECONDS, IndexInfo, LabelIndex, WrongFormatError, build_index
from gateway.labels.partial_index import Allowance, no_progress, read_names
from gateway.labels.sqlite_worker import SqliteWorker
from gateway.settings.graph_identity import GraphIdentity, graph_folder
from gateway.settings.private_folder import make_folder, write_file

_log = logging.getLogger(__name__)

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
