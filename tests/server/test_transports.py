"""A real server over stdio and HTTP, in both protocol eras: lines, requests and connections of a client."""

import asyncio
import json
import logging
import os
import socket
import ssl
import sys
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import anyio
import pytest
import trustme
from aiohttp import ClientSession, TCPConnector, UnixConnector, web
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.client import ConnectMode
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, JSONRPCError, PromptReference, TextContent, TextResourceContents
from starlette.types import Message, Receive, Send

from gateway.errors import ConfigurationError
from gateway.server import http_server
from gateway.server.http_server import HttpGuard
from gateway.server.run import listen
from gateway.server.stdio import MAX_BYTES, LineSplitter, _Reader, message_of
from gateway.server.workers import Worker
from tests.hostile import HIDDEN, hidden_in
from tests.server.access.clients import SECONDS as CLIENT_SECONDS
from tests.server.access.clients import Recorder, open_port, serving_app
from tests.servers.loopback import HOST, free_port, listening
from tests.transport.fake_endpoint import fake_endpoint, of_empty_graph

pytestmark = pytest.mark.anyio

Wire = Literal["stdio", "http"]
SECONDS = 60
"""How long anything here may take before it counts as hung."""

WARFARIN = {"seeds": ["drug:warfarin"], "max_hops": 2, "topology_only": True}


@asynccontextmanager
async def connected(wire: Wire, era: ConnectMode, arguments: Sequence[str]) -> AsyncIterator[Client]:
    """Start a server process and connect to it."""
    command = ["-m", "gateway", "serve", *arguments]
    if wire == "stdio":
        parameters = StdioServerParameters(command=sys.executable, args=command)
        async with Client(parameters, mode=era) as client:
            yield client
        return
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *command,
        "--http",
        "--port",
        str(port),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        await listening(port)
        async with Client(f"http://{HOST}:{port}/mcp", mode=era) as client:
            yield client
    finally:
        if process.returncode is None:
            process.terminate()
        await asyncio.wait_for(process.wait(), SECONDS)


@pytest.mark.server
async def test_a_client_lists_and_calls_tools_and_hears_of_progress(wire: Wire, era: ConnectMode) -> None:
    reports: list[float] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:  # noqa: ARG001 - the callback's shape
        reports.append(progress)

    async with asyncio.timeout(SECONDS), connected(wire, era, []) as client:
        tools = await client.list_tools()
        version = client.protocol_version
        answer = await client.call_tool("bfs_query", WARFARIN, progress_callback=note)
        wrong = await client.call_tool("bfs_query", {**WARFARIN, "hops": 2})
    assert len(tools.tools) == 6
    assert version == ("2026-07-28" if era == "auto" else "2025-11-25")
    assert not answer.is_error
    assert (answer.structured_content or {})["node_count"] == 34
    # Before the first hop may be words of how far the graph is read, which are less than 1.
    assert [progress for progress in reports if progress >= 1] == [1, 2, 3]
    assert reports == sorted(reports)
    assert wrong.is_error


@pytest.mark.server
async def test_a_client_reads_resources_and_prompts_and_completes_their_arguments(
    wire: Wire, era: ConnectMode, tmp_path: Path
) -> None:
    explore = PromptReference(type="ref/prompt", name="explore")
    patient = tmp_path / "patient.toml"
    patient.write_text(f"[server]\ncompletion_seconds = {SECONDS}\n", encoding="utf-8")
    async with asyncio.timeout(SECONDS), connected(wire, era, ["--profile", str(patient)]) as client:
        schema = await client.read_resource("bfs-ql://schema")
        entity = await client.read_resource("bfs-ql://entity/drug%3Awarfarin")
        answers = [
            await client.call_tool(tool, arguments)
            for tool, arguments in (("describe_schema", {}), ("describe_entity", {"id": "drug:warfarin"}))
        ]
        proposed = await client.complete(explore, {"name": "name", "value": "warf"})
        prompt = await client.get_prompt("explore", {"name": proposed.completion.values[0]})
        with pytest.raises(MCPError, match="There is no resource 'bfs-ql://nothing'"):
            await client.read_resource("bfs-ql://nothing")
    for read, answer in zip((schema, entity), answers, strict=True):
        (content,) = read.contents
        assert isinstance(content, TextResourceContents)
        assert json.loads(content.text) == answer.structured_content
    assert isinstance(prompt.messages[0].content, TextContent)
    assert 'Explore "warfarin"' in prompt.messages[0].content.text


@pytest.mark.server
async def test_cancelling_a_call_closes_the_request_to_the_endpoint(
    wire: Wire, era: ConnectMode, tmp_path: Path
) -> None:
    asked, closed = asyncio.Event(), asyncio.Event()

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        query = str((await request.post()).get("query", ""))
        if "<http://example.org/a>" not in query:
            # The schema's: that one of these ends would prove nothing.
            return of_empty_graph(query)
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            closed.set()
        raise AssertionError("unreachable")

    profile = tmp_path / "short.toml"
    profile.write_text('[prefixes]\nx = "http://example.org/"\n', encoding="utf-8")
    async with asyncio.timeout(SECONDS), fake_endpoint(handle) as endpoint:
        arguments = ["--endpoint", endpoint.url, "--profile", str(profile)]
        async with connected(wire, era, arguments) as client:
            with anyio.CancelScope() as scope:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(_cancel_when, asked, scope)
                    await client.call_tool("bfs_query", {"seeds": ["x:a"], "max_hops": 1})
            await closed.wait()
            after = await client.call_tool("describe_schema", {})
    assert not after.is_error


async def _cancel_when(asked: asyncio.Event, scope: anyio.CancelScope) -> None:
    await asked.wait()
    scope.cancel()


@pytest.mark.server
async def test_http_refuses_a_foreign_host_or_origin_and_serves_its_own_names_with_any_port_or_none() -> None:
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway", "serve", "--http", "--port", str(port)),
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        await listening(port)
        async with ClientSession() as session:
            url = f"http://{HOST}:{port}/mcp"
            statuses = []
            for headers in (
                {"Host": "evil.example"},
                {"Origin": "http://evil.example"},
                {"Host": "evil.example:80"},
                {"Host": "localhost.evil.example"},
                {"Origin": "https://evil.example"},
                # A default port is not written.
                {"Host": "localhost", "Origin": "http://localhost"},
                {"Host": HOST, "Origin": f"https://{HOST}"},
                {"Host": "[::1]:8443", "Origin": "https://[::1]:8443"},
                {"Host": f"{HOST}:80"},
                {"Host": HOST, "Origin": "http://localhost"},
                {"Host": f"{HOST}:8443", "Origin": f"http://{HOST}:3000"},
            ):
                async with session.post(url, json={}, headers=headers) as response:
                    statuses.append(response.status)
    finally:
        process.terminate()
        await asyncio.wait_for(process.wait(), SECONDS)
    assert statuses == [421, 403, 421, 421, 403, 400, 400, 400, 400, 403, 403]


@pytest.mark.server
def test_a_port_in_use_is_a_clear_error() -> None:
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        taken.listen()
        with pytest.raises(ConfigurationError, match="Choose another one with --port"):
            listen(HOST, taken.getsockname()[1])


PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'


def test_a_message_that_is_cancelled_with_the_loop_ends_the_thread_quietly() -> None:
    async def read_and_cancel() -> None:
        source, sink = os.pipe()
        inbox, reading = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        writing, outbox = anyio.create_memory_object_stream[SessionMessage](1)
        ended = asyncio.ensure_future(
            asyncio.to_thread(_Reader(source, inbox, writing, asyncio.get_running_loop()).run)
        )
        others = asyncio.all_tasks()
        try:
            os.write(sink, PING)
            async with asyncio.timeout(10):
                # Nobody takes the message, so its task waits until the loop is closed.
                while not (sending := asyncio.all_tasks() - others):  # noqa: ASYNC110 - nobody says that a send waits
                    await asyncio.sleep(0)
                for task in sending:
                    task.cancel()
                await ended
        finally:
            for stream in (inbox, reading, writing, outbox):
                stream.close()
            os.close(sink)
            os.close(source)

    asyncio.run(read_and_cancel())


def cut(chunks: list[bytes], most: int = MAX_BYTES) -> list[tuple[bytes, int]]:
    lines = LineSplitter(most)
    return [*(line for chunk in chunks for line in lines.feed(chunk)), *lines.rest()]


@given(st.lists(st.binary(max_size=50)))
def test_lines_do_not_depend_on_where_the_chunks_end(chunks: list[bytes]) -> None:
    whole = b"".join(chunks)
    assert cut(chunks) == cut([whole])
    wanted = whole.split(b"\n")
    assert [line for line, _ in cut(chunks)] == (wanted if wanted[-1] else wanted[:-1])


@given(st.lists(st.binary(max_size=9_000).map(lambda data: data.replace(b"\n", b"")), max_size=5))
def test_a_long_line_is_returned_as_its_beginning_and_its_end(written: list[bytes]) -> None:
    lines = cut([b"".join(line + b"\n" for line in written)], 5_000)
    for line, (returned, dropped) in zip(written, lines, strict=True):
        assert len(returned) + dropped == len(line)
        assert len(returned) <= 5_000
        if dropped:
            assert returned[:2_000] == line[:2_000]
            assert returned[-2_000:] == line[-2_000:]
        else:
            assert returned == line


def test_a_line_that_never_ends_takes_no_memory() -> None:
    lines = LineSplitter()
    for _ in range(100):
        assert list(lines.feed(bytes(MAX_BYTES))) == []
    ((returned, dropped),) = lines.rest()
    assert len(returned) <= MAX_BYTES
    assert len(returned) + dropped == 100 * MAX_BYTES


IDS = st.one_of(st.integers(-(10**17), 10**17), st.text(st.characters(exclude_categories=["Cs"]), max_size=30))


def refused(line: bytes, dropped: int = 0) -> JSONRPCError:
    refusal = message_of(line, dropped)
    assert isinstance(refusal, JSONRPCError)
    return refusal


@given(IDS, st.permutations(["jsonrpc", "id", "method", "params"]), st.booleans())
def test_a_request_that_is_too_long_is_answered_under_its_own_id_or_none(
    identifier: int | str, order: list[str], spaced: bool
) -> None:
    request = {
        "jsonrpc": "2.0",
        "id": identifier,
        "method": "tools/call",
        "params": {"id": 5, "arguments": {"id": 6}, "padding": ["x" * MAX_BYTES], "last": {"id": 7}},
    }
    text = json.dumps({key: request[key] for key in order}, separators=None if spaced else (",", ":"))
    ((line, dropped),) = cut([text.encode()])
    refusal = refused(line, dropped)
    assert refusal.error.code == INVALID_REQUEST
    assert refusal.id in (identifier, None)
    if isinstance(identifier, int):
        assert refusal.id == identifier


@pytest.mark.parametrize(
    ("line", "identifier"),
    [
        (b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"x":"\\ud800"}}', 3),
        (b'{"jsonrpc":"2.0","id":"a","method":', "a"),
        (b'{"method":"x","params":{"id":4},"id":5}', 5),
        (b'{"params":{"id":4}}', None),
        (b"\xff\xfe{", None),
        (b"[" * 100_000, None),
        (b'{"id":' + b"9" * 5_000 + b"}", None),
    ],
)
def test_what_is_no_message_is_answered_with_an_error(line: bytes, identifier: int | str | None) -> None:
    refusal = refused(line)
    assert (refusal.id, refusal.error.code) == (identifier, PARSE_ERROR)
    assert len(refusal.error.message) < 100


def test_messages_are_messages_and_blank_lines_are_nothing() -> None:
    assert isinstance(message_of(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\r', 0), SessionMessage)
    assert message_of(b"  \r", 0) is None


SCOPE: Message = {"type": "http", "method": "POST", "headers": []}
TEXT = json.dumps({"text": HIDDEN.replace("\ud800", "")}, ensure_ascii=False)


class App:
    """Keeps what it was asked, and answers with hidden characters."""

    def __init__(self, *, length: bool = False, parts: int = 1) -> None:
        self.asked: list[bytes] = []
        self._length = length
        self._parts = parts

    async def __call__(self, _scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        self.asked.append((await receive())["body"])
        body = f"data: {TEXT}\r\n\r\n".encode()
        size = len(body) * self._parts
        headers = [(b"content-length", str(size).encode())] if self._length else []
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for part in range(self._parts):
            more = part < self._parts - 1
            await send({"type": "http.response.body", "body": body, "more_body": more})


async def asked(app: App, messages: Iterable[Message]) -> list[Message]:
    coming, sent = iter(messages), []

    async def receive() -> Message:
        return next(coming)

    async def send(message: Message) -> None:
        sent.append(message)

    await HttpGuard(app)(SCOPE, receive, send)
    return sent


def part(body: bytes, *, more: bool = False) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


async def test_a_request_is_handed_on_whole() -> None:
    app = App()
    await asked(app, [part(b"ab", more=True), part(b"cd")])
    assert app.asked == [b"abcd"]


@pytest.mark.parametrize("chunks", [1, 20])
async def test_a_request_that_is_too_long_is_refused_and_not_read_to_its_end(chunks: int) -> None:
    app = App()
    size = MAX_BYTES // chunks + 1
    endless = (part(bytes(size), more=True) for _ in range(chunks))
    start, body = await asked(app, endless)
    assert start["status"] == 413
    assert b"at most 1,048,576 bytes" in body["body"]
    assert app.asked == []


async def test_a_client_that_goes_away_is_one_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    app = App()
    for _ in range(3):
        assert await asked(app, [part(b"a", more=True), {"type": "http.disconnect"}]) == []
    assert app.asked == []
    assert [record.getMessage() for record in caplog.records] == ["a client went away before its request was whole"] * 3
    assert all(record.exc_info is None for record in caplog.records)


@pytest.mark.parametrize("length", [False, True])
@pytest.mark.parametrize("parts", [1, 2])
async def test_answers_have_no_hidden_character_and_the_right_length(length: bool, parts: int) -> None:
    start, *bodies = await asked(App(length=length, parts=parts), [part(b"{}")])
    sent = b"".join(body["body"] for body in bodies)
    headers = dict(start["headers"])
    assert headers.get(b"content-length") in (None, str(len(sent)).encode())
    assert (b"content-length" in headers) == (length and parts == 1)
    for event in sent.decode().split("\r\n\r\n")[:-1]:
        text = event.removeprefix("data: ")
        assert hidden_in(text) == []
        assert json.loads(text) == json.loads(TEXT)


@pytest.fixture(scope="module")
def signer() -> trustme.CA:
    """Who signs the certificate of the server."""
    return trustme.CA()


@pytest.fixture
def certificate(signer: trustme.CA, tmp_path: Path) -> dict[str, str]:
    """The options of a server with TLS."""
    issued = signer.issue_cert(HOST)
    chain, key = tmp_path / "chain.pem", tmp_path / "key.pem"
    issued.cert_chain_pems[0].write_to_path(chain)
    issued.private_key_pem.write_to_path(key)
    return {"ssl_certfile": str(chain), "ssl_keyfile": str(key)}


@pytest.mark.slow
async def test_a_handshake_that_never_ends_is_cut(certificate: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "HANDSHAKE_SECONDS", 0.3)
    listening = open_port()
    async with serving_app(Recorder(), listening, **certificate), asyncio.timeout(CLIENT_SECONDS):
        for begun in (b"", b"\x16\x03\x01"):
            reader, writer = await asyncio.open_connection(*listening.getsockname())
            writer.write(begun)
            assert await reader.read() == b""
            writer.close()


async def test_workers_talk_without_tls_where_clients_need_it(
    certificate: dict[str, str], signer: trustme.CA, tmp_path: Path
) -> None:
    worker, trusting = Worker(0, 1, 0, 0, tmp_path), ssl.create_default_context()
    signer.configure_trust(trusting)
    listening = open_port()
    port = listening.getsockname()[1]
    async with serving_app(Recorder(), listening, worker.listen_to_others(), **certificate):
        async with (
            ClientSession(connector=TCPConnector(ssl=trusting)) as client,
            client.get(f"https://{HOST}:{port}/") as answer,
        ):
            assert answer.status == 204
        async with (
            ClientSession(connector=UnixConnector(str(worker.path_of(0)))) as client,
            client.get("http://localhost/") as answer,
        ):
            assert answer.status == 204
