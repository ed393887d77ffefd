"""Lists the entities of some types, with or without names."""

from __future__ import annotations

from collections.abc import Sequence

from gateway.graph.call import Call
from gateway.graph.values import Hit, Hits, Iri
from gateway.sparql.client import SparqlClient
from gateway.sparql.edges.rule import EdgeRule
from gateway.sparql.results.columns import iri

_MOST = 5_000
"""Entities that are listed; if there are more, the list is truncated."""


class EntityLister:
    """Lists the entities of a graph by type.

    Args:
        client: Sends the query.
        rule: What is evidence and no entity.
        type_predicates: The predicates from an entity to its types.
    """

    def __init__(self, client: SparqlClient, rule: EdgeRule, type_predicates: Sequence[Iri]) -> None:
        self._client = client
        self._rule = rule
        self._type_predicates = type_predicates

    async def of_types(self, types: Sequence[Iri], call: Call) -> Hits:
        """Return the entities of some types; see `GraphStore.of_types`."""
        await self._rule.refresh(call)
        given = {"types": self._type_predicates, "wanted": types, **self._rule.evidence_of_nodes}
        answer = await self._client.rows("search/of_types", call, given, at_most=_MOST)
        rows, truncated = answer.part()
        hits = tuple(Hit(entity, "", is_synonym=False) for entity in iri("n")(rows))
        return Hits(hits, truncated, "all entities of these types", exhaustive=not truncated)
