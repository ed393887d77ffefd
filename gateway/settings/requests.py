"""The sections of a profile about how requests are sent to an endpoint, and how they state their time limit."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gateway.settings.headers import HeaderName
from gateway.settings.section import Seconds, Section

Method = Literal["auto", "post", "get"]
Unit = Literal["seconds", "milliseconds"]


class RequestSettings(Section):
    """How requests are sent."""

    method: Method = Field(
        default="auto",
        description=(
            "How queries are sent. `auto` sends POST, and GET from then on if the server refuses POST and answers a "
            "GET. A GET has at most 7,000 bytes, so batches shrink."
        ),
    )
    concurrency: Annotated[int, Field(ge=1, le=32)] = Field(
        default=4,
        description=("Requests in flight at once, per process. Processes share `endpoint.quota` but not this limit."),
    )
    delay_seconds: Annotated[float, Field(ge=0, le=60)] = Field(
        default=0.0, description="Minimum time between the starts of two requests."
    )
    retries: Annotated[int, Field(ge=0, le=10)] = Field(
        default=2,
        description=(
            "How often a query is retried after a transient fault: a broken connection, a broken answer, throttling. "
            "Pauses grow, with jitter. `Retry-After` is honoured if the call has time for it."
        ),
    )
    connect_seconds: Seconds = Field(default=10.0, description="Time allowed for connecting.")


class TimeoutSettings(Section):
    """How a query states its time limit."""

    parameter: str = Field(
        default="",
        description=(
            "Form parameter that tells the server how much time is left. If this and `header` are empty, the "
            "gateway sends what the detected engine supports. Never sent to Virtuoso."
        ),
    )
    header: Literal[""] | HeaderName = Field(
        default="",
        description="Header that tells the server how much time is left (Blazegraph: `X-BIGDATA-MAX-QUERY-MILLIS`).",
    )
    unit: Unit = Field(default="seconds", description="Unit of both.")
    cancel_by_id: bool = Field(
        default=False,
        description=(
            "Whether an abandoned query is cancelled by its ID. Blazegraph needs this, because it does not stop when "
            "the connection closes; it is on when Blazegraph is detected."
        ),
    )
