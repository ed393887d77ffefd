"""`python -m tests.postgres.faulted`: thousands of calls while a database fails; exit code 1 when one is wrong."""

import argparse
import asyncio
import logging
import random
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, get_args

import asyncpg

from gateway.engine.gateway import Gateway
from gateway.errors import Fault
from tests.neo4j.proxy import Proxy, running_proxy
from tests.postgres.database import Database, running_database
from tests.postgres.test_faults import CHAIN, around, near, opened
from tests.servers.loopback import HOST
from tests.servers.postgres import USER

FaultName = Literal["killed", "cancelled", "cut", "exhausted"]
"""The backend is terminated; the query is cancelled, as by `statement_timeout`; the connection breaks off in the middle
of an answer; more calls come than one connection serves in their time."""

FAULTS: Final[tuple[FaultName, ...]] = get_args(FaultName)

_EACH: Final = 8
"""Calls to one gateway, which would send nothing for a while after more failures."""

_SHORT_SECONDS: Final = 0.03
"""The time of calls that wait for a connection."""

_SIGNALS: Final = {
    "killed": "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'bfsql-gateway'",
    "cancelled": "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'bfsql-gateway'",
}


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


_KINDS: Final = ("complete", "incomplete", "error")


async def faulted(database: Database, calls: int, seed: int) -> Report:
    """Make so many calls, under each fault in turn, and compare each answer with what is right."""
    report, draw = Report(), random.Random(seed)  # noqa: S311 - a test that can be repeated
    url = database.make_database("chain", CHAIN)
    async with running_proxy(database.server.port) as proxy, _connected(database) as connection:
        through = f"postgresql://{USER}@{HOST}:{proxy.port}/chain"
        for number in range(-(-calls // _EACH)):
            fault = FAULTS[number % len(FAULTS)]
            nodes = [draw.randrange(61) for _ in range(min(_EACH, calls - number * _EACH))]
            is_exhausted = fault == "exhausted"
            async with opened(
                through if fault == "cut" else url,
                database.access(),
                seconds=_SHORT_SECONDS if is_exhausted else 30,
                concurrency=1 if is_exhausted else 4,
            ) as gateway:
                if is_exhausted:
                    await asyncio.gather(*(_judged(gateway, node, fault, report) for node in nodes))
                    continue
                for node in nodes:
                    async with _failing(fault, connection, proxy, draw):
                        await _judged(gateway, node, fault, report)
    return report


async def _judged(gateway: Gateway, node: int, fault: FaultName, report: Report) -> None:
    """Make one call, and count what came of it."""
    try:
        complete, found = await around(gateway, node)
    except Fault:
        report.outcomes[fault, "error"] += 1
        return
    report.outcomes[fault, "complete" if complete else "incomplete"] += 1
    if not found <= near(node) or (complete and found != near(node)):
        report.wrong.append(f"{fault}: node {node}, {'complete' if complete else 'incomplete'}, {sorted(found)}")


@asynccontextmanager
async def _failing(
    fault: FaultName, connection: asyncpg.Connection, proxy: Proxy, draw: random.Random
) -> AsyncIterator[None]:
    """Let the database fail while the block runs."""
    if fault == "cut":
        proxy.left, proxy.remaining = draw.randrange(1, 9), draw.randrange(4_000)
        yield
        proxy.left = 0
        return
    task = asyncio.create_task(_repeated(connection, _SIGNALS[fault], draw.randrange(1, 30)))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _repeated(connection: asyncpg.Connection, sql: str, times: int) -> None:
    for _ in range(times):
        await connection.execute(sql)
        await asyncio.sleep(0)


@asynccontextmanager
async def _connected(database: Database) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(**database.address.arguments)
    try:
        yield connection
    finally:
        await connection.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the calls, print the figures, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.postgres.faulted", description=__doc__)
    parser.add_argument("--calls", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=2026)
    options = parser.parse_args(arguments)
    # Thousands of connections break here, and each break is logged.
    logging.getLogger("gateway").setLevel(logging.CRITICAL)
    with tempfile.TemporaryDirectory(prefix="faulted-") as folder, running_database(Path(folder)) as database:
        report = asyncio.run(faulted(database, options.calls, options.seed))
    sys.stdout.write(report.as_text())
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
