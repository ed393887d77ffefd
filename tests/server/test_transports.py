"""A real server process over stdio and over HTTP, in both protocol eras, as a client meets it."""

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import anyio
import pytest
from aiohttp import ClientSession, web
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.client import ConnectMode
from mcp_types import PromptReference, TextContent, TextResourceContents

from gateway.errors import ConfigurationError
from gateway.server.run import listen
from tests.servers.loopback import HOST, free_port, listening
from tests.transport.fake_endpoint import fake_endpoint, of_empty_graph

pytestmark = [pytest.mark.anyio, pytest.mark.server]

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


def test_a_port_in_use_is_a_clear_error() -> None:
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        taken.listen()
        with pytest.raises(ConfigurationError, match="Choose another one with --port"):
            listen(HOST, taken.getsockname()[1])
