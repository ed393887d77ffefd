"""`python -m tests.postgres.faulted`: thousands of calls while a PostgreSQL fails; exit code 1 when one is wrong."""

import asyncio
import random
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import asyncpg

from gateway.tools.gateway import Gateway
from tests.databases.faulted import FaultName, Report, faulted, main
from tests.neo4j.proxy import Proxy, running_proxy
from tests.postgres.database import CHAIN, Database, opened, running_database
from tests.servers.loopback import HOST
from tests.servers.postgres import USER

_SHORT_SECONDS: Final = 0.03
"""The time of calls that wait for a connection."""

_SIGNALS: Final = {
    "killed": "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'bfsql-gateway'",
    "cancelled": "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'bfsql-gateway'",
}


class FailingPostgres:
    """A PostgreSQL that can be let fail.

    Args:
        database: The server.
        proxy: A proxy before it.
        connection: A connection of its superuser.
    """

    def __init__(self, database: Database, proxy: Proxy, connection: asyncpg.Connection) -> None:
        self._database = database
        self._proxy = proxy
        self._connection = connection
        self._url = database.make_database("chain", CHAIN)

    def open(self, fault: FaultName) -> Gateway:
        """Open a gateway over the chain."""
        through = f"postgresql://{USER}@{HOST}:{self._proxy.port}/chain"
        is_exhausted = fault == "exhausted"
        return opened(
            through if fault == "cut" else self._url,
            self._database.access(),
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
        task = asyncio.create_task(self._repeated(_SIGNALS[fault], draw.randrange(1, 30)))
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _repeated(self, sql: str, times: int) -> None:
        for _ in range(times):
            await self._connection.execute(sql)
            await asyncio.sleep(0)


async def calls_while_failing(database: Database, calls: int, seed: int) -> Report:
    """Make so many calls to a server."""
    async with running_proxy(database.server.port) as proxy:
        connection = await asyncpg.connect(**database.address.arguments)
        try:
            return await faulted(FailingPostgres(database, proxy, connection), calls, seed)
        finally:
            await connection.close()


async def _calls(calls: int, seed: int) -> Report:
    with tempfile.TemporaryDirectory(prefix="faulted-") as folder, running_database(Path(folder)) as database:
        return await calls_while_failing(database, calls, seed)


if __name__ == "__main__":
    sys.exit(main("tests.postgres.faulted", _calls))
