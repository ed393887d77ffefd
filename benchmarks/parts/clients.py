"""Acceptance line 6 of issue 16: many clients for some minutes, and what a call from the cache costs.

Each client has a session of its own over streamable HTTP. The graph is at an Oxigraph, so the cache is on.
"""

from __future__ import annotations

import asyncio
import json
import random
import statistics
import tempfile
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

from mcp import Client

from benchmarks.contenders.trivial_server import NAME
from benchmarks.latencies import Latencies
from benchmarks.random_graphs import HUBS, name, node
from benchmarks.report import Line, Report
from benchmarks.served import Served, served
from benchmarks.sites import Sites
from tests.servers.oxigraph import running_oxigraph

MINUTES: Final = 1.0
_CLIENTS: Final = 64
_SAMPLE_SECONDS: Final = 1.0
_GROWTH_TARGET: Final = 1.1
_CPU_TARGET: Final = 2.0
_CACHED: Final[dict[str, Any]] = {"seeds": [node(HUBS.nodes // 100)], "max_hops": 1, "topology_only": True}
"""A question whose answer has some kilobytes."""
_DISTINCT: Final = 600
"""Nodes that are asked for: some answers come from the cache, some do not."""
_WARM_UP_CALLS: Final = 20
_CALLS, _ROUNDS = 100, 5


async def measure(sites: Sites, report: Report, *, minutes: float = MINUTES) -> None:
    """Measure what a cached call costs, then let many clients call for some minutes."""
    del sites  # Its graphs are others.
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        folder = Path(scratch)
        with running_oxigraph([HUBS.write(folder / "hubs.nt")], workdir=folder) as oxigraph:
            graph = ("--endpoint", oxigraph.endpoint)
            await measure_cached(graph, folder, report)
            await measure_many(graph, minutes, report)


async def measure_cached(graph: tuple[str, ...], folder: Path, report: Report) -> None:
    """Compare the CPU time of a call whose answer is stored with that of the SDK's own tools of the same answer."""
    module, answer = "benchmarks.contenders.trivial_server", folder / "answer.json"
    async with AsyncExitStack() as stack:
        ours = await stack.enter_async_context(served("benchmarks.timed_server", *graph))
        async with Client(ours.url, mode="legacy") as client:
            told = await client.call_tool("bfs_query", _CACHED)
        assert not told.is_error, told
        answer.write_text(json.dumps(told.structured_content), encoding="utf-8")
        decorated = await stack.enter_async_context(served(module, str(answer)))
        low_level = await stack.enter_async_context(served(module, str(answer), "--low-level"))
        cpu = await _cpu_a_call({"bfs_query": [ours], NAME: [decorated, low_level]})
    size = len(answer.read_bytes())
    for what, target, other in (("decorated", _CPU_TARGET, decorated), ("low-level", None, low_level)):
        report.lines.append(
            Line(
                "16.6",
                f"CPU of a stored answer of {size:,} bytes, over the SDK's own {what} tool",
                "times",
                target,
                cpu[ours] / cpu[other],
                note=f"{cpu[ours] * 1000:.1f} and {cpu[other] * 1000:.1f} ms a call",
            )
        )


async def measure_many(graph: tuple[str, ...], minutes: float, report: Report) -> None:
    """Let many clients call all tools, and look at errors and memory."""
    calls = Latencies()
    until = time.monotonic() + minutes * 60
    async with served("benchmarks.timed_server", *graph) as server:
        measuring = asyncio.create_task(_sizes(server, until))
        errors = sum(await asyncio.gather(*(_calling(server, until, calls, seed) for seed in range(_CLIENTS))))
        sizes = await measuring
    quarter = max(1, len(sizes) // 4)
    second, last = sizes[quarter : 2 * quarter] or sizes, sizes[-quarter:]
    shown = ", ".join(f"{size / 1e6:.0f}" for size in sizes[:: max(1, len(sizes) // 10)])
    said = f"{_CLIENTS} clients, {minutes:g} minutes, all tools"
    report.lines += [
        Line("16.6", f"errors of {said}", "calls", 0, errors, note=f"{len(calls.seconds):,} calls"),
        Line("16.6", f"p50 of {said}", "ms", None, calls.p50 * 1000, note=f"p99 {calls.p99 * 1000:.0f} ms"),
        Line(
            "16.6",
            f"resident size in the last quarter of the time over the second, {said}",
            "times",
            _GROWTH_TARGET,
            statistics.mean(last) / statistics.mean(second),
            note=f"over time {shown} MB",
        ),
    ]


async def _cpu_a_call(servers: Mapping[str, list[Served]]) -> dict[Served, float]:
    """Return the CPU seconds of each server for one call; they take turns."""
    used: dict[Served, float] = {}
    async with AsyncExitStack() as stack:
        clients = {
            server: (tool, await stack.enter_async_context(Client(server.url, mode="legacy")))
            for tool, several in servers.items()
            for server in several
        }
        for calls in (_WARM_UP_CALLS, *[_CALLS] * _ROUNDS):
            for server, (tool, client) in clients.items():
                before = server.cpu_seconds()
                for _ in range(calls):
                    answer = await client.call_tool(tool, {"question": ""} if tool == NAME else _CACHED)
                    assert not answer.is_error, answer
                spent = 0.0 if calls == _WARM_UP_CALLS else server.cpu_seconds() - before
                used[server] = used.get(server, 0.0) + spent
    return {server: seconds / (_CALLS * _ROUNDS) for server, seconds in used.items()}


async def _sizes(server: Served, until: float) -> list[int]:
    sizes: list[int] = []
    while time.monotonic() < until:
        sizes.append(server.resident_bytes())
        await asyncio.sleep(_SAMPLE_SECONDS)
    return sizes


async def _calling(server: Served, until: float, calls: Latencies, seed: int) -> int:
    """Call one tool after another, and return how many calls ended in an error."""
    draw = random.Random(seed)  # noqa: S311 - the same every time
    errors = 0
    async with Client(server.url, mode="legacy", read_timeout_seconds=120) as client:
        while time.monotonic() < until:
            with calls.timed():
                answer = await client.call_tool(*_question(draw))
            errors += bool(answer.is_error)
    return errors


def _question(draw: random.Random) -> tuple[str, dict[str, Any]]:
    one, other = (HUBS.nodes // 2 + draw.randrange(_DISTINCT) for _ in range(2))
    kinds: tuple[tuple[str, dict[str, Any]], ...] = (
        ("bfs_query", {"seeds": [node(one)], "max_hops": 1}),
        ("bfs_query", {"seeds": [node(one)], "max_hops": 2, "max_degree": 50, "topology_only": True}),
        ("intersect_subgraphs", {"seeds": [node(one), node(other)], "k": 1, "topology_only": True}),
        ("describe_entity", {"id": node(one)}),
        ("describe_entities", {"ids": [node(one), node(other)]}),
        ("search_entities", {"query": name(one)}),
        ("describe_schema", {}),
    )
    return draw.choice(kinds)
