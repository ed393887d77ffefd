"""When a request that failed is sent again: exponential backoff with full jitter, or the server's Retry-After."""

from __future__ import annotations

import random
from dataclasses import dataclass

from gateway.errors import Fault, Throttled
from gateway.graph.deadline import Deadline

_LONGEST_PAUSE = 5.0
"""Seconds of backoff at most, however many attempts failed."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """When a request that failed is sent again.

    Attributes:
        retries: How often it is sent again at most.
        first_pause: Seconds before the first retry at most, where the server names none; each further one may be twice
            as long, up to 5.
    """

    retries: int
    first_pause: float

    def pause_after(self, fault: Fault, attempt: int, deadline: Deadline) -> float | None:
        """Return the seconds to wait before the next attempt, or None if there is none.

        Args:
            fault: What became of the latest attempt.
            attempt: How many there were.
            deadline: The call's; a pause that lasts as long is not worth waiting for.
        """
        if not fault.again or attempt > self.retries:
            return None
        if isinstance(fault, Throttled) and fault.retry_after is not None:
            pause = fault.retry_after
        else:
            most = min(self.first_pause * 2 ** (attempt - 1), _LONGEST_PAUSE)
            pause = random.uniform(0, most)  # noqa: S311 - no secret
        return pause if pause < deadline.seconds_left else None
