"""Acceptance line 6 of issue 18: many clients and two workers, beside one worker and beside the SDK's own tool."""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path
from typing import Any, Final

from mcp import Client

from benchmarks.contenders.trivial_server import NAME
from benchmarks.many_clients import CLIENTS, Load, load, of_any_tool
from benchmarks.random_graphs import HUBS, node
from benchmarks.report import Line, Report
from benchmarks.served import Served, served, served_gateway
from benchmarks.sites import Sites
from tests.servers.oxigraph import running_oxigraph
from tests.servers.valkey import running_valkey

_ISSUE: Final = "18.6"
_GROWTH_TARGET: Final = 1.1
_SHARE: Final = 0.2
"""Of the time that two workers are called: what the others they are compared with are."""

_TYPICAL: Final[dict[str, Any]] = {"seeds": [node(HUBS.nodes // 2)], "max_hops": 1}
"""A question whose answer the SDK's tool returns each time."""


async def measure(_: Sites, report: Report, *, minutes: float) -> None:
    """Let many clients call two workers, one worker, and the SDK's own tool."""
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        folder = Path(scratch)
        with (
            running_oxigraph([HUBS.write(folder / "hubs.nt")], workdir=folder) as oxigraph,
            running_valkey(folder) as valkey,
        ):
            graph = ("--endpoint", oxigraph.endpoint)
            async with served_gateway(*graph, "--workers", "2", "--shared-cache", valkey.url) as two:
                _tell(report, "two workers", await load(two, minutes, of_any_tool), growth=_GROWTH_TARGET)
            async with served_gateway(*graph) as one:
                _tell(report, "one process", await load(one, minutes * _SHARE, of_any_tool))
                file = _written(folder, await _answer(one))
            async with served("benchmarks.contenders.trivial_server", str(file)) as trivial:
                _tell(report, "the SDK's own tool", await load(trivial, minutes * _SHARE, _of_the_trivial_tool))


def _written(folder: Path, answer: str) -> Path:
    file = folder / "answer.json"
    file.write_text(answer, encoding="utf-8")
    return file


async def _answer(server: Served) -> str:
    async with Client(server.url, mode="legacy") as client:
        told = await client.call_tool("bfs_query", _TYPICAL)
    assert not told.is_error, told
    return json.dumps(told.structured_content)


def _of_the_trivial_tool(_: random.Random) -> tuple[str, dict[str, Any]]:
    return NAME, {"question": ""}


def _tell(report: Report, who: str, seen: Load, *, growth: float | None = None) -> None:
    """Report what a load showed; `growth` is the target of the memory's, of one that fills caches."""
    said = f"{who}, {CLIENTS} clients, {seen.seconds / 60:.2g} minutes"
    report.lines += [
        Line(_ISSUE, f"errors of {said}", "calls", 0, seen.errors, note=seen.said),
        Line(_ISSUE, f"calls a second of {said}", "calls", None, seen.per_second),
        Line(_ISSUE, f"p99 of {said}", "ms", None, seen.calls.p99 * 1000, note=f"p50 {seen.calls.p50 * 1000:.0f} ms"),
        Line(_ISSUE, f"growth of the memory of {said}", "times", growth, seen.growth, note=seen.curve),
    ]
