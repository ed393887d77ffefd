"""What an endpoint grants one client: query time, errors, and silence where it asked for that.

The model is the throttling of the Wikidata query service, as its source has it (wikimedia/wikidata-query-rdf at
c010618, ``throttling/ThrottlingFilter.java`` and ``ThrottlingState.java``;
docs/notes/wikimedia.md, "The quota of the query service"):

- A request is charged when it has ended, with its time, and with one error where its status was 400 or more. While
  either bucket is empty, requests are refused with 429; who goes on all the same is banned with 403.
- Each bucket is refilled at one go once a minute, at moments that nobody outside knows. So a bucket here holds a
  minute's refill less and is refilled evenly: at no moment does it hold more than the service's, whatever these moments
  are (decision 0012).
- A debt is kept here, where the service forgets it.
"""

from __future__ import annotations

import bisect
import copy
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

import anyio

from gateway.errors import Banned, Fault, QuotaSpent, Throttled
from gateway.graph.deadline import Clock, Deadline
from gateway.settings.endpoint import EndpointSettings
from gateway.transport.account import Account, Accounts, OwnAccount
from gateway.transport.ban import DAY, banned

Sleep = Callable[[float], Awaitable[None]]

_LEAST_SECONDS = 1.0
"""Query time that must be there for a request to be sent, and that each counts for while it is under way, at least."""

_SHORTEST_SLEEP = 0.01

_FIRST_PAUSE = 5.0
_LONGEST_PAUSE = 300.0
"""Pauses after refusals that do not say how long; each in a row is twice as long as the one before."""

_FLOORED = 1.0
"""The service cuts the fraction off its Retry-After, so that who comes back in time comes too early."""

_LONGEST_REQUEST = 3600.0
"""Seconds that one request is charged at most; a clock that was set forward shows more."""

_MOST_GIVEN_UP = 1000
"""Abandoned requests whose ends are remembered."""

_CLOCKS_DIFFER = 1.0
"""Seconds that an account may be ahead of the clock: another process wrote it a moment ago."""

_MOST_OVERLOADS = 10

_MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class _Bucket:
    """How much there may be of something, and how fast it comes back."""

    capacity: float
    a_second: float

    @classmethod
    def of(cls, burst: float, a_minute: float) -> _Bucket:
        return cls(burst - a_minute, a_minute / _MINUTE) if a_minute else cls(math.inf, 0.0)

    @property
    def is_limited(self) -> bool:
        return math.isfinite(self.capacity)

    @property
    def full(self) -> float:
        return self.capacity if self.is_limited else 0.0

    def level(self, then: float, seconds: float) -> float:
        """Return what there is some seconds after there was so much."""
        return min(self.capacity, then + seconds * self.a_second) if self.is_limited else 0.0

    @property
    def largest_debt(self) -> float:
        """What a day grants; a larger debt would block requests for longer."""
        return DAY * self.a_second

    def seconds_until(self, wanted: float, level: float) -> float:
        """Return how long it takes until there is as much as is wanted."""
        return max(0.0, wanted - level) / self.a_second if self.is_limited else 0.0


@dataclass(slots=True, eq=False)
class Asked:
    """A request that is under way.

    Attributes:
        began: When it was sent.
        ended: Whether the endpoint has done with it; where this gateway leaves first, it may not have.
        failed: Whether it counts as an error.
    """

    began: float
    ended: bool = False
    failed: bool = True

    def answered(self, *, failed: bool) -> None:
        """Note that the endpoint has done with it."""
        self.ended, self.failed = True, failed


class Quota:
    """What one endpoint grants this gateway; everything that sends to it has the same one.

    Args:
        endpoint: The profile's section.
        accounts: Keeps what is left; by default for this process alone.
        clock: Seconds, the same for all who share an account: since the epoch by default.
        sleep: Waits some seconds of that clock.

    Attributes:
        is_limited: Whether the endpoint counts what it is asked.
        typical_seconds: How long requests took; the latest counts most.
    """

    def __init__(
        self,
        endpoint: EndpointSettings,
        *,
        accounts: Callable[[Account], Accounts] = OwnAccount,
        clock: Clock = time.time,
        sleep: Sleep = anyio.sleep,
    ) -> None:
        self._time = _Bucket.of(endpoint.query_seconds_burst, endpoint.query_seconds_a_minute)
        self._errors = _Bucket.of(endpoint.errors_burst, endpoint.errors_a_minute)
        self._longest = endpoint.time_limit_seconds
        self._clock = clock
        self._sleep = sleep
        self._accounts = accounts(Account(clock(), self._time.full, self._errors.full))
        self._under_way: set[Asked] = set()
        self.is_limited = endpoint.has_quota
        self.typical_seconds = _LEAST_SECONDS

    def seconds_to_wait(self) -> float:
        """Return how long nothing may be sent, as far as that is known now; 0: a request may go at once."""
        return self._wait(self._look())

    def check(self, deadline: Deadline) -> None:
        """Raise where nothing may be sent before a deadline.

        Raises:
            QuotaSpent: The quota is used up for longer than that.
            Throttled: The endpoint asked for a pause that lasts longer.
            Banned: It shuts this gateway out for longer.
        """
        account = self._look()
        if (wait := self._wait(account)) > deadline.seconds_left:
            raise self._refusal(account, wait)

    async def opened(self, deadline: Deadline) -> None:
        """Wait until a request may be sent; where that would take too long, raise at once, as `check` does."""
        while (wait := self.seconds_to_wait()) > 0:
            self.check(deadline)
            await self._sleep(max(wait, _SHORTEST_SLEEP))

    @asynccontextmanager
    async def asking(self, deadline: Deadline) -> AsyncIterator[Asked]:
        """Wait until a request may be sent, and charge it when the block ends.

        Raises:
            Fault: It may not be sent in time; see `check`.
        """
        await self.opened(deadline)
        # Nothing is awaited between the look at the account and here: no other request slips in.
        asked = Asked(self._clock())
        self._under_way.add(asked)
        try:
            yield asked
        finally:
            self._under_way.discard(asked)
            self._charge(asked)

    def heard(self, fault: Fault) -> None:
        """Obey what the endpoint said about being asked; whoever asks it next does too."""
        if isinstance(fault, Banned):
            with self._changing() as account:
                account.closed_until, account.banned = account.at + min(DAY, fault.retry_after), True
        elif isinstance(fault, Throttled) and (self.is_limited or fault.retry_after is not None):
            with self._changing() as account:
                account.closed_until = max(account.closed_until, account.at + self._pause(fault, account))
                # It has counted more than was counted here.
                account.query_seconds = min(account.query_seconds, 0.0)

    def failed_after_all(self) -> None:
        """Count an error that showed in an answer after all of it had come."""
        if self.is_limited:
            with self._changing() as account:
                account.errors -= 1

    def _pause(self, fault: Throttled, account: Account) -> float:
        if fault.retry_after is not None:
            return fault.retry_after + (_FLOORED if self.is_limited else 0.0)
        # Of several that were under way, one counts.
        if account.at >= account.closed_until:
            account.overloads += 1
        return float(min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** (account.overloads - 1)))

    def _charge(self, asked: Asked) -> None:
        if not self.is_limited:
            return
        with self._changing() as account:
            seconds = min(max(0.0, account.at - asked.began), _LONGEST_REQUEST)
            self.typical_seconds = (self.typical_seconds + seconds) / 2
            if not asked.ended and seconds < self._longest:
                # It goes on over there, as far as anybody here knows, and is charged at its end.
                bisect.insort(account.given_up, asked.began + self._longest)
                return
            account.query_seconds -= seconds
            if asked.failed:
                account.errors -= 1
            else:
                account.overloads = 0

    def _look(self) -> Account:
        account = self._accounts.look()
        if self._repair(account, self._clock()):
            # Written back: a figure that is only corrected when it is read would block for another day each time.
            with self._changing() as changed:
                return changed
        return self._brought_up_to_now(account)

    @contextmanager
    def _changing(self) -> Iterator[Account]:
        with self._accounts.change() as account:
            yield self._brought_up_to_now(account)

    def _brought_up_to_now(self, account: Account) -> Account:
        """Return an account as it is now."""
        now = self._clock()
        self._repair(account, now)
        while account.given_up and account.given_up[0] <= now:
            self._refill(account, account.given_up.pop(0))
            account.query_seconds -= self._longest
            account.errors -= 1
        self._refill(account, now)
        account.at = now
        account.banned = account.banned and now < account.closed_until
        return account

    def _repair(self, account: Account, now: float) -> bool:
        """Correct figures that would block requests for more than a day; return whether there were any."""
        before = copy.copy(account)
        if (ahead := account.at - now) > _CLOCKS_DIFFER:
            # The clock was set back. What is left counts from now on, and not from a time to come.
            account.closed_until -= ahead
            account.given_up = [end - ahead for end in account.given_up]
            account.at = now
        account.closed_until = min(account.closed_until, now + DAY)
        account.query_seconds = max(account.query_seconds, -self._time.largest_debt)
        account.errors = max(account.errors, -self._errors.largest_debt)
        account.overloads = max(0, min(account.overloads, _MOST_OVERLOADS))
        latest = now + self._longest + _CLOCKS_DIFFER
        account.given_up = sorted(end for end in account.given_up if end <= latest)[-_MOST_GIVEN_UP:]
        return account != before

    def _refill(self, account: Account, now: float) -> None:
        passed = max(0.0, now - account.at)
        account.query_seconds = self._time.level(account.query_seconds, passed)
        account.errors = self._errors.level(account.errors, passed)
        account.at = max(account.at, now)

    def _wait(self, account: Account) -> float:
        now = account.at
        began = [asked.began for asked in self._under_way] + [end - self._longest for end in account.given_up]
        running = sum(max(_LEAST_SECONDS, now - each) for each in began)
        wait = max(
            0.0,
            account.closed_until - now,
            self._time.seconds_until(_LEAST_SECONDS + running, account.query_seconds),
            self._errors.seconds_until(1 + len(began), account.errors),
        )
        return min(DAY, wait)

    def _refusal(self, account: Account, wait: float) -> Fault:
        seconds = math.ceil(wait)
        again = f"Call again in {seconds} s."
        if account.closed_until - account.at < wait:
            return QuotaSpent(
                f"What the endpoint grants this gateway is used up; it may be asked again in {seconds} s.",
                next_step=again,
                retry_after=wait,
            )
        if account.banned:
            return banned(wait)
        return Throttled(
            f"The endpoint asked this gateway to wait, for longer than one call may take: {seconds} s from now.",
            next_step=again,
            retry_after=wait,
        )
