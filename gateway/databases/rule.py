"""Which rows of a database are edges, by the profile."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gateway.databases.iri_mapping import IriMapping
from gateway.settings.vocabulary import EdgeSettings


@dataclass(frozen=True, slots=True)
class Rule:
    """Which rows are edges.

    Attributes:
        excepted: Predicates that are no edges.
        allowed: Predicates that alone are edges, beside those that `begin` so; None for all.
        begin: Beginnings of such predicates.
        objects: Beginnings of the objects that edges alone lead to; None for all.
    """

    excepted: Sequence[str] = ()
    allowed: Sequence[str] | None = None
    begin: Sequence[str] = ()
    objects: Sequence[str] | None = None

    @classmethod
    def of(cls, edges: EdgeSettings, ids: IriMapping, terms: IriMapping) -> Rule:
        """Return the rule of a profile.

        Raises:
            ConfigurationError: A namespace of it takes in texts that are no IRIs.
        """
        return cls(
            terms.texts_of(edges.excluded),
            terms.texts_of(edges.allowed_predicates) if edges.allowed else None,
            _beginnings(terms, edges.allowed_namespaces),
            _beginnings(ids, edges.objects) if edges.objects else None,
        )


def _beginnings(mapping: IriMapping, namespaces: Iterable[str]) -> list[str]:
    return [text for namespace in namespaces for text in mapping.beginnings(namespace)]
