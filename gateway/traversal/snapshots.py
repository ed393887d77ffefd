"""Whole answers by question, from which the pages of one question are cut (docs/contract.md, "Pages")."""

from __future__ import annotations

from collections.abc import Hashable

from cachetools import TTLCache

from gateway.cache.memory import memory_size
from gateway.graph.call import Epoch, Freshness
from gateway.graph.values import Iri, Schema
from gateway.telemetry.tally import Clock
from gateway.traversal.topology import Topology

_Stored = tuple[Topology, float, int]
"""A topology, when it expires on the clock, and the bytes of both it and its question."""

_ENTRY_BYTES = 600
"""Bytes of an entry beside its topology and its question."""


class Snapshots:
    """Stores topologies by normalised question, bounded in bytes, each for one time to live.

    `tests/traversal/test_snapshots.py` compares the bytes counted with what Python allocates.
    """

    def __init__(self, megabytes: int, ttl_seconds: float, clock: Clock) -> None:
        self._topologies: TTLCache[Hashable, _Stored] = TTLCache(
            maxsize=megabytes << 20,
            ttl=ttl_seconds,
            timer=clock,
            getsizeof=lambda stored: stored[2],
        )
        self._ttl = ttl_seconds
        self._clock = clock
        self._epoch = Epoch()
        self._outdated: set[Hashable] = set()
        self._version = ""
        self._names: tuple[Iri, ...] | None = None

    @property
    def epoch(self) -> Epoch:
        """The time until snapshots are dropped or become outdated; `put` takes it as it was before the traversal."""
        return self._epoch

    @property
    def bytes(self) -> int:
        """Bytes in use."""
        return int(self._topologies.currsize)

    def get(self, question: Hashable, freshness: Freshness, *, continues: bool) -> Topology | None:
        """Return the stored topology, and note until when it holds; None where there is none that may be used.

        Only a caller that asks for a later page may use one that is outdated or has gaps: the failure may have passed.
        """
        stored = self._topologies.get(question)
        if stored is None:
            return None
        topology, until, _ = stored
        if not continues and (not topology.complete or question in self._outdated):
            return None
        freshness.used(until, self._clock, self._epoch)
        return topology

    def put(self, question: Hashable, topology: Topology, epoch: Epoch) -> None:
        """Store a topology, unless it alone is larger than the bound, or was begun in another epoch."""
        size = _ENTRY_BYTES + topology.size_bytes + memory_size(question)
        if size <= self._topologies.maxsize and epoch is self._epoch:
            self._topologies[question] = (topology, self._clock() + self._ttl, size)
            self._outdated.discard(question)

    def compare(self, schema: Schema) -> None:
        """Outdate all snapshots where a schema shows another graph, or other predicates that name its nodes.

        Outdated snapshots are used for their next pages only.
        """
        is_new = (schema.exact and self._version not in {"", schema.version}) or schema.names not in {None, self._names}
        self._version = schema.version if schema.exact else self._version
        self._names = self._names if schema.names is None else schema.names
        if is_new:
            self._begin_epoch()
            self._outdated = set(self._topologies)

    def clear(self) -> None:
        """Drop all snapshots."""
        self._begin_epoch()
        self._topologies.clear()
        self._outdated.clear()

    def _begin_epoch(self) -> None:
        self._epoch.is_over = True
        self._epoch = Epoch()
