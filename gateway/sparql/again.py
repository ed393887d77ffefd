"""When a request that failed is sent again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import tenacity

from gateway.errors import Fault, Throttled
from gateway.graph.deadline import Deadline


def retrying(
    retries: int, deadline: Deadline, sleep: Callable[[float], Awaitable[None]], *, pause: float
) -> tenacity.AsyncRetrying:
    """Return what repeats a request whose fault may pass, as long as the call's time allows.

    Args:
        retries: How often it is repeated at most.
        deadline: The call's.
        sleep: Waits some seconds.
        pause: Seconds before the first repetition, where the server names none; they grow, with jitter, to 5.
    """
    growing = tenacity.wait_random_exponential(multiplier=pause, max=5.0)

    def wait(state: tenacity.RetryCallState) -> float:
        fault = state.outcome.exception() if state.outcome is not None else None
        if isinstance(fault, Throttled) and fault.retry_after is not None:
            return fault.retry_after
        return float(growing(state))

    return tenacity.AsyncRetrying(
        retry=tenacity.retry_if_exception(lambda error: isinstance(error, Fault) and error.again),
        stop=tenacity.stop_any(
            tenacity.stop_after_attempt(retries + 1),
            tenacity.stop_before_delay(deadline.seconds_left),
        ),
        wait=wait,
        sleep=sleep,
        reraise=True,
    )
