"""The section of a profile about evidence: in which ways the graph states something about an edge."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gateway.settings.section import Section

EvidenceWay = Literal[
    "annotations",
    "statements",
    "wikibase",
    "singleton_properties",
    "oban",
    "biolink",
    "named_graphs",
    "nanopublications",
]


class Evidence(Section):
    """How the graph states something about an edge."""

    ways: Literal["auto"] | Annotated[tuple[EvidenceWay, ...], Field()] = Field(
        default="auto",
        description="The ways that are read; `auto`: one query finds out which of them the graph uses. The two with "
        "named graphs are looked for only where the profile asks several graphs.",
    )
