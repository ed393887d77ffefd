"""Which of several types a node shows (docs/contract.md, "Entity types")."""

from __future__ import annotations

from collections.abc import Sequence

from gateway.graph.values import Iri, NodeFacts, Schema
from gateway.terms.known_iris import GENERIC_TYPES, is_entity_type
from gateway.terms.prefixes import PrefixMap

UNTYPED = "untyped"
"""The `entity_type` of a node without any type."""

UNKNOWN = "unknown"
"""The `entity_type` of a node whose types could not be fetched."""


class TypeChooser:
    """Chooses one type for each node; the choice depends only on the profile and the schema version."""

    def __init__(self, schema: Schema, preferred: Sequence[Iri], prefixes: PrefixMap) -> None:
        self._counts = {term.iri: term.count or 0 for term in schema.types} if schema.exact else {}
        self._preferred = {iri: rank for rank, iri in enumerate(preferred)}
        self._prefixes = prefixes

    def all_of(self, facts: NodeFacts) -> tuple[Iri, ...]:
        """Return the entity types of a node, the one that is shown first; generic types only if there are no others."""
        types = [iri for iri in facts.types if is_entity_type(iri)]
        specific = [iri for iri in types if iri not in GENERIC_TYPES]
        return tuple(sorted(specific or types, key=self._order))

    def filterable(self, facts: NodeFacts) -> tuple[str, ...]:
        """Return the types that a filter can match: all types of the node, or the word for none or unknown ones."""
        if not facts.are_types_known:
            return (UNKNOWN,)
        return tuple(iri for iri in facts.types if is_entity_type(iri)) or (UNTYPED,)

    def shown(self, facts: NodeFacts) -> str:
        """Return `entity_type` as it is written in an answer."""
        if not facts.are_types_known:
            return UNKNOWN
        types = self.all_of(facts)
        return self._prefixes.shorten(types[0]) if types else UNTYPED

    def _order(self, iri: Iri) -> tuple[int, int, str]:
        preference = self._preferred.get(iri, len(self._preferred))
        return (preference, self._counts.get(iri, 0), self._prefixes.shorten(iri))
