"""Where a database is and how it is logged in to, and a bounded pool of connections that can only read."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import asyncpg
from pydantic import SecretStr

from gateway.databases.client import Row, check_whole
from gateway.graph.deadline import Deadline
from gateway.postgres.faults import fault_of

_CLOSE_SECONDS = 2.0
"""Time for closing idle connections in good order."""

_PLANS = {
    # A plan for any parameters reads a hub as it reads a leaf.
    "plan_cache_mode": "force_custom_plan",
    # Compiling takes longer than the queries of one batch.
    "jit": "off",
    "default_transaction_read_only": "on",
    "application_name": "bfsql-gateway",
    # A connection that is idle in a transaction would be a fault of this program; it must not block others.
    "idle_in_transaction_session_timeout": "60000",
}
"""Settings of each connection."""


@dataclass(frozen=True, slots=True)
class Address:
    """A database, and how to log in.

    Attributes:
        host: Its host, or the folder of its socket.
        port: Its port.
        database: Its name.
        user: The user.
        password: The password; None where the server asks for none.
        tls: asyncpg's `ssl`: a mode of libpq, or a context.
        connect_seconds: Time allowed for connecting.
    """

    host: str
    port: int
    database: str
    user: str
    password: SecretStr | None = None
    tls: Any = field(default="prefer", repr=False)
    connect_seconds: float = 10.0

    @property
    def arguments(self) -> dict[str, Any]:
        """It, as asyncpg takes it."""
        return {
            "host": self.host,
            "port": self.port,
            "database": self.database,
            "user": self.user,
            # Without one, asyncpg would look for one in files of the user.
            "password": self.password.get_secret_value() if self.password else "",
            "ssl": self.tls,
            "timeout": self.connect_seconds,
        }


class _Limited(asyncpg.Connection):  # type: ignore[misc]  # asyncpg has no types
    """A connection that remembers its `statement_timeout`, so that it is set seldom."""

    __slots__ = ("_limit",)

    async def fetch_within(self, seconds: float, query: str, arguments: Sequence[object]) -> Sequence[Row]:
        """Return the rows of a query, which the server ends by itself a while after so many seconds."""
        # The next power of two, because a call's time shrinks from query to query.
        limit = 1000 << max(0, math.ceil(math.log2(max(seconds, 1.0))))
        if getattr(self, "_limit", None) != limit:
            # A number of ours; SET takes no parameters.
            await self.execute(f"SET statement_timeout = {limit:d}", timeout=seconds)
            self._limit = limit
        self._check_open()
        # As `fetch` does it, with the tag of the command, which says how many rows were sent.
        rows: Sequence[Row]
        rows, tag, _ = await self._execute(query, arguments, 0, seconds, return_status=True)
        check_whole(rows, _number_in(tag))
        return rows


def _number_in(tag: bytes | None) -> int | None:
    """Return how many rows a command has sent, by its tag: `SELECT 25` ("Message Formats", CommandComplete)."""
    number = (tag or b"").rpartition(b" ")[2]
    return int(number) if number.isdigit() else None


class Pool:
    """Connections to one database, opened when they are needed, so many at most."""

    def __init__(self, address: Address, size: int) -> None:
        self._address = address
        self._size = size
        self._pool: Any = None
        self._opening = asyncio.Lock()

    async def fetch(self, query: str, arguments: Sequence[object], deadline: Deadline) -> Sequence[Row]:
        """Return the rows of a query.

        Raises:
            Fault: They did not all come.
        """
        try:
            async with asyncio.timeout(deadline.seconds_left):
                pool = await self._opened()
                async with pool.acquire() as connection:
                    try:
                        rows: Sequence[Row] = await connection.fetch_within(deadline.seconds_left, query, arguments)
                    except asyncpg.InternalClientError:
                        # The driver lost track of a connection that broke: no other query may use it.
                        connection.terminate()
                        raise
                    return rows
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError) as error:
            # Its text may hold data of the graph.
            raise fault_of(error, deadline) from None

    async def _opened(self) -> Any:
        async with self._opening:
            if self._pool is None:
                self._pool = await asyncpg.create_pool(
                    **self._address.arguments,
                    min_size=0,
                    max_size=self._size,
                    connection_class=_Limited,
                    server_settings=_PLANS,
                    reset=_nothing_to_reset,
                )
            return self._pool

    async def close(self) -> None:
        """Close all connections; those that do not close in time are cut."""
        if self._pool is None:
            return
        pool, self._pool = self._pool, None
        try:
            await asyncio.wait_for(pool.close(), _CLOSE_SECONDS)
        except (TimeoutError, OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
            pool.terminate()


async def _nothing_to_reset(_: object) -> None:
    """Send nothing when a connection is returned: each query is a transaction of its own, and changes no setting."""


@asynccontextmanager
async def connected(address: Address) -> AsyncIterator[Any]:
    """Open one connection that may write, and close it after the block."""
    connection = await asyncpg.connect(**address.arguments, server_settings={"application_name": "bfsql-gateway"})
    try:
        yield connection
    finally:
        await connection.close(timeout=_CLOSE_SECONDS)
