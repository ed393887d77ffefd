"""A server of the gateway, or another MCP server, in a process of its own: its URL, its CPU time and its memory."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Sequence
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
        """Return the CPU time of all its threads until now (proc(5), stat: utime and stime)."""
        told = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii")
        user, system = told.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def resident_bytes(self) -> int:
        """Return its resident size (proc(5), statm)."""
        told = Path(f"/proc/{self.process.pid}/statm").read_text(encoding="ascii")
        return int(told.split()[1]) * os.sysconf("SC_PAGE_SIZE")

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
    process = await asyncio.create_subprocess_exec(
        *_command(module, port, arguments),
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


def _command(module: str, port: int, arguments: Sequence[str]) -> Sequence[str]:
    return (sys.executable, "-m", module, str(port), *arguments)


async def _listens(port: int) -> bool:
    try:
        _, writing = await asyncio.open_connection(HOST, port)
    except OSError:
        return False
    writing.close()
    return True
