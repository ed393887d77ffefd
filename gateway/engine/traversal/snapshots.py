"""Whole answers, kept so that the pages of one question are pages of one answer (docs/contract.md, "Pages")."""

from __future__ import annotations

import time
from collections.abc import Hashable

from cachetools import TTLCache

from gateway.engine.traversal.topology import Topology
from gateway.graph.deadline import Clock
from gateway.graph.values import Iri, Schema

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
        self._generation = 0
        self._outdated: set[Hashable] = set()
        self._version = ""
        self._names: tuple[Iri, ...] | None = None

    @property
    def generation(self) -> int:
        """Counts how often answers were forgotten or became outdated; `put` takes it as it was before the traversal."""
        return self._generation

    def get(self, question: Hashable, *, going_on: bool) -> Topology | None:
        """Return the kept answer.

        Args:
            question: The normalised question.
            going_on: Whether the caller reads on in an answer it has begun; only then is an answer that lacks
                something good enough, because a failure may have passed, and one that is outdated.
        """
        kept = self._kept.get(question)
        is_fresh = kept is not None and kept.complete and question not in self._outdated
        return kept if going_on or is_fresh else None

    def put(self, question: Hashable, topology: Topology, generation: int) -> None:
        """Keep an answer, unless it alone is larger than all that may be kept, or was begun in another generation."""
        if topology.size_bytes <= self._kept.maxsize and generation == self._generation:
            self._kept[question] = topology
            self._outdated.discard(question)

    def compare(self, schema: Schema) -> None:
        """Outdate all answers where a schema shows that the graph has changed, or that other predicates name its nodes.

        Outdated answers are used for their next pages only.
        """
        is_new = (schema.exact and self._version not in {"", schema.version}) or schema.names not in {None, self._names}
        self._version = schema.version if schema.exact else self._version
        self._names = self._names if schema.names is None else schema.names
        if is_new:
            self._generation += 1
            self._outdated = set(self._kept)

    def clear(self) -> None:
        """Forget all answers."""
        self._generation += 1
        self._kept.clear()
        self._outdated.clear()
