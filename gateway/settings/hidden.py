"""The section of a profile about what never leaves the gateway, and the policy in effect for a graph."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated

from pydantic import AfterValidator, Field

from gateway.settings.section import Section, Unquoted
from gateway.terms.iri import is_iri

MOST = 200
"""Entries of one list."""

SCHEMES = frozenset({"ark", "did", "doi", "info", "mailto", "tag", "urn"})
"""Schemes of IRIs without ``//``; any other name before a colon is meant as a prefix."""


def _iris(entries: Sequence[str]) -> tuple[str, ...]:
    """Return the entries; an error says the place of one and not the entry, which a client may not see."""
    if len(entries) > MOST:
        raise ValueError(f"it has more than {MOST} entries")
    for place, entry in enumerate(entries, 1):
        if not is_iri(entry.removeprefix("<").removesuffix(">")):
            raise ValueError(f"entry {place} is neither an IRI nor a CURIE")
    return tuple(entries)


HiddenIris = Annotated[tuple[str, ...], AfterValidator(_iris), Unquoted()]


class HiddenSettings(Section):
    """What never leaves the gateway: the answers are those of the graph without it."""

    types: HiddenIris = Field(
        default=(),
        description=(
            "Types that are hidden, with their subclasses, the nodes that have one of them, and all triples of these."
        ),
    )
    predicates: HiddenIris = Field(default=(), description="Predicates whose triples are hidden.")
    graphs: HiddenIris = Field(
        default=(), description="Named graphs that are left out when the files are read. What they say decides nothing."
    )
    literals: HiddenIris = Field(
        default=(), description="Predicates whose literals are hidden. Their triples between nodes stay."
    )

    @property
    def is_empty(self) -> bool:
        """Whether nothing is hidden."""
        return not (self.types or self.predicates or self.graphs or self.literals)

    def with_others(self, other: HiddenSettings) -> HiddenSettings:
        """Return what hides all that either of the two hides."""
        lists = {key: (*getattr(self, key), *getattr(other, key)) for key in HiddenSettings.model_fields}
        return HiddenSettings(**{key: tuple(dict.fromkeys(both)) for key, both in lists.items()})

    def unclear(self) -> str:
        """Return the list that has an entry which may be a CURIE, and so would hide nothing; empty if none has."""
        for key in HiddenSettings.model_fields:
            if not all(map(_is_whole, getattr(self, key))):
                return key
        return ""


def _is_whole(iri: str) -> bool:
    scheme, _, rest = iri.partition(":")
    return not iri.startswith("<") and (rest.startswith("//") or scheme in SCHEMES)


@dataclass(frozen=True, slots=True)
class Policy:
    """What is hidden of a graph, and how the graph says of what type a node is.

    Attributes:
        types: Hidden types; their subclasses are hidden too.
        predicates: Hidden predicates.
        graphs: Named graphs that are not read.
        literals: Predicates whose literals are hidden.
        type_predicates: From a node to its types.
        subclass_predicates: From a class to its superclasses.
    """

    types: tuple[str, ...]
    predicates: tuple[str, ...]
    graphs: tuple[str, ...]
    literals: tuple[str, ...]
    type_predicates: tuple[str, ...]
    subclass_predicates: tuple[str, ...]

    @property
    def digest(self) -> str:
        """A hash that is part of the name of all that is stored of the graph."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:16]
