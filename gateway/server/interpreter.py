"""What the interpreter is told: when to look for garbage, and to switch threads.

A full collection looks at every object: a tenth of a second and more while the edges of a large traversal are in
memory, in which no thread runs and no client is answered. What calls leave behind is freed at once, except for cycles,
which are few: most stem from errors.

Each time the event loop has waited for something, it needs the interpreter back from a thread that computes for a long
call, and waits for one switch interval. A short call is a dozen such waits: at Python's 5 ms they cost it more than its
own work.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

_YOUNG: Final = 2_000
_MIDDLE: Final = 10
_NEVER: Final = 1 << 30
"""The thresholds: objects made until the young ones are looked at; such collections until the middle generation is; and
those until all are, which this module does instead."""

_MIDDLE_AGED: Final = 1
"""The number of the middle generation: a collection of it moves what is left, 20,000 objects at most, to the old."""

DUE: Final = 10
"""Such collections after which all objects are looked at when no call runs."""

OVERDUE: Final = 300
"""Those after which they are looked at in any case: cycles of all of them might take a gigabyte."""

_SECONDS: Final = 1.0
"""How often it is looked whether a collection is due."""


class FullCollections:
    """Full collections of one process.

    Args:
        is_idle: Tells whether no call runs.
        collect: Collects all objects.
        freeze: Keeps what is left after the first collection out of later ones: modules and classes, for the most part.
    """

    def __init__(
        self,
        is_idle: Callable[[], bool],
        collect: Callable[[], object] = gc.collect,
        freeze: Callable[[], object] = gc.freeze,
    ) -> None:
        self._is_idle = is_idle
        self._collect = collect
        self._freeze = freeze
        self._since = 0
        self._is_first = True

    def note(self, phase: str, info: Mapping[str, Any]) -> None:
        """Count a collection; Python calls this at the start and at the stop of each."""
        if phase == "stop" and info["generation"] == _MIDDLE_AGED:
            self._since += 1

    def collect_if_due(self) -> None:
        """Collect all objects if enough of them have become old, and no call runs or it cannot wait any more."""
        if self._since >= OVERDUE or (self._since >= DUE and self._is_idle()):
            self._since = 0
            self._collect()
            if self._is_first and self._is_idle():
                self._is_first = False
                self._freeze()


@asynccontextmanager
async def collected_between_calls(is_idle: Callable[[], bool]) -> AsyncIterator[None]:
    """Let the garbage collector look at all objects between calls while the block runs.

    What there is when it begins, modules and classes for the most part, is kept out of every collection: a server that
    is never idle would otherwise hold all clients while it looks at that.
    """
    collections, thresholds = FullCollections(is_idle), gc.get_threshold()

    async def look() -> None:
        while True:
            await asyncio.sleep(_SECONDS)
            collections.collect_if_due()

    gc.callbacks.append(collections.note)
    gc.set_threshold(_YOUNG, _MIDDLE, _NEVER)
    gc.freeze()
    looking = asyncio.create_task(look())
    try:
        yield
    finally:
        looking.cancel()
        gc.set_threshold(*thresholds)
        gc.callbacks.remove(collections.note)
        gc.unfreeze()


SECONDS: Final = 0.0005
"""A switch takes some ten microseconds, so threads that compute side by side lose 2 % at most."""


@asynccontextmanager
async def short_switch_interval() -> AsyncIterator[None]:
    """Have threads switch this often during the block."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, SECONDS))
    try:
        yield
    finally:
        sys.setswitchinterval(before)
