"""The nodes within some hops of others, for stores that can ask for the neighbours of many nodes at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from gateway.errors import EndpointFault, Fault
from gateway.graph import sendable
from gateway.graph.call import Call, Deadline, together
from gateway.graph.computing import in_thread
from gateway.graph.values import WHOLE, Iri, Mark, Reach

_FEW_NODES = 4_000
"""Neighbours that are looked at in some milliseconds."""


class Neighbours(NamedTuple):
    """The distinct neighbours of the nodes of one query, and whether these are all."""

    nodes: frozenset[Iri] = frozenset()
    mark: Mark = WHOLE


class _BlankNodesError(EndpointFault):
    """Blank nodes are among the neighbours, and the edges to them are to be counted."""


def beside_blank_nodes() -> Mark:
    """Return the mark of neighbours among which blank nodes are that are no nodes."""
    return Mark(_BlankNodesError("Blank nodes are among the neighbours; their edges were not counted."))


def are_beside_blank_nodes(mark: Mark) -> bool:
    """Return whether a mark says that."""
    return isinstance(mark.fault, _BlankNodesError)


Ask = Callable[[Sequence[Iri]], Awaitable[Mapping[Iri, Neighbours]]]
"""Asks for the neighbours of nodes; those that stand in one query have one answer."""


async def reach_of(ids: Sequence[Iri], hops: int, ask: Ask, call: Call) -> Mapping[Iri, Reach]:
    """Return the nodes within some hops of each node; see `GraphStore.reach`."""
    async with together() as tasks:
        running = {node: tasks.create_task(_within(node, hops, ask, call)) for node in dict.fromkeys(ids)}
    return await sendable.checked_reach({node: task.result() for node, task in running.items()}, call)


async def _within(node: Iri, hops: int, ask: Ask, call: Call) -> Reach:
    distances = {node: 0}
    frontier = [node]
    for hop in range(1, hops + 1):
        answers = await ask(frontier)
        distinct = list({id(answer): answer for answer in answers.values()}.values())
        few = sum(len(answer.nodes) for answer in distinct) <= _FEW_NODES
        try:
            frontier = await in_thread(call, partial(_not_known, distinct, distances), unless=few)
        except Fault as fault:
            return Reach(distances, Mark(fault))
        distances |= dict.fromkeys(frontier, hop)
        for answer in distinct:
            if not answer.mark.whole:
                return Reach(distances, answer.mark)
    return Reach(distances)


def _not_known(answers: Iterable[Neighbours], known: Mapping[Iri, int], deadline: Deadline) -> list[Iri]:
    """Return the neighbours that are not known, each once."""
    found = (node for answer in answers for node in deadline.checking(answer.nodes) if node not in known)
    return list(dict.fromkeys(found))
