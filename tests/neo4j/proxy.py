"""A TCP proxy before a database: it can hold back what the server sends, or break connections off in the middle."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from tests.servers.loopback import HOST

_BLOCK = 1 << 10


@dataclass
class Proxy:
    """A proxy that runs.

    Attributes:
        port: Where it listens.
        flows: Cleared while what the server sends is held back.
        remaining: Bytes that the server may still send before a connection is broken off.
        left: Connections that are still to be broken off so.
        cuts: Connections that were broken off.
    """

    port: int = 0
    flows: asyncio.Event = field(default_factory=asyncio.Event)
    remaining: int = 0
    left: int = 0
    cuts: int = 0


@asynccontextmanager
async def running_proxy(target: int) -> AsyncIterator[Proxy]:
    """Run a proxy before a port of this machine."""
    proxy = Proxy()
    proxy.flows.set()
    tasks: set[asyncio.Task[None]] = set()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        # A task that ends as cancelled would be reported as an error of the server.
        with suppress(OSError, asyncio.CancelledError):
            behind, before = await asyncio.open_connection(HOST, target)
            sending = asyncio.create_task(_forward(reader, before))
            try:
                await _answer(proxy, behind, writer)
            finally:
                sending.cancel()
                before.close()
                writer.transport.abort()

    server = await asyncio.start_server(accept, HOST, 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while block := await reader.read(_BLOCK):
            writer.write(block)


async def _answer(proxy: Proxy, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while block := await reader.read(_BLOCK):
        await proxy.flows.wait()
        if proxy.left:
            proxy.remaining -= len(block)
            if proxy.remaining < 0:
                proxy.left -= 1
                proxy.cuts += 1
                return
        writer.write(block)
        await writer.drain()
