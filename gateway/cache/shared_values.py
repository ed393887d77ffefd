"""Bytes by key in Valkey or Redis, for a time; where the server is away, nothing is found and nothing is stored.

Why nothing is tried again, and what it holds: docs/decisions/0043-a-shared-cache.md.
"""

from __future__ import annotations

import hmac
import logging
import secrets
import time
from collections.abc import Sequence
from functools import cache
from hashlib import blake2b

from redis import asyncio as redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from gateway.settings.limits import SharedCacheServer
from gateway.settings.urls import without_query
from gateway.telemetry.tally import Clock

_log = logging.getLogger(__name__)

_ANSWER_SECONDS = 0.5
"""The time of one exchange; a server on the same network needs a millisecond for a thousand values."""

_BACKOFF_SECONDS = 2.0
"""How long nothing is sent after a failure."""

_GENERATION = "generation"
"""The key of a random text that all other keys contain: with another one, nothing that is stored is found."""

_LONGEST_GENERATION = 64
"""Bytes of it; all keys contain it."""

_MOST_GENERATIONS = 3
"""How often values are asked for, if there is no generation yet or others forget meanwhile."""

_MAC_BYTES = 16
"""Of the message authentication code before each value."""

_CONNECTIONS = 8
_MOST_AT_ONCE = 100
_LARGEST = 1 << 20
"""Connections of a process, values of one exchange, and bytes of a value: an exchange holds at most their product."""


class SharedValues:
    """A server of values, under one prefix.

    Args:
        server: Its URL, its password and the secret.
        prefix: What all keys begin with.
        clock: Seconds that only grow.
    """

    def __init__(self, server: SharedCacheServer, prefix: str, clock: Clock = time.monotonic) -> None:
        if not server.key:
            _warn_without_secret(server.url)
        self._prefix = prefix
        self._clock = clock
        self._key = blake2b(server.key.encode(), digest_size=32).digest()
        self._generation = b""
        # A counter, as one may forget while the exchange of an earlier `forget` is under way.
        self._forgets = 0
        self._forgets_sent = 0
        self._backoff_until = 0.0
        self._is_away = False
        pool = redis.BlockingConnectionPool.from_url(
            server.url,
            max_connections=_CONNECTIONS,
            timeout=_ANSWER_SECONDS,
            socket_timeout=_ANSWER_SECONDS,
            socket_connect_timeout=_ANSWER_SECONDS,
            retry=Retry(NoBackoff(), 0),
            password=server.login,
        )
        self._client = redis.Redis(connection_pool=pool)

    @property
    def generation(self) -> bytes:
        """What the keys contain now; what was fetched under another one is stored under that."""
        return self._generation

    async def get(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return the values of keys; None for those that are not there."""
        found: list[bytes | None] = []
        for at in range(0, len(keys), _MOST_AT_ONCE):
            part = keys[at : at + _MOST_AT_ONCE]
            values = None
            if self._may_ask:
                try:
                    values = await self._exchange(part)
                except (RedisError, OSError) as error:
                    self._note(error)
                else:
                    self._note(None)
            found += values or [None] * len(part)
        return found

    def forget(self) -> None:
        """Let no process use what is stored now; this one at once, the others with their next exchange."""
        self._forgets += 1

    async def _exchange(self, keys: Sequence[str]) -> list[bytes | None] | None:
        """Return the values of keys; None where another generation has begun.

        Raises:
            RedisError: The server is away, or refuses.
        """
        place = self._prefix + _GENERATION
        while (forgets := self._forgets) != self._forgets_sent:
            await self._client.set(place, _new_generation())
            self._forgets_sent = max(forgets, self._forgets_sent)
        for _ in range(_MOST_GENERATIONS):
            # Another call may hear of a new generation while this one waits, but the names are of this one.
            wanted = self._generation
            names = [self._name(key, wanted) for key in keys]
            generation, *found = await self._read(place, names)
            if generation is not None and len(generation) > _LONGEST_GENERATION:
                raise RedisError("the generation is none of ours")
            if generation is None:
                # The server is new, or had no room: what was stored before must not come back.
                await self._client.set(place, _new_generation(), nx=True)
            elif generation == wanted:
                return [self._verified(name, value) for name, value in zip(names, found, strict=True)]
            else:
                self._generation = generation
        return None

    async def _read(self, place: str, names: Sequence[str]) -> list[bytes | None]:
        """Return the generation and the values of names; None for what is not there, or is no text.

        Whoever else writes to the server, no value makes this process hold more than the longest of ours and a byte:
        MGET would read all of it.
        """
        async with self._client.pipeline(transaction=False) as pipeline:
            pipeline.getrange(place, 0, _LONGEST_GENERATION)
            for name in names:
                pipeline.getrange(name, 0, _MAC_BYTES + _LARGEST)
            values = await pipeline.execute(raise_on_error=False)
        return [value if isinstance(value, bytes) and value else None for value in values]

    def _verified(self, name: str, content: bytes | None) -> bytes | None:
        """Return a value without its code; None for what no process with this secret stored under this name."""
        if content is None or len(content) > _MAC_BYTES + _LARGEST:
            return None
        mac, value = content[:_MAC_BYTES], content[_MAC_BYTES:]
        return value if hmac.compare_digest(mac, self._mac(name, value)) else None

    def _mac(self, name: str, value: bytes) -> bytes:
        return blake2b(name.encode() + b"\n" + value, digest_size=_MAC_BYTES, key=self._key).digest()

    def _name(self, key: str, generation: bytes) -> str:
        return f"{self._prefix}{generation.decode('latin-1')}:{key}"

    async def put(self, values: Sequence[tuple[str, bytes]], seconds: float, generation: bytes) -> None:
        """Store values for a time, those that are too large left out.

        Args:
            values: Values by key.
            seconds: The time.
            generation: The one in which they were asked for: others may have forgotten meanwhile. Under none, which is
                where nothing was read yet, nothing is stored: no `forget` would reach it.
        """
        if not generation:
            return
        small = [(key, value) for key, value in values if len(value) <= _LARGEST]
        for at in range(0, len(small), _MOST_AT_ONCE):
            if not self._may_ask:
                return
            try:
                async with self._client.pipeline(transaction=False) as pipeline:
                    for key, value in small[at : at + _MOST_AT_ONCE]:
                        name = self._name(key, generation)
                        pipeline.set(name, self._mac(name, value) + value, px=max(1, int(seconds * 1_000)))
                    await pipeline.execute()
            except (RedisError, OSError) as error:
                self._note(error)
            else:
                self._note(None)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose(close_connection_pool=True)

    @property
    def _may_ask(self) -> bool:
        return self._clock() >= self._backoff_until

    def _note(self, error: Exception | None) -> None:
        """Note how an exchange ended, and log when that changes."""
        if error is not None:
            self._backoff_until = self._clock() + _BACKOFF_SECONDS
        if (error is not None) == self._is_away:
            return
        self._is_away = error is not None
        if error is None:
            _log.warning("the shared cache answers again")
        else:
            _log.warning("the shared cache is away, so this process asks the graph itself: %s", type(error).__name__)


@cache
def _warn_without_secret(url: str) -> None:
    """Warn once for each server, however many graphs share it."""
    _log.warning(
        "the shared cache at %s has no secret: any program on this machine that reaches it can write answers that this "
        "process believes; set BFSQL_SHARED_CACHE_SECRET to a long random text",
        without_query(url),
    )


def _new_generation() -> str:
    return secrets.token_hex(8)
