"""The explorer page as an MCP App: linked for clients that draw Apps, and for no others."""

import pytest
from mcp.client.client import Client, ConnectMode
from mcp.client.extension import advertise
from mcp_types import TextResourceContents

from gateway.api import open_gateway
from gateway.arguments import BY_TOOL
from gateway.resources import explorer_page
from gateway.server.app import build
from gateway.server.graph_app import DRAWN, EXTENSION, MIME_TYPE, URI

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("said", "links"),
    [
        (None, frozenset[str]()),
        ({}, frozenset[str]()),
        ({"mimeTypes": "text/html"}, frozenset[str]()),
        ({"mimeTypes": [MIME_TYPE]}, DRAWN),
    ],
    ids=["a client without Apps", "an extension that names no type", "another type", "a client that draws Apps"],
)
async def test_tools_are_linked_to_the_page_for_clients_that_draw_apps(
    said: dict[str, object] | None, links: frozenset[str], era: ConnectMode
) -> None:
    extensions = [] if said is None else [advertise(EXTENSION, said)]
    async with open_gateway() as gateway, Client(await build(gateway), mode=era, extensions=extensions) as client:
        tools = (await client.list_tools()).tools
        linked = {tool.name for tool in tools if (tool.meta or {}).get("ui") == {"resourceUri": URI}}
        listed = {str(resource.uri) for resource in (await client.list_resources()).resources}
    assert {tool.name for tool in tools} == set(BY_TOOL)
    assert linked == links
    assert (URI in listed) == bool(links)


async def test_the_page_is_read_as_it_was_built() -> None:
    async with open_gateway() as gateway, Client(await build(gateway)) as client:
        (content,) = (await client.read_resource(URI)).contents
    assert isinstance(content, TextResourceContents)
    assert (content.mime_type, content.text) == (MIME_TYPE, explorer_page().read_text(encoding="utf-8"))
