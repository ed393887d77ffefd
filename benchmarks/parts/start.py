"""Acceptance line 4 of issue 5: `initialize` and `tools/list` from the start of a process, against the SDK's own start.

The graph is an endpoint that never answers, or a file of a million triples that loads meanwhile. `initialize` does not
wait for it; `tools/list` waits as long as it may (docs/decisions, number 21).
"""

from __future__ import annotations

import asyncio
import json
import resource
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks import graphs
from benchmarks.report import Line, Report
from benchmarks.sites import Sites
from gateway.server.app import LIST_SECONDS
from tests.servers.loopback import HOST

ROUNDS: Final = 11
GRAPH: Final = 1_000_000
_TARGET_MS: Final = 200
_BARE: Final = "bare"
_PATIENCE_SECONDS: Final = 120
_INITIALIZE: Final = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "0"},
}


async def measure(_: Sites, report: Report) -> None:
    """Start each server in turn, and compare medians."""
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch, socket.create_server((HOST, 0)) as hanging:
        file = Path(scratch) / "graph.nt"
        with file.open("w", encoding="ascii") as written:
            written.writelines(f"{line}\n" for line in graphs.triples(GRAPH))
        serve = (sys.executable, "-m", "gateway", "serve")
        url = f"http://{HOST}:{hanging.getsockname()[1]}/sparql"
        starts = await _timed(
            {
                _BARE: (sys.executable, "-m", "benchmarks.contenders.bare_server"),
                "an endpoint that hangs": (*serve, "--endpoint", url),
                f"a file of {GRAPH:,} triples that loads": (*serve, "--graph", str(file)),
            }
        )
    bare = starts.pop(_BARE)
    for graph, ours in starts.items():
        pairs = list(zip(ours, bare, strict=True))
        for what, target, beyond in (
            ("initialize", _TARGET_MS, [mine.initialized - theirs.initialized for mine, theirs in pairs]),
            (
                "initialize and tools/list",
                _TARGET_MS + LIST_SECONDS * 1_000,
                [mine.listed - theirs.listed for mine, theirs in pairs],
            ),
        ):
            report.lines.append(
                Line(
                    "5.4",
                    f"{what} beyond the SDK's own start: {graph}",
                    "ms",
                    target,
                    statistics.median(beyond),
                    note=f"median of {ROUNDS} pairs; to the list {_median(ours)} and {_median(bare)}",
                )
            )


@dataclass(frozen=True, slots=True)
class _Start:
    """One start of a server.

    Attributes:
        initialized: Milliseconds from the start of the process to its answer to `initialize`.
        listed: The same, to its list of tools.
        cpu: Milliseconds of CPU time that it took until then.
    """

    initialized: float
    listed: float
    cpu: float


def _median(starts: Sequence[_Start]) -> str:
    milliseconds = statistics.median(start.listed for start in starts)
    return f"{milliseconds:.0f} ms ({statistics.median(start.cpu for start in starts):.0f} ms of CPU)"


async def _timed(servers: Mapping[str, Sequence[str]]) -> dict[str, list[_Start]]:
    """Start the servers one after the other, again and again, so that all meet the same machine."""
    starts: dict[str, list[_Start]] = {name: [] for name in servers}
    for number in range(ROUNDS + 1):
        for name, command in servers.items():
            start = await _handshake(command)
            if number:  # The first round fills the caches of the disk.
                starts[name].append(start)
    return starts


async def _handshake(command: Sequence[str]) -> _Start:
    """Start a server, and end it when it has listed its tools."""
    cpu = _cpu()
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=1 << 20,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            process.stdin.write(_message("initialize", 1, _INITIALIZE))
            await process.stdout.readline()
            initialized = time.perf_counter() - began
            process.stdin.write(_message("notifications/initialized") + _message("tools/list", 2, {}))
            listed = json.loads(await process.stdout.readline())
        taken = time.perf_counter() - began
        if len(listed["result"]["tools"]) != 6:  # noqa: PLR2004 - as many as the protocol has
            raise RuntimeError(f"{command} lists other tools: {listed}")
    finally:
        process.kill()
        await process.wait()
    return _Start(initialized * 1_000, taken * 1_000, (_cpu() - cpu) * 1_000)


def _cpu() -> float:
    """CPU seconds of the processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _message(method: str, number: int | None = None, params: Mapping[str, Any] | None = None) -> bytes:
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    if number is not None:
        message["id"] = number
    if params is not None:
        message["params"] = params
    return json.dumps(message).encode() + b"\n"
