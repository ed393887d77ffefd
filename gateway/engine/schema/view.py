"""A schema as calls look things up in it, and which of its types a node shows (docs/contract.md, "Entity types")."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Self

from gateway.engine.schema.term_lookup import TermLookup
from gateway.errors import Fault
from gateway.graph.call import Call
from gateway.graph.computing import FEW, in_thread
from gateway.graph.deadline import Deadline
from gateway.graph.superclasses import ClassHierarchy
from gateway.graph.values import Iri, NodeFacts, Schema
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import TypeSettings
from gateway.terms.known_iris import GENERIC_TYPES, is_entity_type
from gateway.terms.prefixes import PrefixMap

UNTYPED = "untyped"
"""The `entity_type` of a node without any type."""

UNKNOWN = "unknown"
"""The `entity_type` of a node whose types could not be fetched."""

WORDS = (UNTYPED, UNKNOWN)
"""What stands in the place of a type."""


class TypeChooser:
    """Chooses one type for each node; the choice depends only on the profile and the schema version."""

    def __init__(self, schema: Schema, settings: TypeSettings, prefixes: PrefixMap) -> None:
        sign = -1 if settings.shown == "commonest" else 1
        self._ranks = {term.iri: sign * (term.count or 0) for term in schema.types} if schema.exact else {}
        self._preferred = {iri: rank for rank, iri in enumerate(settings.preferred)}
        self._hierarchy = ClassHierarchy(schema.superclasses)
        self._prefixes = prefixes

    def all_of(self, facts: NodeFacts) -> Sequence[Iri]:
        """Return the entity types of a node, the one that is shown first; generic types only if there are no others."""
        types = _telling(facts)
        return types if len(types) <= 1 else sorted(types, key=self._order(types))

    def filterable(self, facts: NodeFacts) -> tuple[str, ...]:
        """Return the types that a filter can match: all types of the node, or the word for none or unknown ones."""
        if not facts.are_types_known:
            return (UNKNOWN,)
        return tuple(iri for iri in facts.types if is_entity_type(iri)) or (UNTYPED,)

    def selected(self, facts: NodeFacts, asked: Collection[str], meant: Collection[str]) -> str:
        """Return the type by which a filter selects a node: one that is asked for, else one that it means too.

        If the types of the node do not tell, it is the type that the node shows.
        """
        types = self.filterable(facts)
        fitting = [iri for iri in types if iri in asked] or [iri for iri in types if iri in meant]
        return self._first(fitting) or self.chosen(facts)

    def chosen(self, facts: NodeFacts) -> str:
        """Return the type that a node shows, or the word for none or unknown ones."""
        if not facts.are_types_known:
            return UNKNOWN
        return self._first(_telling(facts)) or UNTYPED

    def shown(self, facts: NodeFacts) -> str:
        """Return `entity_type` as it is written in an answer."""
        return self.written(self.chosen(facts))

    def written(self, chosen: str) -> str:
        """Return the ID of a type, or the word that stands for none."""
        return chosen if chosen in WORDS else self._prefixes.shorten(chosen)

    def _first(self, types: Sequence[str]) -> str | None:
        """Return the first of types in order, or None if there are none."""
        return types[0] if len(types) == 1 else min(types, key=self._order(types), default=None)

    def _order(self, types: Sequence[str]) -> Callable[[str], tuple[bool, int, int, str]]:
        """Return the order of types of one node."""
        above, last = self._hierarchy.above_others(types), len(self._preferred)

        def order(iri: str) -> tuple[bool, int, int, str]:
            preference, rank = self._preferred.get(iri, last), self._ranks.get(iri, 0)
            return (iri in above, preference, rank, self._prefixes.declared_form(iri))

        return order


def _telling(facts: NodeFacts) -> list[Iri]:
    """Return the entity types of a node, generic ones only if there are no others."""
    types = [iri for iri in facts.types if is_entity_type(iri)]
    return [iri for iri in types if iri not in GENERIC_TYPES] or types


LONGEST_LABEL = 200
"""Characters of a label that an answer shows."""


@dataclass(frozen=True, slots=True)
class SchemaView:
    """Look-ups in a schema: a `Schema` is what a reading returned, a `SchemaView` is what calls ask.

    Attributes:
        schema: The types and predicates.
        comprehensive: Whether these are all: every triple was counted, or the operator vouches for the lists.
        chooser: Chooses one type per node.
        types: The types by every name.
        predicates: The predicates by every name.
        labels: Labels by IRI.
        fault: Why the schema could not be read, or None.
    """

    schema: Schema
    comprehensive: bool
    chooser: TypeChooser
    types: TermLookup
    predicates: TermLookup
    labels: dict[Iri, str]
    fault: Fault | None

    @classmethod
    def of(
        cls,
        schema: Schema,
        type_settings: TypeSettings,
        prefixes: PrefixMap,
        *,
        comprehensive: bool,
        has_types: bool,
        fault: Fault | None,
    ) -> Self:
        """Return the look-ups in a schema; without `has_types`, no predicate gives nodes a type."""
        # Without all labels, a name that matches nothing may be a label.
        closed = comprehensive and schema.labelled
        return cls(
            schema,
            comprehensive,
            TypeChooser(schema, type_settings, prefixes),
            TermLookup("type", schema.types, prefixes, comprehensive=closed or not has_types, words=WORDS),
            TermLookup("predicate", schema.predicates, prefixes, comprehensive=closed),
            {term.iri: term.label for term in (*schema.types, *schema.predicates) if term.label},
            fault,
        )

    async def prepare(self, call: Call) -> None:
        """Compute what look-ups by name need, beside the event loop where there are many terms."""
        for terms in (self.types, self.predicates):
            if not terms.is_indexed and len(terms) > FEW:
                await in_thread(call, partial(_indexed, terms))

    def unlisted(self, types: Iterable[Iri], predicates: Iterable[Iri]) -> tuple[list[Iri], list[Iri]]:
        """Return those types and predicates that the schema does not have."""
        entity_types = (iri for iri in types if is_entity_type(iri))
        return self.types.unlisted(entity_types), self.predicates.unlisted(predicates)


def _indexed(terms: TermLookup, _: Deadline) -> object:
    return terms.names


def names_in_doubt(view: SchemaView, profile: Profile) -> bool:
    """Return whether the name predicates are unknown; names may then be missing or wrong."""
    return view.schema.names is None and "name" not in profile.roles.model_fields_set
