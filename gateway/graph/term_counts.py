"""Types and predicates with their counts, and the schema that they make."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from gateway.graph.call import Call
from gateway.graph.computing import FEW, in_thread
from gateway.graph.deadline import Deadline
from gateway.graph.values import Basis, Iri, NodeFacts, Schema, Term
from gateway.terms.iri import MAX_IRI, is_sendable
from gateway.terms.known_iris import GENERIC_TYPES, SCHEMA_TERM_CLASSES

ReadLabels = Callable[[Sequence[Iri], Sequence[Iri], Call], Awaitable[tuple[Mapping[Iri, str], bool]]]
"""Returns the labels of types and predicates, and whether these are all that there are."""


@dataclass(slots=True)
class TermCounts:
    """Types and predicates in the order in which they are listed.

    Attributes:
        types: Types, with the number of nodes if that is known.
        predicates: Predicates, with the number of edges if that is known.
        is_cut: Whether the graph has more than were read, or some could not be read.
    """

    types: dict[Iri, int | None] = field(default_factory=dict)
    predicates: dict[Iri, int | None] = field(default_factory=dict)
    is_cut: bool = False

    def __bool__(self) -> bool:
        """Return whether there is any term."""
        return bool(self.types or self.predicates)

    def followed_by(self, other: TermCounts) -> TermCounts:
        """Return these terms and then those that only the other has; counts of the other replace these."""
        return TermCounts(
            {**self.types, **other.types}, {**self.predicates, **other.predicates}, self.is_cut or other.is_cut
        )


def by_frequency(counts: Mapping[Iri, int]) -> dict[Iri, int | None]:
    """Return terms with their counts, the most frequent first."""
    return {iri: counts[iri] for iri in sorted(counts, key=lambda iri: (-counts[iri], iri))}


def without_counts(seen: Mapping[Iri, int]) -> dict[Iri, int | None]:
    """Return the terms of a sample in the order of their frequency there, which is not that in the graph."""
    return dict.fromkeys(by_frequency(seen))


def types_of_hubs(hubs: Mapping[Iri, int], facts: Mapping[Iri, NodeFacts]) -> tuple[Iri, ...]:
    """Return the types of hubs, those of the largest first: a few, without types that say nothing of a node.

    Args:
        hubs: The edges of each.
        facts: Their types.
    """
    weights: Counter[Iri] = Counter()
    for hub, count in hubs.items():
        for iri in set(facts[hub].types) - SCHEMA_TERM_CLASSES - GENERIC_TYPES:
            if is_sendable(iri):
                weights[iri] += count
    return tuple(sorted(weights, key=lambda iri: (-weights[iri], iri)))[:_TYPES_OF_HUBS]


_TYPES_OF_HUBS = 5
"""Types of hubs that a schema lists."""

_NOT_SENDABLE = f"types and predicates are left out ({{:,}}): they are no IRIs, or have more than {MAX_IRI} characters"


async def schema_of(
    found: TermCounts,
    basis: Basis,
    reason: str,
    read_labels: ReadLabels,
    call: Call,
    *,
    left_out: int = 0,
    superclasses: Mapping[Iri, tuple[Iri, ...]] | None = None,
) -> Schema:
    """Return the schema of some terms, with the labels that the graph has.

    Args:
        found: The terms; those that no query can name are left out.
        basis: How they were found.
        reason: Why these may not be all; empty if they are.
        read_labels: Reads the labels.
        call: Pays for the labels.
        left_out: Terms that were left out before.
        superclasses: The superclasses of the types, as far as they were read.
    """
    are_few = len(found.types) + len(found.predicates) <= FEW
    types, predicates = await in_thread(
        call, lambda _: (_sendable(found.types), _sendable(found.predicates)), unless=are_few
    )
    left_out += len(found.types) - len(types) + len(found.predicates) - len(predicates)
    if left_out:
        reason = "; ".join(filter(None, [reason, _NOT_SENDABLE.format(left_out)]))
    labels, labelled = await read_labels(list(types), list(predicates), call)

    def with_labels(_: Deadline) -> Schema:
        content = (
            sorted(types.items()),
            sorted(predicates.items()),
            *([sorted(superclasses.items())] if superclasses else ()),
        )
        return Schema(
            types=_terms(types, labels),
            predicates=_terms(predicates, labels),
            exact=not reason,
            labelled=labelled,
            reason=reason,
            version=hashlib.sha256(repr(content).encode()).hexdigest()[:12],
            basis=basis,
            left_out=left_out,
            is_cut=bool(left_out) or found.is_cut,
            superclasses=superclasses or {},
        )

    return await in_thread(call, with_labels, unless=are_few)


def _sendable(terms: Mapping[Iri, int | None]) -> dict[Iri, int | None]:
    return {iri: count for iri, count in terms.items() if is_sendable(iri)}


def _terms(counts: Mapping[Iri, int | None], labels: Mapping[Iri, str]) -> tuple[Term, ...]:
    return tuple(Term(iri, count, labels.get(iri, "")) for iri, count in counts.items())
