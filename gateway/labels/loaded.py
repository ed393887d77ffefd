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

_SHARE = 0.25
_SECONDS = 2.0
"""A search waits for the index no longer than the shorter of these: a share of its own time, and seconds."""


class LoadedLabels:
    """Makes an index when it is first asked for one; see `gateway.labels.store.Labels`."""

    def __init__(self, names: NameReader, allowance: Allowance) -> None:
        self._names = names
        self._allowance = allowance
        self._making: asyncio.Task[LabelIndex | None] | None = None
        self._predicates: Sequence[Iri] = ()
        self._distrusted = False

    async def index(self, deadline: Deadline) -> LabelIndex | None:
        """Return the index, or None where it takes too long to wait for: it is made all the same."""
        if self._distrusted:
            return None
        if self._predicates != self._names.predicates:
            # Which predicates name nodes may be found out while the graph is in use.
            await self.close()
        making = self._begun()
        await asyncio.wait([making], timeout=min(_SECONDS, deadline.seconds_left * _SHARE))
        return making.result() if making.done() and not making.cancelled() else None

    def begin(self) -> None:
        """Begin to make the index before anybody searches."""
        self._begun()

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

    async def _make(self) -> LabelIndex | None:
        desk = Desk()
        try:
            missing = await read_names(self._names, desk, self._allowance)
            return await make_index(desk, date="", missing=missing)
        except (GatewayError, ClosedError, sqlite3.Error) as error:
            _log.warning("there is no label index, so searches scan all names: %s", error)
        except BaseException:
            desk.close()
            raise
        desk.close()
        return None
