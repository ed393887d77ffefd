"""Builds the topology of a question from what the store answers."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence

from gateway.engine import messages
from gateway.engine.traversal.breadth_first import Exploration, explore
from gateway.engine.traversal.gaps import GapCollector
from gateway.engine.traversal.hub_rule import HubRule
from gateway.engine.traversal.ordering import OrderedGraph, deadline_for_a_thread, in_order
from gateway.engine.traversal.paths import Path, paths_to_seeds
from gateway.engine.traversal.prefetch import prefetching
from gateway.engine.traversal.topology import Topology
from gateway.errors import quoted
from gateway.graph.call import Call
from gateway.graph.store import GraphStore, OnAnswers
from gateway.graph.tasks import together
from gateway.graph.values import Edge, Iri, NodeFacts
from gateway.settings.profile import Profile
from gateway.terms.prefixes import PrefixMap

_REQUESTS_FOR_FACTS = 0.35
"""Share of a call's requests that expansion leaves for types and metadata: nodes without a type are little use."""

_TIME_FOR_FACTS = 0.2
"""Share of a call's time that it leaves for them."""

_FEW_SEEDS = 4
"""Seeds up to which an intersection asks for each one's set of nodes by itself."""

_SHOWN = 5
"""Missing seeds that an error names."""


class TopologyBuilder:
    """Builds topologies: reads the graph and puts nodes and edges in order."""

    def __init__(self, store: GraphStore, prefixes: PrefixMap, profile: Profile) -> None:
        self._store = store
        self._prefixes = prefixes
        self._facts_batch = profile.limits.facts_batch
        self._names_on_stubs = profile.names.on_stubs
        self._trusted = profile.endpoint.trusted
        self._other_graph = profile.endpoint.other_graph

    async def neighbourhood(self, seeds: Sequence[Iri], max_hops: int, rule: HubRule, call: Call) -> Topology:
        """Return the union of the seeds' neighbourhoods; its edges touch an expanded node.

        Raises:
            InputError: No seed exists.
            Fault: Nothing could be learnt about any seed.
        """
        async with prefetching(lambda nodes: self._facts(nodes, call), self._facts_batch) as ahead:
            found = await self._explored([seeds], seeds, max_hops, rule, call, ahead.add)
            distance = found.distances[0]
            async with together() as tasks:
                facts = tasks.create_task(ahead.facts(distance))
                # In a thread: the facts arrive meanwhile. For 20,000 edges both take some 100 ms.
                with deadline_for_a_thread(call.call_deadline) as deadline:
                    ordered = await asyncio.to_thread(in_order, seeds, distance, found, self._prefixes, deadline)
        return self._topology(seeds, ordered, found, facts.result())

    async def intersection(self, seeds: Sequence[Iri], k: int, rule: HubRule, call: Call, *, via: bool) -> Topology:
        """Return the nodes within k hops of every seed, and all edges among them.

        With a seed missing there are none, and that is the whole answer.

        Args:
            seeds: Two or more different nodes.
            k: 1 to 5.
            rule: Which nodes are not expanded, and which not whole.
            call: The call that asks.
            via: Whether each node gets its paths to the seeds.

        Raises:
            InputError: No seed exists.
            Fault: Nothing could be learnt about some seed, or about any.
        """
        found = await self._reach(seeds, k, rule, call, via=via) or await self._explored(
            [[seed] for seed in seeds], seeds, k, rule, call
        )
        for seed in found.unsure:
            if (fault := found.known[seed].mark.fault) is not None:
                raise fault
        if found.missing:
            gaps = found.gaps if self._other_graph else GapCollector()
            return self._topology(seeds, OrderedGraph(), Exploration([], missing=found.missing, gaps=gaps), {})
        common = frozenset.intersection(*(frozenset(distance) for distance in found.distances))
        farthest = {node: max(distance[node] for distance in found.distances) for node in common}
        async with together() as tasks:
            facts = tasks.create_task(self._facts(common, call))
            among = await self._edges_among_unexpanded(common, found, call)
            with deadline_for_a_thread(call.call_deadline) as deadline:
                ordered = await asyncio.to_thread(in_order, seeds, farthest, found, self._prefixes, deadline, among)
        paths = paths_to_seeds(common, found.distances, found.neighbours, call.call_deadline) if via else {}
        return self._topology(seeds, ordered, found, facts.result(), paths)

    async def _reach(self, seeds: Sequence[Iri], k: int, rule: HubRule, call: Call, *, via: bool) -> Exploration | None:
        """Return the sets of nodes alone, which are far smaller than their edges; None where that would not do.

        Hubs, paths and split graphs need the edges; one hop brings them at once; many seeds share a frontier better.
        """
        if not rule.is_off or via or k == 1 or len(seeds) > _FEW_SEEDS or self._other_graph:
            return None
        with call.reserving(requests=_REQUESTS_FOR_FACTS, time=_TIME_FOR_FACTS):
            reaches = await self._store.reach(seeds, k, call)
            if not all(reach.mark.whole for reach in reaches.values()):
                return None
            alone = [seed for seed in seeds if len(reaches[seed].distances) == 1]
            existing = await self._store.existing(alone, call) if alone else {}
        if not all(existence.mark.whole for existence in existing.values()):
            return None
        missing = [seed for seed in alone if not existing[seed].exists]
        self._require_a_seed(seeds, missing)
        return Exploration([dict(reaches[seed].distances) for seed in seeds], missing=missing)

    async def _explored(
        self,
        sources: Sequence[Sequence[Iri]],
        seeds: Sequence[Iri],
        hops: int,
        rule: HubRule,
        call: Call,
        on_answers: OnAnswers | None = None,
    ) -> Exploration:
        with call.reserving(requests=_REQUESTS_FOR_FACTS, time=_TIME_FOR_FACTS):
            found = await explore(self._store, sources, hops, rule, call, on_answers)
            await self._add_other_graph(found, call)
        found.gaps.add_left_out(found.known)
        self._require_a_seed(seeds, found.missing)
        return found

    async def _add_other_graph(self, found: Exploration, call: Call) -> None:
        """Add a gap for the expanded nodes about which this part of a split graph says nothing."""
        if not self._other_graph:
            return
        without_statements = [
            node
            for node, neighbourhood in found.known.items()
            if neighbourhood.mark.whole
            and node not in found.missing
            and not any(edge.subject == node for edge in neighbourhood.edges)
        ]
        subjects = await self._store.subjects(without_statements, call) if without_statements else {}
        detail = messages.elsewhere(self._other_graph)
        found.gaps.add("other_graph", found.missing, detail)
        for node, existence in subjects.items():
            if existence.mark.fault is not None:
                found.gaps.add_mark(node, existence.mark)
            elif not existence.exists:
                found.gaps.add("other_graph", [node], detail)

    def _require_a_seed(self, seeds: Sequence[Iri], missing: Sequence[Iri]) -> None:
        if len(missing) == len(seeds):
            shown = [quoted(self._prefixes.shorten(seed)) for seed in seeds[:_SHOWN]]
            hint = self._prefixes.undeclared(missing)
            raise messages.no_seed_exists(shown, hint, self._other_graph, trusted=self._trusted)

    async def _edges_among_unexpanded(self, common: frozenset[Iri], found: Exploration, call: Call) -> set[Edge]:
        """Return the edges between two nodes that the search reached but did not expand."""
        unexpanded = [node for node in common if node not in found.known]
        if not unexpanded:
            return set()
        answers = await self._store.edges_among(unexpanded, common, call)
        for node, neighbourhood in answers.items():
            found.gaps.add_mark(node, neighbourhood.mark)
        found.gaps.add_left_out(answers)
        return {edge for neighbourhood in answers.values() for edge in neighbourhood.edges}

    async def _facts(self, nodes: Collection[Iri], call: Call) -> Mapping[Iri, NodeFacts]:
        if not nodes:
            return {}
        with call.tally.stage("facts"):
            return await self._store.nodes(list(nodes), call, names=self._names_on_stubs)

    def _topology(
        self,
        asked: Sequence[Iri],
        ordered: OrderedGraph,
        found: Exploration,
        facts: Mapping[Iri, NodeFacts],
        paths: Mapping[Iri, tuple[Path, ...]] | None = None,
    ) -> Topology:
        _add_failed_types(found.gaps, facts)
        if not self._trusted:
            found.gaps.add("server_truncated", found.known or asked, messages.MAY_HAVE_MORE_EDGES)
        return Topology(
            ordered.seeds,
            ordered.nodes,
            ordered.edges,
            facts,
            tuple(found.missing),
            found.gaps.entries,
            found.blank_edges,
            paths or {},
        )


def _add_failed_types(gaps: GapCollector, facts: Mapping[Iri, NodeFacts]) -> None:
    for node, known in facts.items():
        if known.mark.fault is not None:
            gaps.add("types_failed", [node], known.mark.fault.wrong)
        elif not known.are_types_known:
            gaps.add("types_failed", [node], messages.TYPES_LEFT_OUT)
