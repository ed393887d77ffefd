"""The whole answer to a question, before filters and pages: what a snapshot keeps."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from sys import getsizeof

from gateway.engine import messages
from gateway.engine.traversal.breadth_first import Exploration, explore
from gateway.engine.traversal.gaps import Gap, GapCollector
from gateway.engine.traversal.hub_rule import HubRule
from gateway.engine.traversal.paths import Path, paths_to_seeds
from gateway.engine.traversal.prefetch import prefetching
from gateway.errors import quoted
from gateway.graph.call import Call
from gateway.graph.deadline import Deadline
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


@dataclass(frozen=True)
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
        paths: For an intersection, where asked for: the shortest path from each node to each seed.
    """

    seeds: tuple[Iri, ...]
    nodes: Mapping[Iri, int]
    edges: tuple[Edge, ...]
    facts: Mapping[Iri, NodeFacts]
    missing: tuple[Iri, ...]
    gaps: tuple[Gap, ...]
    blank_edges: int
    paths: Mapping[Iri, tuple[Path, ...]] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether nothing was cut."""
        return not self.gaps

    @cached_property
    def types(self) -> frozenset[Iri]:
        """The types that its nodes have."""
        return frozenset(iri for facts in self.facts.values() for iri in facts.types)

    @cached_property
    def predicates(self) -> frozenset[Iri]:
        """The predicates that its edges have."""
        return frozenset(edge.predicate for edge in self.edges)

    @cached_property
    def content(self) -> str:
        """A hash of nodes, edges and gaps; only an answer of several pages needs it."""
        digest = hashlib.sha256()
        # No IRI has a line break, and every edge has three, so two topologies never read alike.
        for part in (self.nodes, map(str, self.nodes.values()), chain.from_iterable(self.edges)):
            digest.update("\n".join(part).encode())
            digest.update(b"\n\n")
        for gap in self.gaps:
            digest.update(f"{gap.cause} {sorted(gap.ids)}\n".encode())
        return digest.hexdigest()[:12]

    @property
    def size_bytes(self) -> int:
        """About how much memory it takes; IRIs are shared between nodes and edges."""
        texts = sum(map(getsizeof, self.nodes)) + sum(map(getsizeof, self.missing))
        # Types and predicates are shared by many nodes and edges.
        texts += sum(map(getsizeof, self.types)) + sum(map(getsizeof, self.predicates))
        texts += sum(getsizeof(facts.name) + getsizeof(facts.description) for facts in self.facts.values())
        types = sum(8 * len(facts.types) for facts in self.facts.values())
        steps = sum(100 + 8 * len(path) for paths in self.paths.values() for path in paths)
        missing = sum(100 + 100 * len(gap.ids) for gap in self.gaps)
        return 800 * len(self.nodes) + 250 * len(self.edges) + texts + types + steps + missing + 2_000


@dataclass(frozen=True, slots=True)
class _Layout:
    """Nodes and edges in their order; see `Topology`."""

    seeds: tuple[Iri, ...] = ()
    nodes: Mapping[Iri, int] = field(default_factory=dict)
    edges: tuple[Edge, ...] = ()


class TopologyBuilder:
    """Draws topologies: asks the store, puts what it answers in order."""

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
                # In a thread, so that the facts come in meanwhile: for 20,000 edges both take some 100 ms.
                with _for_a_thread(call.call_deadline) as deadline:
                    layout = await asyncio.to_thread(self._laid_out, seeds, distance, found, deadline)
        return self._drawn(seeds, layout, found, facts.result())

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
        found = await self._reached(seeds, k, rule, call, via=via) or await self._explored(
            [[seed] for seed in seeds], seeds, k, rule, call
        )
        for seed in found.unsure:
            if (fault := found.known[seed].mark.fault) is not None:
                raise fault
        if found.missing:
            gaps = found.gaps if self._other_graph else GapCollector()
            return self._drawn(seeds, _Layout(), Exploration([], missing=found.missing, gaps=gaps), {})
        common = frozenset.intersection(*(frozenset(distance) for distance in found.distances))
        farthest = {node: max(distance[node] for distance in found.distances) for node in common}
        async with together() as tasks:
            facts = tasks.create_task(self._facts(common, call))
            among = await self._among_the_unexpanded(common, found, call)
            with _for_a_thread(call.call_deadline) as deadline:
                layout = await asyncio.to_thread(self._laid_out, seeds, farthest, found, deadline, among)
        paths = paths_to_seeds(common, found.distances, found.neighbours, call.call_deadline) if via else {}
        return self._drawn(seeds, layout, found, facts.result(), paths)

    async def _reached(
        self, seeds: Sequence[Iri], k: int, rule: HubRule, call: Call, *, via: bool
    ) -> Exploration | None:
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
        self._refuse_strangers(seeds, missing)
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
            await self._note_other_graph(found, call)
        found.gaps.add_left_out(found.known)
        self._refuse_strangers(seeds, found.missing)
        return found

    async def _note_other_graph(self, found: Exploration, call: Call) -> None:
        """Note which of the expanded nodes this part of a split graph says nothing about."""
        if not self._other_graph:
            return
        silent = [
            node
            for node, neighbourhood in found.known.items()
            if neighbourhood.mark.whole
            and node not in found.missing
            and not any(edge.subject == node for edge in neighbourhood.edges)
        ]
        subjects = await self._store.subjects(silent, call) if silent else {}
        detail = messages.elsewhere(self._other_graph)
        found.gaps.add("other_graph", found.missing, detail)
        for node, existence in subjects.items():
            if existence.mark.fault is not None:
                found.gaps.add_mark(node, existence.mark)
            elif not existence.exists:
                found.gaps.add("other_graph", [node], detail)

    def _refuse_strangers(self, seeds: Sequence[Iri], missing: Sequence[Iri]) -> None:
        if len(missing) == len(seeds):
            shown = [quoted(self._prefixes.shorten(seed)) for seed in seeds[:_SHOWN]]
            hint = self._prefixes.undeclared(missing)
            raise messages.no_seed_exists(shown, hint, self._other_graph, trusted=self._trusted)

    async def _among_the_unexpanded(self, common: frozenset[Iri], found: Exploration, call: Call) -> set[Edge]:
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

    def _laid_out(
        self,
        seeds: Sequence[Iri],
        distance: Mapping[Iri, int],
        found: Exploration,
        deadline: Deadline,
        among: Collection[Edge] | None = None,
    ) -> _Layout:
        """Put nodes and edges in their order; no other thread may change them meanwhile.

        Args:
            seeds: The seeds.
            distance: The nodes, each with its distance.
            found: What was explored; its edges.
            deadline: When the call must have answered.
            among: Further edges, where only those with both ends among the nodes are wanted; None: all are.

        Raises:
            DeadlinePassed: The time was not enough.
        """
        edges = deadline.checking(chain(found.edges, among or ()))
        distinct = list(
            edges if among is None else {edge for edge in edges if edge.subject in distance and edge.object in distance}
        )
        # Every IRI is placed once: then nodes need no further comparison, and an edge becomes one number, which sorts
        # in half the time of its three texts.
        terms = {*distance, *chain.from_iterable(distinct)}
        short = {iri: self._prefixes.shorten(iri) for iri in deadline.checking(terms)}
        ordered = sorted(short, key=short.__getitem__)
        present = [seed for seed in seeds if seed in distance]
        nodes = {node: distance[node] for node in present}
        by_distance: dict[int, list[Iri]] = defaultdict(list)
        for node in ordered:
            if node in distance:
                by_distance[distance[node]].append(node)
        for steps in sorted(by_distance):
            # A seed stays where it is.
            nodes |= dict.fromkeys(by_distance[steps], steps)
        return _Layout(tuple(present), nodes, _in_order(distinct, ordered, deadline))

    def _drawn(
        self,
        asked: Sequence[Iri],
        layout: _Layout,
        found: Exploration,
        facts: Mapping[Iri, NodeFacts],
        paths: Mapping[Iri, tuple[Path, ...]] | None = None,
    ) -> Topology:
        _note_failed_types(found.gaps, facts)
        if not self._trusted:
            found.gaps.add("server_truncated", found.known or asked, messages.MAY_HAVE_MORE_EDGES)
        return Topology(
            layout.seeds,
            layout.nodes,
            layout.edges,
            facts,
            tuple(found.missing),
            found.gaps.entries,
            found.blank_edges,
            paths or {},
        )


@contextmanager
def _for_a_thread(deadline: Deadline) -> Iterator[Deadline]:
    """Return a deadline that another thread may look at: the clock may be that of the event loop."""
    passed = threading.Event()
    timer = asyncio.get_running_loop().call_later(deadline.seconds_left, passed.set)
    try:
        yield Deadline(1.0, lambda: float(passed.is_set()))
    finally:
        timer.cancel()


def _in_order(edges: Sequence[Edge], ordered: Sequence[Iri], deadline: Deadline) -> tuple[Edge, ...]:
    """Return distinct edges by subject, predicate and object, as their IRIs are ordered."""
    many = len(ordered)
    place = dict(zip(ordered, range(many), strict=True))
    placed = {
        (place[s] * many + place[p]) * many + place[o]: edge for edge in deadline.checking(edges) for s, p, o in [edge]
    }
    return tuple(placed[key] for key in deadline.checking(sorted(placed)))


def _note_failed_types(gaps: GapCollector, facts: Mapping[Iri, NodeFacts]) -> None:
    for node, known in facts.items():
        if known.mark.fault is not None:
            gaps.add("types_failed", [node], known.mark.fault.wrong)
        elif not known.are_types_known:
            gaps.add("types_failed", [node], messages.TYPES_LEFT_OUT)
