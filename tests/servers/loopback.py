"""Plain HTTP to a server of this machine, past any proxy settings."""

import asyncio
import errno
import http.client
import os
import secrets
import socket
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from io import BufferedIOBase
from pathlib import Path
from typing import Final
from urllib.parse import urlencode, urlsplit

HOST: Final = "127.0.0.1"
KEPT_PORTS: Final = 64
_KEPT: Final[deque[int]] = deque()
_GIVEN: Final = Path("/proc/sys/net/ipv4/ip_local_port_range")
_FIRST_OF_OURS: Final = 10_000
"""Well-known servers listen below it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer."""

    status: int
    text: str


def free_port() -> int:
    """Return a port of the loopback interface that nobody listens on, and that no other test is about to use.

    Tests of other processes draw ports too before a server of this one listens. A name among the abstract sockets of
    Linux keeps each of the last ones: nobody else can have the name, and it ends with the process. Servers that let the
    kernel choose, and connections, get none of these ports.
    """
    while True:
        with socket.socket() as listener:
            try:
                listener.bind((HOST, secrets.choice(_never_given())))
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
                continue
            port: int = listener.getsockname()[1]
        with socket.socket(socket.AF_UNIX) as name:
            try:
                name.bind(f"\0port-of-a-test-{port}")
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
                continue
            if len(_KEPT) == KEPT_PORTS:
                os.close(_KEPT.popleft())
            _KEPT.append(name.detach())
            return port


@cache
def _never_given() -> Sequence[int]:
    """Return the ports that the kernel gives nobody who asks for any port (Linux), or 0 where that is not known."""
    try:
        lowest = int(_GIVEN.read_text(encoding="ascii").split()[0])
    except OSError:
        return (0,)
    return range(_FIRST_OF_OURS, lowest) if lowest > 2 * _FIRST_OF_OURS else (0,)


async def listening(port: int, seconds: float = 60) -> None:
    """Wait until a server takes connections at a port.

    Raises:
        TimeoutError: None does.
    """
    async with asyncio.timeout(seconds):
        while True:
            try:
                _, writer = await asyncio.open_connection(HOST, port)
            except OSError:
                await asyncio.sleep(0.02)
            else:
                writer.close()
                return


def listens_elsewhere(port: int) -> bool:
    """Return whether a server that listens on loopback at a port listens on other addresses too (Linux).

    Where it does, nobody else can have the port on another address of the loopback interface.
    """
    with socket.socket() as listener:
        try:
            listener.bind(("127.0.0.2", port))
        except OSError as error:
            return error.errno == errno.EADDRINUSE
        return False


def send(
    method: str,
    url: str,
    *,
    body: bytes | BufferedIOBase | None = None,
    headers: Mapping[str, str] | None = None,
    timeout_s: float = 30.0,
) -> Answer:
    """Send one request and read the whole answer, whatever its status.

    Raises:
        OSError: nobody answers.
        http.client.HTTPException: what answers does not speak HTTP.
    """
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or HOST, parts.port, timeout=timeout_s)
    try:
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        connection.request(method, path, body=body, headers=dict(headers or {}))
        response = connection.getresponse()
        return Answer(response.status, response.read().decode("utf-8", "replace"))
    finally:
        connection.close()


def ask(endpoint: str, query: str, *, accept: str = "text/csv", graph: str = "", timeout_s: float = 30.0) -> Answer:
    """Send a SPARQL query as a form, to one named graph if its IRI is given."""
    form = {"query": query} | ({"default-graph-uri": graph} if graph else {})
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": accept}
    return send("POST", endpoint, body=urlencode(form).encode(), headers=headers, timeout_s=timeout_s)
