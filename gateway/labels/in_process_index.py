"""The label index of a graph in this process: made once, beside what else goes on.

It is in a temporary database, or in a folder that belongs to exactly this graph, where the next run finds it.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import secrets
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path

from gateway.errors import ConfigurationError, DeadlinePassed, GatewayError
from gateway.graph.deadline import Deadline
from gateway.graph.name_reader import NameReader
from gateway.graph.values import Iri
from gateway.labels.building import Allowance, OnProgress, no_progress, read_names
from gateway.labels.index import OPENING_SECONDS, LabelIndex, WrongFormatError, make_index
from gateway.labels.sqlite_worker import ClosedError, SqliteWorker
from gateway.settings.storage import make

_log = logging.getLogger(__name__)

_SHARE = 0.5
"""The share of its own time that a search waits for the index at most; the rest is for a search without it."""

_SMALL = 20_000
"""Entities with names below which an index takes about a second, so that every search waits for it."""

_SECONDS = 2.0
"""Seconds that a search waits for the index of a larger graph."""

_DAY = 86_400.0

_ATTEMPTS = 3
"""Indexes that may fail or break before no other one is begun."""


class InProcessIndexSource:
    """Makes an index when it is first asked for one; see `gateway.labels.indexed_store.Labels`.

    Args:
        names: Reads the graph.
        allowance: What each page of names may spend.
        place: A folder that belongs to exactly this graph, where the index is stored; it need not exist.
        patience: Seconds that a search waits for the index of a graph that is not small.
    """

    def __init__(
        self, names: NameReader, allowance: Allowance, place: Path | None = None, *, patience: float = _SECONDS
    ) -> None:
        self._names = names
        self._allowance = allowance
        self._place = place
        self._patience = patience
        self._told: OnProgress = no_progress
        self._making: asyncio.Task[LabelIndex | None] | None = None
        self._is_large = asyncio.Event()
        self._predicates: Sequence[Iri] = ()
        self._failed = 0
        self._is_closed = False

    @property
    def is_coming(self) -> bool:
        """Whether there is no index yet, and one is being made or will be."""
        making = self._making
        is_made = making is not None and making.done() and not making.cancelled() and making.result() is not None
        return not is_made and self._may_begin

    @property
    def _may_begin(self) -> bool:
        return self._failed < _ATTEMPTS and not self._is_closed

    async def index(self, deadline: Deadline) -> LabelIndex | None:
        """Return the index, or None where it takes too long to wait for: it is made all the same."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(deadline.seconds_left * _SHARE):
                while self._may_begin:
                    making = await self._begun()
                    await self._waited(making)
                    if not making.done():
                        return None
                    if making is self._making and not self._is_outdated:
                        return making.result()
        return None

    def begin(self) -> None:
        """Begin to make the index before anybody searches."""
        if self._making is None:
            self._begin()

    async def made(self, told: OnProgress) -> None:
        """Wait until the index is there, however long that takes.

        Args:
            told: Called after each page of names, with the entities read and all of them.
        """
        self._told = told
        await asyncio.wait([await self._begun()])

    @property
    def _is_outdated(self) -> bool:
        """Whether it was found out, while the graph is in use, that other predicates name its nodes."""
        return self._predicates != self._names.predicates

    async def _begun(self) -> asyncio.Task[LabelIndex | None]:
        """Return the making of an index of the names as they are known now."""
        making = self._making
        has_failed = making is not None and making.done() and (making.cancelled() or making.result() is None)
        if self._is_outdated or has_failed:
            await self._let_go()
        return self._making or self._begin()

    def _begin(self) -> asyncio.Task[LabelIndex | None]:
        self._predicates = self._names.predicates
        self._is_large.clear()
        self._making = asyncio.create_task(self._make(), name="label index")
        return self._making

    async def _waited(self, making: asyncio.Task[LabelIndex | None]) -> None:
        """Wait until the index is made, or not much longer once the graph is known to be large."""
        if making.done():
            return
        large = asyncio.create_task(self._is_large.wait())
        try:
            await asyncio.wait([making, large], return_when=asyncio.FIRST_COMPLETED)
        finally:
            large.cancel()
        await asyncio.wait([making], timeout=self._patience if self._is_large.is_set() else None)

    def distrust(self, index: LabelIndex) -> None:
        """Never return that index again; another one may be made."""
        index.close()
        making = self._making
        if making is not None and making.done() and not making.cancelled() and making.result() is index:
            self._failed += 1
            self._making = None

    async def close(self) -> None:
        """Let go of the index, and make none any more."""
        self._is_closed = True
        await self._let_go()

    async def _let_go(self) -> None:
        if self._making is None:
            return
        making, self._making = self._making, None
        making.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            index = await making
            if index is not None:
                index.close()

    async def _tell(self, read: int, total: int) -> None:
        if total > _SMALL:
            self._is_large.set()
        await self._told(read, total)

    async def _make(self) -> LabelIndex | None:
        stored = None if self._place is None else self._place / f"labels-{_digest(self._predicates)}.sqlite"
        # A stored index that was distrusted is not opened again.
        if stored is not None and not self._failed and (index := await _opened(stored)) is not None:
            return index
        worker = SqliteWorker()
        try:
            missing = await read_names(self._names, worker, self._allowance, told=self._tell)
            if stored is not None and not missing and await _stored(worker, stored):
                worker.close()
                return await _opened(stored)
            return await make_index(worker, date="", missing=missing)
        except (GatewayError, ClosedError, sqlite3.Error) as error:
            _log.warning("there is no label index, so searches scan all names: %s", error)
        except BaseException:
            worker.close()
            raise
        self._failed += 1
        worker.close()
        return None


def _is_there(path: Path) -> bool:
    """Return whether a file exists; in a coroutine the linter refuses the call itself, which takes no time."""
    return path.is_file()


async def _opened(path: Path) -> LabelIndex | None:
    """Open a stored index; None where there is none that can be used."""
    try:
        return await LabelIndex.opened(path, Deadline.after(OPENING_SECONDS)) if _is_there(path) else None
    except (sqlite3.Error, WrongFormatError, DeadlinePassed) as error:
        _log.warning("%s is not used and is made again: %s", path, error)
        return None


async def _stored(worker: SqliteWorker, path: Path) -> bool:
    """Make the index of the draft at a desk, whole in its place; return whether it could be written."""
    # A name of its own: several gateways, in one process too, may make the index of one graph at once.
    new = path.with_suffix(f".{secrets.token_hex(8)}.new")
    try:
        make(path.parent)
        _remove_unfinished(path.parent)
        await make_index(worker, date="", missing=0, path=new)
        new.replace(path)
        _remove_others(path)
    except (OSError, sqlite3.OperationalError, ConfigurationError) as error:
        _log.warning("the label index cannot be stored in %s: %s", path.parent, error)
        return False
    finally:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)
    return True


def _remove_others(path: Path) -> None:
    """Remove the indexes of names by other predicates: they were made before it was known what names this graph."""
    for other in path.parent.glob("labels-*.sqlite"):
        if other != path:
            # Another process may have it open, and some systems then refuse.
            with contextlib.suppress(OSError):
                other.unlink()


def _remove_unfinished(folder: Path) -> None:
    """Remove what processes that were killed left behind; none makes an index for a day."""
    for left in folder.glob("labels-*.new"):
        with contextlib.suppress(OSError):
            if left.stat().st_mtime < time.time() - _DAY:
                left.unlink()


def _digest(predicates: Sequence[Iri]) -> str:
    return hashlib.sha256(" ".join(predicates).encode()).hexdigest()[:16]
