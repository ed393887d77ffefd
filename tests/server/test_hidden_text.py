"""A graph whose every text hides, reorders or controls text: what the tools make of it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp_types import TextContent

from gateway.api import open_gateway
from gateway.server.app import build
from gateway.settings.profile import Profile, ServerSettings
from tests.hidden import ABSENT, HIDDEN, IN_IRIS, IN_LITERALS, NAME, A, B, X, hidden_in, write_hidden_graph

CALLS: Sequence[tuple[str, dict[str, Any]]] = [
    ("describe_schema", {}),
    ("search_entities", {"query": f"start{HIDDEN[5]}end"}),
    ("bfs_query", {"seeds": [A], "max_hops": 2, "max_tokens": 1_000}),
    ("bfs_query", {"seeds": [A, ABSENT], "max_hops": 1, "topology_only": True}),
    ("describe_entity", {"id": A}),
    ("describe_entities", {"ids": [A, B, ABSENT], "max_tokens": 300}),
    ("intersect_subgraphs", {"seeds": [A, B], "k": 2, "via": True}),
]
WRONG: Sequence[tuple[str, dict[str, Any]]] = [
    (f"tool{IN_LITERALS}", {}),
    ("describe_schema", {f"name{IN_LITERALS}": 1}),
    ("search_entities", {"query": "\u202e\x9b"}),
    ("search_entities", {"query": "start", "node_types": [f"{NAME}?"]}),
    ("bfs_query", {"seeds": [IN_LITERALS], "max_hops": 1}),
    ("bfs_query", {"seeds": [ABSENT], "max_hops": 1}),
    ("bfs_query", {"seeds": [A], "max_hops": IN_LITERALS}),
    ("bfs_query", {"seeds": [A], "max_hops": 1, "exclude_node_types": [f"{NAME}?"]}),
    ("describe_entity", {"id": f"{X}start{IN_IRIS}"}),
]


@pytest.mark.anyio
@pytest.mark.parametrize("explain", [False, True])
async def test_no_text_of_a_tool_has_a_hidden_character_and_its_json_is_what_the_structure_says(
    tmp_path: Path, explain: bool
) -> None:
    profile = Profile(server=ServerSettings(explain=explain))
    async with (
        open_gateway(write_hidden_graph(tmp_path), profile=profile) as gateway,
        Client(await build(gateway)) as client,
    ):
        for tool, arguments in CALLS:
            result = await client.call_tool(tool, {**arguments, **({"explain": True} if explain else {})})
            (content,) = result.content
            assert isinstance(content, TextContent)
            assert hidden_in(content.text) == [], tool
            assert json.loads(content.text) == result.structured_content, tool
            most = arguments.get("max_tokens", 8_000) * 4
            assert len(content.text.encode()) <= most, tool
        for tool, arguments in WRONG:
            result = await client.call_tool(tool, arguments)
            (content,) = result.content
            assert isinstance(content, TextContent)
            assert result.is_error, tool
            assert hidden_in(content.text) == [], tool
