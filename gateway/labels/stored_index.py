"""The label index of an endpoint: kept in a folder between runs, made page by page, taken into use whole.

Three files: `labels.sqlite` is the index, `labels.draft` what was read for the next one, and `labels.json` says to a
person what the index is of. A search reads the first only, and finds the old one until a new one is whole.
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
from gateway.graph.name_reader import NameReader
from gateway.labels.building import Allowance, OnProgress, no_progress, read_names
from gateway.labels.index import OPENING_SECONDS, About, LabelIndex, WrongFormatError, make_index
from gateway.labels.sqlite_worker import SqliteWorker
from gateway.settings.storage import Identity, make, place_for, write

_log = logging.getLogger(__name__)

Stamp = tuple[int, int, int]
"""By which a file is known to be the same as before."""


@dataclass(frozen=True, slots=True)
class StoredIndex:
    """Where the label index of one graph is kept.

    Attributes:
        identity: The graph.
        place: The folder.
    """

    identity: Identity
    place: Path

    @classmethod
    def of(cls, identity: Identity, store_dir: Path | None = None) -> StoredIndex:
        """Return where the index of a graph is kept; nothing need be there."""
        return cls(identity, place_for(identity, store_dir))

    @property
    def index(self) -> Path:
        """The index."""
        return self.place / "labels.sqlite"

    @property
    def draft(self) -> Path:
        """What was read for the next index."""
        return self.place / "labels.draft"

    async def make(
        self, names: NameReader, allowance: Allowance, *, afresh: bool = False, told: OnProgress = no_progress
    ) -> About:
        """Make the index, and take it into use; go on where another run was interrupted.

        Args:
            names: Reads the graph.
            allowance: What each page may spend.
            afresh: Begin with nothing, also where another run was interrupted.
            told: Told after each page.

        Raises:
            Fault: The graph could not be asked; what was read is kept for the next run.
            ConfigurationError: Another process is at work here, or the folder cannot be written.
        """
        make(self.place)
        try:
            about = await self._make(names, allowance, told, afresh=afresh)
        except sqlite3.OperationalError as error:
            raise self._unwritable(error) from error
        except sqlite3.DatabaseError as error:
            _log.warning("%s is broken, so reading begins anew: %s", self.draft, error)
            self.draft.unlink(missing_ok=True)
            about = await self._make(names, allowance, told, afresh=True)
        write(self.place / "labels.json", json_text({**asdict(about), "of": self.identity.readable}, indent=1))
        return about

    async def _make(self, names: NameReader, allowance: Allowance, told: OnProgress, *, afresh: bool) -> About:
        new = self.place / f"labels.{os.getpid()}.new"
        worker = SqliteWorker()
        try:
            missing = await read_names(
                names, worker, allowance, about=self.identity.digest, path=self.draft, afresh=afresh, told=told
            )
            # Who works on the draft has it alone, so these are of processes that were killed.
            for left in self.place.glob("labels.*.new"):
                left.unlink(missing_ok=True)
            today = dt.datetime.now(dt.UTC).date().isoformat()
            index = await make_index(worker, date=today, missing=missing, path=new)
            new.replace(self.index)
            self.draft.unlink(missing_ok=True)
            return index.about
        finally:
            worker.close()
            new.unlink(missing_ok=True)

    def _unwritable(self, error: sqlite3.Error) -> ConfigurationError:
        if "locked" in str(error):
            return ConfigurationError(
                "Another process is making this label index now.", next_step="Wait for it, or stop it."
            )
        return ConfigurationError(
            f"The label index cannot be written to {self.place}: {error}.",
            next_step="Give another folder with --store.",
        )


class StoredIndexSource:
    """The index of an endpoint, also one that is made meanwhile; see `gateway.labels.indexed_store.Labels`."""

    def __init__(self, kept: StoredIndex) -> None:
        self._path = kept.index
        self._opening = asyncio.Lock()
        self._stamp: Stamp | None = None
        self._index: LabelIndex | None = None

    @property
    def is_coming(self) -> bool:
        """None is: the index of an endpoint is made on request, and the old one serves until then."""
        return False

    def begin(self) -> None:
        """Nothing to begin: the index of an endpoint is made on request."""

    async def index(self, deadline: Deadline) -> LabelIndex | None:
        """Return the index, opened anew where the file is another one than before; None where there is none."""
        deadline.check()
        async with self._opening:
            stamp = self._look()
            if stamp != self._stamp:
                self._let_go()
                if stamp is not None:
                    with self._distrusting(deadline):
                        self._index = await LabelIndex.opened(self._path, deadline.within(OPENING_SECONDS))
                # Not before: who gives up while it is opened leaves that to the next.
                self._stamp = stamp
            return self._index

    def distrust(self, index: LabelIndex) -> None:
        """Return that index no more; another one that takes its place is trusted."""
        if index is self._index:
            self._let_go()

    async def close(self) -> None:
        """Let go of the index."""
        self._let_go()

    def _let_go(self) -> None:
        if self._index is not None:
            self._index.close()
            self._index = None

    def _look(self) -> Stamp | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    @contextlib.contextmanager
    def _distrusting(self, deadline: Deadline) -> Iterator[None]:
        try:
            yield
        except DeadlinePassed:
            deadline.check()
            _log.warning("%s takes too long to open: `bfsql-gateway refresh` makes it anew", self._path)
        except WrongFormatError:
            _log.warning("%s was made by another version: `bfsql-gateway refresh` makes it anew", self._path)
        except sqlite3.Error as error:
            _log.warning("%s is broken: `bfsql-gateway refresh` makes it anew: %s", self._path, error)
