"""Whole answers, kept so that the pages of one question are pages of one answer (contract, "Traversal")."""

from __future__ import annotations

import time
from collections.abc import Hashable

from cachetools import TTLCache

from gateway.engine.topology import Topology
from gateway.graph.budget import Clock

_MEGABYTE = 1 << 20


class Snapshots:
    """Answers by normalised question, bounded in bytes, each for one time to live."""

    def __init__(self, megabytes: int, ttl_seconds: float, clock: Clock = time.monotonic) -> None:
        self._kept: TTLCache[Hashable, Topology] = TTLCache(
            maxsize=megabytes * _MEGABYTE,
            ttl=ttl_seconds,
            timer=clock,
            getsizeof=lambda topology: topology.size_bytes,
        )

    def get(self, question: Hashable, *, going_on: bool) -> Topology | None:
        """Return the kept answer.

        Args:
            question: The normalised question.
            going_on: Whether the caller reads on in an answer it has begun; only then is an answer that lacks
                something good enough, because a failure may have passed.
        """
        kept = self._kept.get(question)
        return kept if kept is not None and (going_on or kept.complete) else None

    def put(self, question: Hashable, topology: Topology) -> None:
        """Keep an answer, unless it alone is larger than all that may be kept."""
        if topology.size_bytes <= self._kept.maxsize:
            self._kept[question] = topology

    def clear(self) -> None:
        """Forget all answers."""
        self._kept.clear()
