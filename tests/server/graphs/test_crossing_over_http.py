"""Crossing from one graph of a server to another, as clients with different rights see it."""

from collections.abc import Mapping

import pytest
from mcp.client.client import ConnectMode

from gateway import resources
from gateway.api import open_gateway
from gateway.server.gateway_opener import GatewayOpener
from gateway.server.graphs.graph_set import GraphSet, ServedGraph
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import IdentitySettings
from tests.server.graphs.conftest import connected, gone, served_over_http

pytestmark = pytest.mark.anyio

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
