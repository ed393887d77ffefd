"""Breadth-first search from one or several sources at once, hop by hop, each node expanded at most once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from gateway.engine.gaps import Gaps
from gateway.errors import Fault, InputError, quoted
from gateway.graph.budget import Budget
from gateway.graph.store import GraphStore
from gateway.graph.values import Edge, Iri, Neighbourhood

Progress = Callable[[int, int, str], Awaitable[None]]
"""Told after each step: steps done, steps in all, and what was done."""


async def no_progress(_done: int, _total: int, _message: str) -> None:
    """Tell nobody."""


@dataclass(slots=True)
class Exploration:
    """What a breadth-first search has seen.

    Attributes:
        distances: For each source, the distance of every node it reaches.
        known: The neighbourhoods of all expanded nodes.
        missing: Seeds that are in no triple of the graph, in the order given.
        gaps: What could not be expanded.
    """

    distances: list[dict[Iri, int]]
    known: dict[Iri, Neighbourhood] = field(default_factory=dict)
    missing: list[Iri] = field(default_factory=list)
    gaps: Gaps = field(default_factory=Gaps)

    @property
    def edges(self) -> set[Edge]:
        """The edges that touch an expanded node."""
        return {edge for neighbourhood in self.known.values() for edge in neighbourhood.edges}

    @property
    def blank_edges(self) -> int:
        """Triples left out because their other end is a blank node."""
        return sum(neighbourhood.blank_edges for neighbourhood in self.known.values())


async def explore(
    store: GraphStore,
    sources: Sequence[Sequence[Iri]],
    hops: int,
    budget: Budget,
    progress: Progress,
) -> Exploration:
    """Search from every source up to a number of hops; all sources share one frontier.

    A node at distance < hops is expanded. Where an expansion fails, the search goes on without it and says so.

    Args:
        store: The graph.
        sources: Each source's seeds, at distance 0.
        hops: 1 to 5.
        budget: The call's budget.
        progress: Told after each hop.

    Raises:
        InputError: No seed exists.
        Fault: Nothing could be learnt about any seed.
    """
    found = Exploration([dict.fromkeys(seeds, 0) for seeds in sources])
    for hop in range(hops):
        frontier = dict.fromkeys(
            node
            for distance in found.distances
            for node, steps in distance.items()
            if steps == hop and node not in found.known
        )
        if not frontier or _over_budget(found, list(frontier), budget):
            break
        answers = await store.edges(list(frontier), budget)
        found.known.update(answers)
        for node, neighbourhood in answers.items():
            found.gaps.add_mark(node, neighbourhood.mark)
        if hop == 0:
            await _settle_seeds(store, found, budget)
        for distance in found.distances:
            _spread(distance, found.known, hop)
        reached = len(set().union(*found.distances))
        await progress(hop + 1, hops + 1, f"hop {hop + 1} of {hops}: {reached} nodes")
    return found


def _spread(distance: dict[Iri, int], known: dict[Iri, Neighbourhood], hop: int) -> None:
    """Give the neighbours of the nodes at this distance theirs."""
    for node in [node for node, steps in distance.items() if steps == hop]:
        if node in known:
            for edge in known[node].edges:
                distance.setdefault(edge.subject, hop + 1)
                distance.setdefault(edge.object, hop + 1)


async def _settle_seeds(store: GraphStore, found: Exploration, budget: Budget) -> None:
    """Tell the seeds that have no edges from those that do not exist, and take the latter out."""
    seeds = list(found.known)
    silent = [seed for seed in seeds if not found.known[seed].edges and not found.known[seed].blank_edges]
    unsure: dict[Iri, Fault] = {}
    asked = [seed for seed in silent if found.known[seed].mark.answered]
    existing = await store.existing(asked, budget) if asked else {}
    for seed in silent:
        fault = existing[seed].mark.fault if seed in existing else found.known[seed].mark.fault
        if fault is not None:
            unsure[seed] = fault
            found.gaps.add_mark(seed, existing[seed].mark if seed in existing else found.known[seed].mark)
        elif not existing[seed].exists:
            found.missing.append(seed)
    gone = {*found.missing, *unsure}
    if len(gone) == len(seeds):
        if unsure:
            raise next(iter(unsure.values()))
        raise InputError(
            f"None of the seeds exists in this graph: {', '.join(quoted(seed) for seed in found.missing[:5])}.",
            next_step="Call search_entities with a name to find an ID.",
        )
    for distance in found.distances:
        for seed in gone:
            distance.pop(seed, None)


def _over_budget(found: Exploration, frontier: Sequence[Iri], budget: Budget) -> bool:
    reached = len(set().union(*found.distances))
    if reached <= budget.nodes:
        return False
    found.gaps.add("budget", frontier, f"More than {budget.nodes:,} nodes were reached; these were not expanded.")
    return True
