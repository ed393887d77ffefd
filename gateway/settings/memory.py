"""The sections of a profile about the answers, nodes and edges in memory."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gateway.settings.section import Seconds, Section


class SnapshotSettings(Section):
    """Whole answers, stored for their pages."""

    megabytes: Annotated[int, Field(ge=1)] = Field(default=64, description="Memory for stored answers.")
    ttl_seconds: Seconds = Field(default=300.0, description="How long an answer is stored.")


class CacheSettings(Section):
    """What was read of single nodes and edges, stored for all calls."""

    megabytes: Annotated[int, Field(ge=0)] | None = Field(
        default=None,
        description=(
            "Memory for the cache, shared by all calls; `0`: no cache. Absent: 64 for an endpoint, 0 for a graph in "
            "this process."
        ),
    )
    ttl_seconds: Seconds = Field(
        default=300.0,
        description=(
            "How long an entry is used: [what that means](limits.md#what-no-gateway-can-know). A graph in this "
            "process never changes, so its entries do not expire."
        ),
    )
