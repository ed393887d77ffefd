"""When the garbage collector of a server looks at objects: at few at once, and at all of them rarely.

A look at every object takes half a second and more while the cache is full, in which no thread runs and no client is
answered. So the old objects are looked at soon, while the new ones among them are few, and what is left is frozen: kept
out of later collections. What calls leave behind is freed at once, frozen or not, except for cycles. Cycles of objects
that were in use when they were frozen stay until all objects are looked at.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

_YOUNG: Final = 2_000
_MIDDLE: Final = 10
_NEVER: Final = 1 << 30
"""The thresholds: objects made until the young ones are looked at; such collections until the middle generation is; and
those until the old ones are, which this module does instead."""

_MIDDLE_AGED: Final = 1
_OLD: Final = 2
"""The numbers of generations. A collection of the middle one moves what is left, 20,000 objects at most, to the old."""

DUE: Final = 3
"""Such collections after which the old objects are looked at when no call runs."""

OVERDUE: Final = 5
"""Those after which they are looked at in any case. Beside a cache that is being filled there are 50,000 new objects
then, and some 8,000 later: a look of 20 ms."""

MOST_LEFT: Final = 15_000
"""Old objects left during calls from which they are frozen: more would make the next look a long one, and the cycles of
the calls that run then are lost until all objects are looked at."""

TOO_MANY: Final = 30_000
"""Old objects from which they are frozen without a look during calls, which would take 40 ms and more: they are the
edges of a large traversal, and free when it ends."""

MORE_FROZEN: Final = 100_000
"""While no call runs, all objects are looked at where more than half as many again are frozen, and so many more, as the
last such look left."""

MUCH_MORE_FROZEN: Final = 1_000_000
"""They are in any case where more than three times as many are frozen, and so many more: cycles of some 200 MB."""

COUNTED_EVERY: Final = 10
"""Looks between two counts of the frozen objects, which take 10 ms where these are a million."""

_SECONDS: Final = 1.0
"""How often it is looked whether a collection is due."""


class Collector:
    """What this module has Python's garbage collector do."""

    def collect(self) -> None:
        """Look at all objects that are not frozen."""
        gc.collect()

    def left(self) -> int:
        """Return how many old objects there are that are not frozen."""
        return len(gc.get_objects(generation=_OLD))

    def frozen(self) -> int:
        """Return how many objects are frozen and still in use, or cycles."""
        return gc.get_freeze_count()

    def freeze(self) -> None:
        """Keep all objects out of collections from now on."""
        gc.freeze()

    def unfreeze(self) -> None:
        """Let collections look at frozen objects again."""
        gc.unfreeze()


class OldCollections:
    """The collections of old objects of one process.

    Args:
        is_idle: Tells whether no call runs.
        collector: Does what this decides.
    """

    def __init__(self, is_idle: Callable[[], bool], collector: Collector) -> None:
        self._is_idle = is_idle
        self._collector = collector
        self._since = 0
        self._looks = 0
        self._frozen_before = collector.frozen()

    def note(self, phase: str, info: Mapping[str, Any]) -> None:
        """Count a collection; Python calls this at the start and at the stop of each."""
        if phase == "stop" and info["generation"] == _MIDDLE_AGED:
            self._since += 1

    def collect_if_due(self) -> None:
        """Collect old objects if there are enough new ones, and no call runs or it cannot wait any more."""
        if self._since < DUE:
            return
        is_idle = self._is_idle()
        if not is_idle and self._since < OVERDUE:
            return
        self._since = 0
        self._looks += 1
        if self._are_many_frozen(is_idle=is_idle):
            self._collector.unfreeze()
            self._collector.collect()
            self._collector.freeze()
            self._frozen_before = self._collector.frozen()
            return
        if is_idle or self._collector.left() < TOO_MANY:
            self._collector.collect()
        # Without calls nothing is in use that will be garbage soon.
        if is_idle or self._collector.left() >= MOST_LEFT:
            self._collector.freeze()

    def _are_many_frozen(self, *, is_idle: bool) -> bool:
        """Return whether so many objects are frozen that many may be cycles."""
        if self._looks % COUNTED_EVERY:
            return False
        before = self._frozen_before
        most = before + before // 2 + MORE_FROZEN if is_idle else 3 * before + MUCH_MORE_FROZEN
        return self._collector.frozen() > most


@asynccontextmanager
async def collected_between_calls(is_idle: Callable[[], bool]) -> AsyncIterator[None]:
    """Let the garbage collector look at few objects at once, and between calls where it can, while the block runs.

    What there is when it begins, modules and classes for the most part, is frozen too.
    """
    collector, thresholds = Collector(), gc.get_threshold()
    collector.freeze()
    collections = OldCollections(is_idle, collector)

    async def look() -> None:
        while True:
            await asyncio.sleep(_SECONDS)
            collections.collect_if_due()

    gc.callbacks.append(collections.note)
    gc.set_threshold(_YOUNG, _MIDDLE, _NEVER)
    looking = asyncio.create_task(look())
    try:
        yield
    finally:
        looking.cancel()
        gc.set_threshold(*thresholds)
        gc.callbacks.remove(collections.note)
        gc.unfreeze()
