"""What processes share, where exchanges of two calls or two processes overlap, by a server that answers in turn."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from gateway.cache.shared_values import SharedValues
from gateway.settings.endpoint import AccessSettings, EndpointSettings
from gateway.settings.limits import SharedCacheServer
from gateway.settings.profile import Profile
from gateway.stores.endpoints import shared_values
from tests.servers.loopback import HOST

pytestmark = pytest.mark.anyio

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


GENERATION = b"x:generation"


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an answer be held back for as long as a test needs."""
    monkeypatch.setattr("gateway.cache.shared_values._ANSWER_SECONDS", 10.0)


@asynccontextmanager
async def two_processes() -> AsyncIterator[tuple[FakeValkey, SharedValues, SharedValues]]:
    """Give a server, and what two processes share there."""
    async with asyncio.timeout(10), fake_valkey() as server:
        one, other = (SharedValues(SharedCacheServer(server.url), "x:") for _ in range(2))
        try:
            yield server, one, other
        finally:
            await asyncio.gather(one.close(), other.close())


def reads(words: list[bytes]) -> bool:
    """Tell whether a command is the last of a question about one value."""
    return words[0] == b"GETRANGE" and words[1] != GENERATION


def begins_anew(words: list[bytes]) -> bool:
    """Tell whether a command sets the generation."""
    return words[:2] == [b"SET", GENERATION]


async def put(values: SharedValues, value: bytes) -> None:
    """Store a value as a call does that has just asked for it."""
    await values.get(["a"])
    await values.put([("a", value)], 60, values.generation)


async def test_a_call_does_not_use_what_others_forgot_where_another_call_hears_of_it_first() -> None:
    async with two_processes() as (server, mine, other):
        await put(mine, b"old")
        other.forget()
        await other.get(["b"])
        server.hold_next(reads)
        late = asyncio.create_task(mine.get(["a"]))
        answer = await server.held.get()
        assert await mine.get(["a"]) == [None]
        answer.set()
        assert await late == [None]


async def test_what_was_fetched_before_anything_was_read_of_the_server_is_not_stored() -> None:
    async with two_processes() as (server, mine, _):
        await mine.put([("a", b"old")], 60, mine.generation)
        assert server.values == {}


async def test_what_is_forgotten_while_an_earlier_forgetting_is_on_its_way_is_forgotten_too() -> None:
    async with two_processes() as (server, mine, other):
        await mine.get(["a"])
        mine.forget()
        server.hold_next(begins_anew)
        asking = asyncio.create_task(mine.get(["b"]))
        answer = await server.held.get()
        await put(other, b"old")
        mine.forget()
        answer.set()
        await asking
        assert (await mine.get(["a"]), await other.get(["a"])) == ([None], [None])


async def test_another_call_uses_nothing_forgotten_while_the_forgetting_is_on_its_way() -> None:
    async with two_processes() as (server, mine, _):
        await put(mine, b"old")
        mine.forget()
        server.hold_next(begins_anew)
        asking = asyncio.create_task(mine.get(["b"]))
        answer = await server.held.get()
        assert await mine.get(["a"]) == [None]
        answer.set()
        assert await asking == [None]


async def test_what_is_forgotten_while_the_server_refuses_is_forgotten_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.cache.shared_values._BACKOFF_SECONDS", 0.0)
    async with two_processes() as (server, mine, other):
        await put(mine, b"old")
        mine.forget()
        server.refuses = True
        assert await mine.get(["a"]) == [None]
        server.refuses = False
        assert (await mine.get(["a"]), await other.get(["a"])) == ([None], [None])


async def finds(url: str, one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Tell whether a process finds what another one with other prefixes has stored of the same graph."""
    async with asyncio.timeout(10), fake_valkey() as server:
        values = [shared_values(SharedCacheServer(server.url), url, Profile(), own) for own in (one, other)]
        try:
            await put(values[0], b"a value")
            return await values[1].get(["a"]) == [b"a value"]
        finally:
            await asyncio.gather(*(each.close() for each in values))


async def test_processes_share_what_they_read_of_a_database_only_if_its_ids_are_the_same_iris() -> None:
    mesh = {"MeSH": "http://id.nlm.nih.gov/mesh/"}
    assert await finds("postgresql://reader@graph.example.org/db", mesh, mesh)
    assert not await finds("postgresql://reader@graph.example.org/db", mesh, {})
    assert await finds("https://graph.example.org/sparql", mesh, {})


async def is_shared(one: Mapping[str, str], other: Mapping[str, str], access: AccessSettings) -> bool:
    """Tell whether a process finds what another one with another environment has stored under the same profile."""
    profile = Profile(endpoint=EndpointSettings(access=access))
    async with asyncio.timeout(10), fake_valkey() as server, AsyncExitStack() as stack:
        values = []
        for environment in (one, other):
            with pytest.MonkeyPatch.context() as patched:
                for name, value in environment.items():
                    patched.setenv(name, value)
                values.append(shared_values(SharedCacheServer(server.url), "https://g.example/sparql", profile, {}))
            stack.push_async_callback(values[-1].close)
        await put(values[0], b"a value")
        return await values[1].get(["a"]) == [b"a value"]


@pytest.mark.parametrize(
    "access",
    [
        AccessSettings(token="env:OF_USER"),  # noqa: S106 - a reference
        AccessSettings(user="ann", password="env:OF_USER"),  # noqa: S106 - a reference
        AccessSettings(user="env:OF_USER", password="env:OF_ALL"),  # noqa: S106 - a reference
        AccessSettings(secret_headers={"X-Key": "env:OF_USER"}),
    ],
)
async def test_users_whose_secrets_differ_share_nothing_under_one_profile(access: AccessSettings) -> None:
    ann, bob = ({"OF_ALL": "x", "OF_USER": name} for name in ("ann", "bob"))
    assert await is_shared(ann, ann, access)
    assert not await is_shared(ann, bob, access)
