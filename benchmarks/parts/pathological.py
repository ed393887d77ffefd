"""What graphs at the limits cost: each is asked by all tools, beside a client that sends pings."""

from __future__ import annotations

import asyncio
import tempfile
import warnings
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

import httpx2
from mcp import Client, MCPDeprecationWarning, MCPError
from mcp.client.streamable_http import streamable_http_client

from benchmarks.latencies import Latencies
from benchmarks.pathological_graphs import GRAPHS, OddGraph
from benchmarks.report import Line, Report
from benchmarks.served import Served, served
from benchmarks.sites import Sites

_HOLD_MS: Final = 50
_DEADLINE_SECONDS: Final = 30.0
_GRACE_SECONDS: Final = 1.0
_PATIENCE_SECONDS: Final = 180.0
_PAUSE_SECONDS: Final = 0.05
_MEGABYTE: Final = 1_000_000


async def measure(sites: Sites, report: Report) -> None:
    """Ask each graph, from a file, in a server of its own."""
    del sites  # Its graphs are others.
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        for name, graph in GRAPHS.items():
            report.lines += await measured(name, graph, Path(scratch))


async def measured(name: str, graph: OddGraph, folder: Path, patience: float = _PATIENCE_SECONDS) -> list[Line]:
    """Return what asking one graph cost; its file is removed again.

    Args:
        name: Its name.
        graph: The graph.
        folder: Where its file is written.
        patience: Seconds after which a call or a ping is given up; its time is then this.
    """
    file = graph.write(folder / "graph.nt")
    profile = folder / "odd.toml"
    profile.write_text(_toml(graph), encoding="utf-8")
    calls, pings, failed = Latencies(), Latencies(), list[str]()
    try:
        async with (
            served("benchmarks.timed_server", "--graph", str(file), "--profile", str(profile)) as server,
            _client(server) as client,
            _client(server) as other,
        ):
            # Opening the graph is another matter.
            await client.call_tool("describe_entity", {"id": graph.seeds[1]})
            await server.holds()
            async with _beside(other, pings, server, patience) as most:
                for tool, arguments in _questions(graph):
                    with calls.timed():
                        is_answered = await _answers(client, tool, arguments, patience)
                    if not is_answered:
                        failed.append(tool)
            holds = await server.holds()
    finally:
        file.unlink()
    # None has ended where all calls were shorter than one.
    note = f"pings at most {max(pings.seconds, default=0.0) * 1000:,.0f} ms; {most[0] / _MEGABYTE:,.0f} MB"
    note += f"; errors: {', '.join(failed)}" if failed else ""
    return [
        Line("39.2", f"longest hold of the loop, CPU time: {name}", "ms", _HOLD_MS, holds.longest * 1000, note=note),
        Line("39.2", f"slowest call: {name}", "s", _DEADLINE_SECONDS + _GRACE_SECONDS, max(calls.seconds)),
    ]


async def _answers(client: Client, tool: str, arguments: dict[str, Any], patience: float) -> bool:
    try:
        answer = await client.call_tool(tool, arguments, read_timeout_seconds=patience)
    except MCPError:
        return False
    return not answer.is_error


def _toml(graph: OddGraph) -> str:
    return "".join(
        f"[{table}]\n" + "".join(f"{key} = {value!r}\n" for key, value in settings.items())
        for table, settings in graph.profile.items()
        if isinstance(settings, dict)
    )


def _questions(graph: OddGraph) -> Sequence[tuple[str, dict[str, Any]]]:
    one, other = graph.seeds
    return (
        ("describe_schema", {"all": True}),
        ("search_entities", {"query": graph.name}),
        ("search_entities", {"query": f"{graph.name} nothing"}),
        ("describe_entity", {"id": one}),
        ("describe_entities", {"ids": [one, other]}),
        ("bfs_query", {"seeds": [one], "max_hops": 1}),
        ("bfs_query", {"seeds": [one], "max_hops": 1, "limit": 100, "offset": 200}),
        ("bfs_query", {"seeds": [one, other], "max_hops": 2, "topology_only": True}),
        ("bfs_query", {"seeds": [one], "max_hops": 5, "max_degree": 1_000}),
        ("intersect_subgraphs", {"seeds": [one, other], "k": 1}),
        ("intersect_subgraphs", {"seeds": [one, other], "k": 2, "topology_only": True}),
    )


@asynccontextmanager
async def _beside(client: Client, pings: Latencies, server: Served, patience: float) -> AsyncIterator[list[int]]:
    """Send pings during the block, and give the most memory that the server had."""
    most = [0]

    async def send_pings() -> None:
        while True:
            with warnings.catch_warnings(action="ignore", category=MCPDeprecationWarning):
                # It is gone from the newest version of the protocol.
                ping = client.send_ping()
            with pings.timed(), suppress(TimeoutError):
                # `wait_for` of Python 3.11 can swallow the cancellation that ends this task.
                async with asyncio.timeout(patience):
                    await ping
            most[0] = max(most[0], server.resident_bytes())
            await asyncio.sleep(_PAUSE_SECONDS)

    task = asyncio.create_task(send_pings())
    try:
        yield most
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@asynccontextmanager
async def _client(server: Served) -> AsyncIterator[Client]:
    async with (
        # Of what takes too long, the figure is wanted and no broken connection.
        httpx2.AsyncClient(timeout=None) as http,
        # Only in this mode is there a ping.
        Client(streamable_http_client(server.url, http_client=http), mode="legacy") as client,
    ):
        yield client
