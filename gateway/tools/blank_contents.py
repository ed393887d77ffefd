"""What blank nodes say that are nodes, as values of the nodes that lead to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gateway.errors import Fault
from gateway.graph.call import Call
from gateway.graph.store import GraphStore
from gateway.graph.values import BlankNode, Description, EdgeSelection, Iri, Neighbourhood, NodeFacts, Resource, Value
from gateway.terms.iri import RDF_TYPE, is_blank_node, is_reached_by

_LEVELS = 2
"""Blank nodes in each other whose content is shown; of a deeper one the ID is."""

_MOST = 100
"""Blank nodes of one level."""

_EDGES = 20
"""Edges of one of them."""

_OUTGOING = EdgeSelection(outgoing=None, incoming=())


class BlankContents:
    """Reads the content of blank nodes."""

    def __init__(self, store: GraphStore) -> None:
        self._store = store
        self._described: dict[Iri, Description] = {}
        self._around: dict[Iri, Neighbourhood] = {}
        self._facts: dict[Iri, NodeFacts] = {}

    async def read(self, nodes: Iterable[Iri], call: Call) -> Mapping[Iri, BlankNode]:
        """Return what each of some blank nodes says; those that could not be read are absent."""
        first = level = list(dict.fromkeys(nodes))[:_MOST]
        for _ in range(_LEVELS):
            try:
                await self._read_level(level, call)
            except Fault:
                break
            ends = (edge.object for node in level for edge in self._around[node].edges)
            level = [end for end in dict.fromkeys(ends) if is_blank_node(end) and end not in self._around][:_MOST]
        return {node: self._content(node, _LEVELS) for node in first if node in self._facts}

    async def _read_level(self, level: list[Iri], call: Call) -> None:
        if level:
            self._described |= await self._store.node_metadata(level, call, blank_nodes=True)
            self._around |= await self._store.edges(level, call, selection=_OUTGOING, per_id=_EDGES)
            self._facts |= await self._store.nodes(level, call, names=False)

    def _content(self, node: Iri, levels: int) -> BlankNode:
        described, around, facts = self._described[node], self._around[node], self._facts[node]
        properties: dict[Iri, tuple[Value, ...]] = {}
        if types := [iri for iri in facts.types if not is_reached_by(iri)]:
            properties[RDF_TYPE] = tuple(map(Resource, types))
        properties |= described.properties
        for edge in around.edges:
            value: Value = Resource(edge.object)
            if levels > 1 and is_blank_node(edge.object) and edge.object in self._facts:
                value = self._content(edge.object, levels - 1)
            properties[edge.predicate] = (*properties.get(edge.predicate, ()), value)
        is_read = described.mark.whole and around.mark.whole and facts.mark.whole
        is_whole = is_read and not (described.left_out or around.left_out or facts.left_out or around.blank_edges)
        return BlankNode(properties, cut=not is_whole, iri=node)
