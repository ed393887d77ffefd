"""Whether a graph of an endpoint has lists, containers, or expressions of OWL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from gateway.errors import Fault
from gateway.graph.call import Call
from gateway.graph.values import Iri
from gateway.sparql.client import SparqlClient
from gateway.sparql.template import Parameter
from gateway.terms.iri import (
    EXPRESSION_PREDICATES,
    INTERSECTION,
    INTO_EXPRESSIONS,
    RDF,
    RDF_FIRST,
    RDF_NIL,
    RDF_REST,
    RESTRICTION,
    TO_ALL_DIFFERENT,
)

NUMBERED: Final = tuple(f"{RDF}_{number}" for number in range(1, 11))
"""By one of these a graph shows that it has containers."""

_MEMBERSHIP: Final = f"{RDF}_"
"""Begins the predicates from containers to their members."""

_CONTAINERS: Final = tuple(f"{RDF}{name}" for name in ("Seq", "Bag", "Alt"))
LIST_TYPES: Final = (f"{RDF}List", *_CONTAINERS)
"""Types of lists and containers, which say nothing of them."""


_MOST_MET: Final = 500
"""Further predicates of members that are asked for; containers may have one for each of a million members."""


class ListProbe:
    """Finds out whether a graph has lists or containers.

    Args:
        client: Sends the queries.
    """

    def __init__(self, client: SparqlClient) -> None:
        self._client = client
        self._met: set[Iri] = set()

    def note(self, predicates: Iterable[Iri]) -> None:
        """Note predicates of the graph: a container may begin with a number that is not asked for."""
        if len(self._met) <= _MOST_MET:
            self._met.update(one for one in predicates if one.startswith(_MEMBERSHIP) and one not in NUMBERED)

    async def are_there(self, call: Call) -> bool:
        """Return whether the graph may have some."""
        if self._met:
            return True
        return await self._has((RDF_REST, RDF_FIRST, *NUMBERED), [RDF_NIL, *LIST_TYPES], call)

    async def are_containers(self, call: Call) -> bool:
        """Return whether the graph may have containers."""
        if self._met:
            return True
        return await self.are_there(call) and await self._has(NUMBERED, _CONTAINERS, call)

    async def are_behind(self, predicates: Iterable[Iri], call: Call) -> bool:
        """Return whether some predicates may lead to lists that are blank nodes, or empty."""
        if len(self._met) > _MOST_MET:
            return True
        met, remembered = len(self._met), self._client.remembered
        unknown = tuple(sorted(one for one in predicates if remembered.answer(("behind", one, met), call) is not False))
        if not unknown:
            return False
        # Which of several it is, the engine does not say.
        of_all = ("behind", unknown, met)
        if remembered.answer(of_all, call) is True:
            return True
        parts = (RDF_FIRST, RDF_REST, *NUMBERED, *sorted(self._met))
        given = {"predicates": unknown, "parts": parts, "list_types": LIST_TYPES}
        try:
            are_there = await self._client.has_rows("blank_nodes/lists_behind", call, given)
        except Fault:
            return True
        for question in [of_all] if are_there else [("behind", one, met) for one in unknown]:
            remembered.add(question, call, answer=are_there)
        return are_there

    async def _has(self, predicates: Sequence[Iri], ends: Sequence[Iri], call: Call) -> bool:
        """Return whether the graph may have a triple with some predicate or object."""
        given = {"predicates": predicates, "ends": [ends] if ends else []}
        return await _has(self._client, "blank_nodes/lists", given, " ".join((*predicates, *ends)), call)


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
        return await _has(self._client, "blank_nodes/expressions", given, "expressions", call)

    async def are_all_different_there(self, call: Call) -> bool:
        """Return whether some may say of all members of a list that they are different or disjoint."""
        given: dict[str, Parameter] = {"predicates": sorted(TO_ALL_DIFFERENT), "ends": []}
        return await _has(self._client, "blank_nodes/lists", given, "all different", call)

    async def are_types_there(self, call: Call) -> bool:
        """Return whether some may be types that say further types."""
        given: dict[str, Parameter] = {"predicates": [INTERSECTION]}
        return await _has(self._client, "blank_nodes/intersections_as_types", given, "types of expressions", call)


async def _has(client: SparqlClient, template: str, given: Mapping[str, Parameter], question: str, call: Call) -> bool:
    """Return whether an answer has rows; it is remembered by the name of the question."""

    async def is_there() -> bool:
        return await client.has_rows(template, call, given)

    return await client.remembered.ask(question, call, is_there)
