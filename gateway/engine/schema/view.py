"""A schema as the calls look things up in it, and how what is met later is added to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self

from gateway.engine.schema.entity_type import UNKNOWN, UNTYPED, TypeChooser
from gateway.engine.schema.term_lookup import TermLookup
from gateway.errors import Fault
from gateway.graph.values import Iri, Schema, Term
from gateway.settings.profile import Profile
from gateway.terms.known_iris import is_entity_type
from gateway.terms.prefixes import PrefixMap

LONGEST_LABEL = 200
"""Characters of a label that an answer shows."""

_MOST_MET = 5_000
"""Terms that only traversals have met are listed up to here."""


@dataclass(frozen=True, slots=True)
class SchemaView:
    """A schema and what is derived from it.

    Attributes:
        schema: The types and predicates.
        comprehensive: Whether these are all: they were all read, or the operator vouches for them.
        chooser: Chooses one type per node.
        types: The types by every name.
        predicates: The predicates by every name.
        labels: Labels by IRI.
        fault: Why the schema could not be read, or None.
        read: When it was read, on the clock.
        until: When it is to be read again, on the clock.
    """

    schema: Schema
    comprehensive: bool
    chooser: TypeChooser
    types: TermLookup
    predicates: TermLookup
    labels: dict[Iri, str]
    fault: Fault | None
    read: float
    until: float

    @classmethod
    def of(
        cls,
        schema: Schema,
        preferred: Sequence[Iri],
        prefixes: PrefixMap,
        *,
        comprehensive: bool,
        has_types: bool = True,
        fault: Fault | None,
        read: float,
        until: float,
    ) -> Self:
        """Derive from a schema what is looked up in it.

        Args:
            schema: The types and predicates.
            preferred: The types to choose first.
            prefixes: Short forms of IRIs.
            comprehensive: Whether these are all types and predicates.
            has_types: Whether any predicate gives nodes a type; where none does, it is known that there are no types.
            fault: Why the schema could not be read, or None.
            read: When it was read.
            until: When it is to be read again.
        """
        # Without all labels, a name that matches nothing may be a label.
        closed = comprehensive and schema.labelled
        return cls(
            schema,
            comprehensive,
            TypeChooser(schema, preferred, prefixes),
            TermLookup("type", schema.types, prefixes, comprehensive=closed or not has_types, words=(UNTYPED, UNKNOWN)),
            TermLookup("predicate", schema.predicates, prefixes, comprehensive=closed),
            {term.iri: term.label for term in (*schema.types, *schema.predicates) if term.label},
            fault,
            read,
            until,
        )

    def unlisted(self, types: Iterable[Iri], predicates: Iterable[Iri]) -> tuple[list[Iri], list[Iri]]:
        """Return those types and predicates that the schema does not have."""
        entity_types = (iri for iri in types if is_entity_type(iri))
        return self.types.unlisted(entity_types), self.predicates.unlisted(predicates)


def names_in_doubt(known: SchemaView, profile: Profile) -> bool:
    """Tell whether the predicates that carry names could not be found out, so that names may be missing or wrong."""
    return known.schema.names is None and "name" not in profile.roles.model_fields_set


def labels_of(known: SchemaView, prefixes: PrefixMap, iris: Sequence[Iri]) -> dict[str, str]:
    """Return the labels of some types and predicates by canonical ID, sorted."""
    return dict(
        sorted((prefixes.shorten(iri), known.labels[iri][:LONGEST_LABEL]) for iri in set(iris) if iri in known.labels)
    )


def with_all_of(schema: Schema, before: Schema) -> Schema:
    """Add what was known before to a schema that is a sample: what another sample saw may well be there."""
    types, predicates = {term.iri for term in schema.types}, {term.iri for term in schema.predicates}
    return replace(
        schema,
        types=(*schema.types, *(replace(term, count=None) for term in before.types if term.iri not in types)),
        predicates=(
            *schema.predicates,
            *(replace(term, count=None) for term in before.predicates if term.iri not in predicates),
        ),
        names=before.names if schema.names is None else schema.names,
        hubs=schema.hubs or before.hubs,
    )


def with_met(terms: tuple[Term, ...], more: Sequence[Iri]) -> tuple[Term, ...]:
    """Add terms that a traversal has met."""
    return (*terms, *(Term(iri, None) for iri in more[: max(0, _MOST_MET - len(terms))]))
