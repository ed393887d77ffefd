"""`python -m tests.neo4j.faulted`: thousands of calls while a Neo4j fails; exit code 1 when one is wrong."""

import asyncio
import random
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import neo4j

from gateway.neo4j.connection import Address
from gateway.settings.databases import NodesInNeo4j
from gateway.settings.endpoint import AccessSettings
from gateway.tools.gateway import Gateway
from tests.databases.faulted import FaultName, Report, faulted, main
from tests.neo4j.database import access, address_at, opened, own_database
from tests.neo4j.proxy import Proxy, running_proxy
from tests.servers.neo4j import PASSWORD, USER

_SHORT_SECONDS: Final = 0.08
"""The time of calls that wait for a connection."""

_AT_ONCE: Final = 4
"""Signals that are sent at the same time."""

_LINKS: Final = NodesInNeo4j(labels=("Link",))

_USER: Final = "faulted"
"""A user of its own: other tests that use the server must not notice."""

_MAKE_USER: Final = "CREATE USER faulted IF NOT EXISTS SET PLAINTEXT PASSWORD $password CHANGE NOT REQUIRED"

_SIGNALS: Final = {
    "killed": (
        "CALL dbms.listConnections() YIELD connectionId, username WITH connectionId, username "
        "WHERE username = 'faulted' WITH collect(connectionId) AS found "
        "CALL dbms.killConnections(found) YIELD message RETURN count(*)"
    ),
    "cancelled": (
        "SHOW TRANSACTIONS YIELD transactionId AS found, username WHERE username = 'faulted' "
        "TERMINATE TRANSACTIONS found YIELD message RETURN count(*)"
    ),
}


class FailingNeo4j:
    """A Neo4j that can be let fail.

    Args:
        port: Where it listens.
        login: How a gateway logs in.
        proxy: A proxy before it.
        driver: A connection beside that of the gateway.
    """

    def __init__(self, port: int, login: AccessSettings, proxy: Proxy, driver: neo4j.AsyncDriver) -> None:
        self._port = port
        self._login = login
        self._proxy = proxy
        self._driver = driver

    def open(self, fault: FaultName) -> Gateway:
        """Open a gateway over the chain."""
        is_exhausted = fault == "exhausted"
        return opened(
            self._proxy.port if fault == "cut" else self._port,
            self._login,
            _LINKS,
            seconds=_SHORT_SECONDS if is_exhausted else 30,
            concurrency=1 if is_exhausted else 4,
        )

    @asynccontextmanager
    async def failing(self, fault: FaultName, draw: random.Random) -> AsyncIterator[None]:
        """Let the database fail while the block runs."""
        if fault == "cut":
            self._proxy.left, self._proxy.remaining = draw.randrange(1, 9), draw.randrange(4_000)
            yield
            self._proxy.left = 0
            return
        # A signal takes longer than a query: one alone would seldom meet any.
        tasks = [asyncio.create_task(self._repeated(_SIGNALS[fault], draw.randrange(1, 30))) for _ in range(_AT_ONCE)]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            for ended in await asyncio.gather(*tasks, return_exceptions=True):
                assert ended is None or isinstance(ended, asyncio.CancelledError), ended

    async def _repeated(self, statement: str, times: int) -> None:
        for _ in range(times):
            await self._driver.execute_query(statement)


async def calls_while_failing(address: Address, calls: int, seed: int) -> Report:
    """Make so many calls to a server."""
    port = urlsplit(address.url).port or 0
    with tempfile.TemporaryDirectory(prefix="faulted-") as folder:
        login = access(Path(folder)).model_copy(update={"user": _USER})
        async with (
            running_proxy(port) as proxy,
            neo4j.AsyncGraphDatabase.driver(address.url, auth=(USER, PASSWORD)) as driver,
        ):
            await driver.execute_query(_MAKE_USER, password=PASSWORD, database_="system")
            return await faulted(FailingNeo4j(port, login, proxy, driver), calls, seed)


async def _calls(calls: int, seed: int) -> Report:
    with tempfile.TemporaryDirectory(prefix="faulted-") as folder, own_database(Path(folder), {}) as server:
        return await calls_while_failing(address_at(server.port), calls, seed)


if __name__ == "__main__":
    sys.exit(main("tests.neo4j.faulted", _calls))
