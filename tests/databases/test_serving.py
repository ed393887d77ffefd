"""The program over both databases as clients meet it: both wires, tokens, several graphs, and Python."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pytest
from aiohttp import ClientSession
from mcp import Client
from mcp.client.client import ConnectMode

from gateway.api import open_graphs
from gateway.arguments import BY_TOOL
from tests.calls import Json
from tests.databases.served import GRAPHS, QUESTIONS, ServedDatabase, answers_of
from tests.server.access.clients import ACCEPT, INITIALIZE, token_file
from tests.server.graphs.conftest import connected as connected_with
from tests.server.test_transports import SECONDS, Wire, connected
from tests.servers.loopback import HOST, free_port
from tests.servers.process import running

pytestmark = [pytest.mark.anyio, pytest.mark.server]

ALICE = "alice-token-of-enough-characters"
BOB = "bob-token-of-enough-characters-too"

Way = Literal["endpoint", "profile"]


def one_graph(served: ServedDatabase, graph: str, way: Way) -> list[str]:
    """Return the options that select a graph: by its URL, or by a profile that has it."""
    if way == "profile":
        return ["--profile", str(served.whole(graph)), "--store", str(served.folder)]
    where = ["--endpoint", served.urls[graph], *served.login]
    return [*where, "--profile", str(served.reading(graph)), "--store", str(served.folder)]


async def answers(client: Client, about: str, **chosen: str) -> list[Json]:
    """Return what a client gets for the questions about a graph."""
    found = []
    for tool, arguments in QUESTIONS[about]:
        result = await client.call_tool(tool, {**chosen, **arguments})
        assert not result.is_error, result.content
        found.append(dict(result.structured_content or {}))
    return found


def all_complete(found: Sequence[Json]) -> bool:
    return all(answer["comprehensive" if "comprehensive" in answer else "complete"] for answer in found)


# Each wire and each way once: what is behind a way knows of no wire, as tests/server shows of every other graph.
@pytest.mark.parametrize(("wire", "way", "era"), [("stdio", "endpoint", "auto"), ("http", "profile", "legacy")])
async def test_all_six_tools_answer_as_this_process_does_from_the_file(
    served: ServedDatabase, wire: Wire, way: Way, era: ConnectMode
) -> None:
    assert {tool for tool, _ in QUESTIONS["medical"]} == set(BY_TOOL)
    async with (
        asyncio.timeout(SECONDS),
        connected(wire, era, one_graph(served, "medical", way)) as client,
    ):
        assert [tool.name for tool in (await client.list_tools()).tools] == list(BY_TOOL)
        found = await answers(client, "medical")
    assert await served.differences("medical", found) == []
    assert all_complete(found)


async def test_several_graphs_of_a_database_are_served_side_by_side_over_stdio(served: ServedDatabase) -> None:
    # Over HTTP they are in the next test.
    arguments = ["--graphs", str(served.graphs_file())]
    async with asyncio.timeout(SECONDS), connected("stdio", "auto", arguments) as client:
        found = {graph: await answers(client, graph, graph=graph) for graph in GRAPHS}
    for graph in GRAPHS:
        assert await served.differences(graph, found[graph]) == []


@pytest.mark.parametrize("workers", ["1", "2"])
async def test_each_token_sees_its_graphs_of_a_database_and_nobody_sees_one_without(
    served: ServedDatabase, workers: str, tmp_path: Path
) -> None:
    tokens = token_file(tmp_path, f"alice {ALICE} graphs=films", f"bob {BOB}")
    port = free_port()
    command = ["serve", "--graphs", str(served.graphs_file()), "--http", "--port", str(port), "--workers", workers]
    with running(
        [sys.executable, "-m", "gateway", *command, "--token-file", tokens],
        ready_url=f"http://{HOST}:{port}/mcp",
        ready_status=401,
        log=tmp_path / "log",
        cwd=Path.cwd(),
    ):
        async with asyncio.timeout(SECONDS):
            url = f"http://{HOST}:{port}/mcp"
            async with ClientSession() as session, session.post(url, json=INITIALIZE, headers=ACCEPT) as refused:
                assert refused.status == 401
            async with connected_with(url, "auto", f"Bearer {BOB}") as client:
                found = {graph: await answers(client, graph, graph=graph) for graph in GRAPHS}
            async with connected_with(f"{url}/films", "legacy", f"Bearer {ALICE}") as client:
                assert await answers(client, "films") == found["films"]
            async with connected_with(url, "auto", f"Bearer {ALICE}") as client:
                hidden = await client.call_tool("describe_schema", {"graph": "medical"})
            assert hidden.is_error
            assert "There is no graph 'medical'" in str(hidden.content)
    for graph in GRAPHS:
        assert await served.differences(graph, found[graph]) == []


async def test_python_opens_the_same_file_of_graphs(served: ServedDatabase) -> None:
    async with open_graphs(served.graphs_file()) as graphs:
        found = {graph: await answers_of(graphs[graph], graph) for graph in GRAPHS}
    for graph in GRAPHS:
        assert await served.differences(graph, found[graph]) == []
