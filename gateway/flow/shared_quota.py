"""The state of a quota in Valkey or Redis, for processes on several machines that one endpoint counts as one client.

Each exchange is short and holds the event loop, as the lock of the file does: nothing may come between the look at a
state and the request that it allows.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.lock import Lock
from redis.retry import Retry

from gateway.flow.quota_state import DAY, MOST_BYTES, QuotaState, QuotaStorage, read_state, strictest, written
from gateway.settings.limits import SharedCacheServer
from gateway.telemetry.tally import Clock

_log = logging.getLogger(__name__)

_ANSWER_SECONDS = 0.1
"""The time of one exchange, and of waiting for another process, which holds the lock for two exchanges."""

_LOCK_SECONDS = 1.0
"""When the lock of a process that died is free again."""

_BACKOFF_SECONDS = 2.0
"""How long nothing is sent after a failure."""

_STORED_SECONDS = int(2 * DAY)
"""After so long without a request every state is that of a quota nobody used: no refusal lasts longer than a day."""


def shared_between_machines(
    server: SharedCacheServer, client: str, inner: Callable[[QuotaState], QuotaStorage]
) -> Callable[[QuotaState], SharedQuota]:
    """Return a factory of the shared state of a client of an endpoint; `inner` makes what holds while it is away."""
    return lambda state: SharedQuota(server, client, inner(state))


class SharedQuota:
    """Stores the state in Valkey or Redis, and in the storage below it for as long as the server is away.

    Args:
        server: The server.
        client: The name of the client of an endpoint.
        inner: Where this machine stores the state too.
        clock: Seconds that only grow.
    """

    def __init__(
        self, server: SharedCacheServer, client: str, inner: QuotaStorage, clock: Clock = time.monotonic
    ) -> None:
        self._inner = inner
        self._clock = clock
        self._key = f"bfsql:{client}"
        self._backoff_until = 0.0
        self._is_away = False
        self._counted_alone = False
        self._redis = redis.Redis.from_url(
            server.url,
            password=server.login,
            socket_timeout=_ANSWER_SECONDS,
            socket_connect_timeout=_ANSWER_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )

    def read(self) -> QuotaState:
        """Return a copy of the state as the last process wrote it."""
        shared = self._shared()
        return self._inner.read() if shared is None else self._agreed(shared, self._inner.read())

    @contextmanager
    def changing(self) -> Iterator[QuotaState]:
        """Lock the state for a block that changes it, and store it when the block ends."""
        lock = self._locked()
        try:
            with self._inner.changing() as state:
                shared = None if lock is None else self._shared()
                if shared is not None:
                    state.become(self._agreed(shared, state))
                yield state
                if lock is not None:
                    self._store(state)
        finally:
            if lock is not None:
                self._release(lock)

    def _agreed(self, shared: QuotaState, own: QuotaState) -> QuotaState:
        """Return the shared state, or what it and this machine's allow both, if this one counted alone meanwhile."""
        return strictest(shared, own) if self._counted_alone else shared

    def _locked(self) -> Lock | None:
        """Return the lock, which this process holds; None where the server is away."""
        if self._clock() < self._backoff_until:
            self._counted_alone = True
            return None
        lock: Lock = self._redis.lock(
            f"{self._key}:lock", timeout=_LOCK_SECONDS, sleep=0.005, blocking_timeout=_ANSWER_SECONDS
        )
        try:
            is_held = lock.acquire()
        except (RedisError, OSError) as error:
            self._failed(error)
            return None
        if not is_held:
            self._counted_alone = True
            return None
        return lock

    def _release(self, lock: Lock) -> None:
        try:
            lock.release()
        except (RedisError, OSError) as error:
            self._failed(error)

    def _shared(self) -> QuotaState | None:
        """Return the shared state; None where there is none, or the server is away."""
        if self._clock() < self._backoff_until:
            return None
        try:
            content = self._redis.getrange(self._key, 0, MOST_BYTES)
        except (RedisError, OSError) as error:
            self._failed(error)
            return None
        return read_state(content) if isinstance(content, bytes) else None

    def _store(self, state: QuotaState) -> None:
        if self._clock() < self._backoff_until:
            return
        try:
            self._redis.set(self._key, written(state), ex=_STORED_SECONDS)
        except (RedisError, OSError) as error:
            self._failed(error)
            return
        self._counted_alone = False
        if self._is_away:
            self._is_away = False
            _log.warning("the quota of the endpoint is shared between machines again")

    def _failed(self, error: Exception) -> None:
        """Leave the server alone for a while, and say once that this machine counts alone."""
        self._counted_alone = True
        self._backoff_until = self._clock() + _BACKOFF_SECONDS
        if not self._is_away:
            self._is_away = True
            _log.warning("this machine counts alone what it asks of the endpoint: %s", type(error).__name__)
