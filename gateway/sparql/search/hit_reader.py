"""The hits of a search: the rows of a search template as entities and the names that matched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gateway.graph.call import Call
from gateway.graph.values import Hit, Hits, Iri
from gateway.settings.profile import Profile
from gateway.sparql.client import SparqlClient
from gateway.sparql.nodes.names import NamePredicates
from gateway.sparql.results.columns import binding, iri, literal, read
from gateway.sparql.results.table import Table
from gateway.sparql.template import Parameter

_CANDIDATES = 5_000
"""Matches that are read before they are ranked; if there are more, the hits are `truncated`."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The names that a search looks at: of these predicates, and of entities with one of the types; empty for all."""

    predicates: Sequence[Iri]
    types: Sequence[Iri] = ()


class HitReader:
    """Sends search templates and reads their hits."""

    def __init__(self, client: SparqlClient, profile: Profile, name_predicates: NamePredicates) -> None:
        self._client = client
        self._type_predicates = profile.edges.types
        self._name_predicates = name_predicates

    async def hits(self, template: str, parameters: Mapping[str, Parameter], scope: Scope, call: Call) -> Hits:
        """Return the names that a template finds; the caller fills in `how`."""
        among: dict[str, Parameter] = {
            "predicates": scope.predicates,
            "type_predicates": self._type_predicates,
            "types": [scope.types] if scope.types else [],
        }
        rows, truncated = await self._rows(template, {**among, **parameters}, _CANDIDATES, call)
        synonyms = set(self._name_predicates.synonyms)
        found = (
            Hit(entity, name.value, is_synonym=predicate in synonyms)
            for entity, predicate, name in read(rows, iri("n"), iri("p"), literal("v"))
        )
        return Hits(tuple(dict.fromkeys(found)), truncated, how="")

    async def sample(self, most: int, call: Call) -> Mapping[Iri, Sequence[tuple[Iri, str]]]:
        """Return some entities and their names, by the predicate that names them."""
        parameters: dict[str, Parameter] = {"predicates": list(self._name_predicates.all), "most": most}
        found: dict[Iri, list[tuple[Iri, str]]] = {}
        # A part of the names is a sample as well.
        rows, _ = await self._rows("search/sample", parameters, _CANDIDATES, call)
        for entity, predicate, name in read(binding(rows, "n", "p", "v"), iri("n"), iri("p"), literal("v")):
            found.setdefault(predicate, []).append((entity, name.value))
        return found

    async def _rows(
        self, template: str, parameters: Mapping[str, Parameter], most: int, call: Call
    ) -> tuple[Table, bool]:
        return (await self._client.rows(template, call, parameters, at_most=most)).part()
