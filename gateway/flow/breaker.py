"""A circuit breaker: a server that fails one time after the other is left alone for a while."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

import anyio

from gateway.errors import (
    ENDPOINT,
    AnswerCut,
    Banned,
    DeadlinePassed,
    EndpointFault,
    Fault,
    GaveUp,
    NetworkFault,
    QuotaSpent,
    Resting,
    Throttled,
    as_beginning,
)
from gateway.graph.call import Deadline
from gateway.telemetry.tally import Clock

Probe = Callable[[Deadline], Awaitable[None]]
"""Sends a harmless request, and raises a fault where it is not answered."""

FAILURES_BEFORE_REST = 5
"""Failures in a row: one query with its retries (three by default) is accepted, a second one is not."""

REST_SECONDS = 15.0
"""How long a server that does not answer the probe is left alone: one probe in so long is no load for it."""

_PROBE_SECONDS = 3.0
"""Time for the request that finds out whether a server answers at all."""


class Breaker:
    """Counts failures in a row; where there are too many, one harmless request decides whether others follow.

    A live server is never refused: it is the probe, and not the count, that closes the circuit.

    Args:
        failures: Failures in a row that are accepted.
        rest_seconds: How long a server that does not answer the probe is left alone.
        clock: A monotonic clock, in seconds.
        server: What errors call the server.

    Attributes:
        has_answered: Whether the server has ever answered.
    """

    def __init__(
        self,
        failures: int = FAILURES_BEFORE_REST,
        rest_seconds: float = REST_SECONDS,
        clock: Clock = time.monotonic,
        *,
        server: str = ENDPOINT,
    ) -> None:
        self._accepted = failures
        self._rest_seconds = rest_seconds
        self._clock = clock
        self._server = server
        self._failed = 0
        self._rests_until = 0.0
        self._reason = ""
        self._probing = anyio.Lock()
        self.has_answered = False

    async def admit(self, probe: Probe, deadline: Deadline) -> None:
        """Let a request pass.

        Args:
            probe: Sends a harmless request.
            deadline: When the call must have answered.

        Raises:
            Resting: The server failed too often, and the probe too; or it did so a short while ago.
            Banned, QuotaSpent: No probe was sent, so nothing was learnt.
            DeadlinePassed: The call ended while it waited for the probe, so nothing was learnt.
        """
        if self._failed < self._accepted:
            return
        async with self._probing:
            if self._failed < self._accepted:
                return
            if self._clock() >= self._rests_until:
                fault = await self._probed(probe, deadline)
                if fault is None:
                    self.answered()
                    return
                self._rests_until = self._clock() + self._rest_seconds
                self._reason = fault.wrong
        raise self._resting()

    async def _probed(self, probe: Probe, deadline: Deadline) -> Fault | None:
        """Return why the server did not answer a harmless request, or None where it did."""
        brief = deadline.within(_PROBE_SECONDS)
        seconds = brief.seconds_left
        try:
            await probe(brief)
        except (Banned, QuotaSpent):
            raise
        except Fault as fault:
            deadline.check()
            if isinstance(fault, DeadlinePassed):
                return NetworkFault(
                    f"{as_beginning(self._server)} did not answer a harmless request within {seconds:.0f} s."
                )
            return fault
        return None

    def _resting(self) -> Resting:
        seconds = max(1, round(self._rests_until - self._clock()))
        return Resting(
            f"{self._reason} It failed {self._failed} times in a row and is left alone for {seconds} s.",
            next_step=f"Try again then; if it stays, the operator of this gateway should check {self._server}.",
        )

    def answered(self) -> None:
        """Note an answer."""
        self.has_answered = True
        self._failed = 0

    def failed(self, fault: Fault) -> None:
        """Note a fault, if it speaks against the server and not against one request or one call."""
        if isinstance(fault, AnswerCut | GaveUp | Throttled):
            self._failed = 0
            self.has_answered = True
        elif isinstance(fault, EndpointFault | NetworkFault | DeadlinePassed):
            self._failed += 1
