"""What a server grants one client: query time, errors, and pauses or bans that it asked for.

The model is the throttling of the Wikidata query service, as its source has it (wikimedia/wikidata-query-rdf at
c010618, ``throttling/ThrottlingFilter.java`` and ``ThrottlingState.java``;
docs/notes/wikimedia.md, "The quota of the query service"):

- A request is charged when it has ended, with its time, and with one error where its status was 400 or more. While
  either bucket is empty, requests are refused with 429; a client that goes on all the same is banned with 403.
- Each bucket is refilled at one go once a minute, at moments that nobody outside knows. So a bucket here holds a
  minute's refill less and is refilled evenly: at no moment does it hold more than the service's, whatever these moments
  are (decision 0012).
- A debt is remembered here; the service forgets it.
"""

from __future__ import annotations

import bisect
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

import anyio

from gateway.errors import ENDPOINT, Banned, Fault, QuotaSpent, Throttled, as_beginning
from gateway.flow.quota_state import DAY, MemoryStorage, QuotaState, QuotaStorage, TokenBucket
from gateway.graph.call import Deadline
from gateway.settings.endpoint import QuotaSettings
from gateway.telemetry.tally import Clock

Sleep = Callable[[float], Awaitable[None]]

_LEAST_SECONDS = 1.0
"""Query time that must be there for a request to be sent, and that each counts for while it is under way, at least."""

_SHORTEST_SLEEP = 0.01
"""A shorter sleep may end before the clock shows it, and the wait would spin."""

_FIRST_PAUSE = 5.0
_LONGEST_PAUSE = 300.0
"""Pauses after refusals that do not say how long; each in a row is twice as long as the one before."""

_FLOORED = 1.0
"""Added to a Retry-After: the service rounds it down, and a client that waits exactly that long is refused again."""

_LONGEST_REQUEST = 3600.0
"""Seconds that one request is charged at most; a clock that was set forward shows more."""

_MOST_GIVEN_UP = 1000
"""Abandoned requests whose ends are remembered."""

_CLOCKS_DIFFER = 1.0
"""Seconds that a state may be ahead of the clock: another process wrote it a moment ago."""

_MOST_OVERLOADS = 10
"""Refusals in a row that are counted; the pause is the longest from the seventh on."""


@dataclass(slots=True, eq=False)
class ChargedRequest:
    """A request that is under way.

    Attributes:
        began: When it was sent.
        has_ended: Whether the server has done with it; where this gateway leaves first, it may not have.
        has_failed: Whether it counts as an error.
    """

    began: float
    has_ended: bool = False
    has_failed: bool = True

    def answered(self, *, failed: bool) -> None:
        """Note that the server has done with it."""
        self.has_ended, self.has_failed = True, failed


def banned(seconds: float, server: str = ENDPOINT) -> Banned:
    """Return the error that says that nothing is sent for so long."""
    left = math.ceil(seconds)
    return Banned(
        f"{as_beginning(server)} has banned this gateway because it asked too much; "
        f"nothing is sent to it for {left} s.",
        next_step=f"The operator of this gateway should have it ask less at once. Call again in {left} s.",
        retry_after=seconds,
    )


class Quota:
    """What one server grants this gateway.

    Args:
        endpoint: The profile's section.
        server: What errors call the server.
        storage: Makes what stores the state; by default it is this process's alone.
        clock: Seconds, the same for all processes that share a state: since the epoch by default.
        sleep: Waits some seconds of that clock.

    Attributes:
        is_limited: Whether the server counts what it is asked.
        typical_seconds: How long requests took; the latest counts most.
    """

    def __init__(
        self,
        settings: QuotaSettings,
        *,
        server: str = ENDPOINT,
        storage: Callable[[QuotaState], QuotaStorage] = MemoryStorage,
        clock: Clock = time.time,
        sleep: Sleep = anyio.sleep,
    ) -> None:
        self._time = TokenBucket.of(settings.query_seconds_burst, settings.query_seconds_per_minute)
        self._errors = TokenBucket.of(settings.errors_burst, settings.errors_per_minute)
        self._longest = settings.time_limit_seconds
        self._server = server
        self._clock = clock
        self._sleep = sleep
        self._storage = storage(QuotaState(clock(), self._time.full, self._errors.full))
        self._under_way: set[ChargedRequest] = set()
        self.is_limited = settings.is_limited
        self.typical_seconds = _LEAST_SECONDS

    def seconds_to_wait(self) -> float:
        """Return how long nothing may be sent, as far as that is known now; 0: a request may go at once."""
        return self._wait(self._state())

    def check(self, deadline: Deadline) -> None:
        """Raise where nothing may be sent before a deadline.

        Raises:
            QuotaSpent: The quota is used up for longer than that.
            Throttled: The server asked for a pause that lasts longer.
            Banned: It shuts this gateway out for longer.
        """
        state = self._state()
        if (wait := self._wait(state)) > deadline.seconds_left:
            raise self._refusal(state, wait)

    async def wait(self, deadline: Deadline) -> None:
        """Wait until a request may be sent; where that would take too long, raise at once, as `check` does."""
        while (wait := self._wait(self._state())) > 0:
            self.check(deadline)
            await self._sleep(max(wait, _SHORTEST_SLEEP))

    @asynccontextmanager
    async def charging(self, deadline: Deadline) -> AsyncIterator[ChargedRequest]:
        """Wait until a request may be sent, and charge the one that the block sends when the block ends.

        Raises:
            Fault: It may not be sent in time; see `check`.
        """
        await self.wait(deadline)
        # Nothing is awaited between the look at the state and here: no other request slips in.
        request = ChargedRequest(self._clock())
        self._under_way.add(request)
        try:
            yield request
        finally:
            self._under_way.discard(request)
            self._charge(request)

    def obey(self, fault: Fault) -> None:
        """Send nothing for as long as the server asked, if it did."""
        if isinstance(fault, Banned):
            with self._changing() as state:
                state.closed_until, state.banned = state.at + min(DAY, fault.retry_after), True
        elif isinstance(fault, Throttled) and (self.is_limited or fault.retry_after is not None):
            with self._changing() as state:
                state.closed_until = max(state.closed_until, state.at + self._pause(fault, state))
                # The server has counted more than was counted here.
                state.query_seconds = min(state.query_seconds, 0.0)

    def charge_error(self) -> None:
        """Charge an error that showed in an answer after all of it had come."""
        if self.is_limited:
            with self._changing() as state:
                state.errors -= 1

    def _pause(self, fault: Throttled, state: QuotaState) -> float:
        if fault.retry_after is not None:
            return fault.retry_after + (_FLOORED if self.is_limited else 0.0)
        # Of several that were under way, one counts.
        if state.at >= state.closed_until:
            state.overloads += 1
        return float(min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** (state.overloads - 1)))

    def _charge(self, request: ChargedRequest) -> None:
        if not self.is_limited:
            return
        with self._changing() as state:
            seconds = min(max(0.0, state.at - request.began), _LONGEST_REQUEST)
            self.typical_seconds = (self.typical_seconds + seconds) / 2
            if not request.has_ended and seconds < self._longest:
                # As far as anybody here knows, the server goes on with it; it is charged at its end.
                bisect.insort(state.given_up, request.began + self._longest)
                return
            state.query_seconds -= seconds
            if request.has_failed:
                state.errors -= 1
            else:
                state.overloads = 0

    def _state(self) -> QuotaState:
        state = self._storage.read()
        if self._repair(state, self._clock()):
            # Written back: a figure that is only corrected when it is read would block for another day each time.
            with self._changing() as changed:
                return changed
        return self._brought_up_to_now(state)

    @contextmanager
    def _changing(self) -> Iterator[QuotaState]:
        with self._storage.changing() as state:
            self._repair(state, self._clock())
            yield self._brought_up_to_now(state)

    def _brought_up_to_now(self, state: QuotaState) -> QuotaState:
        now = self._clock()
        while state.given_up and state.given_up[0] <= now:
            self._refill(state, state.given_up.pop(0))
            state.query_seconds -= self._longest
            state.errors -= 1
        self._refill(state, now)
        state.at = now
        state.banned = state.banned and now < state.closed_until
        return state

    def _repair(self, state: QuotaState, now: float) -> bool:
        """Correct figures that would block requests for more than a day; return whether there were any."""
        before = state.copy()
        if (ahead := state.at - now) > _CLOCKS_DIFFER:
            # The clock was set back. What is left counts from now on, and not from a time to come.
            state.closed_until -= ahead
            state.given_up = [end - ahead for end in state.given_up]
            state.at = now
        state.closed_until = min(state.closed_until, now + DAY)
        state.query_seconds = max(state.query_seconds, -DAY * self._time.a_second)
        state.errors = max(state.errors, -DAY * self._errors.a_second)
        state.overloads = max(0, min(state.overloads, _MOST_OVERLOADS))
        latest = now + self._longest + _CLOCKS_DIFFER
        state.given_up = sorted(end for end in state.given_up if end <= latest)[-_MOST_GIVEN_UP:]
        return state != before

    def _refill(self, state: QuotaState, now: float) -> None:
        passed = max(0.0, now - state.at)
        state.query_seconds = self._time.level(state.query_seconds, passed)
        state.errors = self._errors.level(state.errors, passed)
        state.at = max(state.at, now)

    def _wait(self, state: QuotaState) -> float:
        now = state.at
        began = [request.began for request in self._under_way] + [end - self._longest for end in state.given_up]
        running = sum(max(_LEAST_SECONDS, now - each) for each in began)
        wait = max(
            0.0,
            state.closed_until - now,
            self._time.seconds_until(_LEAST_SECONDS + running, state.query_seconds),
            self._errors.seconds_until(1 + len(began), state.errors),
        )
        return min(DAY, wait)

    def _refusal(self, state: QuotaState, wait: float) -> Fault:
        seconds = math.ceil(wait)
        again = f"Call again in {seconds} s."
        if state.closed_until - state.at < wait:
            return QuotaSpent(
                f"What {self._server} grants this gateway is used up; it may be asked again in {seconds} s.",
                next_step=again,
                retry_after=wait,
            )
        if state.banned:
            return banned(wait, self._server)
        return Throttled(
            f"{as_beginning(self._server)} asked this gateway to wait, for longer than one call may take: "
            f"{seconds} s from now.",
            next_step=again,
            retry_after=wait,
        )
