"""Whole answers by question, from which the pages of one question are cut (docs/contract.md, "Pages")."""

from __future__ import annotations

from collections.abc import Hashable

from cachetools import TTLCache

from gateway.engine.traversal.topology import Topology
from gateway.graph.deadline import Clock
from gateway.graph.values import Iri, Schema


class Snapshots:
    """Stores topologies by normalised question, bounded in bytes, each for one time to live."""

    def __init__(self, megabytes: int, ttl_seconds: float, clock: Clock) -> None:
        self._topologies: TTLCache[Hashable, Topology] = TTLCache(
            maxsize=megabytes << 20,
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
        """Counts how often snapshots were dropped or became outdated; `put` takes it as it was before the traversal."""
        return self._generation

    def get(self, question: Hashable, *, continues: bool) -> Topology | None:
        """Return the stored topology; None where there is none that may be used.

        Only a caller that asks for a later page may use one that is outdated or has gaps: the failure may have passed.
        """
        topology = self._topologies.get(question)
        is_fresh = topology is not None and topology.complete and question not in self._outdated
        return topology if continues or is_fresh else None

    def put(self, question: Hashable, topology: Topology, generation: int) -> None:
        """Store a topology, unless it alone is larger than the bound, or was begun in another generation."""
        if topology.size_bytes <= self._topologies.maxsize and generation == self._generation:
            self._topologies[question] = topology
            self._outdated.discard(question)

    def compare(self, schema: Schema) -> None:
        """Outdate all snapshots where a schema shows another graph, or other predicates that name its nodes.

        Outdated snapshots are used for their next pages only.
        """
        is_new = (schema.exact and self._version not in {"", schema.version}) or schema.names not in {None, self._names}
        self._version = schema.version if schema.exact else self._version
        self._names = self._names if schema.names is None else schema.names
        if is_new:
            self._generation += 1
            self._outdated = set(self._topologies)

    def clear(self) -> None:
        """Drop all snapshots."""
        self._generation += 1
        self._topologies.clear()
        self._outdated.clear()
