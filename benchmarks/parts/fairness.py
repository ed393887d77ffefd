"""Acceptance line 5 of issue 16: what heavy calls of some clients cost the light calls of others.

The clients speak MCP over streamable HTTP, each in a session of its own, to a server in another process. The graphs
are in the server's process, and the one with hubs is at an Oxigraph too.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from mcp import Client

from benchmarks.latencies import Latencies
from benchmarks.random_graphs import DENSE, HUBS, name, node
from benchmarks.report import Line, Report
from benchmarks.served import Served, served
from benchmarks.sites import Sites
from tests.servers.oxigraph import running_oxigraph

SECONDS: Final = 15.0
"""How long each number of heavy clients is measured."""

_WARM_UP_SECONDS: Final = 4.0
_LIGHT: Final = 4
_HEAVY: Final = 8
_INTERSECTIONS: Final = 20
_PING_PAUSE_SECONDS: Final = 0.05
_READ_TIMEOUT_SECONDS: Final = 180.0
_DEADLINE_SECONDS: Final = 30.0
_GRACE_SECONDS: Final = 1.0
_HOLD_MS: Final = 50
_P50_TARGET, _P99_TARGET, _MANY_P99_MS = 3, 6, 1_000


@dataclass(slots=True)
class Mix:
    """What light and heavy clients met at the same time.

    Attributes:
        light: The light calls.
        heavy: The heavy calls, to the end of the last one.
        errors: Calls that ended in an error.
    """

    light: Latencies = field(default_factory=Latencies)
    heavy: Latencies = field(default_factory=Latencies)
    errors: int = 0


async def measure(sites: Sites, report: Report) -> None:
    """Measure the graph with hubs in process and at Oxigraph, then the dense graph in process."""
    del sites  # Its graphs are others.
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        folder = Path(scratch)
        hubs = HUBS.write(folder / "hubs.nt")
        await measure_hubs("in process", ("--graph", str(hubs)), report)
        with running_oxigraph([hubs], workdir=folder) as oxigraph:
            await measure_hubs("Oxigraph", ("--endpoint", oxigraph.endpoint), report)
        await measure_dense(DENSE.write(folder / "dense.nt"), report)


async def measure_hubs(place: str, graph: Sequence[str], report: Report, *, seconds: float = SECONDS) -> None:
    """Measure light clients alone, beside one heavy client, and beside eight."""
    async with served("benchmarks.timed_server", *graph) as server:
        await mixed(server, 0, _WARM_UP_SECONDS)
        await server.holds()
        alone = await mixed(server, 0, seconds)
        one = await mixed(server, 1, seconds)
        many = await mixed(server, _HEAVY, seconds)
        holds = await server.holds()
    said = f"{_LIGHT} light clients beside one with 3 hops, {HUBS.edges:,} edges, {place}"
    p50, p99 = one.light.p50 / alone.light.p50, one.light.p99 / alone.light.p99
    report.lines += [
        Line("16.5", f"p50 of {said}, over alone", "times", _P50_TARGET, p50, note=_told(alone, one)),
        Line("16.5", f"p99 of {said}, over alone", "times", _P99_TARGET, p99),
        Line(
            "16.5",
            f"p99 beside {_HEAVY} such, {place}",
            "ms",
            _MANY_P99_MS,
            many.light.p99 * 1000,
            note=_told(alone, many),
        ),
        Line("16.5", f"longest hold of the loop, CPU time, {place}", "ms", _HOLD_MS, holds.longest * 1000),
        Line("16.5", f"errors, {place}", "calls", 0, alone.errors + one.errors + many.errors),
    ]


async def measure_dense(file: Path, report: Report) -> None:
    """Measure many intersections at once, and the ping of another client meanwhile."""
    async with served("benchmarks.timed_server", "--graph", str(file)) as server, _client(server) as other:
        assert not (await other.call_tool("describe_entity", {"id": node(0)})).is_error
        await server.holds()
        pings, calls = Latencies(), Latencies()
        beside = asyncio.create_task(_ping(other, pings))
        draw = random.Random(20)  # noqa: S311 - the same every time
        seeds = [[node(draw.randrange(DENSE.nodes)) for _ in range(2)] for _ in range(_INTERSECTIONS)]
        async with AsyncExitStack() as stack:
            clients = [await stack.enter_async_context(_client(server)) for _ in seeds]
            errors = sum(
                await asyncio.gather(
                    *(
                        _timed(calls, client, "intersect_subgraphs", {"seeds": pair, "k": 2, "topology_only": True})
                        for client, pair in zip(clients, seeds, strict=True)
                    )
                )
            )
        beside.cancel()
        await asyncio.gather(beside, return_exceptions=True)
        holds = await server.holds()
    said = f"{_INTERSECTIONS} intersections at once, {DENSE.edges:,} edges"
    longest = max(calls.seconds)
    report.lines += [
        Line(
            "16.5",
            f"longest of {said}",
            "s",
            2 * _DEADLINE_SECONDS + _GRACE_SECONDS,
            longest,
            note=f"deadline {_DEADLINE_SECONDS:.0f} s, after as long in the queue at most; {errors} ended in an error",
        ),
        Line(
            "16.5",
            f"p99 of another client's pings beside {said}",
            "ms",
            None,
            pings.p99 * 1000,
            note=f"{len(pings.seconds)}, p50 {pings.p50 * 1000:.0f} ms, longest {max(pings.seconds) * 1000:.0f} ms",
        ),
        Line("16.5", f"longest hold of the loop, CPU time, {said}", "ms", _HOLD_MS, holds.longest * 1000),
    ]


async def mixed(server: Served, heavy: int, seconds: float) -> Mix:
    """Let light and so many heavy clients call for some seconds, each once at least."""
    met = Mix()
    until = time.monotonic() + seconds
    await asyncio.gather(
        *(_calling(server, met, until, _light, met.light, f"{heavy} light {one}") for one in range(_LIGHT)),
        *(_calling(server, met, until, _heavy, met.heavy, f"{heavy} heavy {one}") for one in range(heavy)),
    )
    return met


def _told(alone: Mix, beside: Mix) -> str:
    def shown(light: Latencies) -> str:
        return f"{light.p50 * 1000:.0f} and {light.p99 * 1000:.0f} ms"

    heavy = f"{len(beside.heavy.seconds)} heavy calls, the longest {max(beside.heavy.seconds):.1f} s"
    return f"p50 and p99 alone {shown(alone.light)}, here {shown(beside.light)}; {heavy}"


def _light(draw: random.Random) -> tuple[str, dict[str, Any]]:
    index = draw.randrange(HUBS.nodes // 2, HUBS.nodes)
    kinds: tuple[tuple[str, dict[str, Any]], ...] = (
        ("bfs_query", {"seeds": [node(index)], "max_hops": 1, "topology_only": True}),
        ("describe_entity", {"id": node(index)}),
        ("search_entities", {"query": name(index)}),
    )
    return draw.choice(kinds)


def _heavy(draw: random.Random) -> tuple[str, dict[str, Any]]:
    return "bfs_query", {"seeds": [node(draw.randrange(HUBS.nodes))], "max_hops": 3, "topology_only": True}


async def _calling(
    server: Served,
    met: Mix,
    until: float,
    drawn: Callable[[random.Random], tuple[str, dict[str, Any]]],
    latencies: Latencies,
    seed: str,
) -> None:
    draw = random.Random(seed)  # noqa: S311 - the same every time, and never one that was asked before
    async with _client(server) as client:
        met.errors += await _timed(latencies, client, *drawn(draw))
        while time.monotonic() < until:
            met.errors += await _timed(latencies, client, *drawn(draw))


async def _timed(latencies: Latencies, client: Client, tool: str, arguments: dict[str, Any]) -> int:
    """Call a tool, note how long it took, and return 1 where it ended in an error."""
    with latencies.timed():
        answer = await client.call_tool(tool, arguments)
    return int(bool(answer.is_error))


async def _ping(client: Client, pings: Latencies) -> None:
    while True:
        with pings.timed():
            await client.send_ping()
        await asyncio.sleep(_PING_PAUSE_SECONDS)


def _client(server: Served) -> Client:
    # In this mode a client has a session of its own.
    return Client(server.url, mode="legacy", read_timeout_seconds=_READ_TIMEOUT_SECONDS)
