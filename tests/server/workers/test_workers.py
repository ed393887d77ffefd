"""Two processes behind one address, as clients of both eras meet them."""

import asyncio
import os
import re
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest
from aiohttp import ClientSession
from mcp.client.client import ConnectMode
from mcp_types import TextContent

from tests.server.access.clients import ACCEPT, INITIALIZE, SECONDS, token_file
from tests.server.graphs.conftest import connected
from tests.servers.loopback import HOST, free_port, listening

pytestmark = [pytest.mark.anyio, pytest.mark.server]

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


async def test_every_request_of_a_session_is_answered_whichever_worker_accepts_it() -> None:
    async with served() as (_, url):
        for session in await sessions(url, 6):
            for _ in range(6):
                status, text = await ping(url, session)
                assert (status, '"result":{}' in text) == (200, True)
            assert (await ping(url, f"{session[:-1]}9"))[0] == 404
            assert (await ping(url, f"x{session}"))[0] == 404


async def test_who_is_not_let_in_learns_nothing_of_sessions(tmp_path: Path) -> None:
    token = {"authorization": "Bearer alice-token-of-enough-characters"}
    tokens = token_file(tmp_path, "alice alice-token-of-enough-characters")
    async with served("--quiet", "--token-file", str(tokens)) as (_, url):
        for session in ("x", "x.0", "x.1", "x.9"):
            assert (await ping(url, session))[0] == 401
            assert (await ping(url, session, **token, host="evil.example.org"))[0] == 421
            assert (await ping(url, session, **token, origin="https://evil.example.org"))[0] == 403
            assert (await ping(url, session, **token))[0] == 404


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


async def test_a_hang_up_without_a_token_file_changes_nothing() -> None:
    async with served("--quiet") as (process, url):
        begun = await sessions(url, 2)
        first = workers_of(process)
        process.send_signal(signal.SIGHUP)
        for session in begun:
            assert (await ping(url, session))[0] == 200
        assert workers_of(process) == first


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


async def test_workers_end_when_their_supervisor_is_gone() -> None:
    async with served("--quiet") as (process, url):
        await sessions(url, WORKERS)
        workers = workers_of(process)
        os.kill(process.pid, signal.SIGKILL)
        await until(lambda: not any(map(is_running, workers)))


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
