"""The sections of a profile about the limits of a call, a query and an answer."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from gateway.settings.section import Seconds, Section


class LimitSettings(Section):
    """The budget of one tool call, and the size of one query."""

    deadline_seconds: Seconds = Field(
        default=30.0,
        description=(
            "Time for one tool call. A traversal reserves 15 % of it for filters, metadata and writing the answer."
        ),
    )
    requests: Annotated[int, Field(ge=1)] = Field(default=200, description="Queries per tool call.")
    rows: Annotated[int, Field(ge=1)] = Field(default=500_000, description="Rows read per tool call.")
    nodes: Annotated[int, Field(ge=1)] = Field(default=200_000, description="Nodes reached per traversal.")
    batch: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=100, description="Nodes in one expansion query. The optimum is at 100 to 250."
    )
    facts_batch: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=500, description="Nodes in one query for types, names and literals."
    )
    query_rows: Annotated[int, Field(ge=10)] = Field(
        default=50_000,
        description=(
            "Rows per query. It must be below the endpoint's own row cap: a cut at exactly that cap cannot be seen "
            "otherwise."
        ),
    )
    scan_rows: Annotated[int, Field(ge=1)] = Field(
        default=100_000_000,
        description="Triples read to enumerate the schema. The schema of a larger graph is not `comprehensive`.",
    )
    schema_seconds: Seconds = Field(default=10.0, description="Time for the first look at the schema.")
    schema_hours: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(
        default=24.0, description="How long an enumerated schema is used before it is read again."
    )
    body_megabytes: Annotated[int, Field(ge=1)] = Field(
        default=64, description="Largest response accepted from the endpoint, uncompressed."
    )


class SizeSettings(Section):
    """How large an answer to the model may be; a token counts as 4 bytes."""

    max_tokens: Annotated[int, Field(ge=200)] = Field(
        default=8_000, description="Default size limit of an answer. A token counts as 4 bytes."
    )
    ceiling_tokens: Annotated[int, Field(ge=200)] = Field(
        default=12_000, description="Upper limit for the argument `max_tokens`. Some clients cut at 50,000 characters."
    )
    evidence_text_characters: Annotated[int, Field(ge=0)] = Field(
        default=60,
        description="A longer text on an edge, in characters, is left out as a quote and counted in `omitted_texts`.",
    )

    @model_validator(mode="after")
    def _below_the_ceiling(self) -> Self:
        if self.max_tokens > self.ceiling_tokens:
            raise ValueError(f"max_tokens = {self.max_tokens} is above ceiling_tokens = {self.ceiling_tokens}")
        return self
