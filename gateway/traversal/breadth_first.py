"""Breadth-first search from one or several sources at once, hop by hop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, filterfalse, repeat
from typing import TypeVar

from gateway import messages
from gateway.errors import Fault
from gateway.graph.call import Call, Deadline
from gateway.graph.computing import FEW_FOR_A_THREAD, in_thread
from gateway.graph.store import GraphStore, OnAnswers
from gateway.graph.values import ALL_EDGES, WHOLE, Edge, EdgeSelection, Iri, Neighbourhood, ends_of
from gateway.traversal.expander import NodeExpander
from gateway.traversal.gaps import GapCollector

Result = TypeVar("Result")

Reading = tuple[EdgeSelection, Neighbourhood]
"""What a selection of edges read of a node."""


@dataclass(slots=True)
class Exploration:
    """The part of a graph that a breadth-first search has seen.

    Attributes:
        distances: For each source, the distance of every node it reaches.
        selection: The edges that were followed.
        gaps: What could not be expanded.
        known: The neighbourhoods of all expanded nodes.
        missing: Seeds that are in no triple of the graph, in the order given.
        unsure: Seeds of which neither the edges nor the existence could be read, each with the fault.
        alone: Seeds that exist and have no edges that are followed.
        partial: How many nodes were reached and are not shown, because no walk through all steps leads over them.
        unexpanded: Nodes of which `known` has only edges that were read from their other ends.
        by_source: For each source, what the search found that has it among its sources; empty where it is this.
    """

    distances: list[dict[Iri, int]]
    selection: EdgeSelection = ALL_EDGES
    gaps: GapCollector = field(default_factory=GapCollector)
    known: dict[Iri, Neighbourhood] = field(default_factory=dict)
    missing: list[Iri] = field(default_factory=list)
    unsure: dict[Iri, Fault] = field(default_factory=dict)
    alone: list[Iri] = field(default_factory=list)
    partial: int = 0
    unexpanded: set[Iri] = field(default_factory=set)
    by_source: list[Exploration] = field(default_factory=list)

    @property
    def parts(self) -> list[Exploration]:
        """For each source, what the search found that has it among its sources."""
        return self.by_source or [self] * len(self.distances)

    @property
    def edges(self) -> set[Edge]:
        """The edges that touch an expanded node."""
        return set(chain.from_iterable(neighbourhood.edges for neighbourhood in self.known.values()))

    @property
    def edges_read(self) -> int:
        """How many edges the answers about the expanded nodes have, those between two of them twice."""
        return sum(len(neighbourhood.edges) for neighbourhood in self.known.values())

    def neighbours(self, deadline: Deadline) -> Mapping[Iri, set[Iri]]:
        """Return the neighbours of the expanded nodes, over the edges of both ends: no path leads through another node.

        If edges are selected, only over a node's own: the rows of another node may have it at the end not followed.

        Raises:
            DeadlinePassed: The time was not enough.
        """
        if not self.selection.is_all:
            own = deadline.checking(self.known.items(), 1)
            return {node: {*neighbourhood.ends} - {node} for node, neighbourhood in own}
        near: dict[Iri, set[Iri]] = {node: set() for node in self.known}
        for neighbourhood in self.known.values():
            for edge in deadline.checking(neighbourhood.edges):
                start, end = edge.subject, edge.object
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
        return len(self.distances[0]) if len(self.distances) == 1 else len(set().union(*self.distances))


class BreadthFirstSearch:
    """One search from every source up to a number of hops; all sources share one frontier.

    Each source has some seeds, at distance 0. A node at distance < hops is expanded, at most once. Where an expansion
    fails, the search continues without it and adds a gap.
    """

    def __init__(
        self,
        store: GraphStore,
        sources: Sequence[Sequence[Iri]],
        hops: int,
        expander: NodeExpander,
        call: Call,
        selection: EdgeSelection = ALL_EDGES,
    ) -> None:
        """Search along the edges that are selected, as seen from the node that is expanded."""
        self._store = store
        self._sources = sources
        self._hops = hops
        self._expander = expander
        self._call = call
        self._selection = selection
        self._found = Exploration([dict.fromkeys(seeds, 0) for seeds in sources], selection, expander.gaps)
        self._seen: set[Iri] = set()

    async def run(self, on_answers: OnAnswers | None = None) -> Exploration:
        """Return what the search finds; `on_answers` receives parts of the last hop, see `GraphStore.edges`.

        Raises:
            Fault: Nothing could be learnt about any seed.
        """
        found = self._found
        near: Sequence[Iri] = ()
        for hop in range(self._hops):
            reached = await self._apart(partial(self._reached, hop))
            if not reached:
                break
            # What one source has reached, another may have expanded before.
            frontier = await self._apart(partial(self._unseen, reached))
            # Seeds are few, and whether they exist has to be known in any case.
            if hop and self._is_over_budget(frontier):
                break
            self._seen.update(frontier)
            before = {node: found.known[node] for node in near if node in found.known}
            last = on_answers if hop == self._hops - 1 else None
            found.known |= await self._expander.expand(frontier, self._selection, last, read_before=before)
            near = reached
            if hop == 0:
                await settle_seeds(found, self._store, self._call)
            await self._apart(partial(self._spread, hop))
            progress = messages.hop_done(hop + 1, self._hops, found.node_count)
            await self._call.progress(hop + 1, self._hops + 1, progress)
        if not all(neighbourhood.mark.whole for neighbourhood in found.known.values()):
            await self._follow_shortcuts()
        return found

    async def _apart(self, work: Callable[[Deadline], Result]) -> Result:
        """Return what looks at all nodes that were reached, or at all edges; these may be very many."""
        found = self._found
        is_little = sum(map(len, found.distances)) <= FEW_FOR_A_THREAD and found.edges_read <= FEW_FOR_A_THREAD
        return await in_thread(self._call, work, unless=is_little)

    def _reached(self, hop: int, deadline: Deadline) -> Sequence[Iri]:
        """Return the nodes at this distance from some source."""
        at_hop = (
            node
            for distance in self._found.distances
            for node, steps in deadline.checking(distance.items())
            if steps == hop
        )
        return list(dict.fromkeys(at_hop))

    def _unseen(self, nodes: Iterable[Iri], deadline: Deadline) -> Sequence[Iri]:
        return [node for node in deadline.checking(nodes) if node not in self._seen]

    def _spread(self, hop: int, deadline: Deadline) -> None:
        """Add the neighbours of the nodes at this distance from each source, one step farther."""
        known = self._found.known
        for distance in self._found.distances:
            expanded = [node for node, steps in distance.items() if steps == hop and node in known]
            for node in expanded:
                # A million at once would let no other thread run.
                for some in deadline.slices(ends_of(known[node].edges)):
                    distance.update(zip(filterfalse(distance.__contains__, some), repeat(hop + 1)))

    def _recount_all(self, deadline: Deadline) -> None:
        """Count all distances anew, each seed that the edges of other nodes show at 0."""
        neighbours = self._found.neighbours(deadline)
        while True:
            for distance in self._found.distances:
                _recount(distance, neighbours, self._hops, deadline)
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
            frontier = await self._apart(self._nearer)
            if not frontier or self._is_over_budget(frontier):
                return
            self._seen.update(frontier)
            known = self._found.known
            known |= await self._expander.expand(frontier, self._selection, read_before=dict(known))

    def _nearer(self, deadline: Deadline) -> Sequence[Iri]:
        """Count distances anew, and return the nodes that are to be expanded by them and were not, in order."""
        self._recount_all(deadline)
        near = {
            node
            for distance in self._found.distances
            for node, steps in deadline.checking(distance.items())
            if steps < self._hops
        }
        return sorted(near - self._seen)

    def _is_over_budget(self, frontier: Sequence[Iri]) -> bool:
        """Return whether too many nodes are reached to expand more; if so, add a gap."""
        if not frontier or self._found.node_count <= self._call.nodes:
            return False
        self._found.gaps.add("budget", frontier, messages.nodes_used_up(self._call.nodes))
        return True


async def settle_seeds(found: Exploration, store: GraphStore, call: Call) -> None:
    """Separate the seeds that have no edges from those that do not exist, and take the latter out.

    Called when only seeds are known.

    Raises:
        Fault: Nothing could be learnt about any seed.
    """
    seeds = list(found.known)
    without_edges = [seed for seed in seeds if not found.known[seed].edges and not found.known[seed].blank_edges]
    asked = [seed for seed in without_edges if found.known[seed].mark.answered]
    existing = await store.existing(asked, call) if asked else {}
    for seed in without_edges:
        mark = existing[seed].mark if seed in existing else found.known[seed].mark
        if mark.fault is not None:
            found.unsure[seed] = mark.fault
            found.gaps.add_mark(seed, mark)
        elif not existing[seed].exists:
            found.missing.append(seed)
        elif found.known[seed].mark.whole:
            found.alone.append(seed)
    gone = {*found.missing, *found.unsure}
    if found.unsure and len(gone) == len(seeds):
        raise next(iter(found.unsure.values()))
    for distance in found.distances:
        for seed in gone:
            distance.pop(seed, None)


def combined(sources: Sequence[tuple[Exploration, Mapping[Iri, int]]]) -> Exploration:
    """Return what several searches of one question found, as one.

    Args:
        sources: For each source what its search found, and the distances from this source.
    """
    parts = {id(part): part for part, _ in sources}
    if len(parts) == 1:
        return sources[0][0]
    whole = Exploration([dict(distance) for _, distance in sources], gaps=sources[0][0].gaps)
    readings: dict[Iri, list[Reading]] = {}
    for part in parts.values():
        for node, one in part.known.items():
            readings.setdefault(node, []).append((part.selection, one))
        whole.unsure |= part.unsure
        whole.missing += [seed for seed in part.missing if seed not in whole.missing]
        whole.unexpanded |= part.unexpanded
    whole.known = {node: joined(each) for node, each in readings.items()}
    whole.by_source = [part for part, _ in sources]
    return whole


def joined(readings: Sequence[Reading]) -> Neighbourhood:
    """Return what several selections read of the same node, as one."""
    if len(readings) == 1:
        return readings[0][1]
    found = [one for _, one in readings]
    return Neighbourhood(
        tuple(dict.fromkeys(chain.from_iterable(one.edges for one in found))),
        _blank_edges(readings),
        next((one.mark for one in found if not one.mark.whole), WHOLE),
        frozenset().union(*(one.left_out for one in found)),
    )


def _blank_edges(readings: Sequence[Reading]) -> int:
    """Return how many triples with a blank node several selections read of one node, or fewer: none is counted twice.

    Which triples they were is not known, so of selections that overlap, the one with more counts.
    """
    counted: list[EdgeSelection] = []
    blank_edges = 0
    for selection, one in sorted(readings, key=lambda reading: -reading[1].blank_edges):
        if not any(selection.overlaps(other) for other in counted):
            counted.append(selection)
            blank_edges += one.blank_edges
    return blank_edges


def _recount(distance: dict[Iri, int], neighbours: Mapping[Iri, set[Iri]], hops: int, deadline: Deadline) -> None:
    """Count the distances of one source anew."""
    reached = [node for node, steps in distance.items() if steps == 0]
    counted = dict.fromkeys(reached, 0)
    for node in reached:
        deadline.check()
        # Not `neighbours[node] - counted.keys()`, which goes over all that was counted.
        for other in neighbours[node] if node in neighbours and counted[node] < hops else ():
            if other not in counted:
                counted[other] = counted[node] + 1
                reached.append(other)
    distance.update(counted)
