"""The label index of a graph in this process: made once, beside what else goes on.

It is in a temporary database, or in a folder that belongs to exactly this graph, where the next run finds it.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from gateway.errors import ConfigurationError, DeadlinePassed, GatewayError
from gateway.graph.budget import Deadline
from gateway.graph.names import NameReader
from gateway.graph.values import Iri
from gateway.labels.building import Allowance, Told, read_names, told_nobody
from gateway.labels.desk import ClosedError, Desk
from gateway.labels.index import OPENING_SECONDS, LabelIndex, WrongFormatError, make_index
from gateway.settings.keeping import make

_log = logging.getLogger(__name__)

_SHARE = 0.25
_SECONDS = 2.0
"""A search waits for the index no longer than the shorter of these: a share of its own time, and seconds."""


class LoadedLabels:
    """Makes an index when it is first asked for one; see `gateway.labels.store.Labels`.

    Args:
        names: Reads the graph.
        allowance: What each page of names may spend.
        place: A folder that belongs to exactly this graph, where the index is stored; it need not exist.
    """

    def __init__(self, names: NameReader, allowance: Allowance, place: Path | None = None) -> None:
        self._names = names
        self._allowance = allowance
        self._place = place
        self._told: Told = told_nobody
        self._making: asyncio.Task[LabelIndex | None] | None = None
        self._predicates: Sequence[Iri] = ()
        self._distrusted = False

    async def index(self, deadline: Deadline) -> LabelIndex | None:
        """Return the index, or None where it takes too long to wait for: it is made all the same."""
        if self._distrusted:
            return None
        making = await self._current()
        await asyncio.wait([making], timeout=min(_SECONDS, deadline.seconds_left * _SHARE))
        return making.result() if making.done() and not making.cancelled() else None

    def begin(self) -> None:
        """Begin to make the index before anybody searches."""
        self._begun()

    async def made(self, told: Told) -> None:
        """Wait until the index is there, however long that takes.

        Args:
            told: Called after each page of names, with the entities read and all of them.
        """
        self._told = told
        await asyncio.wait([await self._current()])

    async def _current(self) -> asyncio.Task[LabelIndex | None]:
        if self._predicates != self._names.predicates:
            # Which predicates name nodes may be found out while the graph is in use.
            await self.close()
        return self._begun()

    def _begun(self) -> asyncio.Task[LabelIndex | None]:
        if self._making is None:
            self._predicates = self._names.predicates
            self._making = asyncio.create_task(self._make(), name="label index")
        return self._making

    def distrust(self, index: LabelIndex) -> None:
        """Never return an index again."""
        self._distrusted = True
        index.close()

    async def close(self) -> None:
        """Let go of the index, and stop making one."""
        if self._making is None:
            return
        making, self._making = self._making, None
        making.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            index = await making
            if index is not None:
                index.close()

    async def _tell(self, read: int, total: int) -> None:
        await self._told(read, total)

    async def _make(self) -> LabelIndex | None:
        stored = None if self._place is None else self._place / f"labels-{_digest(self._predicates)}.sqlite"
        if stored is not None and (index := await _opened(stored)) is not None:
            return index
        desk = Desk()
        try:
            missing = await read_names(self._names, desk, self._allowance, told=self._tell)
            if stored is not None and not missing and await _stored(desk, stored):
                desk.close()
                return await _opened(stored)
            return await make_index(desk, date="", missing=missing)
        except (GatewayError, ClosedError, sqlite3.Error) as error:
            _log.warning("there is no label index, so searches scan all names: %s", error)
        except BaseException:
            desk.close()
            raise
        desk.close()
        return None


def _is_there(path: Path) -> bool:
    """Return whether there is a file."""
    return path.is_file()


async def _opened(path: Path) -> LabelIndex | None:
    """Open a stored index; None where there is none that can be used."""
    try:
        return await LabelIndex.opened(path, Deadline.after(OPENING_SECONDS)) if _is_there(path) else None
    except (sqlite3.Error, WrongFormatError, DeadlinePassed) as error:
        _log.warning("%s is not used and is made again: %s", path, error)
        return None


async def _stored(desk: Desk, path: Path) -> bool:
    """Make the index of the draft at a desk, whole in its place; return whether it could be written."""
    new = path.with_suffix(f".{os.getpid()}.new")
    try:
        make(path.parent)
        await make_index(desk, date="", missing=0, path=new)
        new.replace(path)
    except (OSError, sqlite3.OperationalError, ConfigurationError) as error:
        _log.warning("the label index cannot be stored in %s: %s", path.parent, error)
        return False
    finally:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)
    return True


def _digest(predicates: Sequence[Iri]) -> str:
    return hashlib.sha256(" ".join(predicates).encode()).hexdigest()[:16]
