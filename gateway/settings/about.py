"""The section of a profile about the profile itself: where what it says is from."""

from __future__ import annotations

from pydantic import Field, field_validator

from gateway.settings.section import Section
from gateway.settings.urls import url_problem

UNCHECKED = "unchecked"
"""The source of a setting that no page states."""

_MOST_SOURCES = 200


class AboutSettings(Section):
    """Where the facts of a profile are from, and whether they were tried."""

    tried: bool = Field(
        default=False,
        description=(
            "Whether the profile was tried on its endpoint by those who wrote it. `false`: what it says was only read."
        ),
    )
    sources: dict[str, str] = Field(
        default_factory=dict,
        description=(
            'The page that a setting was read in, by the setting\'s name: `"roles.name" = "https://..."`. '
            "`unchecked`: no page states it."
        ),
    )

    @field_validator("sources")
    @classmethod
    def _are_pages(cls, value: dict[str, str]) -> dict[str, str]:
        if len(value) > _MOST_SOURCES:
            raise ValueError(f"it has more than {_MOST_SOURCES} entries")
        for setting, source in value.items():
            if source != UNCHECKED and (problem := url_problem(source)):
                raise ValueError(f"the source of {setting!r} is not `{UNCHECKED}`, and {problem}")
        return value

    @property
    def unchecked(self) -> tuple[str, ...]:
        """The settings that no page states."""
        return tuple(sorted(setting for setting, source in self.sources.items() if source == UNCHECKED))
