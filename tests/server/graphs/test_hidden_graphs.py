"""A client that may see only some graphs is answered as by a server that has no others, to the byte."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.client.client import ConnectMode
from mcp_types import PromptReference, ResourceTemplateReference

from gateway import resources
from gateway.api import open_gateway
from gateway.server.gateway_opener import GatewayOpener
from gateway.server.graphs.graph_set import CallsByGraph, GraphSet, ServedGraph
from gateway.server.graphs.handlers import server_of_all
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import IdentitySettings
from tests.calls import PATIENT_SERVER
from tests.server.graphs.conftest import connected, served_over_http

pytestmark = pytest.mark.anyio

FILES = {"authors": "authors.ttl", "library": "library.ttl", "films": "films.ttl"}
IDENTITY = IdentitySettings(
    same_as=("http://www.w3.org/2002/07/owl#sameAs", "http://www.w3.org/2004/02/skos/core#exactMatch"),
    formatters={"https://authors.example.org/terms/shelfMark": "https://library.example.org/item/$1"},
)
UNKNOWN = "atlas"

CALLS: Sequence[tuple[str, dict[str, Any]]] = [
    ("describe_schema", {}),
    ("search_entities", {"query": "Joyce"}),
    ("bfs_query", {"seeds": ["https://library.example.org/item/p-11"], "max_hops": 1}),
    ("describe_entity", {"id": "https://authors.example.org/person/Joyce"}),
    ("describe_entities", {"ids": ["https://places.example.org/Dublin", "https://authors.example.org/book/Ulysses"]}),
    ("intersect_subgraphs", {"seeds": ["http://example.org/films/x", "https://places.example.org/Dublin"], "k": 1}),
    ("no_tool", {}),
]


@pytest.fixture
async def all_graphs() -> AsyncIterator[dict[str, ServedGraph]]:
    """All graphs, open."""
    folder = resources.folder("fixtures")
    found = {}
    for name, file in FILES.items():
        gateway = open_gateway(folder / file, profile=Profile(identity=IDENTITY, server=PATIENT_SERVER))
        await gateway.wait_until_ready()
        found[name] = ServedGraph(name, f"The graph {name}.", GatewayOpener.over(gateway))
    yield found
    for graph in found.values():
        await graph.opener.close()


async def everything(client: Client) -> list[str]:
    """Return all that a client is told, whatever it asks."""

    async def told(asking: Any) -> str:
        try:
            return str((await asking).model_dump(mode="json"))
        except MCPError as error:
            return f"error: {error}"

    names = [*FILES, UNKNOWN, ""]
    template = ResourceTemplateReference(type="ref/resource", uri="bfs-ql://{graph}/entity/{id}")
    explore = PromptReference(type="ref/prompt", name="explore")
    answers = [
        str(client.instructions),
        await told(client.list_tools()),
        await told(client.list_resources()),
        await told(client.list_resource_templates()),
        await told(client.list_prompts()),
        await told(client.call_tool("describe_schema", {})),
        await told(client.complete(template, {"name": "graph", "value": ""})),
    ]
    for name in names:
        answers += [await told(client.call_tool(tool, {**given, "graph": name})) for tool, given in CALLS]
        answers += [
            await told(client.read_resource(f"bfs-ql://{name}/schema")),
            await told(client.read_resource(f"bfs-ql://{name}/entity/place%3ADublin")),
            await told(client.get_prompt("explore", {"graph": name, "name": "x"})),
            await told(client.complete(template, {"name": "graph", "value": name[:2]})),
            await told(client.complete(template, {"name": "id", "value": "au:Joyce"}, {"graph": name})),
            await told(client.complete(explore, {"name": "name", "value": "Joyce"}, {"graph": name})),
        ]
    return answers


@pytest.mark.slow
async def test_what_is_hidden_reads_as_if_it_were_not_there(
    all_graphs: dict[str, ServedGraph], era: ConnectMode
) -> None:
    several = GraphSet(list(all_graphs.values()))
    # Those that see one graph each are every pair of a graph that is seen and one that is not.
    subsets = [(), *((name,) for name in FILES), tuple(FILES)]
    async with served_over_http(several, closing=False) as url:
        for seen in subsets:
            alone = GraphSet([all_graphs[name] for name in seen])
            async with Client(server_of_all(alone, CallsByGraph(alone)), mode=era) as client:
                expected = await everything(client)
            async with connected(f"{url}/mcp", era, f"only={','.join(seen)}") as client:
                given = await everything(client)
            assert given == expected, seen
            # A name is repeated only to the client that wrote it.
            listed = " ".join(given[:7])
            assert not [name for name in FILES if name not in seen and f"'{name}'" in listed]
