"""Reads which nodes lie within some hops of a node: hop by hop, as distinct neighbours, without the edges.

Why not one property path: it walks through blank nodes and shared literals, which our hops do not, and fails on
several engines (docs/notes/endpoints.md, "Property paths").
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from sys import getsizeof

from gateway.errors import EndpointFault
from gateway.graph.call import Call
from gateway.graph.values import Iri, Mark, Reach
from gateway.sparql.batches import BatchedQuery
from gateway.sparql.client import SparqlClient
from gateway.sparql.edges.rule import EdgeRule
from gateway.sparql.results.columns import term
from gateway.sparql.results.table import Table
from gateway.sparql.results.terms import IriTerm
from gateway.terms.bounded_map import BoundedMap

_REMEMBERED_BYTES = 4 << 20
"""Bytes of nodes that are known to be near blank nodes, for whose sets no query is sent."""


class _BlankNodesError(EndpointFault):
    """Blank nodes are among the neighbours, and the edges to them are to be counted."""


def _blanks() -> _BlankNodesError:
    return _BlankNodesError("Blank nodes are among the neighbours; their edges were not counted.")


@dataclass(slots=True)
class _Neighbours:
    """The distinct neighbours of the batch that a node was asked in."""

    nodes: set[Iri] = field(default_factory=set)
    mark: Mark = field(default_factory=Mark)


class ReachReader:
    """Reads sets of nodes."""

    def __init__(self, client: SparqlClient, rule: EdgeRule, batch: int) -> None:
        self._client = client
        self._rule = rule
        self._batch = batch
        self._near_blanks: BoundedMap[tuple[Iri, int], None] = BoundedMap(_REMEMBERED_BYTES)

    async def reach(self, ids: Sequence[Iri], hops: int, call: Call) -> Mapping[Iri, Reach]:
        """Return the nodes within some hops of each node; see `GraphStore.reach`."""
        rule = await self._rule.refreshed(call)
        neighbours = BatchedQuery[Iri, _Neighbours](
            self._client, "neighbours", self._batch, lambda batch: {"nodes": batch, **rule}, _read_neighbours
        )
        async with asyncio.TaskGroup() as tasks:
            running = {
                node: tasks.create_task(self._around(node, hops, neighbours, call)) for node in dict.fromkeys(ids)
            }
        return {node: task.result() for node, task in running.items()}

    async def _around(self, node: Iri, hops: int, query: BatchedQuery[Iri, _Neighbours], call: Call) -> Reach:
        if (node, hops) in self._near_blanks.known:
            return Reach(mark=Mark(_blanks()))
        distances = {node: 0}
        for hop in range(hops):
            frontier = [reached for reached, steps in distances.items() if steps == hop]
            neighbours = _merged(await query.run(frontier, call))
            for reached in neighbours.nodes:
                distances.setdefault(reached, hop + 1)
            if not neighbours.mark.whole:
                if isinstance(neighbours.mark.fault, _BlankNodesError):
                    self._near_blanks.add((node, hops), None, getsizeof(node) + getsizeof((node, hops)))
                return Reach(distances, neighbours.mark)
        return Reach(distances)


def _merged(answers: Mapping[Iri, _Neighbours]) -> _Neighbours:
    """Return the neighbours of all nodes of a frontier."""
    merged = _Neighbours()
    for answer in {id(answer): answer for answer in answers.values()}.values():
        merged.nodes |= answer.nodes
        merged.mark = merged.mark if answer.mark.whole else answer.mark
    return merged


def _read_neighbours(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, _Neighbours]:
    nodes = {node.value for node in term("n")(rows) if isinstance(node, IriTerm)}
    if len(nodes) < len(rows) and mark.whole:
        mark = Mark(_blanks())
    return dict.fromkeys(batch, _Neighbours(nodes, mark))
