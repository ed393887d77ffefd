"""Whether the graphs of a server can be asked now, which an orchestrator and an operator want to know."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal

from gateway.errors import Banned, Fault, QuotaSpent, Throttled
from gateway.server.gateway_opener import GatewayOpener
from gateway.telemetry.tally import Clock

if TYPE_CHECKING:
    from gateway.tools.gateway import Gateway

State = Literal["ready", "opening", "not_opened", "unreachable", "schema_unknown"]

MEANING: Mapping[State, str] = {
    "ready": "The endpoint answers, and the schema is known.",
    "opening": "The graph is being opened.",
    "not_opened": "The graph cannot be opened; the log says why.",
    "unreachable": "The endpoint does not answer; the log says why.",
    "schema_unknown": "The endpoint answers, but its schema could not be read; the log says why.",
}

WAIT_SECONDS = 2.0
"""The time in which an endpoint must answer a harmless query."""

AGAIN_SECONDS = 5.0
"""An endpoint is asked at most once in so many seconds, however often somebody wants to know."""

AGAIN_WITH_QUOTA_SECONDS = 60.0
"""The same where requests are counted: calls need them."""


class Readiness:
    """Tells whether the graph of an opener can be asked now; all who want to know at once share one question.

    Args:
        opener: The graph.
        clock: A monotonic clock, in seconds.

    Attributes:
        on_asked: Called when the endpoint was asked.
    """

    def __init__(self, opener: GatewayOpener, clock: Clock = time.monotonic) -> None:
        self._opener = opener
        self._clock = clock
        quota = opener.profile.endpoint.quota
        self._again_seconds = AGAIN_WITH_QUOTA_SECONDS if quota.is_limited else AGAIN_SECONDS
        self._asked_at: float | None = None
        self._is_reachable = False
        self._asking: asyncio.Task[None] | None = None
        self.on_asked: Callable[[], object] = lambda: None

    @property
    def latest(self) -> State:
        """The state as far as it is known, without a question."""
        gateway = self._opener.opened
        if gateway is None:
            return "not_opened" if self._opener.failure is not None else "opening"
        if not self._is_reachable:
            return "unreachable" if self._asked_at is not None else "opening"
        return "ready" if gateway.knows_schema else "schema_unknown"

    async def state(self) -> State:
        """Return the state, after a question to the endpoint if the last one was long ago."""
        gateway = self._opener.opened
        if gateway is not None and self._is_due():
            if self._asking is None:
                self._asking = asyncio.create_task(self._ask(gateway))
            # Who goes away must not end the question of the others.
            await asyncio.shield(self._asking)
        return self.latest

    def _is_due(self) -> bool:
        return self._asked_at is None or self._clock() - self._asked_at >= self._again_seconds

    async def _ask(self, gateway: Gateway) -> None:
        was_reachable = self._is_reachable
        try:
            await gateway.check_reachable(WAIT_SECONDS)
            self._is_reachable = True
        except Fault as fault:
            if not _wants_pause(fault):
                self._is_reachable = False
        finally:
            self._asked_at = self._clock()
            self._asking = None
        if self._is_reachable:
            gateway.read_schema_again(at_once=not was_reachable)
        self.on_asked()


def _wants_pause(fault: Fault) -> bool:
    """Return whether an endpoint that answers, or would, wants to be left alone for a named time."""
    is_throttled = isinstance(fault, Throttled) and fault.retry_after is not None
    return is_throttled or isinstance(fault, QuotaSpent | Banned)


async def states(graphs: Mapping[str, Readiness]) -> dict[str, State]:
    """Return the state of each graph, all asked at once."""
    found = await asyncio.gather(*(graph.state() for graph in graphs.values()))
    return dict(zip(graphs, found, strict=True))


def is_ready(found: Mapping[str, State]) -> bool:
    """Return whether any graph can be asked: one that is away must not take the others with it."""
    return any(state == "ready" for state in found.values())
