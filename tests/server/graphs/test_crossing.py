"""Crossing from one graph of a server to another: by the SDK's client over both wires, and with different rights."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from mcp.client.client import ConnectMode

from gateway import expand, resources
from gateway.api import open_gateway
from gateway.server.gateway_opener import GatewayOpener
from gateway.server.graph_set import GraphSet, ServedGraph
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import IdentitySettings
from tests.server.graphs.conftest import connected, gone, served_over_http
from tests.server.test_transports import SECONDS, Wire
from tests.server.test_transports import connected as connected_over

pytestmark = pytest.mark.anyio

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


@pytest.mark.server
async def test_a_link_and_an_identifier_lead_to_nodes_of_the_other_graph(
    wire: Wire, era: ConnectMode, file: Path
) -> None:
    async with asyncio.timeout(SECONDS), connected_over(wire, era, ["--graphs", str(file)]) as client:
        # Until a graph is open, what it has is in doubt.
        await client.call_tool("describe_schema", {"graph": "library"})
        for start, ends in (("James Joyce", {"lib:b-101", "lib:b-102"}), ("bk:Ulysses", {"lib:p-11", "lib:room-3"})):
            described = await client.call_tool("describe_entity", {"graph": "authors", "id": start})
            entity = described.structured_content or {}
            assert entity["complete"] is True
            crossed = {"graph": "library", "seeds": [entity["also_in"]["library"]], "max_hops": 1}
            answer = (await client.call_tool("bfs_query", crossed)).structured_content or {}
            assert answer["complete"] is True
            reached = {node["id"] for node in expand(answer)["nodes"]}
            assert reached == {entity["also_in"]["library"], *ends}


IDENTITY = IdentitySettings(
    same_as=("http://www.w3.org/2002/07/owl#sameAs",),
    formatters={"https://authors.example.org/terms/shelfMark": "https://library.example.org/item/$1"},
)


def served(name: str, file: str, profile: Profile) -> ServedGraph:
    source = resources.folder("fixtures") / file
    return ServedGraph(name, name, GatewayOpener(profile, lambda _: open_gateway(source, profile=profile)))


def linked(*more: ServedGraph) -> GraphSet:
    """Return both fixture graphs; `films` is the one that the client `one` may see."""
    return GraphSet(
        [
            served("films", "authors.ttl", Profile(identity=IDENTITY)),
            served("library", "library.ttl", Profile()),
            *more,
        ]
    )


async def test_an_id_of_one_graph_leads_to_the_other_in_both_ways_of_serving(era: ConnectMode) -> None:
    async with served_over_http(linked()) as url:
        for path, arguments in (("/mcp", {"graph": "films"}), ("/mcp/films", {})):
            async with connected(url + path, era) as client:
                described = (
                    await client.call_tool("describe_entity", {**arguments, "id": "bk:Ulysses"})
                ).structured_content
            assert (described or {})["also_in"] == {"library": "lib:b-101"}
            assert (described or {})["complete"] is True
        async with connected(f"{url}/mcp", era) as client:
            answer = await client.call_tool("bfs_query", {"graph": "library", "seeds": ["lib:b-101"], "max_hops": 1})
    assert not answer.is_error
    assert "lib:p-11" in str(answer.structured_content)


async def test_a_client_hears_nothing_of_a_graph_that_it_may_not_see(era: ConnectMode) -> None:
    calls: list[tuple[str, Mapping[str, object]]] = [
        ("describe_entity", {"id": "au:Joyce"}),
        ("describe_entities", {"ids": ["au:Joyce", "bk:Ulysses", "place:Dublin"]}),
    ]
    async with served_over_http(linked()) as url:
        for tool, arguments in calls:
            # Whoever may see both asks first, so that an answer could be stored.
            for token, is_seen in (("all", True), ("one", False), ("all", True)):
                async with connected(f"{url}/mcp/films", era, token) as client:
                    answer = (await client.call_tool(tool, dict(arguments))).structured_content or {}
                assert ("also_in" in str(answer)) is is_seen
                assert answer["complete"] is True


async def test_a_graph_that_cannot_be_opened_is_said_to_be_in_doubt(era: ConnectMode) -> None:
    broken = ServedGraph("gone", "Gone.", GatewayOpener(Profile(), gone))  # type: ignore[arg-type]
    async with served_over_http(linked(broken)) as url, connected(f"{url}/mcp/films", era) as client:
        answer = (await client.call_tool("describe_entity", {"id": "au:Joyce"})).structured_content or {}
    assert answer["also_in"] == {"library": "lib:p-11"}
    assert answer["complete"] is False
    assert "whether the graph gone has au:Joyce could not be found out" in answer["warnings"][0]
