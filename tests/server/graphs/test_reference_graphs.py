"""Three reference graphs in one server process, by the SDK's client: both ways of serving, both wires, both eras."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.client import ConnectMode

from tests.servers.loopback import HOST, free_port, listening
from tests.shared_data import shared_data

pytestmark = [pytest.mark.anyio, pytest.mark.server, pytest.mark.large, pytest.mark.data]

SECONDS = 240
"""How long anything here may take before it counts as hung; wd50k is parsed meanwhile."""

FILES = {"medlit": "medlit.ttl.gz", "movies": "movies.ttl.gz", "wd50k": "wd50k.nt.gz"}

QUESTIONS: list[tuple[str, str, dict[str, Any], tuple[int, int]]] = [
    ("medlit", "bfs_query", {"seeds": ["RxNorm:3251"], "max_hops": 2}, (84, 99)),
    ("medlit", "intersect_subgraphs", {"seeds": ["RxNorm:3251", "MeSH:D003480"], "k": 2}, (70, 97)),
    ("movies", "intersect_subgraphs", {"seeds": ["person:Tom_Hanks", "person:Meg_Ryan"], "k": 2}, (16, 18)),
    ("wd50k", "bfs_query", {"seeds": ["wd:Q83338"], "max_hops": 1}, (78, 91)),
    ("wd50k", "bfs_query", {"seeds": ["wd:Q1025401"], "max_hops": 2}, (130, 153)),
]
"""Questions with the numbers of nodes and edges in `../shared/data`, which were counted without the gateway."""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that names the three graphs, and parsed files that all tests share."""
    folder = tmp_path_factory.mktemp("graphs")
    lines = []
    for name, graph in FILES.items():
        profile = "wikidata-local" if name == "wd50k" else "local"
        lines += [f"[graphs.{name}]", f'about = "The graph {name}."', f"graph = {json.dumps(str(shared_data(graph)))}"]
        lines += [f'profile = "{profile}"', 'store = "stored"', f"limits = {{ deadline_seconds = {SECONDS} }}"]
    path = folder / "graphs.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@asynccontextmanager
async def clients(way: Literal["argument", "path"], wire: str, era: ConnectMode, file: Path) -> AsyncIterator[Any]:
    """Start a server process, and yield a function that calls a tool about a graph."""
    command = ["-m", "gateway", "serve", "--graphs", str(file)]
    async with AsyncExitStack() as stack:
        if wire == "stdio":
            parameters = StdioServerParameters(command=sys.executable, args=command)
            one = await stack.enter_async_context(Client(parameters, mode=era))
            by_name = dict.fromkeys(FILES, one)
        else:
            port = free_port()
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, *command, "--http", "--port", str(port), "--graphs-by", way),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
            )
            stack.push_async_callback(_ended, process)
            await listening(port)
            url = f"http://{HOST}:{port}/mcp"
            if way == "argument":
                by_name = dict.fromkeys(FILES, await stack.enter_async_context(Client(url, mode=era)))
            else:
                by_name = {name: await stack.enter_async_context(Client(f"{url}/{name}", mode=era)) for name in FILES}

        async def call(graph: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
            chosen = {"graph": graph} if way == "argument" else {}
            result = await by_name[graph].call_tool(tool, {**chosen, **arguments})
            assert not result.is_error, result.content
            answer: dict[str, Any] = result.structured_content or {}
            return answer

        yield call


async def _ended(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.terminate()
    await asyncio.wait_for(process.wait(), SECONDS)


@pytest.mark.parametrize(("way", "wire"), [("argument", "stdio"), ("argument", "http"), ("path", "http")])
async def test_three_graphs_answer_as_their_known_answers_say(
    way: Literal["argument", "path"], wire: str, era: ConnectMode, file: Path
) -> None:
    async with asyncio.timeout(SECONDS), clients(way, wire, era, file) as call:
        for graph, tool, arguments, expected in QUESTIONS:
            answer = await call(graph, tool, {**arguments, "topology_only": True})
            assert (answer["node_count"], answer["edge_count"]) == expected, (graph, arguments)
            assert answer["complete"] is True
        found = await call("movies", "search_entities", {"query": "Tom Hanks"})
        described = await call("medlit", "describe_entity", {"id": "MeSH:D003480"})
    assert found["result"][0][0].startswith("person:Tom_Hanks")
    assert described["entity_type"] == "m:disease"
