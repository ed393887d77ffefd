"""The fuzzer: a few rounds of each target, and what it finds in a result."""

import json
import random
from typing import Any

import pytest
from mcp import Client
from mcp.server import Server
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool

from tests.fuzz.hostile import CANARY
from tests.fuzz.targets import TARGETS, wrong_with, wrong_with_texts

pytestmark = pytest.mark.anyio


# A few rounds of each fuzz target


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("number", range(4))
async def test_hostile_input_does_no_harm(target: str, number: int) -> None:
    assert await TARGETS[target](random.Random(f"7 {target} {number}")) == []  # noqa: S311 - seeded


# The fuzzer is worth as much as what it finds in a result


def result(content: dict[str, Any], text: str = "", *, is_error: bool = False) -> CallToolResult:
    shown = [TextContent(type="text", text=text or json.dumps(content))]
    return CallToolResult(content=shown, structured_content=content, is_error=is_error)


@pytest.mark.parametrize(
    ("shown", "problems"),
    [
        (result({"complete": True}), 0),
        (result({"name": "x"}, '{"name": "x\u202e"}'), 2),
        (result({"name": "x" * 5_000}), 1),
        (result({"name": "x"}, '{"name": "y"}'), 1),
        (result({}, "x" * 5_000, is_error=True), 1),
    ],
    ids=["harmless", "a hidden character", "too large", "two shapes that differ", "a long error"],
)
def test_what_may_not_stand_in_a_result_is_found(shown: CallToolResult, problems: int) -> None:
    assert len(wrong_with(shown, max_tokens=200)) == problems


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        (f"Its types include x:{CANARY}.", 0),
        (f"Its types include {CANARY} and others.", 1),
        (f"Its types include x:{CANARY}{'y' * 80}.", 1),
        ("Its types include x:caf\u00e9.", 1),
    ],
    ids=["a CURIE", "a name", "a long CURIE", "not ASCII"],
)
@pytest.mark.parametrize("place", ["instructions", "description", "title"])
async def test_text_of_the_graph_in_what_a_server_says_of_itself_is_found(place: str, text: str, problems: int) -> None:
    said = {"instructions": "", "description": "", "title": "", place: text}

    async def list_tools(*_: Any) -> ListToolsResult:
        tool = Tool(name="t", title=said["title"], description=said["description"], input_schema={"type": "object"})
        return ListToolsResult(tools=[tool])

    server = Server("s", instructions=said["instructions"], on_list_tools=list_tools)
    async with Client(server) as client:
        assert len(await wrong_with_texts(client)) == problems
