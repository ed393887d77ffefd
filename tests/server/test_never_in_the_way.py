"""A server whose graph is not there yet: it answers, and says how things are. Events are put in order, not timed."""

import asyncio
import logging
import os
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.client import ConnectMode
from mcp_types import CallToolResult, ToolListChangedNotification

from gateway import resources
from gateway.api import open_gateway
from gateway.errors import ConfigurationError
from gateway.server.app import mcp_server
from gateway.server.gateway_opener import GatewayOpener, OnFileRead
from gateway.settings.limits import LimitSettings
from gateway.settings.profile import Profile
from gateway.telemetry.record import LOGGER
from gateway.tools.gateway import Gateway
from tests.server.test_transports import SECONDS, Wire, connected

pytestmark = pytest.mark.anyio

MEDICAL = resources.folder("fixtures") / "medical.ttl"


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """A graph file that ends when a test wants it to."""
    path = tmp_path / "graph.ttl"
    os.mkfifo(path)
    return path


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    text: str = content.text  # type: ignore[union-attr]  # ours are text
    return text


class Gate:
    """Opens a gateway when a test lets it."""

    def __init__(self, result: Path | Exception = MEDICAL) -> None:
        self._result = result
        self._open = threading.Event()
        self.has_begun = threading.Event()
        self.has_ended = threading.Event()
        self.note: OnFileRead | None = None

    def make(self, note: OnFileRead) -> Gateway:
        """Wait for the test, then do as it said."""
        try:
            note(MEDICAL, 43, 100)
            self.note = note
            self.has_begun.set()
            assert self._open.wait(SECONDS)
            if isinstance(self._result, Exception):
                raise self._result
            note(MEDICAL, 99, 100)
            return open_gateway(self._result)
        finally:
            self.has_ended.set()

    def open(self) -> None:
        """Let it go on."""
        self._open.set()


class Listener:
    """A client that hears of changes, in either era."""

    def __init__(self) -> None:
        self.heard = asyncio.Event()

    async def take(self, message: object) -> None:
        """Take a notification of the handshake era."""
        if isinstance(message, ToolListChangedNotification):
            self.heard.set()

    @asynccontextmanager
    async def listening(self, client: Client, era: ConnectMode) -> AsyncIterator[None]:
        """Subscribe where the era asks for that."""
        if era == "legacy":
            yield
            return

        async def follow() -> None:
            async for _ in subscription:
                self.heard.set()

        async with client.listen(tools_list_changed=True) as subscription, anyio.create_task_group() as tasks:
            tasks.start_soon(follow)
            yield
            tasks.cancel_scope.cancel()


async def described(client: Client) -> str:
    """Return how `bfs_query` is described now."""
    tools = (await client.list_tools(cache_mode="refresh")).tools
    assert len(tools) == 6
    return next(tool.description or "" for tool in tools if tool.name == "bfs_query")


# A gateway that a test lets open


async def test_tools_are_listed_before_there_is_a_graph_and_again_when_there_is(era: ConnectMode) -> None:
    gate, listener = Gate(), Listener()
    async with asyncio.timeout(SECONDS), GatewayOpener(Profile(description="Pills."), gate.make) as opener:
        opener.start()
        server = mcp_server(opener, list_seconds=0)
        async with Client(server, mode=era, message_handler=listener.take) as client:
            assert client.server_capabilities is not None
            assert client.server_capabilities.tools is not None
            assert client.server_capabilities.tools.list_changed is True
            assert (client.instructions or "").endswith("The graph: Pills.")
            async with listener.listening(client, era):
                before = await described(client)
                gate.open()
                await listener.heard.wait()
            after = await described(client)
    assert "entity types:" not in before
    assert after.startswith(before)
    assert "Drug" in after


async def test_the_first_list_of_tools_waits_for_a_graph_that_is_nearly_there(era: ConnectMode) -> None:
    gate = Gate()
    async with (
        asyncio.timeout(SECONDS),
        GatewayOpener(Profile(), gate.make) as opener,
        Client(mcp_server(opener, list_seconds=SECONDS), mode=era) as client,
    ):
        assert client.instructions
        # Nobody else begins to open the graph: the list does.
        listing = asyncio.create_task(described(client))
        await asyncio.to_thread(gate.has_begun.wait, SECONDS)
        # Others do not wait behind it.
        assert (await client.list_prompts()).prompts
        assert not listing.done()
        gate.open()
        text = await listing
    assert "entity types: m:Disease" in text


async def test_a_list_of_tools_does_not_wait_for_a_graph_that_cannot_be_opened(era: ConnectMode) -> None:
    gate = Gate(ConfigurationError("graph.ttl:3:4: not valid Turtle."))
    gate.open()
    async with (
        asyncio.timeout(SECONDS / 2),
        GatewayOpener(Profile(), gate.make) as opener,
        Client(mcp_server(opener, list_seconds=SECONDS), mode=era) as client,
    ):
        assert "entity types:" not in await described(client)


async def test_an_early_call_waits_and_reports_the_progress_of_the_load(era: ConnectMode) -> None:
    gate = Gate()
    reports: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        reports.append((progress, total, message))
        gate.open()

    async with asyncio.timeout(SECONDS), GatewayOpener(Profile(), gate.make) as opener:
        opener.start()
        await asyncio.to_thread(gate.has_begun.wait, SECONDS)
        async with Client(mcp_server(opener), mode=era) as client:
            answer = await client.call_tool(
                "bfs_query", {"seeds": ["drug:warfarin"], "max_hops": 1}, progress_callback=note
            )
    assert not answer.is_error
    assert (answer.structured_content or {})["node_count"] == 16
    assert reports[:1] == [(0.43, 1, "The graph is loading: 43% of it is read.")]
    assert [progress for progress, _, _ in reports] == sorted(progress for progress, _, _ in reports)
    assert reports[-1][:2] == (2, 2)


async def test_a_call_does_not_wait_longer_than_a_call_may_take(era: ConnectMode) -> None:
    gate = Gate()
    hasty = Profile(limits=LimitSettings(deadline_seconds=0.05, schema_seconds=0.05))
    async with asyncio.timeout(SECONDS), GatewayOpener(hasty, gate.make) as opener:
        opener.start()
        await asyncio.to_thread(gate.has_begun.wait, SECONDS)
        async with Client(mcp_server(opener), mode=era) as client:
            early = await client.call_tool("describe_schema", {})
            gate.open()
    assert early.is_error
    assert text_of(early) == "The graph is still loading: 43% of it is read. Call again later."


async def test_a_failed_load_is_reported_by_every_tool_and_at_once_in_the_log(
    era: ConnectMode, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, LOGGER)
    gate = Gate(ConfigurationError("graph.ttl:3:4: not valid Turtle.", next_step="Repair the file."))
    questions: list[tuple[str, dict[str, Any]]] = [
        ("describe_schema", {}),
        ("search_entities", {"query": "x"}),
        ("bfs_query", {"seeds": ["x:a"], "max_hops": 1}),
        ("describe_entity", {"id": "x:a"}),
    ]
    async with (
        asyncio.timeout(SECONDS),
        GatewayOpener(Profile(), gate.make) as opener,
        Client(mcp_server(opener), mode=era) as client,
    ):
        gate.open()
        texts = [text_of(await client.call_tool(tool, arguments)) for tool, arguments in questions]
        assert len((await client.list_tools()).tools) == 6
    assert set(texts) == {"The graph cannot be opened: graph.ttl:3:4: not valid Turtle. Repair the file."}
    assert "graph.ttl:3:4: not valid Turtle" in caplog.text
    # As a call of a gateway that is there.
    lines = [record.getMessage() for record in caplog.records if record.name == LOGGER]
    assert [line.partition(" causes=")[0] for line in lines] == [f"tool={tool} outcome=failed" for tool, _ in questions]
    assert all("error=GatewayError" in line for line in lines)


async def test_a_defect_while_the_graph_opens_is_reported_without_its_details(caplog: pytest.LogCaptureFixture) -> None:
    gate = Gate(ZeroDivisionError("secret"))
    async with (
        asyncio.timeout(SECONDS),
        GatewayOpener(Profile(), gate.make) as opener,
        Client(mcp_server(opener)) as client,
    ):
        gate.open()
        text = text_of(await client.call_tool("describe_schema", {}))
    assert "secret" not in text
    assert "log" in text
    assert "secret" in caplog.text


async def test_a_load_stops_when_the_server_ends(era: ConnectMode) -> None:
    gate = Gate()
    async with asyncio.timeout(SECONDS), GatewayOpener(Profile(), gate.make) as opener:
        opener.start()
        await asyncio.to_thread(gate.has_begun.wait, SECONDS)
        async with Client(mcp_server(opener, list_seconds=0), mode=era) as client:
            await client.list_tools()
        closing = asyncio.create_task(opener.close())
        await asyncio.sleep(0)
        gate.open()
        await closing
        assert gate.has_ended.is_set()
        late = await asyncio.gather(opener.gateway(_ignore), return_exceptions=True)
    assert "stopping" in str(late[0])


async def _ignore(done: float, total: float, message: str) -> None:
    """Tell nobody."""


# Server processes


@asynccontextmanager
async def hanging_endpoint() -> AsyncIterator[str]:
    """An endpoint that takes connections and never says a word."""
    connections: list[asyncio.StreamWriter] = []

    async def keep(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(writer)

    server = await asyncio.start_server(keep, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/sparql"
    finally:
        server.close()
        for writer in connections:
            writer.close()


@pytest.mark.server
async def test_a_client_is_answered_although_the_endpoint_hangs(wire: Wire, era: ConnectMode, tmp_path: Path) -> None:
    profile = tmp_path / "hasty.toml"
    profile.write_text('description = "Pills."\n[limits]\ndeadline_seconds = 1.0\n', encoding="utf-8")
    async with (
        asyncio.timeout(SECONDS),
        hanging_endpoint() as url,
        connected(wire, era, ["--endpoint", url, "--profile", str(profile)]) as client,
    ):
        instructions = client.instructions or ""
        described_as = await described(client)
        early = await client.call_tool("describe_entity", {"id": "http://example.org/a"})
        while "Call again later" in text_of(early):
            early = await client.call_tool("describe_entity", {"id": "http://example.org/a"})
    assert instructions.endswith("The graph: Pills.")
    assert "entity types:" not in described_as
    assert early.is_error
    assert "time of this call" in text_of(early)


@pytest.mark.server
async def test_a_client_is_answered_while_a_file_loads(wire: Wire, era: ConnectMode, pipe: Path) -> None:
    is_waiting = asyncio.Event()

    async def note(progress: float, total: float | None, message: str | None) -> None:  # noqa: ARG001 - the callback's shape
        is_waiting.set()

    async with asyncio.timeout(SECONDS), connected(wire, era, ["--graph", str(pipe)]) as client:
        before = await described(client)
        async with anyio.create_task_group() as tasks:
            answers: list[CallToolResult] = []

            async def ask() -> None:
                arguments = {"seeds": ["drug:warfarin"], "max_hops": 1}
                answers.append(await client.call_tool("bfs_query", arguments, progress_callback=note))

            tasks.start_soon(ask)
            await is_waiting.wait()
            await asyncio.to_thread(pipe.write_bytes, MEDICAL.read_bytes())
        await client.call_tool("describe_schema", {})
        after = await described(client)
    assert "entity types:" not in before
    assert "entity types:" in after
    assert (answers[0].structured_content or {})["node_count"] == 16


@pytest.mark.server
async def test_a_file_that_is_no_graph_is_reported_by_the_tools_of_a_running_server(
    wire: Wire, era: ConnectMode, tmp_path: Path
) -> None:
    path = tmp_path / "graph.ttl"
    path.write_text("this is no turtle", encoding="utf-8")
    async with asyncio.timeout(SECONDS), connected(wire, era, ["--graph", str(path)]) as client:
        assert len((await client.list_tools()).tools) == 6
        answer = await client.call_tool("describe_schema", {})
    assert answer.is_error
    assert "The graph cannot be opened: " in text_of(answer)
    assert "not valid Turtle" in text_of(answer)


@pytest.mark.server
async def test_a_server_ends_when_its_client_goes_while_it_loads(pipe: Path) -> None:
    command = ["-m", "gateway", "serve", "--graph", str(pipe)]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stderr is not None
    async with asyncio.timeout(SECONDS):
        assert b"Serving graph.ttl" in await process.stderr.readline()
        # Whoever can open the pipe to write knows that the loader has opened it to read.
        pump = await asyncio.to_thread(pipe.open, "wb")
        with pump:
            process.stdin.close()
            _, said = await process.communicate()
    assert process.returncode == 0
    assert said == b""
