"""Which nodes lie on the way from the seeds to some nodes of a topology."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import repeat

from gateway.engine.traversal.steering import Steering
from gateway.engine.traversal.topology import Topology
from gateway.graph.deadline import Deadline
from gateway.graph.values import Edge, Iri, other_end
from gateway.terms.prefixes import PrefixMap


def nodes_on_the_way(
    topology: Topology, steering: Steering, goals: Iterable[Iri], prefixes: PrefixMap, deadline: Deadline
) -> set[Iri]:
    """Return the nodes on one shortest path from the nearest seed to each of some nodes, along edges that are shown.

    Of several shortest paths it is the one whose nodes come first by ID without coined prefixes, counted from the end.

    Raises:
        DeadlinePassed: The time was not enough.
    """
    before = _steps_back(topology, steering, prefixes, deadline)
    found: set[Iri] = set()
    for goal in deadline.checking(goals):
        # A walk may come by a node twice, or back to a seed; its first arrival is the way to it.
        step = next((step for step, steps in enumerate(before, 1) if goal in steps), 0) if topology.nodes[goal] else 0
        node = goal
        for steps in reversed(before[:step]):
            node = steps[node]
            found.add(node)
    return found


def _steps_back(
    topology: Topology, steering: Steering, prefixes: PrefixMap, deadline: Deadline
) -> Sequence[dict[Iri, Iri]]:
    """Return, for each hop, the nodes where it arrives, each with the first node by ID from which it does."""
    touching: dict[Iri, list[Edge]] = defaultdict(list)
    for edge in deadline.checking(topology.edges):
        for end in {edge.subject, edge.object}:
            touching[end].append(edge)
    farthest = max(topology.nodes.values(), default=0)
    selections = steering.selections if steering.is_listed else tuple(repeat(steering.selection, farthest))
    layer: Iterable[Iri] = [node for node, distance in topology.nodes.items() if not distance]
    before: list[dict[Iri, Iri]] = []
    for hop, selection in enumerate(selections, 1):
        arrived: dict[Iri, Iri] = {}
        for node in deadline.checking(sorted(layer, key=prefixes.declared_form)):
            for edge in touching[node]:
                other = other_end(node, edge)
                is_farther = steering.is_listed or topology.nodes[other] == hop
                if is_farther and selection.selects(node, edge):
                    arrived.setdefault(other, node)
        before.append(arrived)
        layer = arrived
    return before
