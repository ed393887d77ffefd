"""Blank nodes that say of all members of a list that they are different or disjoint, found from the members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from gateway.graph.call import Call
from gateway.graph.values import Iri, Mark
from gateway.sparql.batches import about_nodes
from gateway.sparql.blank.contents import BlankEnd, BlankEnds
from gateway.sparql.blank.keys import keys_in
from gateway.sparql.blank.probes import ExpressionProbe
from gateway.sparql.blank.rule import blank_ends
from gateway.sparql.blank.walks import AnchoredReader
from gateway.sparql.client import SparqlClient
from gateway.sparql.table import Table, iri
from gateway.terms.iri import RDF_FIRST, TO_ALL_DIFFERENT

_BATCH: Final = 200
"""Nodes in one query."""


class AllDifferentReader:
    """Finds the blank nodes that say of nodes with an IRI that they are different from others.

    Args:
        client: Sends the queries.
        probe: Finds out whether there are some.

    Attributes:
        walks: Reads blank nodes that have no keys.
    """

    def __init__(self, client: SparqlClient, probe: ExpressionProbe) -> None:
        self._client = client
        self._probe = probe
        self.walks: AnchoredReader | None = None

    async def are_there(self, call: Call) -> bool:
        """Return whether the graph has some, or may have."""
        return await self._probe.are_all_different_there(call)

    async def around(self, nodes: Sequence[Iri], call: Call) -> Mapping[Iri, BlankEnds]:
        """Return those of some nodes; without keys, the cells of whatever lists they are in."""
        if not nodes or not await self.are_there(call):
            return {}
        if self.walks is not None:
            beside = await self.walks.beside(nodes, call)
            return {
                node: BlankEnds(
                    tuple(BlankEnd(RDF_FIRST, key, is_incoming=True) for key in blank_ends(one.said, {RDF_FIRST})),
                    one.mark,
                )
                for node, one in beside.items()
            }
        given = {"predicates": sorted(TO_ALL_DIFFERENT)}
        query = about_nodes(self._client, "blank_nodes/all_different", _BATCH, given, _read_around)
        return await query.run(nodes, call)


def _read_around(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, BlankEnds]:
    found: dict[Iri, dict[BlankEnd, None]] = {node: {} for node in batch}
    for node, key in zip(iri("n")(rows), keys_in(rows, "v"), strict=True):
        found[node][BlankEnd("", key, is_incoming=True)] = None
    return {node: BlankEnds(tuple(ends), mark) for node, ends in found.items()}
