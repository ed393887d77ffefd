"""A server of values that answers when the test says: the few commands that `SharedValues` sends, in RESP."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from tests.servers.loopback import HOST

Held = Callable[[list[bytes]], bool]


class FakeValkey:
    """A server whose answers can be held back.

    Attributes:
        values: What is stored.
        refuses: Whether it answers every command with an error.
        held: What lets each answer go that is held back.
    """

    def __init__(self) -> None:
        self.values: dict[bytes, bytes] = {}
        self.refuses = False
        self.held: asyncio.Queue[asyncio.Event] = asyncio.Queue()
        self.url = ""
        self._holds: Held | None = None

    def hold_next(self, command: Held) -> None:
        """Hold back the answer to the next command that is one of these, once it has been carried out."""
        self._holds = command

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the commands of one connection."""
        try:
            while head := await reader.readline():
                words = [await self._word(reader) for _ in range(int(head[1:]))]
                answer = self._answer(words)
                if self._holds is not None and self._holds(words):
                    self._holds = None
                    self.held.put_nowait(event := asyncio.Event())
                    await event.wait()
                writer.write(answer)
                await writer.drain()
        finally:
            writer.close()

    async def _word(self, reader: asyncio.StreamReader) -> bytes:
        length = int((await reader.readline())[1:])
        return (await reader.readexactly(length + 2))[:-2]

    def _answer(self, words: list[bytes]) -> bytes:
        match words:
            case [b"HELLO", *_]:
                return b"%1\r\n$5\r\nproto\r\n:3\r\n"
            case _ if self.refuses:
                return b"-ERR refused\r\n"
            case [b"SET", key, value, *options]:
                if b"NX" in options and key in self.values:
                    return b"$-1\r\n"
                self.values[key] = value
                return b"+OK\r\n"
            case [b"GETRANGE", key, _, _]:
                value = self.values.get(key, b"")
                return b"$%d\r\n%s\r\n" % (len(value), value)
        return b"-ERR unknown command\r\n"


@asynccontextmanager
async def fake_valkey() -> AsyncIterator[FakeValkey]:
    """Run a server in this event loop."""
    fake = FakeValkey()
    server = await asyncio.start_server(fake.serve, HOST, 0)
    async with server:
        fake.url = f"redis://{HOST}:{server.sockets[0].getsockname()[1]}"
        yield fake
