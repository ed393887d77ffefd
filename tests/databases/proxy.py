"""A TCP proxy before a database: it can hold back what the server sends, break connections off, or change messages."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Protocol

from tests.servers.loopback import HOST

_BLOCK = 1 << 10

_HEAD = 5
"""Bytes of the type and the length of a message of PostgreSQL."""

_SSL_REQUEST = 8
"""Bytes by which a client of PostgreSQL asks for encryption."""

_VERSION = 4
"""Bytes by which a server of Bolt agrees on a version."""

_SIZED = {0xC1: 8, 0xC8: 1, 0xC9: 2, 0xCA: 4, 0xCB: 8}
"""Bytes of a number by its marker ("PackStream", "Float" and "Integer")."""

_SIZE = {0xCC: 1, 0xCD: 2, 0xCE: 4, 0xD0: 1, 0xD1: 2, 0xD2: 4, 0xD4: 1, 0xD5: 2, 0xD6: 4, 0xD8: 1, 0xD9: 2, 0xDA: 4}
"""Bytes of the size of bytes, a text, a list or a map by its marker."""

_TEXTS = range(0xCC, 0xD3)
"""Markers of bytes and texts, whose content follows."""


class Messages(Protocol):
    """Splits what a server sends into messages."""

    def split(self, block: bytes) -> Iterator[tuple[bytes, bool]]:
        """Yield the messages that end in a block, and whether each has rows."""

    @staticmethod
    def structure(message: bytes) -> Sequence[int]:
        """Return the places of all bytes of a message that are not inside a value of a row."""


class PostgresMessages:
    """The messages of PostgreSQL without encryption: a type, a length, and what it is about ("Message Formats")."""

    def __init__(self) -> None:
        self._rest = b""

    def split(self, block: bytes) -> Iterator[tuple[bytes, bool]]:
        """Yield the messages that end in a block, and whether each is a DataRow."""
        self._rest += block
        while len(self._rest) >= _HEAD and len(self._rest) > (size := int.from_bytes(self._rest[1:_HEAD])):
            yield self._rest[: size + 1], self._rest.startswith(b"D")
            self._rest = self._rest[size + 1 :]

    @staticmethod
    def structure(message: bytes) -> Sequence[int]:
        """Return the places of all bytes that are not inside a value of a row: types, lengths, all other messages.

        Without the heads of messages by which a connection logs in: asyncpg ends or hangs the process by some of these.
        """
        if not message.startswith(b"D"):
            return range(_HEAD if message[:1] in b"RSKZ" else 0, len(message))
        places, at = [*range(_HEAD + 2)], _HEAD + 2
        while at < len(message):
            places += range(at, at + 4)
            at += 4 + max(0, int.from_bytes(message[at : at + 4], signed=True))
        return places

    @staticmethod
    def with_number(message: bytes, rows: int) -> bytes:
        """Return a CommandComplete of a query with another number of rows; any other message stays."""
        if message[:1] != b"C" or message[_HEAD:].split()[0] != b"SELECT":
            return message
        tag = b"SELECT %d\0" % rows
        return b"C" + (len(tag) + _HEAD - 1).to_bytes(_HEAD - 1) + tag


class BoltMessages:
    """The messages of Neo4j without encryption: an agreement on the version, then chunks up to an empty one."""

    def __init__(self) -> None:
        self._rest = b""
        self._has_agreed = False

    def split(self, block: bytes) -> Iterator[tuple[bytes, bool]]:
        """Yield the messages that end in a block, and whether each is a RECORD."""
        self._rest += block
        while size := self._size():
            message, self._rest = self._rest[:size], self._rest[size:]
            yield message, self._has_agreed and message[2:4] == b"\xb1\x71"
            self._has_agreed = True

    def _size(self) -> int:
        """Return the bytes of the next message; 0 if it has not ended."""
        if not self._has_agreed:
            return _VERSION if len(self._rest) >= _VERSION else 0
        at, chunk = 0, 1
        while chunk and len(self._rest) >= at + 2:
            chunk = int.from_bytes(self._rest[at : at + 2])
            at += 2 + chunk
        return 0 if chunk or len(self._rest) < at else at

    @staticmethod
    def structure(message: bytes) -> Sequence[int]:
        """Return the places of all bytes that are not inside a value of a row: sizes, markers, all other messages."""
        if message[2:4] != b"\xb1\x71":
            return range(len(message))
        heads, content, at = list[int](), list[int](), 0
        while at < len(message):
            chunk = int.from_bytes(message[at : at + 2])
            heads += range(at, at + 2)
            content += range(at + 2, at + 2 + chunk)
            at += 2 + chunk
        packed = bytes(message[place] for place in content)
        return heads + [content[place] for place in _markers(packed)]


def _markers(packed: bytes) -> Iterator[int]:
    """Yield the places of markers, tags and sizes of values in PackStream."""
    at = 0
    while at < len(packed):
        marker, kind = packed[at], packed[at] >> 4
        is_value = kind < 0x8 or kind == 0xF or marker in (0xC0, 0xC2, 0xC3)
        # The tag of a structure follows its marker.
        width = 1 if kind == 0xB else _SIZE.get(marker, 0)
        size = marker & 0xF if kind == 0x8 else _SIZED.get(marker, 0)
        if marker in _TEXTS:
            size = int.from_bytes(packed[at + 1 : at + 1 + width])
        if not is_value:
            yield from range(at, at + 1 + width)
        at += 1 + width + size


@dataclass
class Proxy:
    """A proxy that runs.

    Attributes:
        port: Where it listens.
        flows: Cleared while what the server sends is held back.
        remaining: Bytes that the server may still send before a connection is broken off.
        left: Connections that are still to be broken off so.
        cuts: Connections that were broken off, answers of which rows were left out, or messages that were damaged.
        answers: Answers with rows that went by.
        short: Returns how many rows of an answer are sent on, by its number and its rows; the end is sent as it is.
        edited: Returns what is sent in the place of a message that is no row, by it and the number of rows before it.
        messages: Messages that went by.
        damaged: Returns what is sent in the place of a message, by its number and it.
    """

    port: int = 0
    flows: asyncio.Event = field(default_factory=asyncio.Event)
    remaining: int = 0
    left: int = 0
    cuts: int = 0
    answers: int = 0
    short: Callable[[int, int], int] | None = None
    edited: Callable[[bytes, int], bytes] | None = None
    messages: int = 0
    damaged: Callable[[int, bytes], bytes] | None = None

    def passed(self, message: bytes) -> bytes:
        """Return what is sent in the place of a message."""
        passed = message if self.damaged is None else self.damaged(self.messages, message)
        self.messages += 1
        self.cuts += passed != message
        return passed

    def kept(self, rows: Sequence[bytes]) -> Sequence[bytes]:
        """Return the rows of an answer that are sent on."""
        kept = len(rows) if self.short is None else self.short(self.answers, len(rows))
        self.answers += 1
        self.cuts += kept < len(rows)
        return rows[:kept]


Secured = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
"""Encrypts a connection before anything is forwarded."""


def as_bolt(tls: ssl.SSLContext) -> Secured:
    """Return what encrypts a connection of Neo4j: from its first byte on."""

    async def secured(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await writer.start_tls(tls)

    return secured


def as_postgres(tls: ssl.SSLContext) -> Secured:
    """Return what encrypts a connection of PostgreSQL: after it was asked for ("SSL Session Encryption")."""

    async def secured(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(_SSL_REQUEST)
        writer.write(b"S")
        await writer.start_tls(tls)

    return secured


@asynccontextmanager
async def running_proxy(
    target: int, messages: Callable[[], Messages] | None = None, secured: Secured | None = None
) -> AsyncIterator[Proxy]:
    """Run a proxy before a port of this machine; only with messages it can leave out rows, or damage them."""
    proxy = Proxy()
    proxy.flows.set()
    tasks: set[asyncio.Task[None]] = set()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        # A task that ends as cancelled would be reported as an error of the server.
        with suppress(OSError, asyncio.CancelledError):
            if secured is not None:
                await secured(reader, writer)
            behind, before = await asyncio.open_connection(HOST, target)
            sending = asyncio.create_task(_forward(reader, before))
            try:
                await _answer(proxy, behind, writer, None if messages is None else messages())
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


_MANIFEST = bytes.fromhex("000001ff")
"""Asks a server of Bolt for all its versions: a longer agreement than the proxy reads."""


async def _forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while block := await reader.read(_BLOCK):
            writer.write(block.replace(_MANIFEST, bytes(4)) if block.startswith(b"\x60\x60\xb0\x17") else block)
    # A server that waits for more must see that its client has gone.
    writer.close()


async def _answer(
    proxy: Proxy, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, messages: Messages | None
) -> None:
    rows: list[bytes] = []
    while block := await reader.read(_BLOCK):
        await proxy.flows.wait()
        if proxy.left:
            proxy.remaining -= len(block)
            if proxy.remaining < 0:
                proxy.left -= 1
                proxy.cuts += 1
                return
        if messages is None:
            writer.write(block)
        else:
            for sent, is_row in messages.split(block):
                message = proxy.passed(sent)
                if is_row:
                    rows.append(message)
                    continue
                kept = proxy.kept(rows) if rows else []
                writer.writelines(kept)
                rows.clear()
                writer.write(message if proxy.edited is None else proxy.edited(message, len(kept)))
        await writer.drain()
