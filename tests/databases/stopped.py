"""`python -m tests.databases.stopped`: calls while servers are stopped and restarted; exit code 1 on a finding.

No call may be answered wrongly or take a second longer than its time, and afterwards a pool has all its places.
"""

import argparse
import asyncio
import gc
import logging
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from gateway.api import open_gateway
from gateway.settings.databases import NodesInNeo4j
from gateway.settings.limits import CacheSettings
from gateway.settings.load import load_profile
from gateway.tools.gateway import Gateway
from tests.databases.chain import outcome
from tests.neo4j.database import access, own_database
from tests.neo4j.database import opened as opened_neo4j
from tests.postgres.database import CHAIN, running_database
from tests.postgres.database import opened as opened_postgres
from tests.servers.fuseki import running_fuseki
from tests.servers.loopback import HOST, free_port
from tests.servers.neo4j import running_neo4j
from tests.servers.process import Running, ServerStartError, signal_all
from tests.servers.unavailable import ServerUnavailable
from tests.servers.valkey import running_valkey
from tests.sidecar.pair import Half
from tests.soak.process import Pulse, held, left_over

_SECONDS: Final = 3.0
"""The time of a call."""

_LATE: Final = 1.0
"""Seconds by which a call may be late."""

_AT_ONCE: Final = 12
_CONNECTIONS: Final = 4
_PAUSE: Final = 0.1
_PAUSE_AFTER_ERROR: Final = 1.0
"""Seconds between two calls of a client: errors come at once, and would be all that is counted."""

_MOST_ANSWERED: Final = 20
"""Calls that are answered in full between a stop or restart and the next: seconds would do, were no machine busy."""

_KINDS: Final = frozenset({"stops", "restarts"})

_MOST_TIMES: Final = 10
"""Times as many calls as were asked for that are made until a server was stopped and one was restarted."""

_GROWTH_MB: Final = 16.0
"""What a process may have more in the end than after a quarter of the calls."""

Enter = Callable[[], AbstractContextManager[Running]]


@dataclass(frozen=True, slots=True)
class Bench:
    """Servers, and what opens a gateway over the first of them."""

    enter: Sequence[Enter]
    open: Callable[[], Gateway]


@dataclass
class Report:
    """What came of the calls over one kind of server.

    Attributes:
        outcomes: Calls by how they ended.
        slowest: Seconds of the slowest call.
        events: Stops and restarts.
        answered: Calls that were answered in full before each stop or restart, and after the one before.
        findings: What should not be.
        late: Calls that took a second longer than their time.
        grown: Megabytes that the process has more than after a quarter of the calls.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    events: Counter[str] = field(default_factory=Counter)
    answered: list[int] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    grown: float = 0.0

    def __str__(self) -> str:
        """Return it as text."""
        counts = ", ".join(f"{count} {kind}" for kind, count in sorted((self.outcomes + self.events).items()))
        figures = f"{counts}; slowest {self.slowest:.2f} s of {_SECONDS:g}; {self.grown:+.1f} MB"
        return "\n".join([figures, *self.late[:20], *self.findings[:20]])


class _Run:
    """Calls over one kind of server, and what happens to its servers meanwhile."""

    def __init__(self, bench: Bench, calls: int, seed: str) -> None:
        # Processes end with the thread that started them.
        self._thread = ThreadPoolExecutor(1)
        self._halves = [Half(enter) for enter in bench.enter]
        self._gateway = bench.open()
        self._calls = calls
        self._left = calls
        self._nodes = random.Random(seed)  # noqa: S311 - a run that can be repeated
        # Of its own: how many nodes are drawn meanwhile depends on the machine.
        self._disturbances = random.Random(f"{seed} disturbances")  # noqa: S311 - the same
        self._answers = asyncio.Semaphore(0)
        self._megabytes = 0.0
        self.report = Report()

    async def made(self) -> Report:
        """Make the calls."""
        before = held()
        try:
            for half in self._halves:
                await self._apart(half.start)
            await self._until_well()
            async with Pulse() as pulse:
                disturbing = asyncio.create_task(self._disturb())
                await asyncio.gather(*(self._client(pulse) for _ in range(_AT_ONCE)))
                disturbing.cancel()
                with suppress(asyncio.CancelledError):
                    await disturbing
            await self._until_well()
            self.report.grown = _megabytes() - self._megabytes
            self._judge()
        finally:
            await self._gateway.close()
            for half in self._halves:
                await self._apart(half.clear)
            self._thread.shutdown()
        tasks, handles = await left_over(before)
        if tasks or handles:
            self.report.findings.append(f"left open: {handles} handles, {tasks}")
        return self.report

    def _judge(self) -> None:
        if self.report.grown > _GROWTH_MB:
            self.report.findings.append(f"{self.report.grown:.1f} MB more than after a quarter of the calls")
        if lost := lost_places(self._gateway):
            self.report.findings.append(f"the pool lost {lost} places")

    async def _client(self, pulse: Pulse) -> None:
        while self._left > 0 or self._goes_on():
            self._left -= 1
            if self._left == self._calls * 3 // 4:
                self._megabytes = _megabytes()
            kind = await self._call(self._nodes.randrange(61), pulse)
            await asyncio.sleep(_PAUSE_AFTER_ERROR if kind == "error" else _PAUSE)

    def _goes_on(self) -> bool:
        """Return whether there are calls beyond those asked for: without both kinds of faults they show nothing."""
        return not self.report.events.keys() >= _KINDS and self._left > -_MOST_TIMES * self._calls

    async def _call(self, node: int, pulse: Pulse) -> str:
        began = time.monotonic()
        try:
            kind = await outcome(self._gateway, node)
        except AssertionError:
            kind = "WRONG"
        except Exception as error:  # noqa: BLE001 - what else is raised is what is looked for
            kind = "CRASHED"
            self.report.findings.append(repr(error))
        seconds = time.monotonic() - began
        self.report.outcomes[kind] += 1
        if kind == "complete":
            self._answers.release()
        self.report.slowest = max(self.report.slowest, seconds)
        if seconds - pulse.missed_since(began) > _SECONDS + _LATE:
            self.report.late.append(f"{kind} after {seconds:.1f} s")
        if kind == "WRONG":
            self.report.findings.append(f"a wrong answer about node {node}")
        return kind

    async def _disturb(self) -> None:
        """Stop or kill a server now and then, until this is cancelled; then all of them run."""
        draw = self._disturbances
        while True:
            half, is_stop = draw.choice(self._halves), draw.random() < 0.75
            await self._answered(draw.randint(1, _MOST_ANSWERED))
            if is_stop:
                await self._stopped(half, draw.uniform(0.1, 1.5 * _SECONDS))
            else:
                await asyncio.shield(self._restarted(half))

    async def _answered(self, calls: int) -> None:
        """Wait until so many calls have been answered in full, without those of before."""
        self._answers = asyncio.Semaphore(0)
        before = self.report.outcomes["complete"]
        for _ in range(calls):
            await self._answers.acquire()
        self.report.answered.append(self.report.outcomes["complete"] - before)

    async def _stopped(self, half: Half, seconds: float) -> None:
        self.report.events["stops"] += 1
        try:
            signal_all(half.pid, signal.SIGSTOP)
            await asyncio.sleep(seconds)
        finally:
            signal_all(half.pid, signal.SIGCONT)

    async def _restarted(self, half: Half) -> None:
        self.report.events["restarts"] += 1
        os.kill(half.pid, signal.SIGKILL)
        await self._apart(half.clear)
        await self._apart(half.start)

    async def _until_well(self) -> None:
        """Wait until calls at once are all answered in full."""
        async with asyncio.timeout(180):
            while True:
                kinds = await asyncio.gather(*(outcome(self._gateway, node) for node in range(_AT_ONCE)))
                if {*kinds} == {"complete"}:
                    return
                await asyncio.sleep(_PAUSE)

    async def _apart(self, work: Callable[[], None]) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, work)


def lost_places(gateway: Gateway) -> int:
    """Return how many connections the pool of a database cannot give out any more while no call is running."""
    store: Any = gateway._store  # noqa: SLF001 - no caller has a use for what this looks at
    while hasattr(store, "_inner"):
        store = store._inner  # noqa: SLF001
    pool = getattr(getattr(store, "_client", None), "_pool", None)
    if (driver := getattr(pool, "_driver", None)) is not None:
        places = driver._pool  # noqa: SLF001
        in_use = sum(one.in_use for several in places.connections.values() for one in several)
        return int(in_use + sum(places.connections_reservations.values()))
    if (connections := getattr(pool, "_pool", None)) is not None:
        return int(connections.get_max_size() - connections._queue.qsize())  # noqa: SLF001
    return 0


def _megabytes() -> float:
    """Return what this process has in memory (Linux)."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


# The servers


@contextmanager
def _postgres(folder: Path) -> Iterator[Bench]:
    port = free_port()
    with running_database(folder, port) as database:
        url, login = database.make_database("chain", CHAIN), database.access()
        # What is committed is written late here, to be quick.
        database.execute("CHECKPOINT", "chain")
    yield Bench(
        [lambda: _process(running_database(folder, port), lambda running: running.server.process)],
        lambda: opened_postgres(url, login, seconds=_SECONDS, concurrency=_CONNECTIONS),
    )


@contextmanager
def _neo4j(folder: Path) -> Iterator[Bench]:
    port, home = free_port(), folder / "home"
    with ExitStack() as kept:
        first = kept.enter_context(own_database(folder, {}))
        first.process.end()
        yield Bench(
            [lambda: _process(running_neo4j(home, port), lambda running: running.process)],
            lambda: opened_neo4j(
                port,
                access(folder),
                NodesInNeo4j(labels=("Link",)),
                seconds=_SECONDS,
                concurrency=_CONNECTIONS,
            ),
        )


@contextmanager
def _fuseki(folder: Path, *, shared: bool = False) -> Iterator[Bench]:
    port, cache_port = free_port(), free_port()
    graph = folder / "chain.nt"
    links = (f"<urn:n:{node}> <urn:next> <urn:n:{node + 1}> .\n" for node in range(60))
    graph.write_text("".join(links), encoding="utf-8")
    profile = load_profile("fuseki")
    update = {
        "limits": profile.limits.model_copy(update={"deadline_seconds": _SECONDS}),
        # With a shared cache, the one in memory is forgotten every second: a call reaches the shared one.
        "cache": CacheSettings(ttl_seconds=1) if shared else CacheSettings(megabytes=0),
    }
    servers: list[Enter] = [
        lambda: _process(running_fuseki({"ds": [graph]}, port=port, workdir=folder), lambda running: running.process)
    ]
    if shared:
        servers.append(lambda: _process(running_valkey(folder, cache_port), lambda running: running.process))
    yield Bench(
        servers,
        lambda: open_gateway(
            endpoint=f"http://{HOST}:{port}/ds/sparql",
            profile=profile.model_copy(update=update),
            shared_cache=f"redis://{HOST}:{cache_port}" if shared else None,
        ),
    )


@contextmanager
def _valkey(folder: Path) -> Iterator[Bench]:
    with _fuseki(folder, shared=True) as bench:
        yield bench


@contextmanager
def _process(server: AbstractContextManager[Any], process: Callable[[Any], Running]) -> Iterator[Running]:
    with server as running:
        yield process(running)


SERVERS: Final[dict[str, Callable[[Path], AbstractContextManager[Bench]]]] = {
    "postgres": _postgres,
    "neo4j": _neo4j,
    "fuseki": _fuseki,
    "valkey": _valkey,
}


@asynccontextmanager
async def _bench(name: str) -> AsyncIterator[Bench]:
    with tempfile.TemporaryDirectory(prefix="stopped-") as folder, ExitStack() as opened:
        # Loading a server has an event loop of its own.
        yield await asyncio.to_thread(opened.enter_context, SERVERS[name](Path(folder)))


async def calls_while_stopping(name: str, calls: int, seed: int) -> Report:
    """Make so many calls over one kind of server."""
    async with _bench(name) as bench:
        return await _Run(bench, calls, f"{seed} {name}").made()


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the calls, print the figures, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.databases.stopped", description=__doc__)
    parser.add_argument("--calls", type=int, default=2_000, help="over each kind of server")
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--server", action="append", choices=[*SERVERS], help="may be given again; all where absent")
    options = parser.parse_args(arguments)
    # Hundreds of connections break here, and each break is logged.
    logging.getLogger().setLevel(logging.CRITICAL)
    has_findings = False
    for name in options.server or SERVERS:
        try:
            report = asyncio.run(calls_while_stopping(name, options.calls, options.seed))
        except (ServerUnavailable, ServerStartError) as error:
            sys.stdout.write(f"{name}: {error}\n")
            return 1
        sys.stdout.write(f"{name}: {report}\n")
        sys.stdout.flush()
        has_findings = has_findings or bool(report.late or report.findings)
    return int(has_findings)


if __name__ == "__main__":
    sys.exit(main())
