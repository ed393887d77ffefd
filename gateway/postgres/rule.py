"""Which rows of the table of edges are edges, by the profile: the first parameters of each query about them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gateway.postgres.names import Names
from gateway.settings.vocabulary import EdgeSettings

_SPECIAL = re.compile(r"[\\%_]")
"""Characters that mean something in a pattern of LIKE."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Which rows are edges.

    Attributes:
        excepted: Predicates that are no edges.
        allowed: Patterns of predicates that alone are edges; None for all.
        objects: Patterns of the objects that edges alone lead to; None for all.
    """

    excepted: Sequence[str] = ()
    allowed: Sequence[str] | None = None
    objects: Sequence[str] | None = None

    @classmethod
    def of(cls, edges: EdgeSettings, ids: Names, terms: Names) -> Rule:
        """Return the rule of a profile.

        Raises:
            ConfigurationError: A namespace of it takes in texts that are no IRIs.
        """
        exact = map(_escaped, terms.texts_of(edges.allowed_predicates))
        namespaces = _patterns(terms, edges.allowed_namespaces)
        return cls(
            terms.texts_of(edges.excluded),
            [*exact, *namespaces] if edges.allowed else None,
            _patterns(ids, edges.objects) if edges.objects else None,
        )

    @property
    def parameters(self) -> tuple[list[str], list[str] | None, list[str] | None]:
        """The rule as parameters of a query."""
        return (
            list(self.excepted),
            None if self.allowed is None else list(self.allowed),
            None if self.objects is None else list(self.objects),
        )


def _patterns(names: Names, namespaces: Iterable[str]) -> list[str]:
    return [f"{_escaped(text)}%" for namespace in namespaces for text in names.beginnings(namespace)]


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)
