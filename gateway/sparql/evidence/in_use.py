"""Which ways of stating evidence a graph uses, by the profile or by one query."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection

from gateway.errors import Fault, QueryRefused
from gateway.graph.call import Call
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import EvidenceWay
from gateway.sparql.client import SparqlClient
from gateway.sparql.evidence.ways import WAYS
from gateway.sparql.results.columns import literal

FRESH_SECONDS = 300.0
"""How long the ways that were detected are used before they are detected again."""


class WaysInUse:
    """The ways of stating evidence in use, shared by the readers of edges and of evidence.

    Attributes:
        asked_graphs: The named graphs of which the profile asks some; empty where it is all of them.
    """

    def __init__(self, client: SparqlClient, profile: Profile) -> None:
        self._client = client
        ways, graphs = profile.evidence.ways, profile.endpoint.graphs
        self._named = None if ways == "auto" else tuple(way for way in WAYS if way in ways)
        self.asked_graphs = () if isinstance(graphs, str) else graphs
        # Of one graph alone everything comes, so to name it as a source would say nothing.
        self._has_graphs = client.is_remote and (graphs == "union" or len(self.asked_graphs) > 1)
        self._found: tuple[EvidenceWay, ...] | None = None
        self._found_at = self._tried_at = float("-inf")
        self._detecting = asyncio.Lock()

    def may_use(self, way: EvidenceWay) -> bool:
        """Return whether the graph may use a way; True for every way before they were detected."""
        known = self._found if self._named is None else self._named
        return known is None or way in known

    async def refresh(self, call: Call) -> None:
        """Detect the ways in use, unless that was tried recently; after a fault, the graph may use every way."""
        now = call.deadline.clock()
        if self._named is None and now - max(self._found_at, self._tried_at) > FRESH_SECONDS:
            self._tried_at = now
            with contextlib.suppress(Fault):
                await self.ways(call)

    async def ways(self, call: Call) -> Collection[EvidenceWay]:
        """Return the ways in use, in the order of `WAYS`.

        Raises:
            Fault: They could not be detected.
        """
        if self._named is not None:
            return self._named
        async with self._detecting:
            now = call.deadline.clock()
            if self._found is None or now - self._found_at > FRESH_SECONDS:
                self._found = None
                found = await self._uses("evidence/in_use", call)
                if self._has_graphs:
                    found |= await self._uses_of_graphs(call)
                # An engine that knows no RDF 1.2 finds no rdf:reifies, and is never sent the syntax it would refuse.
                self._found, self._found_at = tuple(way for way in WAYS if way in found), now
            return self._found

    async def _uses_of_graphs(self, call: Call) -> set[str]:
        try:
            return await self._uses("evidence/graphs_in_use", call)
        except QueryRefused:
            # Blazegraph in triples mode has no named graphs, and says so.
            return set()

    async def _uses(self, template: str, call: Call) -> set[str]:
        rows = (await self._client.rows(template, call, {})).whole()
        return {way.value for way in literal("way")(rows)}
