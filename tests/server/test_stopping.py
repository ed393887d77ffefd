"""How a real server process ends: by signals, by a client that goes away, and with calls under way."""

import asyncio
import json
import os
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from typing import Any

import pytest

from gateway.server.stdio import MAX_BYTES

pytestmark = [pytest.mark.anyio, pytest.mark.server]

SECONDS = 60
"""How long anything here may take before it counts as hung."""

READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
CALL = {"name": "bfs_query", "arguments": {"seeds": ["http://example.org/a"], "max_hops": 1}}


def request(number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


INITIALIZE = request(
    0,
    "initialize",
    {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
)


class Served:
    """A server over stdio, and the client's ends of its streams."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self.stdin, self.stdout, self.stderr = process.stdin, process.stdout, process.stderr

    async def send(self, message: dict[str, Any]) -> None:
        """Send one message."""
        self.stdin.write(json.dumps(message).encode() + b"\n")
        await self.stdin.drain()

    async def answer(self) -> dict[str, Any] | None:
        """Return the next answer; None where there will be none."""
        while line := await self.stdout.readline():
            message: dict[str, Any] = json.loads(line)
            if "id" in message:
                return message
        return None

    async def shake_hands(self) -> None:
        """Begin a session."""
        await self.send(INITIALIZE)
        answer = await self.answer()
        assert answer is not None
        assert "result" in answer
        await self.send(READY)

    async def end(self) -> tuple[int, str]:
        """Return the exit status, and what stands on standard error beside the lines that say what is served."""
        errors = (await self.stderr.read()).decode()
        status = await self.process.wait()
        _, *lines = errors.splitlines(keepends=True)
        return status, "".join(line for line in lines if not line.startswith("Ready after "))


@asynccontextmanager
async def served(*arguments: str) -> AsyncIterator[Served]:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway", "serve", *arguments), stdin=pipe, stdout=pipe, stderr=pipe, limit=1 << 22
    )
    try:
        async with asyncio.timeout(SECONDS):
            yield Served(process)
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


@asynccontextmanager
async def silent_endpoint() -> AsyncIterator[tuple[str, asyncio.Event]]:
    """An endpoint that reads and never answers; the event says that somebody asks."""
    asked = asyncio.Event()

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        with suppress(ConnectionError):
            await reader.read()
        writer.close()

    server = await asyncio.start_server(hear, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/sparql", asked
    finally:
        server.close()


@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
async def test_one_signal_ends_a_server_over_stdio_while_its_client_is_silent(
    sent: signal.Signals, status: int
) -> None:
    async with served() as server:
        await server.shake_hands()
        server.process.send_signal(sent)
        assert await server.answer() is None
        assert await server.end() == (status, "")


async def test_more_signals_end_it_at_once_without_a_traceback() -> None:
    async with silent_endpoint() as (url, asked), served("-e", url) as server:
        await server.shake_hands()
        await server.send(request(1, "tools/call", CALL))
        await asked.wait()
        for _ in range(3):
            with suppress(ProcessLookupError):
                server.process.send_signal(signal.SIGINT)
        assert await server.end() == (130, "")


@pytest.mark.parametrize("at", [0, 1])
async def test_calls_under_way_are_answered_before_a_server_over_stdio_ends(at: int) -> None:
    sent, status = [(signal.SIGTERM, 0), (signal.SIGINT, 130)][at]
    async with silent_endpoint() as (url, asked), served("-e", url) as server:
        await server.shake_hands()
        for number in range(1, 6):
            await server.send(request(number, "tools/call", CALL))
        await asked.wait()
        server.process.send_signal(sent)
        answers = [await server.answer() for _ in range(5)]
        assert await server.answer() is None
        assert await server.end() == (status, "")
    assert sorted(answer["id"] for answer in answers if answer is not None) == [1, 2, 3, 4, 5]
    for answer in answers:
        assert answer is not None
        assert answer["result"]["isError"] is True
        assert "The server is stopping." in answer["result"]["content"][0]["text"]


async def test_a_client_that_closes_its_end_ends_the_server_without_a_traceback() -> None:
    own, its = os.pipe()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway", "serve"),
        stdin=asyncio.subprocess.PIPE,
        stdout=its,
        stderr=asyncio.subprocess.PIPE,
    )
    os.close(its)
    os.close(own)
    assert process.stdin is not None
    assert process.stderr is not None
    async with asyncio.timeout(SECONDS):
        process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
        errors = await process.stderr.read()
        assert await process.wait() == 0
    process.stdin.close()
    assert errors.decode().count("\n") == 1


async def test_a_client_that_ends_its_messages_ends_the_server() -> None:
    async with served() as server:
        await server.shake_hands()
        server.stdin.close()
        assert await server.answer() is None
        assert await server.end() == (0, "")


@pytest.mark.parametrize("closed", ["<&-", ">&-"])
async def test_a_closed_stream_is_one_line_that_says_what_to_do(closed: str) -> None:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *("sh", "-c", f'exec "$0" -m gateway serve {closed}', sys.executable), stderr=pipe
    )
    async with asyncio.timeout(SECONDS):
        _, errors = await process.communicate()
    assert process.returncode == 2
    assert "is closed, so no client can be served over stdio. Start it from" in errors.decode().splitlines()[-1]
    assert errors.count(b"\n") == 2


async def test_a_demo_whose_output_cannot_be_written_is_one_line() -> None:
    process = await asyncio.create_subprocess_exec(
        *("sh", "-c", 'exec "$0" -m gateway demo >/dev/full', sys.executable),
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(SECONDS):
        _, errors = await process.communicate()
    assert process.returncode == 2
    assert errors.decode().splitlines()[-1] == "error: standard output: No space left on device."
    assert b"Traceback" not in errors


async def test_a_message_that_is_too_long_is_answered_and_the_next_one_too() -> None:
    async with served() as server:
        await server.shake_hands()
        many = {f"argument{number}": number for number in range(420_000)}
        await server.send(request(1, "tools/call", {"name": "describe_schema", "arguments": many}))
        refused = await server.answer()
        few = dict(list(many.items())[:20_000])
        await server.send(request(2, "tools/call", {"name": "describe_schema", "arguments": few}))
        unknown = await server.answer()
        server.stdin.close()
        assert await server.end() == (0, "")
    assert refused is not None
    assert refused["id"] == 1
    assert f"the maximum is {MAX_BYTES:,}" in refused["error"]["message"]
    assert unknown is not None
    assert unknown["result"]["isError"] is True
    assert len(json.dumps(unknown)) < 500


async def test_calls_above_the_bound_are_refused_and_every_call_is_answered() -> None:
    async with silent_endpoint() as (url, _), served("-e", url) as server:
        await server.shake_hands()
        for number in range(1, 501):
            await server.send(request(number, "tools/call", CALL))
        answers = [await server.answer() for _ in range(372)]
        server.process.send_signal(signal.SIGTERM)
        answers += [await server.answer() for _ in range(128)]
        assert await server.end() == (0, "")
    assert sorted(answer["id"] for answer in answers if answer is not None) == list(range(1, 501))
    texts = [answer["result"]["content"][0]["text"] for answer in answers if answer is not None]
    assert sum("The server is busy" in text for text in texts) == 372
    assert sum("The server is stopping" in text for text in texts) == 128


class Listening:
    """A server over HTTP."""

    def __init__(self, process: asyncio.subprocess.Process, port: int) -> None:
        self.process = process
        self.port = port

    async def send(
        self, body: bytes, *, host: str | None = None, headers: tuple[str, ...] = (), length: int | None = None
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Send a request on a connection of its own."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        lines = [
            "POST /mcp HTTP/1.1",
            f"Host: {host or f'127.0.0.1:{self.port}'}",
            "Content-Type: application/json",
            "Accept: application/json, text/event-stream",
            f"Content-Length: {len(body) if length is None else length}",
            *headers,
        ]
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        await writer.drain()
        return reader, writer

    async def status(self, **given: Any) -> int:
        """Return the status of a request that is no message."""
        reader, writer = await self.send(b"{}", **given)
        line = await reader.readline()
        writer.close()
        return int(line.split()[1])

    async def end(self) -> tuple[int, str]:
        """Return the exit status, and what stands on standard error after the first line."""
        assert self.process.stderr is not None
        return (await self.process.wait()), (await self.process.stderr.read()).decode()


@asynccontextmanager
async def listening(*arguments: str) -> AsyncIterator[Listening]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway", "serve", "--http", "--port", "0", *arguments),
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        async with asyncio.timeout(SECONDS):
            found = re.search(rb":(\d+)/mcp", await process.stderr.readline())
            assert found is not None
            port = int(found[1])
            while True:
                with suppress(ConnectionError), socket.create_connection(("127.0.0.1", port), timeout=SECONDS):
                    break
                await asyncio.sleep(0.05)
            yield Listening(process, port)
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def session_headers(server: Listening) -> tuple[str, str]:
    """Begin a session, and return the headers of its requests."""
    reader, writer = await server.send(json.dumps(INITIALIZE).encode())
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    session = re.search(r"mcp-session-id: (\S+)", head)
    assert session is not None
    writer.close()
    return f"Mcp-Session-Id: {session[1]}", "MCP-Protocol-Version: 2025-11-25"


async def test_calls_under_way_are_answered_before_a_server_over_http_ends() -> None:
    async with silent_endpoint() as (url, asked), listening("-e", url) as server:
        headers = await session_headers(server)
        _, ready = await server.send(json.dumps(READY).encode(), headers=headers)
        connections = [
            await server.send(json.dumps(request(number, "tools/call", CALL)).encode(), headers=headers)
            for number in range(1, 4)
        ]
        await asked.wait()
        server.process.send_signal(signal.SIGTERM)
        bodies = [(await reader.read()).decode() for reader, _ in connections]
        for writer in (ready, *(writer for _, writer in connections)):
            writer.close()
        assert await server.end() == (0, "")
    for number, body in enumerate(bodies, 1):
        assert f'"id":{number}' in body
        assert "The server is stopping." in body
        assert body.endswith("0\r\n\r\n")


async def test_a_call_may_end_by_itself_in_the_time_that_the_operator_gives_it() -> None:
    asked, ends = asyncio.Event(), asyncio.Event()

    async def break_off(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await ends.wait()
        writer.close()

    async with await asyncio.start_server(break_off, "127.0.0.1", 0) as endpoint:
        url = f"http://127.0.0.1:{endpoint.sockets[0].getsockname()[1]}/sparql"
        async with listening("-e", url, "--drain-seconds", "60") as server:
            headers = await session_headers(server)
            body = json.dumps(request(1, "tools/call", CALL)).encode()
            reader, writer = await server.send(body, headers=headers)
            await asked.wait()
            server.process.send_signal(signal.SIGTERM)
            ends.set()
            answer = (await reader.read()).decode()
            writer.close()
            assert (await server.end())[0] == 0
    assert '"id":1' in answer
    assert "The server is stopping." not in answer


async def test_uploads_that_are_broken_off_leave_no_traceback() -> None:
    async with listening() as server:
        for _ in range(300):
            _, writer = await server.send(b'{"jsonrpc":', length=100_000)
            writer.close()
            await writer.wait_closed()
        # A server that has not yet noticed so many ends is busy for a moment.
        while (answered := await server.status()) == HTTPStatus.SERVICE_UNAVAILABLE:
            pass
        assert answered == HTTPStatus.BAD_REQUEST
        server.process.send_signal(signal.SIGINT)
        status, errors = await server.end()
    assert status == 130
    assert "Traceback" not in errors
    assert len(errors.splitlines()) <= 300
