"""The label index of a graph in this process: made once, beside what else goes on, in a temporary database."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sqlite3
from collections.abc import Sequence

from gateway.errors import GatewayError
from gateway.graph.budget import Deadline
from gateway.graph.names import NameReader
from gateway.graph.values import Iri
from gateway.labels.building import Allowance, read_names
from gateway.labels.desk import ClosedError, Desk
from gateway.labels.index import LabelIndex, make_index

_log = logging.getLogger(__name__)

_SHARE = 0.5
"""The share of its own time that a search waits for the index at most: as long again is left to do without."""

_SMALL = 20_000
"""Entities with names below which an index takes about a second, so that every search waits for it."""

_SECONDS = 2.0
"""Seconds that a search waits for the index of a larger graph."""

_ATTEMPTS = 3
"""Indexes that are begun because the one before failed, or broke, before there is none."""


class LoadedLabels:
    """Makes an index when it is first asked for one; see `gateway.labels.store.Labels`."""

    def __init__(self, names: NameReader, allowance: Allowance, *, patience: float = _SECONDS) -> None:
        """Make nothing yet.

        Args:
            names: Reads the graph.
            allowance: What each page may spend.
            patience: Seconds that a search waits for the index of a graph that is not small.
        """
        self._names = names
        self._allowance = allowance
        self._patience = patience
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

    async def _told(self, _: int, total: int) -> None:
        if total > _SMALL:
            self._is_large.set()

    async def _make(self) -> LabelIndex | None:
        desk = Desk()
        try:
            missing = await read_names(self._names, desk, self._allowance, told=self._told)
            return await make_index(desk, date="", missing=missing)
        except (GatewayError, ClosedError, sqlite3.Error) as error:
            _log.warning("there is no label index, so searches scan all names: %s", error)
        except BaseException:
            desk.close()
            raise
        self._failed += 1
        desk.close()
        return None
