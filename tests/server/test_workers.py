"""Processes behind one address: their folder, their sessions, their clients' addresses, and what they share."""

import asyncio
import os
import re
import signal
import sys
import tempfile
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import aiohttp
import pytest
from aiohttp import ClientSession
from mcp.client.client import ConnectMode
from mcp_types import TextContent
from starlette.types import Message, Receive, Send

from gateway.errors import ConfigurationError
from gateway.server.session_router import ClientAddress, SessionRouter
from gateway.server.workers import Worker, workers_folder
from tests.cache.test_shared import answering
from tests.server.access.clients import ACCEPT, INITIALIZE, SECONDS, Recorder, open_port, serving_app, token_file
from tests.server.graphs.conftest import connected
from tests.servers.loopback import HOST, free_port, listening
from tests.servers.unavailable import ServerUnavailable, skip_or_fail
from tests.servers.valkey import running_valkey
from tests.transport.fake_endpoint import fake_endpoint

pytestmark = pytest.mark.anyio

WORKERS: Final = 2
PING: Final = {"jsonrpc": "2.0", "id": 2, "method": "ping"}


@asynccontextmanager
async def served(*options: str) -> AsyncIterator[tuple[Process, str]]:
    """Run a server of two workers over the demo graph, and give its URL."""
    port = free_port()
    command = (sys.executable, "-m", "gateway", "serve", "--http", "--port", str(port), "--workers", str(WORKERS))
    process = await asyncio.create_subprocess_exec(*command, *options, stderr=asyncio.subprocess.PIPE)
    try:
        await listening(port)
        yield process, f"http://{HOST}:{port}"
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(SECONDS):
            await process.communicate()


def workers_of(process: Process) -> set[int]:
    """Return the process IDs of the workers."""
    return set(map(int, Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()))


def is_running(pid: int) -> bool:
    """Return whether a process has not ended."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


async def until(condition: Callable[[], bool]) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(SECONDS):
        while True:
            if condition():
                return
            await asyncio.sleep(0.02)


async def sessions(url: str, count: int, **others: str) -> list[str]:
    """Begin sessions, each over a connection of its own, until every worker has some.

    One that is not needed ends at once: a worker that starts late would let them reach what a client may have.
    """
    found: list[str] = []
    async with asyncio.timeout(SECONDS):
        while len(found) < count or len(set(map(worker_of, found))) < WORKERS:
            async with (
                ClientSession(url, headers=ACCEPT | others) as client,
                client.post("/mcp", json=INITIALIZE) as answer,
            ):
                assert answer.status == 200
                session = answer.headers["mcp-session-id"]
                if len(found) < count or worker_of(session) not in map(worker_of, found):
                    found.append(session)
                else:
                    async with client.delete("/mcp", headers={"mcp-session-id": session}) as ended:
                        assert ended.status == 200
                    await asyncio.sleep(0.02)
    return found


def worker_of(session: str) -> str:
    """Return the number of the worker that a session is with."""
    return session.rpartition(".")[2]


async def ping(url: str, session: str, **others: str) -> tuple[int, str]:
    """Use a session over a new connection, with other headers too."""
    headers = {**ACCEPT, "mcp-session-id": session, "mcp-protocol-version": "2025-11-25", **others}
    async with ClientSession(url) as client, client.post("/mcp", json=PING, headers=headers) as answer:
        return answer.status, await answer.text()


@pytest.mark.server
async def test_clients_of_both_eras_are_served(era: ConnectMode) -> None:
    async with served() as (_, url):
        for _ in range(3):
            async with connected(f"{url}/mcp", era) as client:
                assert len((await client.list_tools()).tools) == 6
                answers = await asyncio.gather(
                    *(client.call_tool("search_entities", {"query": "warfarin"}) for _ in range(6))
                )
                for answer in answers:
                    assert isinstance(answer.content[0], TextContent)
                    assert "drug:warfarin" in answer.content[0].text


@pytest.mark.server
async def test_every_request_of_a_session_is_answered_whichever_worker_accepts_it() -> None:
    async with served() as (_, url):
        for session in await sessions(url, 6):
            for _ in range(6):
                status, text = await ping(url, session)
                assert (status, '"result":{}' in text) == (200, True)
            assert (await ping(url, f"{session[:-1]}9"))[0] == 404
            assert (await ping(url, f"x{session}"))[0] == 404


@pytest.mark.server
async def test_who_is_not_let_in_learns_nothing_of_sessions(tmp_path: Path) -> None:
    token = {"authorization": "Bearer alice-token-of-enough-characters"}
    tokens = token_file(tmp_path, "alice alice-token-of-enough-characters")
    async with served("--quiet", "--token-file", str(tokens)) as (_, url):
        for session in ("x", "x.0", "x.1", "x.9"):
            assert (await ping(url, session))[0] == 401
            assert (await ping(url, session, **token, host="evil.example.org"))[0] == 421
            assert (await ping(url, session, **token, origin="https://evil.example.org"))[0] == 403
            assert (await ping(url, session, **token))[0] == 404


@pytest.mark.server
async def test_a_worker_that_dies_is_started_anew_and_its_sessions_begin_anew() -> None:
    async with served("--quiet") as (process, url):
        begun = await sessions(url, 4)
        first = workers_of(process)
        os.kill(min(first), signal.SIGKILL)
        await until(lambda: bool(workers_of(process) - first))
        answered = [(await ping(url, session))[0] for session in begun]
        assert set(answered) <= {200, 404}
        assert 200 in answered
        assert len(await sessions(url, 2)) >= 2


@pytest.mark.server
async def test_a_hang_up_without_a_token_file_changes_nothing() -> None:
    async with served("--quiet") as (process, url):
        begun = await sessions(url, 2)
        first = workers_of(process)
        process.send_signal(signal.SIGHUP)
        for session in begun:
            assert (await ping(url, session))[0] == 200
        assert workers_of(process) == first


@pytest.mark.server
async def test_a_worker_that_cannot_be_started_anew_leaves_the_others_at_work(tmp_path: Path) -> None:
    token = {"authorization": "Bearer alice-token-of-enough-characters"}
    tokens = token_file(tmp_path, "alice alice-token-of-enough-characters")
    async with served("--quiet", "--token-file", str(tokens)) as (process, url):
        await sessions(url, WORKERS, **token)
        first = workers_of(process)
        tokens.write_text("alice", encoding="utf-8")
        os.kill(min(first), signal.SIGKILL)
        await until(lambda: min(first) not in workers_of(process))
        for _ in range(3):
            assert (await ping(url, "x", **token))[0] == 404
        tokens.write_text("alice alice-token-of-enough-characters\nbob bob-token-of-enough-characters\n")
        await until(lambda: len(workers_of(process)) == WORKERS)
        other = {"authorization": "Bearer bob-token-of-enough-characters"}
        async with asyncio.timeout(SECONDS):
            # Both have the new version then, also the one that was never started anew.
            while {(await ping(url, "x", **other))[0] for _ in range(10)} != {404}:
                pass


@pytest.mark.server
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_all_of_them(number: signal.Signals) -> None:
    async with served() as (process, url):
        await sessions(url, WORKERS)
        workers = workers_of(process)
        assert len(workers) == WORKERS
        process.send_signal(number)
        async with asyncio.timeout(SECONDS):
            _, said = await process.communicate()
        assert process.returncode == (130 if number == signal.SIGINT else 0)
        assert not any(map(is_running, workers))
        assert len(re.findall("Serving the demo graph", said.decode())) == 1
        assert "Each of 2 workers reads the graph for itself" in said.decode()


@pytest.mark.server
async def test_workers_end_when_their_supervisor_is_gone() -> None:
    async with served("--quiet") as (process, url):
        await sessions(url, WORKERS)
        workers = workers_of(process)
        os.kill(process.pid, signal.SIGKILL)
        await until(lambda: not any(map(is_running, workers)))


@pytest.mark.server
async def test_what_is_wrong_is_said_once() -> None:
    command = (
        sys.executable,
        "-m",
        "gateway",
        "serve",
        "--http",
        "--port",
        "0",
        "--workers",
        "3",
        "--token-file",
        "none",
    )
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    async with asyncio.timeout(SECONDS):
        _, said = await process.communicate()
    assert (process.returncode, said.decode().count("cannot be read")) == (2, 1)


@pytest.fixture
def parent(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder for temporary files, short enough for sockets."""
    path = tmp_path_factory.mktemp("t")
    monkeypatch.setattr(tempfile, "tempdir", str(path))
    return path


def left(parent: Path, *, age: float) -> Path:
    """Return a folder as a killed server leaves it."""
    folder = parent / "bfsql-left"
    folder.mkdir()
    lock = folder / "lock"
    lock.touch()
    began = lock.stat().st_mtime - age
    os.utime(lock, (began, began))
    return folder


def age(folder: Path) -> None:
    """Let the lock of a folder be an hour old."""
    os.utime(folder / "lock", (0, 0))


def test_the_folder_is_removed_after_the_block(parent: Path) -> None:
    with workers_folder() as folder:
        assert folder.parent == parent
    assert not folder.exists()


def test_what_a_killed_server_left_is_removed(parent: Path) -> None:
    folder = left(parent, age=3600)
    with workers_folder():
        assert not folder.exists()


def test_the_folder_of_a_server_that_runs_or_is_being_started_stays(parent: Path) -> None:
    young = left(parent, age=0)
    with workers_folder() as first:
        age(first)
        with workers_folder():
            assert first.exists()
            assert young.exists()


def test_a_folder_without_a_lock_and_a_link_to_another_one_stay(parent: Path) -> None:
    other = parent / "other"
    other.mkdir()
    (other / "lock").touch()
    age(other)
    (parent / "bfsql-link").symlink_to(other)
    (parent / "bfsql-unknown").mkdir()
    with workers_folder():
        assert other.exists()
        assert (parent / "bfsql-unknown").exists()


def test_a_path_too_long_for_a_socket_is_told_with_what_to_do(parent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = parent / ("x" * 100)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    with pytest.raises(ConfigurationError, match=r"too long for sockets.*TMPDIR"), workers_folder():
        pass
    assert list(long.iterdir()) == []


SCOPE: dict[str, Any] = {
    "type": "http",
    "method": "GET",
    "raw_path": b"/mcp",
    "query_string": b"",
    "headers": [(b"mcp-session-id", b"x.1")],
    "client": ("192.0.2.7", 5),
}


async def never(_: Message, __: Receive, ___: Send) -> None:
    """Answer nothing: the session is another worker's."""
    raise AssertionError


async def asked(folder: Path, sent: list[Message]) -> None:
    """Ask worker 0 for a session of worker 1."""

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    await SessionRouter(never, Worker(0, 2, 0, 0, folder))(SCOPE, receive, send)


async def test_a_body_is_passed_on_whatever_the_method(tmp_path: Path) -> None:
    bodies: list[bytes] = []

    async def read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        bodies.append(await reader.readexactly(4))
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    received: list[Message] = [{"type": "http.request", "body": b"body"}]
    ended = asyncio.Event()

    async def receive() -> Message:
        if received:
            return received.pop()
        await ended.wait()
        raise AssertionError

    async def send(_: Message) -> None: ...

    headers = [*SCOPE["headers"], (b"content-length", b"4")]
    async with await asyncio.start_unix_server(read, tmp_path / "1"):
        router = SessionRouter(never, Worker(0, 2, 0, 0, tmp_path))
        await router({**SCOPE, "method": "DELETE", "headers": headers}, receive, send)
    assert bodies == [b"body"]


async def test_a_session_whose_worker_is_away_is_gone(tmp_path: Path) -> None:
    sent: list[Message] = []
    await asked(tmp_path, sent)
    assert [message.get("status") for message in sent] == [404, None]


async def test_an_answer_that_breaks_off_is_not_ended_as_if_it_were_whole(tmp_path: Path) -> None:
    async def break_off(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf")
        await writer.drain()
        writer.close()

    sent: list[Message] = []
    async with await asyncio.start_unix_server(break_off, tmp_path / "1"):
        with pytest.raises(aiohttp.ClientError):
            await asked(tmp_path, sent)
    assert sent[0]["status"] == 200
    assert all(message["type"] == "http.response.body" and message["more_body"] for message in sent[1:])


CLAIMED = (b"bfsql-client", b"192.0.2.66")


async def ignore(_: Message) -> None:
    """Take an answer."""


async def receive() -> Message:
    """Wait for more of a request that has no more."""
    await asyncio.Event().wait()
    raise AssertionError


async def test_a_worker_hears_from_another_who_the_client_is(tmp_path: Path) -> None:
    seen = Recorder()
    first, second = Worker(0, 2, 0, 0, tmp_path), Worker(1, 2, 0, 0, tmp_path)
    async with serving_app(ClientAddress(seen, second), second.listen_to_others()):
        router = ClientAddress(SessionRouter(never, first), first)
        asked: dict[str, Any] = {**SCOPE, "headers": [*SCOPE["headers"], CLAIMED], "server": ("127.0.0.1", 8000)}
        await router(asked, receive, ignore)
        await router({**asked, "client": None}, receive, ignore)
    assert [scope["client"] for scope in seen.scopes] == [("192.0.2.7", 0), None]


async def test_a_client_cannot_say_itself_who_it_is(tmp_path: Path) -> None:
    seen, listening = Recorder(), open_port()
    host, port = listening.getsockname()
    async with (
        serving_app(ClientAddress(seen, Worker(0, 2, 0, 0, tmp_path)), listening),
        ClientSession(f"http://{host}:{port}") as client,
        client.get("/", headers={"bfsql-client": "192.0.2.66"}),
    ):
        pass
    [scope] = seen.scopes
    assert scope["client"][0] == host
    assert CLAIMED not in scope["headers"]


HUB: Final = "https://example.org/x/hub"
HOP: Final = f"VALUES ?s {{ <{HUB}> }}"
"""In the query for the edges of the seed. Each worker reads the schema for itself, with other queries."""

CALL: Final[dict[str, Any]] = {
    "jsonrpc": "2.0",
    "id": 3,
    "method": "tools/call",
    "params": {"name": "bfs_query", "arguments": {"seeds": [HUB], "max_hops": 2}},
}


async def traversal(url: str, session: str) -> str:
    """Ask the worker of a session."""
    headers = {**ACCEPT, "mcp-session-id": session, "mcp-protocol-version": "2025-11-25"}
    async with ClientSession(url) as client, client.post("/mcp", json=CALL, headers=headers) as answer:
        return await answer.text()


@pytest.mark.server
async def test_a_traversal_asked_of_both_workers_reaches_the_endpoint_once(tmp_path: Path) -> None:
    try:
        with running_valkey(tmp_path) as valkey:
            async with (
                fake_endpoint(answering) as endpoint,
                served("--endpoint", endpoint.url, "--shared-cache", valkey.url) as (_, url),
            ):
                asked: dict[str, int] = {}
                for session in await sessions(url, WORKERS):
                    before = sum(HOP in query for query in endpoint.queries)
                    assert "m8" in await traversal(url, session)
                    asked.setdefault(session[-1], sum(HOP in query for query in endpoint.queries) - before)
                first, second = asked.values()
                assert (first, second) == (1, 0)
    except ServerUnavailable as error:
        skip_or_fail(error)
