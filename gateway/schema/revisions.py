"""What becomes of a schema that is loaded, grows old or lacks terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from gateway.errors import Fault
from gateway.graph.values import Iri, Schema, Term

_MOST_FOUND = 5_000
"""A list grows up to this length by terms that only traversals have found."""


def loaded(stored: Schema) -> Schema:
    """Return the schema that an earlier run stored, until this run has read its own.

    It has no name predicates, because the store below uses those that this run finds.
    """
    return replace(stored, exact=False, names=None, reason=f"they are those of {_date(stored)}, and are being checked")


def unread(fault: Fault) -> Schema:
    """Return the schema of a graph that was never read."""
    return Schema(reason=fault.wrong)


def of_untrusted_endpoint(schema: Schema) -> Schema:
    """Return a schema that claims nothing, because the endpoint does not say when it cuts answers."""
    return replace(schema, exact=False, reason="the endpoint may have cut its answers without a sign")


def expired(schema: Schema) -> Schema:
    """Return a complete schema that has expired and is being read again."""
    return replace(schema, exact=False, reason=f"they are those of {_date(schema)}, and are being read again")


def not_read_again(schema: Schema, fault: Fault) -> Schema:
    """Return a schema that has expired and could not be read again."""
    return replace(schema, exact=False, reason=f"it is old, and could not be read again: {fault.wrong}")


def not_enumerated(schema: Schema, fault: Fault) -> Schema:
    """Return a schema that is no enumeration, with the reason why there is none."""
    return replace(schema, reason=f"{schema.reason}; reading the graph in full failed: {fault.wrong}")


def with_found(schema: Schema, types: Sequence[Iri], predicates: Sequence[Iri], reason: str) -> Schema:
    """Return a schema with terms that a traversal found, and the reason why it is not complete."""
    return replace(
        schema,
        types=_with_terms(schema.types, types),
        predicates=_with_terms(schema.predicates, predicates),
        exact=False,
        reason=reason,
        basis=replace(schema.basis, methods=tuple(dict.fromkeys((*schema.basis.methods, "met")))),
    )


def with_terms_of(sample: Schema, before: Schema) -> Schema:
    """Return a sample with the terms that an earlier schema had, because the graph may well have them still."""
    return replace(
        sample,
        types=_with_uncounted(sample.types, before.types),
        predicates=_with_uncounted(sample.predicates, before.predicates),
        names=before.names if sample.names is None else sample.names,
        hubs=sample.hubs or before.hubs,
        superclasses={**before.superclasses, **sample.superclasses},
    )


def _with_uncounted(terms: tuple[Term, ...], before: tuple[Term, ...]) -> tuple[Term, ...]:
    listed = {term.iri for term in terms}
    return (*terms, *(replace(term, count=None) for term in before if term.iri not in listed))


def _with_terms(terms: tuple[Term, ...], found: Sequence[Iri]) -> tuple[Term, ...]:
    return (*terms, *(Term(iri, None) for iri in found[: max(0, _MOST_FOUND - len(terms))]))


def _date(schema: Schema) -> str:
    read_at = schema.basis.read_at
    return "an earlier run" if read_at is None else f"{datetime.fromtimestamp(read_at, UTC):%Y-%m-%d}"
