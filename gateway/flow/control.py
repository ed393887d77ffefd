"""When, and how often, a request is sent; and how many IDs one asks about.

Batch sizes and why they adapt: docs/notes/endpoints.md, "Batch sizes".

A client runs its requests through `FlowControl.run`: each waits for its turn, is paid by its call, and is sent again
where its fault may pass. Turns are shared among calls, not among requests: a call with one request does not wait behind
all batches of another, and long calls let short ones pass. Every request, a probe included, is sent within
`FlowControl.sending`, which waits for the end of a pause and charges the quota.
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar

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
from gateway.flow.limiters import LeastServedLimiter
from gateway.flow.quota import ChargedRequest, Quota, Sleep
from gateway.graph.call import Call, Deadline, Requester, deadline_passed
from gateway.settings.endpoint import QuotaSettings, RequestSettings
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


_GROWTH = 4
"""How many times its first size a batch may reach."""

_LARGEST = 2_000
"""IDs in one query at most: one engine breaks above 4,096 terms, and each stands in a query twice at most."""

_SMALLEST = 10
"""A size below this is not remembered; a query has one ID where nothing else works."""

_MANY_ROWS = 4_000
"""Rows from which an answer is better split: several parts come and are read at once. About 1 MB.

Such an answer is also no reason for a larger batch, which would end above the rows that one query may return.
"""

_QUICK_SECONDS = 1.0
"""An answer that took longer is no reason for a larger batch."""


@dataclass(slots=True)
class BatchSize:
    """How many IDs one kind of query has.

    Attributes:
        now: The present size.
        most: The size it may grow to.
        rows_for_an_id: How many rows there are to expect for one ID, by the last answers; the latest counts most.
    """

    now: int
    most: int
    rows_for_an_id: float = 0.0
    _weight: float = 0.0

    @classmethod
    def starting_at(cls, size: int) -> BatchSize:
        """Return a size that may grow."""
        return cls(size, max(size, min(_LARGEST, size * _GROWTH)))

    def part(self, ids: int, at_once: int) -> int:
        """Return how many of some IDs to put into one query; a long answer is split into parts that come at once."""
        parts = math.ceil(ids * self.rows_for_an_id / _MANY_ROWS)
        return math.ceil(ids / max(1, min(ids, at_once, parts)))

    def worked(self, asked: int, rows: int, seconds: float) -> None:
        """Note that a batch was answered whole, and how long that took: the next one may be twice as large."""
        before = self._weight / 2
        self._weight = before + asked
        self.rows_for_an_id = (self.rows_for_an_id * before + rows) / self._weight
        # Keys are spread evenly over batches, so even the first of many is hardly ever full.
        if seconds <= _QUICK_SECONDS and rows <= _MANY_ROWS:
            self.now = max(self.now, min(self.most, asked * 2))

    def failed(self, asked: int) -> None:
        """Note that a batch was too much."""
        self.now = max(min(_SMALLEST, self.now), min(self.now, asked // 2))


_Result = TypeVar("_Result")

_FIRST_PAUSE = 0.2
"""Seconds before a request is sent again, at first."""

_LONGEST_PAUSE = 5.0
"""Seconds of backoff at most, however many attempts failed."""

_ENOUGH_SECONDS = 10.0
"""With so much time left, a request is sent however long others took."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """When a request that failed is sent again: exponential backoff with full jitter, or the server's Retry-After.

    Attributes:
        retries: How often it is sent again at most.
        first_pause: Seconds before the first retry at most, where the server names none; each further one may be twice
            as long, up to 5.
    """

    retries: int
    first_pause: float

    def pause_after(self, fault: Fault, attempt: int, deadline: Deadline) -> float | None:
        """Return the seconds to wait after so many attempts; None if there is no other, or no time to wait for it."""
        if not fault.again or attempt > self.retries:
            return None
        if isinstance(fault, Throttled) and fault.retry_after is not None:
            pause = fault.retry_after
        else:
            most = min(self.first_pause * 2 ** (attempt - 1), _LONGEST_PAUSE)
            pause = random.uniform(0, most)  # noqa: S311 - no secret
        return pause if pause < deadline.seconds_left else None


class FlowControl:
    """The flow control of one server; everything that sends to it has the same one.

    Args:
        settings: How requests are sent: concurrency, delay and retries.
        quota: What the server grants this gateway; by default, only the pauses that it asks for.
        server: What errors call the server.
        first_pause: Seconds before a request is sent again, at first.
        clock: A monotonic clock, in seconds.
        sleep: Waits some seconds of it.

    Attributes:
        quota: What the server grants this gateway.
        connections: Slots for requests of any kind, as many as the profile allows.
        clock: The clock.
    """

    def __init__(
        self,
        settings: RequestSettings,
        quota: Quota | None = None,
        *,
        server: str = ENDPOINT,
        first_pause: float = _FIRST_PAUSE,
        clock: Clock = time.monotonic,
        sleep: Sleep = anyio.sleep,
    ) -> None:
        self.quota = quota or Quota(QuotaSettings(), server=server, clock=clock, sleep=sleep)
        self.connections = asyncio.Semaphore(settings.concurrency)
        self.clock = clock
        self._sleep = sleep
        self._server = server
        self._most_at_once = settings.concurrency
        self._delay = settings.delay_seconds
        self._turns = LeastServedLimiter(settings.concurrency, clock)
        self._answered_in_turn = 0
        self._answered_at = -math.inf
        self._next_start = clock()
        self._retry = RetryPolicy(settings.retries, first_pause)
        self._breaker = Breaker(clock=clock, server=server)
        self._batch_sizes: dict[str, BatchSize] = {}

    def batch_size(self, template: str, start: int) -> BatchSize:
        """Return the size that one kind of query has reached; `start` where none was sent yet."""
        if template not in self._batch_sizes:
            self._batch_sizes[template] = BatchSize.starting_at(start)
        return self._batch_sizes[template]

    @property
    def at_once(self) -> int:
        """Requests in flight at most: the profile's `concurrency`, unless the server wanted fewer."""
        return self._turns.total

    @property
    def has_answered(self) -> bool:
        """Whether the server has ever answered."""
        return self._breaker.has_answered

    @property
    def seconds_since_answer(self) -> float:
        """Seconds since the server last answered; infinite before it ever did."""
        return self.clock() - self._answered_at

    async def run(self, call: Call, send: Callable[[], Awaitable[_Result]], probe: Probe) -> _Result:
        """Send a request in its turn, and again where its fault may pass and the time allows; return what it brings.

        Args:
            call: The call, which pays for each attempt.
            send: Sends the request and reads the answer.
            probe: Sends a harmless request to the same server.

        Raises:
            Fault: No answer came, or the request was not sent.
        """
        attempt = 0
        try:
            # A slot, a pause or another call's probe is waited for no longer than the call may take.
            async with asyncio.timeout(call.deadline.seconds_left):
                while True:
                    attempt += 1
                    try:
                        async with self._attempt(call, probe):
                            return await send()
                    except Fault as fault:
                        pause = self._retry.pause_after(fault, attempt, call.deadline)
                        if pause is None or not call.retries:
                            raise
                    await self._sleep(pause)
        except TimeoutError as error:
            raise self._too_late() from error
        except DeadlinePassed as error:
            if not self.quota.is_limited:
                raise
            raise self._too_late() from error

    @asynccontextmanager
    async def _attempt(self, call: Call, probe: Probe) -> AsyncIterator[None]:
        """Wait until a request may be sent, have the call pay for it, and note how the block ends that sends it."""
        await self._breaker.admit(probe, call.deadline)
        async with self.turn(call.deadline, call.requester):
            enough = min(_ENOUGH_SECONDS, 2 * self.quota.typical_seconds)
            if self.quota.is_limited and call.deadline.seconds_left < enough:
                # It would most likely be given up before it is answered, and be charged all the same.
                raise self._too_late()
            call.spend_request()
            try:
                yield
            except Fault as fault:
                self.failed(fault)
                raise
        self.answered()

    @asynccontextmanager
    async def turn(self, deadline: Deadline, requester: Requester | None = None) -> AsyncIterator[None]:
        """Wait for a free slot, for the end of a pause, and until the server grants another request.

        Args:
            deadline: When the request must have been answered.
            requester: The call that sends it; by default one of its own. The call that has been served least goes next.

        Raises:
            Throttled: The server asked for a pause that lasts longer than this call may.
            QuotaSpent: What it grants is used up for longer than that.
            Banned: It shuts this gateway out for longer.
        """
        # No request waits in line for what will not be there in time.
        self.quota.check(deadline)
        requester = requester or Requester()
        async with self._turns.slot(requester):
            began = self.clock()
            await self.quota.wait(deadline)
            if self._delay:
                await self._wait_for_start(deadline)
                await self.quota.wait(deadline)
            # A pause that the server asks for makes no call a long one.
            self._turns.forgive(requester, self.clock() - began)
            yield

    async def _wait_for_start(self, deadline: Deadline) -> None:
        """Wait until the profile's delay since the start before has passed."""
        wait = self._next_start - self.clock()
        if wait > deadline.seconds_left:
            raise Throttled(
                f"{as_beginning(self._server)} asked this gateway to wait for longer than one call may take.",
                next_step="Try again later.",
                retry_after=wait,
            )
        self._next_start = max(self._next_start, self.clock()) + self._delay
        if wait > 0:
            await self._sleep(wait)

    @asynccontextmanager
    async def sending(
        self, deadline: Deadline, ends: tuple[type[Exception], ...] = ()
    ) -> AsyncIterator[ChargedRequest]:
        """Wait until a request may be sent, charge the one that the block sends, and obey what the server answers.

        Args:
            deadline: When the answer must be there.
            ends: Errors after which the server has nothing more to do for the request.

        Raises:
            Fault: It may not be sent in time; see `Quota.check`.
        """
        async with self.quota.charging(deadline) as request:
            try:
                yield request
            except Fault as fault:
                self.quota.obey(fault)
                raise
            except ends:
                request.answered(failed=True)
                raise

    def _too_late(self) -> DeadlinePassed:
        """Return the error of a call whose time was up before it was answered; where requests are counted, with a time.

        It is the time for those that stand in line before it, as long as such requests take here.
        """
        if not self.quota.is_limited:
            return deadline_passed()
        in_line = self._turns.waiting / self.at_once
        seconds = math.ceil(max(1.0, self.quota.seconds_to_wait(), in_line * self.quota.typical_seconds))
        return DeadlinePassed(
            f"The time of this call is used up; {self._server} may be asked again in {seconds} s.",
            next_step=f"Ask for fewer seeds or hops, or call again in {seconds} s.",
        )

    def answered(self) -> None:
        """Note an answer: after as many in a row as are allowed at once, one more is."""
        self._breaker.answered()
        self._answered_at = self.clock()
        self._answered_in_turn += 1
        if self._answered_in_turn >= self.at_once and self.at_once < self._most_at_once:
            self._turns.resize(self.at_once + 1)
            self._answered_in_turn = 0

    def failed(self, fault: Fault) -> None:
        """Note a fault: a server that wants fewer requests gets half as many at once."""
        self._breaker.failed(fault)
        if isinstance(fault, Throttled):
            self._turns.resize(max(1, self.at_once // 2))
            self._answered_in_turn = 0
