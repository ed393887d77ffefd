"""Breadth-first search from one or several sources at once, hop by hop, each node expanded at most once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from gateway.engine import messages
from gateway.engine.traversal.gaps import GapCollector
from gateway.engine.traversal.hub_rule import HubRule
from gateway.errors import EdgesCapped, Fault
from gateway.graph.call import Call
from gateway.graph.store import GraphStore, OnAnswers
from gateway.graph.values import Edge, Iri, Neighbourhood


@dataclass(slots=True)
class Exploration:
    """What a breadth-first search has seen.

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


async def explore(
    store: GraphStore,
    sources: Sequence[Sequence[Iri]],
    hops: int,
    rule: HubRule,
    call: Call,
    on_answers: OnAnswers | None = None,
) -> Exploration:
    """Search from every source up to a number of hops; all sources share one frontier.

    A node at distance < hops is expanded. Where an expansion fails, the search goes on without it and says so.

    Args:
        store: The graph.
        sources: Each source's seeds, at distance 0.
        hops: 1 to 5.
        rule: Which nodes are not expanded, and which not whole.
        call: The call that asks.
        on_answers: Receives parts of the last hop; see `GraphStore.edges`.

    Raises:
        Fault: Nothing could be learnt about any seed.
    """
    found = Exploration([dict.fromkeys(seeds, 0) for seeds in sources])
    seen: set[Iri] = set()
    for hop in range(hops):
        reached = [node for distance in found.distances for node, steps in distance.items() if steps == hop]
        if not reached:
            break
        # What one source has reached, another may have expanded before.
        frontier = [node for node in dict.fromkeys(reached) if node not in seen]
        # Seeds are few, and whether they exist has to be known in any case.
        if hop and _over_budget(found, frontier, call):
            break
        seen.update(frontier)
        await _expand(store, frontier, found, rule, call, on_answers if hop == hops - 1 else None, seeds=hop == 0)
        if hop == 0:
            await _settle_seeds(store, found, call)
        for distance in found.distances:
            _spread(distance, found.known, hop)
        await call.progress(hop + 1, hops + 1, f"hop {hop + 1} of {hops}: {_reached(found)} nodes")
    if not all(neighbourhood.mark.whole for neighbourhood in found.known.values()):
        _restore_seeds(found, sources)
        await _follow_shortcuts(store, found, seen, hops, rule, call)
    return found


async def _follow_shortcuts(
    store: GraphStore, found: Exploration, seen: set[Iri], hops: int, rule: HubRule, call: Call
) -> None:
    """Make distances those in the graph that is shown, and expand the nodes that are nearer than they seemed.

    An edge that the answer about one node lacks, because it was capped, cut or failed, may be in that about its other
    end, hops later.
    """
    while True:
        neighbours = found.neighbours
        for distance in found.distances:
            _draw_nearer(distance, neighbours, hops)
        near = {node for distance in found.distances for node, steps in distance.items() if steps < hops}
        frontier = sorted(near - seen)
        if not frontier or _over_budget(found, frontier, call):
            return
        seen.update(frontier)
        await _expand(store, frontier, found, rule, call, None, seeds=False)


def _restore_seeds(found: Exploration, sources: Sequence[Sequence[Iri]]) -> None:
    """Put the seeds that could not be read, but that the edges of other nodes show, back to distance 0."""
    shown = set().union(*found.distances) & found.unsure.keys()
    for seeds, distance in zip(sources, found.distances, strict=True):
        distance.update(dict.fromkeys(shown.intersection(seeds), 0))


def _draw_nearer(distance: dict[Iri, int], near: Mapping[Iri, set[Iri]], hops: int) -> None:
    """Count the distances of one source anew."""
    reached = [node for node, steps in distance.items() if steps == 0]
    counted = dict.fromkeys(reached, 0)
    for node in reached:
        # Not `near[node] - counted.keys()`, which goes over all that was counted.
        for other in near[node] if node in near and counted[node] < hops else ():
            if other not in counted:
                counted[other] = counted[node] + 1
                reached.append(other)
    distance.update(counted)


async def _expand(
    store: GraphStore,
    frontier: Sequence[Iri],
    found: Exploration,
    rule: HubRule,
    call: Call,
    on_answers: OnAnswers | None,
    *,
    seeds: bool,
) -> None:
    """Learn the edges of a frontier, as far as the rule wants them."""
    whole: list[Iri] = list(frontier)
    capped: list[Iri] = []
    if not rule.is_off and not (seeds and rule.max_edges is None):
        whole, capped = await _sorted_by_degree(store, frontier, found, rule, call, seeds=seeds)
    answers: dict[Iri, Neighbourhood] = {}
    if whole:
        answers |= await store.edges(whole, call, on_answers=on_answers)
    if capped:
        answers |= await store.edges(capped, call, per_id=rule.max_edges)
    found.known.update(answers)
    for node, neighbourhood in answers.items():
        if node not in found.capped or not isinstance(neighbourhood.mark.fault, EdgesCapped):
            found.gaps.add_mark(node, neighbourhood.mark)


async def _sorted_by_degree(
    store: GraphStore, frontier: Sequence[Iri], found: Exploration, rule: HubRule, call: Call, *, seeds: bool
) -> tuple[list[Iri], list[Iri]]:
    """Return the nodes to expand whole, and those to expand in part; note the others, which are hubs."""
    degrees = await store.degrees(frontier, rule.counted, call) if frontier else {}
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


def _reached(found: Exploration) -> int:
    return len(set().union(*found.distances))


def _spread(distance: dict[Iri, int], known: dict[Iri, Neighbourhood], hop: int) -> None:
    """Give the neighbours of the nodes at this distance theirs."""
    for node in [node for node, steps in distance.items() if steps == hop]:
        if node in known:
            for reached in known[node].ends:
                distance.setdefault(reached, hop + 1)


async def _settle_seeds(store: GraphStore, found: Exploration, call: Call) -> None:
    """Tell the seeds that have no edges from those that do not exist, and take the latter out."""
    seeds = list(found.known)
    silent = [seed for seed in seeds if not found.known[seed].edges and not found.known[seed].blank_edges]
    asked = [seed for seed in silent if found.known[seed].mark.answered]
    existing = await store.existing(asked, call) if asked else {}
    for seed in silent:
        fault = existing[seed].mark.fault if seed in existing else found.known[seed].mark.fault
        if fault is not None:
            found.unsure[seed] = fault
            found.gaps.add_mark(seed, existing[seed].mark if seed in existing else found.known[seed].mark)
        elif not existing[seed].exists:
            found.missing.append(seed)
    gone = {*found.missing, *found.unsure}
    if found.unsure and len(gone) == len(seeds):
        raise next(iter(found.unsure.values()))
    for distance in found.distances:
        for seed in gone:
            distance.pop(seed, None)


def _over_budget(found: Exploration, frontier: Sequence[Iri], call: Call) -> bool:
    if not frontier or _reached(found) <= call.nodes:
        return False
    found.gaps.add("budget", frontier, messages.nodes_used_up(call.nodes))
    return True
