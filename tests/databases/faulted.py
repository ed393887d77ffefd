"""`python -m tests.databases.faulted postgres|neo4j`: thousands of calls while it fails; exit code 1 when one is wrong.

None may be answered wrongly, or with a part that is called complete.
"""

import argparse
import asyncio
import logging
import random
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, Protocol, get_args
from urllib.parse import urlsplit

import asyncpg
import neo4j

from gateway.errors import Fault
from gateway.neo4j.connection import Address
from gateway.settings.databases import NodesInNeo4j
from gateway.settings.endpoint import AccessSettings
from gateway.tools.gateway import Gateway
from tests.databases.chain import around, near
from tests.databases.proxy import Proxy, running_proxy
from tests.neo4j import database as neo4j_database
from tests.postgres import database as postgres_database
from tests.postgres.database import Database
from tests.servers import neo4j as neo4j_server
from tests.servers import postgres as postgres_server
from tests.servers.loopback import HOST

FaultName = Literal["killed", "cancelled", "cut", "exhausted"]
"""The server ends the connection; it cancels the query, as by its time-out; the connection breaks off in the middle of
an answer; more calls come than one connection serves in their time."""

FAULTS: Final[tuple[FaultName, ...]] = get_args(FaultName)

_EACH: Final = 8
"""Calls to one gateway, which would send nothing for a while after more failures."""

_KINDS: Final = ("complete", "incomplete", "error")


class FailingDatabase(Protocol):
    """A database with the chain, which can be let fail."""

    def open(self, fault: FaultName) -> Gateway:
        """Open a gateway over it, without a cache; to see it exhausted, with one connection and little time."""

    def failing(self, fault: FaultName, draw: random.Random) -> AbstractAsyncContextManager[None]:
        """Let it fail while a block runs."""


@dataclass(slots=True)
class Report:
    """What came of the calls.

    Attributes:
        outcomes: Calls by fault and outcome: `complete`, `incomplete` or `error`.
        wrong: Calls whose answer was wrong, or not whole and complete.
    """

    outcomes: Counter[tuple[FaultName, str]] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def as_text(self) -> str:
        """Return the figures, a line for each fault."""
        lines = [
            f"{fault}: " + ", ".join(f"{self.outcomes[fault, kind]} {kind}" for kind in _KINDS) for fault in FAULTS
        ]
        return "\n".join([*lines, f"wrong: {len(self.wrong)}", *self.wrong[:20], ""])


async def faulted(database: FailingDatabase, calls: int, seed: int) -> Report:
    """Make so many calls, under each fault in turn, and compare each answer with what is right."""
    report, draw = Report(), random.Random(seed)  # noqa: S311 - a test that can be repeated
    for number in range(-(-calls // _EACH)):
        fault = FAULTS[number % len(FAULTS)]
        nodes = [draw.randrange(61) for _ in range(min(_EACH, calls - number * _EACH))]
        async with database.open(fault) as gateway:
            if fault == "exhausted":
                await asyncio.gather(*(count_call(gateway, node, fault, report) for node in nodes))
                continue
            for node in nodes:
                async with database.failing(fault, draw):
                    await count_call(gateway, node, fault, report)
    return report


async def count_call(gateway: Gateway, node: int, fault: FaultName, report: Report) -> None:
    """Make one call, and count what came of it."""
    try:
        complete, found = await around(gateway, node)
    except Fault:
        report.outcomes[fault, "error"] += 1
        return
    report.outcomes[fault, "complete" if complete else "incomplete"] += 1
    if not found <= near(node) or (complete and found != near(node)):
        report.wrong.append(f"{fault}: node {node}, {'complete' if complete else 'incomplete'}, {sorted(found)}")


def check(report: Report, calls: int) -> None:
    """Fail if a call was answered wrongly, or a fault did nothing."""
    assert report.wrong == []
    assert report.outcomes.total() == calls
    assert {fault for fault, _ in report.outcomes} == set(FAULTS)
    assert {kind for _, kind in report.outcomes} > {"complete"}


# PostgreSQL


_POSTGRES_SECONDS: Final = 0.03
"""The time of calls that wait for a connection."""

_POSTGRES_SIGNALS: Final = {
    "killed": "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'bfsql-gateway'",
    "cancelled": "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'bfsql-gateway'",
}


class _FailingPostgres:
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
        self._url = database.make_database("chain", postgres_database.CHAIN)

    def open(self, fault: FaultName) -> Gateway:
        """Open a gateway over the chain."""
        through = f"postgresql://{postgres_server.USER}@{HOST}:{self._proxy.port}/chain"
        is_exhausted = fault == "exhausted"
        return postgres_database.opened(
            through if fault == "cut" else self._url,
            self._database.access(),
            seconds=_POSTGRES_SECONDS if is_exhausted else 30,
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
        task = asyncio.create_task(self._repeated(_POSTGRES_SIGNALS[fault], draw.randrange(1, 30)))
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


async def calls_to_postgres(database: Database, calls: int, seed: int) -> Report:
    """Make so many calls to a server."""
    async with running_proxy(database.server.port) as proxy:
        connection = await asyncpg.connect(**database.address.arguments)
        try:
            return await faulted(_FailingPostgres(database, proxy, connection), calls, seed)
        finally:
            await connection.close()


# Neo4j


_NEO4J_SECONDS: Final = 0.08
"""The time of calls that wait for a connection."""

_AT_ONCE: Final = 4
"""Signals that are sent at the same time."""

_LINKS: Final = NodesInNeo4j(labels=("Link",))

_USER: Final = "faulted"
"""A user of its own: other tests that use the server must not notice."""

_MAKE_USER: Final = "CREATE USER faulted IF NOT EXISTS SET PLAINTEXT PASSWORD $password CHANGE NOT REQUIRED"

_NEO4J_SIGNALS: Final = {
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


class _FailingNeo4j:
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
        return neo4j_database.opened(
            self._proxy.port if fault == "cut" else self._port,
            self._login,
            _LINKS,
            seconds=_NEO4J_SECONDS if is_exhausted else 30,
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
        tasks = [
            asyncio.create_task(self._repeated(_NEO4J_SIGNALS[fault], draw.randrange(1, 30))) for _ in range(_AT_ONCE)
        ]
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


async def calls_to_neo4j(address: Address, calls: int, seed: int) -> Report:
    """Make so many calls to a server."""
    port = urlsplit(address.url).port or 0
    with tempfile.TemporaryDirectory(prefix="faulted-") as folder:
        login = neo4j_database.access(Path(folder)).model_copy(update={"user": _USER})
        async with (
            running_proxy(port) as proxy,
            neo4j.AsyncGraphDatabase.driver(address.url, auth=(neo4j_server.USER, neo4j_server.PASSWORD)) as driver,
        ):
            await driver.execute_query(_MAKE_USER, password=neo4j_server.PASSWORD, database_="system")
            return await faulted(_FailingNeo4j(port, login, proxy, driver), calls, seed)


# The program


async def _postgres(calls: int, seed: int, folder: Path) -> Report:
    with postgres_database.running_database(folder) as database:
        return await calls_to_postgres(database, calls, seed)


async def _neo4j(calls: int, seed: int, folder: Path) -> Report:
    with neo4j_database.own_database(folder, {}) as server:
        return await calls_to_neo4j(neo4j_database.address_at(server.port), calls, seed)


_DATABASES: Final[Mapping[str, Callable[[int, int, Path], Coroutine[Any, Any, Report]]]] = {
    "postgres": _postgres,
    "neo4j": _neo4j,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the calls, print the figures, and return the exit code: 1 when one was answered wrongly."""
    parser = argparse.ArgumentParser(prog="python -m tests.databases.faulted", description=__doc__)
    parser.add_argument("database", choices=[*_DATABASES])
    parser.add_argument("--calls", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=2026)
    options = parser.parse_args(arguments)
    # Thousands of connections break here, and each break is logged.
    logging.getLogger("gateway").setLevel(logging.CRITICAL)
    with tempfile.TemporaryDirectory(prefix="faulted-") as folder:
        report = asyncio.run(_DATABASES[options.database](options.calls, options.seed, Path(folder)))
    sys.stdout.write(report.as_text())
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
