"""The section of a profile about reading the schema."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gateway.settings.section import Section


class OrientationSettings(Section):
    """How the types and predicates of the graph become known."""

    vouched: bool = Field(
        default=False,
        description=(
            "Set to `true` if you know that the lists are complete although not every triple was read. It does not "
            "apply to lists that are known to lack terms, and it ends when a traversal meets a term that is missing."
        ),
    )
    glance_triples: Annotated[int, Field(ge=1)] = Field(
        default=200_000,
        description="Graphs up to this size are read in full at the first look. For files the default is 1,000,000.",
    )
    patience_seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        default=1.0,
        description="How long the first calls wait for the whole schema before they continue with a sample.",
    )
    enumeration_seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = Field(
        default=None,
        description=(
            "Time for reading a larger graph in full, in the background; `0`: never. Absent: 600 for files and for an"
            " endpoint on your own network (a private address, a name without a domain), else 0; also 0 for an "
            "endpoint that is asked one query at a time or counts query time."
        ),
    )
