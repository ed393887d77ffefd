"""Names and the entities that have them, out of rows: what every way of searching comes to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gateway.graph.call import Call
from gateway.graph.values import Hit, Hits, Iri
from gateway.settings.profile import Profile
from gateway.sparql.client import SparqlClient
from gateway.sparql.nodes.name_predicates import NamePredicates
from gateway.sparql.results.columns import binding, iri, literal, read
from gateway.sparql.results.rows import Row
from gateway.sparql.template import Parameter

_CANDIDATES = 5_000
"""Matches that are read before they are ranked; more is told as truncated."""


@dataclass(frozen=True, slots=True)
class Restricted:
    """Which names are meant.

    Attributes:
        predicates: Names of these predicates.
        types: Of entities with one of these types; empty for all.
    """

    predicates: Sequence[Iri]
    types: Sequence[Iri] = ()


class FoundNames:
    """Asks for names."""

    def __init__(self, client: SparqlClient, profile: Profile, name_predicates: NamePredicates) -> None:
        self._client = client
        self._type_predicates = profile.edges.types
        self._name_predicates = name_predicates

    async def matching(
        self, template: str, parameters: Mapping[str, Parameter], restricted: Restricted, call: Call
    ) -> Hits:
        """Ask a template for names, and return those that came; how it was done is for the caller to say.

        Raises:
            Fault: The graph could not be asked.
        """
        among: dict[str, Parameter] = {
            "predicates": restricted.predicates,
            "type_predicates": self._type_predicates,
            "types": [restricted.types] if restricted.types else [],
        }
        rows, truncated = await self._rows(template, {**among, **parameters}, _CANDIDATES, call)
        synonyms = set(self._name_predicates.synonyms)
        found = (
            Hit(entity, name.value, is_synonym=predicate in synonyms)
            for entity, predicate, name in read(rows, iri("n"), iri("p"), literal("v"))
        )
        return Hits(tuple(dict.fromkeys(found)), truncated, how="")

    async def some(self, most: int, call: Call) -> Mapping[Iri, Sequence[tuple[Iri, str]]]:
        """Return, for each predicate that names anything, some entities with such a name of theirs.

        Raises:
            Fault: The graph could not be asked.
        """
        parameters: dict[str, Parameter] = {"predicates": list(self._name_predicates.all), "most": most}
        found: dict[Iri, list[tuple[Iri, str]]] = {}
        rows, _ = await self._rows("search/sample", parameters, _CANDIDATES, call)
        for entity, predicate, name in read(binding(rows, "n", "p", "v"), iri("n"), iri("p"), literal("v")):
            found.setdefault(predicate, []).append((entity, name.value))
        return found

    async def _rows(
        self, template: str, parameters: Mapping[str, Parameter], most: int, call: Call
    ) -> tuple[Sequence[Row], bool]:
        return (await self._client.rows(template, call, parameters, at_most=most)).part()
