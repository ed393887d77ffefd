"""The section of a profile about what other graphs call the same things."""

from __future__ import annotations

from pydantic import Field, field_validator

from gateway.settings.section import Iris, Section
from gateway.terms.iri import is_iri

VALUE_MARK = "$1"
"""Where the value goes in a formatter, as Wikidata writes it (https://www.wikidata.org/wiki/Property:P1921)."""


class IdentitySettings(Section):
    """Which predicates say by which IRIs other graphs know a node."""

    same_as: Iris = Field(
        default=(),
        description=(
            "Predicates between two IRIs of one thing, such as `owl:sameAs` and `skos:exactMatch`, read in both "
            "directions."
        ),
    )
    formatters: dict[str, str] = Field(
        default_factory=dict,
        description=(
            'Predicates whose values are identifiers, each with the IRI that they are part of: `"wdt:P352" = '
            '"http://purl.uniprot.org/uniprot/$1"`.'
        ),
    )

    @field_validator("formatters")
    @classmethod
    def _have_places(cls, value: dict[str, str]) -> dict[str, str]:
        for predicate, formatter in value.items():
            if ":" not in predicate:
                raise ValueError(f"{predicate!r} is neither an IRI nor a CURIE")
            if formatter.count(VALUE_MARK) != 1 or not is_iri(formatter.replace(VALUE_MARK, "1")):
                raise ValueError(f"the formatter of {predicate!r} must be an IRI with one {VALUE_MARK} for the value")
        return value

    @property
    def predicates(self) -> tuple[str, ...]:
        """All predicates that are read; none where a node's IRIs in other graphs are not known."""
        return tuple(dict.fromkeys((*self.same_as, *self.formatters)))
