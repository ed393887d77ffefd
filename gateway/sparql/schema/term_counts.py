"""Types and predicates in the order in which a schema lists them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gateway.graph.values import Iri


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
