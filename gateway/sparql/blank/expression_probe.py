"""Whether a graph of an endpoint has expressions of OWL."""

from __future__ import annotations

from typing import Final

from gateway.graph.call import Call
from gateway.sparql.client import SparqlClient
from gateway.sparql.template import Parameter
from gateway.terms.iri import EXPRESSION_PREDICATES, INTERSECTION, INTO_EXPRESSIONS, RESTRICTION, TO_ALL_DIFFERENT

_PREDICATES: Final = EXPRESSION_PREDICATES | INTO_EXPRESSIONS | TO_ALL_DIFFERENT


class ExpressionProbe:
    """Finds out whether a graph has expressions of OWL that are blank nodes.

    Args:
        client: Sends the queries.
    """

    def __init__(self, client: SparqlClient) -> None:
        self._client = client

    async def are_there(self, call: Call) -> bool:
        """Return whether there are some, or may be."""
        given: dict[str, Parameter] = {"predicates": sorted(_PREDICATES), "restriction": [RESTRICTION]}
        return await self._has("blank_nodes/expressions", given, "expressions", call)

    async def are_all_different_there(self, call: Call) -> bool:
        """Return whether some may say of all members of a list that they are different or disjoint."""
        given: dict[str, Parameter] = {"predicates": sorted(TO_ALL_DIFFERENT), "ends": []}
        return await self._has("blank_nodes/lists", given, "all different", call)

    async def are_types_there(self, call: Call) -> bool:
        """Return whether some may be types that say further types."""
        given: dict[str, Parameter] = {"predicates": [INTERSECTION]}
        return await self._has("blank_nodes/intersections_as_types", given, "types of expressions", call)

    async def _has(self, template: str, given: dict[str, Parameter], question: str, call: Call) -> bool:
        async def is_there() -> bool:
            return await self._client.has_rows(template, call, given)

        return await self._client.remembered.ask(question, call, is_there)
