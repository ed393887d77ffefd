"""Where a database is and how it is logged in to, and a bounded pool of connections that only read."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import neo4j
from neo4j.exceptions import Neo4jError
from pydantic import SecretStr

from gateway.databases.client import Row, check_whole
from gateway.graph.deadline import Deadline
from gateway.neo4j.faults import RAISED, fault_of
from gateway.neo4j.property_values import plain

_CLOSE_SECONDS = 2.0
"""Time for closing idle connections in good order."""

_GRACE_SECONDS = 1.0
"""After this time beyond the deadline the server ends a query by itself, should its cancelling be lost."""

_RECORDS = 100
"""Records that are fetched at once; each has up to 500 rows (`queries/neo4j/parts/chunks.cypher`)."""

_IN_ORDER = (Neo4jError, UnicodeEncodeError)
"""Errors after which a connection may be used again: the server's own, and that of a parameter that was not sent."""


@dataclass(frozen=True, slots=True)
class Address:
    """A database, and how to log in.

    Attributes:
        url: The URL of the server, `bolt:` or `neo4j:`, without user and database.
        database: Its name; None for the one that the server gives this user.
        user: The user; empty where the server asks for none.
        password: The password.
        tls: How the connection is encrypted; None: it is not.
        connect_seconds: Time allowed for connecting.
    """

    url: str
    database: str | None = None
    user: str = ""
    password: SecretStr | None = None
    tls: ssl.SSLContext | None = field(default=None, repr=False)
    connect_seconds: float = 10.0


class DriverPool:
    """Connections to one database, opened when they are needed, so many at most; see `Pool`."""

    def __init__(self, address: Address, size: int) -> None:
        self._address = address
        self._size = size
        self._driver: neo4j.AsyncDriver | None = None

    async def fetch(self, query: str, arguments: Sequence[object], deadline: Deadline) -> Sequence[Row]:
        """Return the rows of a query, whose column `rows` has lists of them, and whose column `total` their number.

        Raises:
            Fault: They did not all come.
        """
        try:
            async with asyncio.timeout(deadline.seconds_left):
                return await self._rows(query, arguments, deadline)
        except RAISED as error:
            # Its text may hold data of the graph.
            raise fault_of(error, deadline) from None

    async def _rows(self, query: str, arguments: Sequence[object], deadline: Deadline) -> Sequence[Row]:
        # The text is one of `queries/neo4j/`: nothing of a caller is in it.
        limited = neo4j.Query(query, timeout=deadline.seconds_left + _GRACE_SECONDS)
        parameters = {str(number): value for number, value in enumerate(arguments, 1)}
        rows: list[Row] = []
        total: int | None = None
        async with self._session() as session:
            async for record in await session.run(limited, parameters):
                rows += [[plain(cell) if isinstance(cell, dict) else cell for cell in row] for row in record["rows"]]
                total = record["total"]
            check_whole(rows, total)
        return rows

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[neo4j.AsyncSession]:
        """Give a session, and end its connection where the block leaves it in the middle of an answer.

        No other query may read the rest of that answer, and the pool would never have the place back.
        """
        session = self._opened().session(
            database=self._address.database, default_access_mode=neo4j.READ_ACCESS, fetch_size=_RECORDS
        )
        try:
            try:
                yield session
            except _IN_ORDER:
                await session.close()
                raise
            await session.close()
        finally:
            # Without a connection, closing waits for nothing; after the first `close` neither does anything.
            session.cancel()
            await session.close()

    def _opened(self) -> neo4j.AsyncDriver:
        if self._driver is None:
            address = self._address
            password = address.password.get_secret_value() if address.password else ""
            encryption: dict[str, Any] = {"ssl_context": address.tls} if address.tls else {}
            self._driver = neo4j.AsyncGraphDatabase.driver(
                address.url,
                auth=(address.user, password) if address.user else None,
                max_connection_pool_size=self._size,
                connection_timeout=address.connect_seconds,
                connection_acquisition_timeout=address.connect_seconds * 2,
                notifications_min_severity="OFF",
                telemetry_disabled=True,
                user_agent="bfsql-gateway",
                **encryption,
            )
        return self._driver

    async def close(self) -> None:
        """Close all connections; those that do not close in time are left to the operating system."""
        if self._driver is None:
            return
        with suppress(*RAISED):
            await asyncio.wait_for(self._driver.close(), _CLOSE_SECONDS)
