"""Lists the nodes of some types, in the order in which a database has their IDs."""

from __future__ import annotations

from collections.abc import Sequence

from gateway.databases.client import DatabaseClient, Row
from gateway.databases.iri_mapping import IriMapping
from gateway.databases.nodes import NodeReader
from gateway.errors import Fault, QueryRefused
from gateway.graph.call import Call
from gateway.graph.values import WHOLE, Iri, Mark, NodeFacts
from gateway.terms.iri import is_reached_by, is_skolem, not_sendable

_WITHOUT_TYPE = NodeFacts()


class TypedNodeReader:
    """Lists nodes of one graph.

    Args:
        client: Sends the queries.
        ids: The IRIs of IDs.
        terms: The IRIs of types.
        nodes: Reads types.
    """

    def __init__(self, client: DatabaseClient, ids: IriMapping, terms: IriMapping, nodes: NodeReader) -> None:
        self._client = client
        self._ids = ids
        self._terms = terms
        self._nodes = nodes

    async def of_types(self, types: Sequence[Iri], call: Call) -> tuple[tuple[Iri, ...], Mark]:
        """Return the nodes that have one of some types, as far as the rows of the call reach.

        Raises:
            Fault: The graph could not be asked, and no node is known.
        """
        rows, mark = await self._rows("typed_page", [self._terms.texts_of(types)], call)
        return sendable_nodes({self._ids.iri(node): None for (node,) in rows}, mark)

    async def untyped(self, call: Call) -> tuple[tuple[Iri, ...], Mark]:
        """Return the nodes without a type; see `of_types`."""
        rows, mark = await self._rows("untyped_page", [], call)
        doubtful = {(iri := self._ids.iri(node)): is_doubtful or self._ids.has_curie(iri) for node, is_doubtful in rows}
        # The row with the types of a node may write it in another way.
        facts = await self._nodes.facts([node for node, is_so in doubtful.items() if is_so], call, names=False)
        without = (node for node in doubtful if node not in facts or facts[node] == _WITHOUT_TYPE)
        # What blank nodes without a type are put under is no node.
        found = {node: None for node in without if not is_reached_by(node)}
        for one in facts.values():
            mark = mark if one.mark.whole or not mark.whole else Mark(one.mark.fault, len(found))
        return sendable_nodes(found, mark)

    async def _rows(self, query: str, parameters: Sequence[object], call: Call) -> tuple[Sequence[Row], Mark]:
        """Return the rows of all pages, as far as the call may read them.

        Raises:
            Fault: There is no page.
        """
        rows: list[Row] = []
        while True:
            try:
                at_most = max(1, min(self._client.query_rows, call.rows))
                after = rows[-1][0] if rows else None
                page, is_cut = (await self._client.rows(query, call, *parameters, after, at_most=at_most)).part()
            except Fault as fault:
                if not rows:
                    raise
                return rows, Mark(fault, len(rows))
            rows += page
            if not is_cut:
                return rows, WHOLE


def sendable_nodes(found: dict[Iri, None], mark: Mark = WHOLE) -> tuple[tuple[Iri, ...], Mark]:
    """Return the nodes that can be sent, with a mark that is not whole where others are left out."""
    bad = {iri for iri in not_sendable(found) if not is_skolem(iri)}
    if not bad:
        return tuple(found), mark
    nodes = tuple(node for node in found if node not in bad)
    return nodes, mark if mark.fault is not None else Mark(no_id(), len(nodes))


def no_id() -> QueryRefused:
    """Return the fault of an answer that lacks a node which no caller could ask for."""
    return QueryRefused("A node that belongs to this answer has an ID that is no IRI, or is too long.")
