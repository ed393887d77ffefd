"""What is remembered of a graph: answers by question and key, bounded in bytes, each for one time to live."""

from __future__ import annotations

from collections.abc import Hashable
from operator import itemgetter

from cachetools import LRUCache

from gateway.cache.sizes import memory_size
from gateway.graph.deadline import Clock

_ENTRY = 450
"""Bytes that remembering takes beside the answer and what it is about: the tables of cachetools hold it thrice."""


Key = tuple[Hashable, Hashable]
"""A primitive with its parameters, and what it was asked about."""


_Entry = tuple[object, int, float]
"""An answer, how much memory it takes, and when its time is over on the clock."""


class _Bounded(LRUCache[Hashable, _Entry]):
    """The answers that were used last, as many as there is room for.

    Not a `TTLCache`: all entries live equally long, so a comparison does, at half the cost for each ID.
    """

    def __init__(self, bytes_: int) -> None:
        super().__init__(bytes_, getsizeof=itemgetter(1))
        self.evicted = 0

    def popitem(self) -> tuple[Hashable, _Entry]:
        """Make room, and count it."""
        self.evicted += 1
        return super().popitem()


class Memory:
    """Answers by key."""

    def __init__(self, bytes_: int, ttl_seconds: float, clock: Clock) -> None:
        self._limit = bytes_
        self._entries = _Bounded(bytes_)
        self._ttl = ttl_seconds
        self._clock = clock

    @property
    def bytes(self) -> int:
        """About how much memory is in use."""
        return int(self._entries.currsize)

    @property
    def evicted(self) -> int:
        """How many answers had to go before their time, for want of room."""
        return self._entries.evicted

    def get(self, key: Key) -> object | None:
        """Return the answer under a key; None where there is none, or its time is over."""
        if key not in self._entries:
            return None
        answer, _, until = self._entries[key]
        if until <= self._clock():
            del self._entries[key]
            return None
        return answer

    def put(self, key: Key, answer: object, *, more: int = 0) -> None:
        """Remember an answer, unless it alone is larger than all that may be remembered.

        Args:
            key: What it is about.
            answer: The answer.
            more: Bytes that the primitive's parameters take, where they are large.
        """
        size = memory_size(answer, self._limit) + memory_size(key[1]) + more + _ENTRY
        if size <= self._limit:
            self._entries[key] = (answer, size, self._clock() + self._ttl)

    def clear(self) -> None:
        """Forget everything."""
        self._entries.clear()
