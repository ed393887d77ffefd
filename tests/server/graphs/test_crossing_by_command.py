"""Crossing between two fixture graphs that a file names, by the SDK's client: a server process over both wires."""

import asyncio
import json
from pathlib import Path

import pytest
from mcp.client.client import ConnectMode

from gateway import resources
from tests.server.test_transports import SECONDS, Wire, connected

pytestmark = [pytest.mark.anyio, pytest.mark.server]

PROFILE = """
[prefixes]
owl = "http://www.w3.org/2002/07/owl#"
skos = "http://www.w3.org/2004/02/skos/core#"
v = "https://authors.example.org/terms/"
[identity]
same_as = ["owl:sameAs", "skos:exactMatch"]
[identity.formatters]
"v:shelfMark" = "https://library.example.org/item/$1"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file that names both fixture graphs."""
    authors, library = (
        json.dumps(str(resources.folder("fixtures") / f"{name}.ttl")) for name in ("authors", "library")
    )
    (tmp_path / "authors.toml").write_text(PROFILE, encoding="utf-8")
    path = tmp_path / "graphs.toml"
    path.write_text(
        f'[graphs.authors]\nabout = "Writers."\ngraph = {authors}\nprofile = "authors.toml"\n'
        f'[graphs.library]\nabout = "A library."\ngraph = {library}\n',
        encoding="utf-8",
    )
    return path


async def test_a_link_and_an_identifier_lead_to_nodes_of_the_other_graph(
    wire: Wire, era: ConnectMode, file: Path
) -> None:
    async with asyncio.timeout(SECONDS), connected(wire, era, ["--graphs", str(file)]) as client:
        # Until a graph is open, what it has is in doubt.
        await client.call_tool("describe_schema", {"graph": "library"})
        for start, ends in (("James Joyce", {"lib:b-101", "lib:b-102"}), ("bk:Ulysses", {"lib:p-11", "lib:room-3"})):
            described = await client.call_tool("describe_entity", {"graph": "authors", "id": start})
            entity = described.structured_content or {}
            assert entity["complete"] is True
            crossed = {"graph": "library", "seeds": [entity["also_in"]["library"]], "max_hops": 1}
            answer = (await client.call_tool("bfs_query", crossed)).structured_content or {}
            assert answer["complete"] is True
            reached = {
                node.split(" ")[0] if isinstance(node, str) else next(iter(node)).split(" ")[0]
                for nodes in answer["nodes"].values()
                for node in nodes
            }
            assert reached == {entity["also_in"]["library"], *ends}
