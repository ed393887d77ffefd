"""The resources of a server: the schema, and each entity."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client, MCPError
from mcp.client.client import ConnectMode
from mcp.shared.uri_template import UriTemplate
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, ReadResourceResult, TextResourceContents

from gateway import resources
from gateway.answers.models import ToolAnswer
from gateway.api import open_gateway
from gateway.errors import ConfigurationError, InputError
from gateway.server.app import build, mcp_server
from gateway.server.calls import ToolCaller
from gateway.server.client import SOLE, Origin
from gateway.server.gateway_opener import GatewayOpener, OnProgress, ignore_progress
from gateway.server.resources import ENTITY_TEMPLATE, read
from gateway.settings.profile import Profile
from gateway.tools.gateway import Gateway
from tests.cases import await_each
from tests.hidden import A, hidden_in, write_hidden_graph

pytestmark = pytest.mark.anyio


@pytest.fixture
async def gateway() -> AsyncIterator[Gateway]:
    async with open_gateway(resources.folder("fixtures") / "medical.ttl") as opened:
        yield opened


def text_of(result: ReadResourceResult) -> str:
    (content,) = result.contents
    assert isinstance(content, TextResourceContents)
    assert content.mime_type == "application/json"
    return content.text


async def test_the_schema_is_a_resource_with_the_answer_of_describe_schema(gateway: Gateway, era: ConnectMode) -> None:
    async with Client(await build(gateway), mode=era) as client:
        (listed,) = (await client.list_resources()).resources
        read = text_of(await client.read_resource(listed.uri))
        answer = await client.call_tool("describe_schema", {})
    assert listed.uri == "bfs-ql://schema"
    assert listed.mime_type == "application/json"
    assert json.loads(read) == answer.structured_content


ENTITIES: Sequence[str] = [
    "bfs-ql://entity/drug%3Awarfarin",
    "bfs-ql://entity/drug:warfarin",
    f"bfs-ql://entity/{quote('https://example.org/medical/drug/warfarin', safe='')}",
    "bfs-ql://entity/https://example.org/medical/drug/warfarin",
    f"bfs-ql://entity/{quote('<https://example.org/medical/drug/warfarin>', safe='')}",
]


async def test_an_entity_is_a_resource_with_the_answer_of_describe_entity(gateway: Gateway, era: ConnectMode) -> None:
    async with Client(await build(gateway), mode=era) as client:
        (template,) = (await client.list_resource_templates()).resource_templates
        answer = await client.call_tool("describe_entity", {"id": "drug:warfarin"})

        async def check(uri: str) -> None:
            assert json.loads(text_of(await client.read_resource(uri))) == answer.structured_content

        await await_each(ENTITIES, check)
    assert template.uri_template == "bfs-ql://entity/{id}"


class AskedCaller(ToolCaller):
    """Remembers what it is asked, and answers nothing."""

    def __init__(self) -> None:
        self.arguments: list[Mapping[str, Any]] = []

    async def answer(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        progress: OnProgress = ignore_progress,  # noqa: ARG002 - the method's shape
        origin: Origin = SOLE,  # noqa: ARG002 - the method's shape
    ) -> ToolAnswer:
        """Remember the arguments."""
        self.arguments.append(arguments)
        raise InputError(f"{tool} is not asked here.")


@given(st.text(st.characters(codec="utf-8"), min_size=1))
def test_any_id_comes_back_from_the_uri_that_a_client_makes_of_the_template(entity_id: str) -> None:
    uri = UriTemplate.parse(ENTITY_TEMPLATE).expand({"id": entity_id})
    caller = AskedCaller()
    with pytest.raises(MCPError):
        asyncio.run(read(uri, caller, ignore_progress))
    assert caller.arguments == [{"id": entity_id}]


WRONG: Sequence[tuple[str, str]] = [
    ("bfs-ql://nothing", "There is no resource 'bfs-ql://nothing'. The resources are bfs-ql://schema and"),
    ("bfs-ql://entity/", "There is no resource"),
    ("bfs-ql://schema/more", "There is no resource"),
    ("bfs-ql://entity/warfarine", "'warfarine' is not an ID"),
    ("bfs-ql://entity/drug%3Awarfarine", "no entity 'drug:warfarine'"),
    ("bfs-ql://entity/https%3A%2F%2Fexample.org%2F%3E%20%7D", "is not an ID"),
    ("file:///etc/passwd", "There is no resource 'file:///etc/passwd'."),
    ("bfs-ql://entity/%FF", "is not an ID"),
]


async def test_a_resource_that_does_not_exist_is_an_error_that_says_what_does(
    gateway: Gateway, era: ConnectMode
) -> None:
    async with Client(await build(gateway), mode=era) as client:

        async def check(case: tuple[str, str]) -> None:
            uri, expected = case
            with pytest.raises(MCPError) as refused:
                await client.read_resource(uri)
            assert refused.value.code == INVALID_PARAMS
            assert expected in refused.value.message
            assert refused.value.data == {"uri": uri}

        await await_each(WRONG, check)


async def test_a_resource_of_a_graph_that_cannot_be_opened_says_so(era: ConnectMode) -> None:
    def fail(_: object) -> Gateway:
        raise ConfigurationError("graph.ttl:3:4: not valid Turtle.")

    async with (
        GatewayOpener(Profile(), fail) as opener,
        Client(mcp_server(opener), mode=era) as client,
    ):
        with pytest.raises(MCPError) as refused:
            await client.read_resource("bfs-ql://schema")
    assert refused.value.code == INTERNAL_ERROR
    assert refused.value.message.startswith("The graph cannot be opened: graph.ttl:3:4: not valid Turtle.")


async def test_resources_have_no_hidden_characters(tmp_path: Path) -> None:
    async with open_gateway(write_hidden_graph(tmp_path)) as gateway, Client(await build(gateway)) as client:
        for uri in ("bfs-ql://schema", f"bfs-ql://entity/{quote(A, safe='')}"):
            assert hidden_in(text_of(await client.read_resource(uri))) == [], uri


async def test_only_what_may_change_is_announced(gateway: Gateway, era: ConnectMode) -> None:
    async with Client(await build(gateway), mode=era) as client:
        capabilities = client.server_capabilities
    assert capabilities is not None
    assert capabilities.tools is not None
    assert capabilities.tools.list_changed is True
    assert capabilities.resources is not None
    assert not capabilities.resources.list_changed
    # Only subscriptions of the era of 2026-07-28 are served.
    assert bool(capabilities.resources.subscribe) is (era == "auto")
    assert capabilities.prompts is not None
    assert not capabilities.prompts.list_changed
    assert capabilities.completions is not None


async def test_a_subscriber_hears_that_the_schema_was_read() -> None:
    gateway = open_gateway(resources.folder("fixtures") / "medical.ttl")
    async with (
        GatewayOpener(gateway.profile, lambda _: gateway) as opener,
        Client(mcp_server(opener)) as client,
        client.listen(resource_subscriptions=["bfs-ql://schema"]) as subscription,
    ):
        opener.start()
        with anyio.fail_after(60):
            event = await anext(aiter(subscription))
    assert getattr(event, "uri", None) == "bfs-ql://schema"
