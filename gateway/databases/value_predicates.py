"""The predicates of literals in a database: those of all nodes of a small one, of some nodes of a large one."""

from __future__ import annotations

from gateway.databases.client import DatabaseClient
from gateway.databases.nodes import NodeReader
from gateway.databases.search import SearchReader
from gateway.graph.call import Call, together
from gateway.graph.shapes import NO_VALUES, ValuePredicates, value_predicates_of
from gateway.graph.values import Schema

_NODES = 2_000
"""Nodes of a database that are all read; of one with more, the first ones that it gives, fewer of them."""

_SAMPLED = 200

_TYPES = 20
_OF_TYPE = 20
"""Types of a larger one, the most frequent ones, and nodes of each that are read."""


class ValuePredicateReader:
    """Reads which names of properties have literals, and which literals.

    Args:
        client: Sends the queries.
        nodes: Reads nodes.
        search: Lists the nodes of a type.
    """

    def __init__(self, client: DatabaseClient, nodes: NodeReader, search: SearchReader) -> None:
        self._client = client
        self._nodes = nodes
        self._search = search

    async def predicates(self, schema: Schema, call: Call) -> ValuePredicates:
        """Return the predicates of literals; see `GraphStore.value_predicates`."""
        rows, is_cut = (await self._client.rows("sampled_nodes", call, at_most=_NODES)).part()
        nodes = dict.fromkeys(self._nodes.iri(text) for (text,) in rows)
        if is_cut:
            async with together() as tasks:
                listing = [
                    tasks.create_task(self._search.of_types([term.iri], call, at_most=_OF_TYPE))
                    for term in schema.types[:_TYPES]
                ]
            of_types = (hit.iri for task in listing for hit in task.result().hits)
            nodes = dict.fromkeys([*of_types, *list(nodes)[:_SAMPLED]])
        if not nodes:
            return NO_VALUES if is_cut else ValuePredicates((), counted=True)
        described = await self._nodes.metadata(list(nodes), call, blank_nodes=False)
        faults = [description.mark.fault for description in described.values()]
        if (first := faults[0]) is not None and None not in faults:
            raise first
        return value_predicates_of(described.values(), counted=not is_cut)
