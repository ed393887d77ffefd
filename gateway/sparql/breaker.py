"""An endpoint that fails one time after the other is left alone for a while."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

import anyio

from gateway.errors import (
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
)
from gateway.graph.deadline import Clock, Deadline

_PROBE_SECONDS = 3.0
"""Time for the request that finds out whether an endpoint answers at all."""


async def probed(ask: Callable[[Deadline], Awaitable[None]], deadline: Deadline, whom: str) -> Fault | None:
    """Return why an endpoint did not answer a harmless request, or None where it did.

    Args:
        ask: Sends the request.
        deadline: When the call must have answered.
        whom: The endpoint, as the beginning of a sentence.

    Raises:
        Banned, QuotaSpent: Nothing was sent, so nothing was learnt.
        DeadlinePassed: The call ended while it waited, so nothing was learnt.
    """
    brief = deadline.within(_PROBE_SECONDS)
    seconds = brief.seconds_left
    try:
        await ask(brief)
    except (Banned, QuotaSpent):
        raise
    except Fault as fault:
        deadline.check()
        if isinstance(fault, DeadlinePassed):
            return NetworkFault(f"{whom} did not answer a harmless request within {seconds:.0f} s.")
        return fault
    return None


class Breaker:
    """Counts failures in a row; where there are too many, one harmless query decides whether others follow.

    A live endpoint is never refused: it is the probe, and not the count, that closes it.

    Attributes:
        has_answered: Whether the endpoint has ever answered.
    """

    def __init__(self, failures: int, rest_seconds: float, clock: Clock = time.monotonic) -> None:
        self._bearable = failures
        self._rest_seconds = rest_seconds
        self._clock = clock
        self._failed = 0
        self._rests_until = 0.0
        self._reason = ""
        self._probing = anyio.Lock()
        self.has_answered = False

    async def admit(self, probe: Callable[[], Awaitable[Fault | None]]) -> None:
        """Let a query pass.

        Args:
            probe: Asks the endpoint something harmless; returns why it did not answer, or None where it did.

        Raises:
            Resting: The endpoint failed too often, and the probe too; or it did so a short while ago.
        """
        if self._failed < self._bearable:
            return
        async with self._probing:
            if self._failed < self._bearable:
                return
            if self._clock() >= self._rests_until:
                fault = await probe()
                if fault is None:
                    self.answered()
                    return
                self._rests_until = self._clock() + self._rest_seconds
                self._reason = fault.wrong
        raise self._resting()

    def _resting(self) -> Resting:
        seconds = max(1, round(self._rests_until - self._clock()))
        return Resting(
            f"{self._reason} It failed {self._failed} times in a row and is left alone for {seconds} s.",
            next_step="Try again then; if it stays, whoever runs this gateway should check the endpoint.",
        )

    def answered(self) -> None:
        """Note an answer."""
        self.has_answered = True
        self._failed = 0

    def failed(self, fault: Fault) -> None:
        """Note a fault, if it speaks against the endpoint and not against one query or one call."""
        if isinstance(fault, AnswerCut | GaveUp | Throttled):
            self._failed = 0
            self.has_answered = True
        elif isinstance(fault, EndpointFault | NetworkFault | DeadlinePassed):
            self._failed += 1
