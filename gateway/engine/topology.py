"""The whole answer to a question, before filters and pages: what a snapshot keeps."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gateway.engine.exploring import Exploration, Progress, explore
from gateway.engine.gaps import Gap, Gaps
from gateway.errors import InputError, quoted
from gateway.graph.budget import Budget
from gateway.graph.store import GraphStore
from gateway.graph.values import Edge, Iri, NodeFacts
from gateway.terms.prefixes import PrefixMap

_FOR_FACTS = 0.35
"""Share of a call's requests that expansion leaves for types and metadata: nodes without a type are little use."""

_SHOWN = 5
"""Missing seeds that an error names."""


@dataclass(frozen=True, slots=True)
class Topology:
    """Nodes, edges and what is missing.

    Attributes:
        seeds: The seeds that are among the nodes, in the order given.
        nodes: Every node with its distance: the seeds as given, then by distance, then by code points of the ID.
        edges: Edges by subject, predicate and object, by code points of the IDs.
        facts: Types, and names where the profile puts them on stubs.
        missing: Seeds that do not exist.
        gaps: Why the topology is not whole; empty when it is.
        blank_edges: Triples left out because their other end is a blank node.
        content: A hash of nodes, edges and gaps.
    """

    seeds: tuple[Iri, ...]
    nodes: Mapping[Iri, int]
    edges: tuple[Edge, ...]
    facts: Mapping[Iri, NodeFacts]
    missing: tuple[Iri, ...]
    gaps: tuple[Gap, ...]
    blank_edges: int
    content: str

    @property
    def complete(self) -> bool:
        """Whether nothing was cut."""
        return not self.gaps

    @property
    def size_bytes(self) -> int:
        """About how much memory it takes; IRIs are shared between nodes and edges."""
        texts = sum(map(len, self.nodes)) + sum(len(facts.name) for facts in self.facts.values())
        return 800 * len(self.nodes) + 250 * len(self.edges) + 2 * texts + 2_000


class Cartographer:
    """Draws topologies: asks the store, puts what it answers in order."""

    def __init__(self, store: GraphStore, prefixes: PrefixMap, *, names_on_stubs: bool) -> None:
        self._store = store
        self._prefixes = prefixes
        self._names_on_stubs = names_on_stubs

    async def neighbourhood(self, seeds: Sequence[Iri], max_hops: int, budget: Budget, progress: Progress) -> Topology:
        """Return the union of the seeds' neighbourhoods; its edges touch an expanded node.

        Raises:
            InputError: No seed exists.
            Fault: Nothing could be learnt about any seed.
        """
        found = await self._explored([seeds], seeds, max_hops, budget, progress)
        return await self._drawn(seeds, found.distances[0], found.edges, found, budget)

    async def intersection(self, seeds: Sequence[Iri], k: int, budget: Budget, progress: Progress) -> Topology:
        """Return the nodes within k hops of every seed, and all edges among them.

        With a seed missing there are none, and that is the whole answer.

        Raises:
            InputError: No seed exists.
            Fault: Nothing could be learnt about some seed, or about any.
        """
        found = await self._explored([[seed] for seed in seeds], seeds, k, budget, progress)
        for seed, distance in zip(seeds, found.distances, strict=True):
            fault = found.known[seed].mark.fault
            if not distance and seed not in found.missing and fault is not None:
                raise fault
        if found.missing:
            return await self._drawn(seeds, {}, set(), Exploration([], missing=found.missing), budget)
        common = set.intersection(*(set(distance) for distance in found.distances))
        farthest = {node: max(distance[node] for distance in found.distances) for node in common}
        edges = {edge for edge in found.edges if edge.subject in common and edge.object in common}
        edges |= await self._among_the_unexpanded(frozenset(common), found, budget)
        return await self._drawn(seeds, farthest, edges, found, budget)

    async def _explored(
        self, sources: Sequence[Sequence[Iri]], seeds: Sequence[Iri], hops: int, budget: Budget, progress: Progress
    ) -> Exploration:
        with budget.reserving(_FOR_FACTS):
            found = await explore(self._store, sources, hops, budget, progress)
        if len(found.missing) == len(seeds):
            shown = ", ".join(quoted(self._prefixes.shorten(seed)) for seed in seeds[:_SHOWN])
            raise InputError(
                f"None of the seeds exists in this graph: {shown}.",
                next_step="Call search_entities with a name to find an ID.",
            )
        return found

    async def _among_the_unexpanded(self, common: frozenset[Iri], found: Exploration, budget: Budget) -> set[Edge]:
        """Return the edges between two nodes that the search reached but did not expand."""
        unexpanded = [node for node in common if node not in found.known]
        if not unexpanded:
            return set()
        answers = await self._store.edges_among(unexpanded, common, budget)
        for node, neighbourhood in answers.items():
            found.gaps.add_mark(node, neighbourhood.mark)
        return {edge for neighbourhood in answers.values() for edge in neighbourhood.edges}

    async def _drawn(
        self,
        seeds: Sequence[Iri],
        distance: Mapping[Iri, int],
        edges: Iterable[Edge],
        found: Exploration,
        budget: Budget,
    ) -> Topology:
        shorten = self._prefixes.shorten
        present = [seed for seed in seeds if seed in distance]
        others = sorted(distance.keys() - set(present), key=lambda node: (distance[node], shorten(node)))
        nodes = {node: distance[node] for node in (*present, *others)}
        facts = await self._store.nodes(list(nodes), budget, names=self._names_on_stubs) if nodes else {}
        _note_failed_types(found.gaps, facts)
        ordered = tuple(
            sorted(
                edges,
                key=lambda edge: (shorten(edge.subject), shorten(edge.predicate), shorten(edge.object)),
            )
        )
        gaps = found.gaps.entries
        return Topology(
            tuple(present),
            nodes,
            ordered,
            facts,
            tuple(found.missing),
            gaps,
            found.blank_edges,
            _content(nodes, ordered, gaps),
        )


def _note_failed_types(gaps: Gaps, facts: Mapping[Iri, NodeFacts]) -> None:
    for node, known in facts.items():
        if known.mark.fault is not None:
            gaps.add("types_failed", [node], known.mark.fault.wrong)


def _content(nodes: Mapping[Iri, int], edges: Sequence[Edge], gaps: Sequence[Gap]) -> str:
    digest = hashlib.sha256()
    for node, steps in nodes.items():
        digest.update(f"{steps} {node}\n".encode())
    for edge in edges:
        digest.update(f"{edge.subject} {edge.predicate} {edge.object}\n".encode())
    for gap in gaps:
        digest.update(f"{gap.cause} {sorted(gap.ids)}\n".encode())
    return digest.hexdigest()[:12]
