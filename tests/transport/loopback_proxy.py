"""A forward proxy on loopback, plain or over TLS: it tunnels (CONNECT) and forwards, and may want credentials."""

import asyncio
import base64
import contextlib
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tests.servers.loopback import HOST


@dataclass(slots=True)
class Proxy:
    """A running proxy.

    Attributes:
        port: Its port.
        scheme: `https` where it has a certificate.
        heads: The heads of the requests that came, without their last empty line.
    """

    port: int
    scheme: str
    heads: list[str] = field(default_factory=list)

    def url(self, userinfo: str = "") -> str:
        """Return its address."""
        return f"{self.scheme}://{userinfo}{HOST}:{self.port}"


@asynccontextmanager
async def loopback_proxy(*, userinfo: str = "", tls: ssl.SSLContext | None = None) -> AsyncIterator[Proxy]:
    """Run a proxy.

    Args:
        userinfo: `user:password` that it asks for, if any.
        tls: Its certificate, if it speaks TLS.
    """
    proxy = Proxy(0, "https" if tls else "http")
    wanted = f"Basic {base64.b64encode(userinfo.encode()).decode()}"

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").rstrip()
            proxy.heads.append(head)
            if userinfo and f"Proxy-Authorization: {wanted}" not in head.splitlines():
                writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
                await writer.drain()
            else:
                await _pass_on(head, reader, writer)
        writer.close()

    server = await asyncio.start_server(serve, HOST, 0, ssl=tls)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()


async def _pass_on(head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    method, target, _ = head.split("\r\n", maxsplit=1)[0].split(" ")
    if method == "CONNECT":
        host, _, port = target.partition(":")
        there = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
    else:
        parts = urlsplit(target)
        there = await asyncio.open_connection(parts.hostname, parts.port)
        kept = [line for line in head.split("\r\n")[1:] if not line.startswith("Proxy-")]
        there[1].write("\r\n".join([f"{method} {parts.path} HTTP/1.1", *kept, "", ""]).encode("latin-1"))
    async with asyncio.TaskGroup() as pumps:
        pumps.create_task(_pump(reader, there[1]))
        pumps.create_task(_pump(there[0], writer))


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await source.read(1 << 16):
            sink.write(data)
            await sink.drain()
    sink.close()
