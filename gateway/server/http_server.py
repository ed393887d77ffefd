"""uvicorn's server, as it is used here: signals are not its own, and TLS handshakes have a bound."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import uvicorn

HANDSHAKE_SECONDS = 10.0
"""The time of a TLS handshake, as much as the headers of a request have; asyncio would wait for a minute."""

_INTERNET = frozenset({socket.AF_INET, socket.AF_INET6})


class HttpServer(uvicorn.Server):
    """A server whose sockets are open already."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the command line: uvicorn's handlers would send them to the process again."""
        yield

    async def startup(self, sockets: Sequence[socket.socket] | None = None) -> None:
        """Begin to accept connections: with TLS from other machines, without it from other workers of this one."""
        await super().startup(sockets=[])
        loop, tls = asyncio.get_running_loop(), self.config.ssl
        for each in sockets or ():
            has_tls = tls is not None and each.family in _INTERNET
            server = await loop.create_server(
                self._connection,
                sock=each,
                ssl=tls if has_tls else None,
                ssl_handshake_timeout=HANDSHAKE_SECONDS if has_tls else None,
                backlog=self.config.backlog,
            )
            self.servers.append(server)

    def _connection(self) -> asyncio.Protocol:
        """Return the protocol of a new connection, made as uvicorn makes it."""
        kind = self.config.http_protocol_class
        return kind(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)  # type: ignore[call-arg]  # each of its protocols takes these
