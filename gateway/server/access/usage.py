"""How much a client has used of what it may have."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from cachetools import LRUCache

from gateway.flow.quota_state import TokenBucket
from gateway.settings.serving import ClientLimits

Clock = Callable[[], float]

_MINUTE = 60.0
_MEGABYTE = 1_000_000
_MOST_CLIENTS = 10_000
"""Clients that are remembered: without authentication there is one for each address."""


class Bucket:
    """What is left in a token bucket: so much in a minute, and after a pause as much at once.

    Args:
        a_minute: What flows in during a minute, and the most that it holds.
        clock: Seconds that only grow.
    """

    def __init__(self, a_minute: float, clock: Clock = time.monotonic) -> None:
        self._bucket = TokenBucket(a_minute, a_minute / _MINUTE)
        self._left = self._bucket.full
        self._clock = clock
        self._since = clock()

    def take(self, amount: float) -> None:
        """Take an amount, even if less is left: what is owed must flow in before more is given."""
        self._flow()
        self._left -= amount

    def seconds_until(self, amount: float) -> float:
        """Return in how many seconds so much is there; 0 for now."""
        self._flow()
        return self._bucket.seconds_until(min(amount, self._bucket.capacity), self._left)

    def _flow(self) -> None:
        now = self._clock()
        self._left, self._since = self._bucket.level(self._left, now - self._since), now


@dataclass(slots=True)
class Usage:
    """What one client uses.

    Attributes:
        limits: What it may have.
        requests: What it may still ask in this minute.
        bytes: What it may still send and receive in this minute.
        under_way: Requests that are being answered.
        streams: Streams that are open.
    """

    limits: ClientLimits
    requests: Bucket
    bytes: Bucket
    under_way: int = field(default=0)
    streams: int = field(default=0)

    @classmethod
    def of(cls, limits: ClientLimits, clock: Clock = time.monotonic) -> Usage:
        """Return the usage of a client that has used nothing."""
        return cls(
            limits,
            Bucket(limits.requests_a_minute, clock),
            Bucket(limits.megabytes_a_minute * _MEGABYTE, clock),
        )

    def pause(self) -> float:
        """Return for how many seconds the client must wait before it may ask again; 0 if it may now."""
        if self.under_way >= self.limits.under_way:
            return 1.0
        return max(self.requests.seconds_until(1), self.bytes.seconds_until(1))


class Usages:
    """The usage of each client; of more clients than can be remembered, those that asked last."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._usages: LRUCache[Hashable, Usage] = LRUCache(_MOST_CLIENTS)

    def of(self, client: Hashable, limits: ClientLimits) -> Usage:
        """Return the usage of a client; new limits begin anew."""
        usage = self._usages.get(client)
        if usage is None or usage.limits != limits:
            before, usage = usage, Usage.of(limits, self._clock)
            if before is not None:
                usage.under_way, usage.streams = before.under_way, before.streams
            self._usages[client] = usage
        return usage
