"""A server of the gateway, or another MCP server, in a process of its own: its URL, its CPU time and its memory."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from benchmarks.loop_hold import Holds
from tests.servers.loopback import HOST, free_port

_POLL_SECONDS: Final = 0.1
_POLLS: Final = 600
_LINE_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Served:
    """A server that listens.

    Attributes:
        url: Where it speaks MCP.
        process: Its process.
    """

    url: str
    process: asyncio.subprocess.Process

    def cpu_seconds(self) -> float:
        """Return the CPU time of all its threads until now, without its children (proc(5), stat: utime and stime)."""
        told = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii")
        user, system = told.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def resident_bytes(self) -> int:
        """Return its resident size and that of its children (proc(5), statm and children)."""
        own = Path(f"/proc/{self.process.pid}")
        children = (own / "task" / own.name / "children").read_text(encoding="ascii").split()
        told = [(own.parent / pid / "statm").read_text(encoding="ascii") for pid in (own.name, *children)]
        return sum(int(each.split()[1]) for each in told) * os.sysconf("SC_PAGE_SIZE")

    async def holds(self) -> Holds:
        """Return how long its event loop was held since this was last asked for; only of `timed_server`."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(b"\n")
        await self.process.stdin.drain()
        told: dict[str, Any] = json.loads(await self.process.stdout.readline())
        return Holds(**{field.name: told[field.name] for field in fields(Holds)})


@asynccontextmanager
async def served(module: str, *arguments: str) -> AsyncIterator[Served]:
    """Run `python -m MODULE PORT ARGUMENTS` during the block, from when it listens.

    Raises:
        RuntimeError: It does not.
    """
    port = free_port()
    async with _listening(port, module, str(port), *arguments) as server:
        yield server


@asynccontextmanager
async def served_gateway(*arguments: str) -> AsyncIterator[Served]:
    """Run `bfsql-gateway serve --http ARGUMENTS` during the block, from when it listens.

    Raises:
        RuntimeError: It does not.
    """
    port = free_port()
    async with _listening(port, "gateway", "serve", "--http", "--port", str(port), "--quiet", *arguments) as server:
        yield server


@asynccontextmanager
async def _listening(port: int, module: str, *arguments: str) -> AsyncIterator[Served]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module, *arguments),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=_LINE_BYTES,
    )
    try:
        for _ in range(_POLLS):
            if process.returncode is not None or await _listens(port):
                break
            await asyncio.sleep(_POLL_SECONDS)
        else:
            raise RuntimeError(f"{module} does not listen at port {port}")
        if process.returncode is not None:
            raise RuntimeError(f"{module} ended with code {process.returncode}")
        yield Served(f"http://{HOST}:{port}/mcp", process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _listens(port: int) -> bool:
    try:
        _, writing = await asyncio.open_connection(HOST, port)
    except OSError:
        return False
    writing.close()
    return True
