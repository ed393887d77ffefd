"""The section of a profile about the quota of an endpoint: what it grants one client."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from gateway.settings.section import Section

Amount = Annotated[float, Field(ge=0, le=1_000_000)]


class QuotaSettings(Section):
    """What the endpoint grants one client."""

    query_seconds_per_minute: Amount = Field(
        default=0.0,
        description=(
            "Query time that the endpoint grants one client per minute; `0`: it does not count. Requires "
            "`query_seconds_burst`. See [limits.md](limits.md#an-endpoint-that-counts)."
        ),
    )
    query_seconds_burst: Amount = Field(
        default=0.0, description="Query time that a client can save up; more than `query_seconds_per_minute`."
    )
    errors_per_minute: Amount = Field(
        default=0.0,
        description=(
            "Failed requests that the endpoint allows one client per minute; `0`: it does not count them. Requires "
            "`errors_burst`."
        ),
    )
    errors_burst: Amount = Field(
        default=0.0, description="Failed requests that a client can save up; more than `errors_per_minute`."
    )
    time_limit_seconds: Amount = Field(
        default=0.0,
        description=(
            "The endpoint's own limit for a query; `0`: unknown. If the endpoint counts query time, an abandoned "
            "query is charged this much."
        ),
    )

    @property
    def is_limited(self) -> bool:
        """Whether the endpoint counts the query time or the errors of one client."""
        return bool(self.query_seconds_per_minute or self.errors_per_minute)

    @model_validator(mode="after")
    def _burst_above_rate(self) -> Self:
        for name in ("query_seconds", "errors"):
            per_minute, burst = getattr(self, f"{name}_per_minute"), getattr(self, f"{name}_burst")
            if bool(per_minute) != bool(burst):
                raise ValueError(f"{name}_per_minute and {name}_burst go together")
            if per_minute and burst < per_minute + 1:
                raise ValueError(f"{name}_burst is at least 1 more than {name}_per_minute")
        return self
