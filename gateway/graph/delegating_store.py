"""A `GraphStore` over another one that finds names in its own way, and hands everything else on."""

from __future__ import annotations

from gateway.graph.store import GraphStore


class DelegatingStore:
    """All of a graph store but `search`; see `gateway.graph.store.GraphStore` for what each method promises."""

    def __init__(self, inner: GraphStore) -> None:
        self._inner = inner
        self.edges = inner.edges
        self.degrees = inner.degrees
        self.reach = inner.reach
        self.edges_among = inner.edges_among
        self.existing = inner.existing
        self.subjects = inner.subjects
        self.nodes = inner.nodes
        self.predicates = inner.predicates
        self.narrower = inner.narrower
        self.mentions = inner.mentions
        self.node_metadata = inner.node_metadata
        self.edge_metadata = inner.edge_metadata
        self.quick_schema = inner.quick_schema
        self.schema = inner.schema
        self.named = inner.named
        self.forget = inner.forget

    def prepare(self) -> None:
        """Begin to make ready what the first searches need."""
        self._inner.prepare()

    async def close(self) -> None:
        """Let go of connections and threads."""
        await self._inner.close()
