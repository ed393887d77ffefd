"""Breadth-first search from one or several sources at once, hop by hop, and the rule that keeps it out of hubs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from gateway.engine import messages
from gateway.engine.traversal.gaps import GapCollector
from gateway.errors import EdgesCapped, Fault
from gateway.graph.call import Call
from gateway.graph.store import GraphStore, OnAnswers
from gateway.graph.values import Edge, Iri, Neighbourhood
from gateway.settings.limits import HubSettings

_COUNTED_BEYOND = 10
"""Edges are counted up to so many times the rule's limit, for the degree of a hub in the answer."""

_COUNTED = 1_000
"""Edges that are counted in any case."""


@dataclass(frozen=True, slots=True)
class HubRule:
    """Which nodes are shown but not expanded, and how many edges a node shows.

    Attributes:
        max_degree: A node with more edges is not expanded, unless it is a seed; None: every node is.
        max_edges: Edges that an expanded node shows at most; None: all.
        warnings: What the caller asked for and did not get; rules that differ in these only are equal.
    """

    max_degree: int | None = None
    max_edges: int | None = None
    warnings: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def of(cls, profile: HubSettings, max_degree: int | None, max_edges: int | None) -> HubRule:
        """Return the rule of one call: its arguments, else the profile, never above the operator's ceilings."""
        warnings: list[str] = []

        def allowed(name: str, wanted: int | None, usual: int | None, ceiling: int | None) -> int | None:
            limit = wanted if wanted is not None else usual
            if ceiling is None or (limit is not None and limit <= ceiling):
                return limit
            if wanted is not None:
                warnings.append(messages.above_ceiling(name, wanted, ceiling))
            return ceiling

        return cls(
            allowed("max_degree", max_degree, profile.max_degree, profile.max_degree_ceiling),
            allowed("max_edges_per_node", max_edges, profile.max_edges_per_node, profile.max_edges_ceiling),
            tuple(warnings),
        )

    @property
    def is_off(self) -> bool:
        """Whether every node is expanded whole."""
        return self.max_degree is None and self.max_edges is None

    @property
    def counted(self) -> int:
        """How many edges of a node are counted at most."""
        return max(
            _COUNTED, *(_COUNTED_BEYOND * limit for limit in (self.max_degree, self.max_edges) if limit is not None)
        )

    def is_hub(self, degree: int) -> bool:
        """Return whether a node with so many edges is not expanded."""
        return self.max_degree is not None and degree > self.max_degree

    def is_capped(self, degree: int) -> bool:
        """Return whether a node with so many edges shows only some."""
        return self.max_edges is not None and degree > self.max_edges


@dataclass(slots=True)
class Exploration:
    """The part of a graph that a breadth-first search has seen.

    Attributes:
        distances: For each source, the distance of every node it reaches.
        known: The neighbourhoods of all expanded nodes.
        missing: Seeds that are in no triple of the graph, in the order given.
        unsure: Seeds of which neither the edges nor the existence could be read, each with the fault.
        gaps: What could not be expanded.
        capped: Nodes that are known to have more edges than were asked for.
    """

    distances: list[dict[Iri, int]]
    known: dict[Iri, Neighbourhood] = field(default_factory=dict)
    missing: list[Iri] = field(default_factory=list)
    unsure: dict[Iri, Fault] = field(default_factory=dict)
    gaps: GapCollector = field(default_factory=GapCollector)
    capped: set[Iri] = field(default_factory=set)

    @property
    def edges(self) -> set[Edge]:
        """The edges that touch an expanded node."""
        return set(chain.from_iterable(neighbourhood.edges for neighbourhood in self.known.values()))

    @property
    def neighbours(self) -> Mapping[Iri, set[Iri]]:
        """The neighbours of the expanded nodes, over the edges of both ends: no path leads through another node."""
        near: dict[Iri, set[Iri]] = {node: set() for node in self.known}
        for neighbourhood in self.known.values():
            for start, _, end in neighbourhood.edges:
                for node, other in ((start, end), (end, start)):
                    if node in near:
                        near[node].add(other)
        return near

    @property
    def blank_edges(self) -> int:
        """Triples left out because their other end is a blank node."""
        return sum(neighbourhood.blank_edges for neighbourhood in self.known.values())

    @property
    def node_count(self) -> int:
        """How many nodes some source reaches."""
        return len(set().union(*self.distances))


class BreadthFirstSearch:
    """One search from every source up to a number of hops; all sources share one frontier.

    Each source has some seeds, at distance 0. A node at distance < hops is expanded, at most once. Where an expansion
    fails, the search continues without it and adds a gap.
    """

    def __init__(
        self, store: GraphStore, sources: Sequence[Sequence[Iri]], hops: int, rule: HubRule, call: Call
    ) -> None:
        self._store = store
        self._sources = sources
        self._hops = hops
        self._rule = rule
        self._call = call
        self._found = Exploration([dict.fromkeys(seeds, 0) for seeds in sources])
        self._seen: set[Iri] = set()

    async def run(self, on_answers: OnAnswers | None = None) -> Exploration:
        """Return what the search finds; `on_answers` receives parts of the last hop, see `GraphStore.edges`.

        Raises:
            Fault: Nothing could be learnt about any seed.
        """
        found = self._found
        for hop in range(self._hops):
            reached = [node for distance in found.distances for node, steps in distance.items() if steps == hop]
            if not reached:
                break
            # What one source has reached, another may have expanded before.
            frontier = [node for node in dict.fromkeys(reached) if node not in self._seen]
            # Seeds are few, and whether they exist has to be known in any case.
            if hop and self._is_over_budget(frontier):
                break
            await self._expand(frontier, on_answers if hop == self._hops - 1 else None, seeds=hop == 0)
            if hop == 0:
                await self._settle_seeds()
            for distance in found.distances:
                _spread(distance, found.known, hop)
            progress = messages.hop_done(hop + 1, self._hops, found.node_count)
            await self._call.progress(hop + 1, self._hops + 1, progress)
        if not all(neighbourhood.mark.whole for neighbourhood in found.known.values()):
            await self._follow_shortcuts()
        return found

    async def _expand(self, frontier: Sequence[Iri], on_answers: OnAnswers | None, *, seeds: bool) -> None:
        """Read the edges of a frontier, as far as the rule wants them."""
        self._seen.update(frontier)
        rule, found = self._rule, self._found
        whole: list[Iri] = list(frontier)
        capped: list[Iri] = []
        if not rule.is_off and not (seeds and rule.max_edges is None):
            whole, capped = await self._sorted_by_degree(frontier, seeds=seeds)
        answers: dict[Iri, Neighbourhood] = {}
        if whole:
            answers |= await self._store.edges(whole, self._call, on_answers=on_answers)
        if capped:
            answers |= await self._store.edges(capped, self._call, per_id=rule.max_edges)
        found.known.update(answers)
        for node, neighbourhood in answers.items():
            if node not in found.capped or not isinstance(neighbourhood.mark.fault, EdgesCapped):
                found.gaps.add_mark(node, neighbourhood.mark)

    async def _sorted_by_degree(self, frontier: Sequence[Iri], *, seeds: bool) -> tuple[list[Iri], list[Iri]]:
        """Return the nodes to expand whole, and those to expand in part; add gaps for the others, which are hubs."""
        rule, found = self._rule, self._found
        degrees = await self._store.degrees(frontier, rule.counted, self._call) if frontier else {}
        whole, capped = [], []
        for node in frontier:
            degree = degrees[node]
            if degree.mark.fault is not None:
                found.gaps.add_mark(node, degree.mark)
                if seeds:
                    found.known[node] = Neighbourhood(mark=degree.mark)
            elif rule.is_hub(degree.count) and not seeds:
                found.gaps.add_degree("hub_not_expanded", node, degree, messages.hub(rule.max_degree))
            elif rule.is_capped(degree.count):
                found.gaps.add_degree("edges_capped", node, degree, messages.edges_capped(rule.max_edges))
                capped.append(node)
            else:
                whole.append(node)
        found.capped.update(capped)
        return whole, capped

    async def _settle_seeds(self) -> None:
        """Separate the seeds that have no edges from those that do not exist, and take the latter out."""
        found = self._found
        seeds = list(found.known)
        without_edges = [seed for seed in seeds if not found.known[seed].edges and not found.known[seed].blank_edges]
        asked = [seed for seed in without_edges if found.known[seed].mark.answered]
        existing = await self._store.existing(asked, self._call) if asked else {}
        for seed in without_edges:
            mark = existing[seed].mark if seed in existing else found.known[seed].mark
            if mark.fault is not None:
                found.unsure[seed] = mark.fault
                found.gaps.add_mark(seed, mark)
            elif not existing[seed].exists:
                found.missing.append(seed)
        gone = {*found.missing, *found.unsure}
        if found.unsure and len(gone) == len(seeds):
            raise next(iter(found.unsure.values()))
        for distance in found.distances:
            for seed in gone:
                distance.pop(seed, None)

    def _recount_all(self) -> None:
        """Count all distances anew, each seed that the edges of other nodes show at 0."""
        neighbours = self._found.neighbours
        while True:
            for distance in self._found.distances:
                _recount(distance, neighbours, self._hops)
            if not self._restore_seeds():
                return

    def _restore_seeds(self) -> bool:
        """Put the seeds that could not be read, but that other nodes show, to distance 0; return whether any moved."""
        shown = set().union(*self._found.distances) & self._found.unsure.keys()
        moved = False
        for seeds, distance in zip(self._sources, self._found.distances, strict=True):
            for seed in shown.intersection(seeds):
                moved = moved or distance.get(seed) != 0
                distance[seed] = 0
        return moved

    async def _follow_shortcuts(self) -> None:
        """Make distances those in the graph that is shown, and expand the nodes that are nearer than they seemed.

        An edge that the answer about one node lacks, because it was capped, cut or failed, may be in that about its
        other end, hops later.
        """
        while True:
            self._recount_all()
            near = {
                node for distance in self._found.distances for node, steps in distance.items() if steps < self._hops
            }
            frontier = sorted(near - self._seen)
            if not frontier or self._is_over_budget(frontier):
                return
            await self._expand(frontier, None, seeds=False)

    def _is_over_budget(self, frontier: Sequence[Iri]) -> bool:
        """Return whether too many nodes are reached to expand more; if so, add a gap."""
        if not frontier or self._found.node_count <= self._call.nodes:
            return False
        self._found.gaps.add("budget", frontier, messages.nodes_used_up(self._call.nodes))
        return True


def _spread(distance: dict[Iri, int], known: Mapping[Iri, Neighbourhood], hop: int) -> None:
    """Add the neighbours of the nodes at this distance, one step farther."""
    for node in [node for node, steps in distance.items() if steps == hop]:
        if node in known:
            for reached in known[node].ends:
                distance.setdefault(reached, hop + 1)


def _recount(distance: dict[Iri, int], neighbours: Mapping[Iri, set[Iri]], hops: int) -> None:
    """Count the distances of one source anew."""
    reached = [node for node, steps in distance.items() if steps == 0]
    counted = dict.fromkeys(reached, 0)
    for node in reached:
        # Not `neighbours[node] - counted.keys()`, which goes over all that was counted.
        for other in neighbours[node] if node in neighbours and counted[node] < hops else ():
            if other not in counted:
                counted[other] = counted[node] + 1
                reached.append(other)
    distance.update(counted)
