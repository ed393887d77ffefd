"""The cache in memory: answers by primitive and key, bounded in bytes, each for one time to live."""

from __future__ import annotations

from collections.abc import Hashable
from operator import itemgetter

from cachetools import LRUCache

from gateway.cache.sizes import memory_size
from gateway.graph.deadline import Clock

_ENTRY = 450
"""Bytes of an entry beside its answer and its key: cachetools has three tables."""


Key = tuple[Hashable, Hashable]
"""A primitive with its parameters, and the ID that it was asked about."""


_Entry = tuple[object, int, float]
"""An answer, its size in bytes, and when it expires on the clock."""


class _Bounded(LRUCache[Hashable, _Entry]):
    """The answers used last, as many as there is room for.

    Not a `TTLCache`: all entries live equally long, so one comparison is enough, at half the cost for each ID.
    """

    def __init__(self, bytes_: int) -> None:
        super().__init__(bytes_, getsizeof=itemgetter(1))
        self.evicted = 0

    def popitem(self) -> tuple[Hashable, _Entry]:
        """Remove the entry that was not used for longest, and count it."""
        self.evicted += 1
        return super().popitem()


class MemoryCache:
    """Answers by key."""

    def __init__(self, bytes_: int, ttl_seconds: float, clock: Clock) -> None:
        self._limit = bytes_
        self._entries = _Bounded(bytes_)
        self._ttl = ttl_seconds
        self._clock = clock

    @property
    def bytes(self) -> int:
        """Bytes in use."""
        return int(self._entries.currsize)

    @property
    def evicted(self) -> int:
        """How many answers were removed before their time, to make room."""
        return self._entries.evicted

    def get(self, key: Key) -> object | None:
        """Return the answer under a key; None if there is none, or it has expired."""
        if key not in self._entries:
            return None
        answer, _, until = self._entries[key]
        if until <= self._clock():
            del self._entries[key]
            return None
        return answer

    def put(self, key: Key, answer: object, *, more: int = 0) -> None:
        """Store an answer, unless it is larger than the cache.

        Args:
            key: What it is about.
            answer: The answer.
            more: Bytes of the primitive's parameters, if these are large.
        """
        size = memory_size(answer, self._limit) + memory_size(key[1]) + more + _ENTRY
        if size <= self._limit:
            self._entries[key] = (answer, size, self._clock() + self._ttl)

    def clear(self) -> None:
        """Remove all answers."""
        self._entries.clear()
