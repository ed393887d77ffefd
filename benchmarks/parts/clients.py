"""Acceptance line 6 of issue 16: many clients for some minutes, and what a call from the cache costs.

The graph is at an Oxigraph, so the cache is on.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

from mcp import Client

from benchmarks.contenders.trivial_server import NAME
from benchmarks.many_clients import CLIENTS, load, of_any_tool
from benchmarks.random_graphs import HUBS, node
from benchmarks.report import Line, Report
from benchmarks.served import Served, served
from benchmarks.sites import Sites
from tests.servers.oxigraph import running_oxigraph

MINUTES: Final = 1.0
_GROWTH_TARGET: Final = 1.1
_CPU_TARGET: Final = 2.0
_CACHED: Final[dict[str, Any]] = {"seeds": [node(HUBS.nodes // 100)], "max_hops": 1, "topology_only": True}
"""A question whose answer has some kilobytes."""
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
    async with served("benchmarks.timed_server", *graph) as server:
        await server.holds()
        seen = await load(server, minutes, of_any_tool)
        holds = await server.holds()
    said = f"{CLIENTS} clients, {minutes:g} minutes, all tools"
    report.lines += [
        Line("16.6", f"errors of {said}", "calls", 0, seen.errors, note=seen.said),
        Line("16.6", f"p50 of {said}", "ms", None, seen.calls.p50 * 1000, note=f"p99 {seen.calls.p99 * 1000:.0f} ms"),
        Line(
            "16.6",
            f"resident size in the last quarter after the warm-up over the first, {said}",
            "times",
            _GROWTH_TARGET,
            seen.growth,
            note=seen.curve,
        ),
        Line("16.6", f"longest hold of the loop, CPU time, {said}", "ms", None, holds.longest * 1000),
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
