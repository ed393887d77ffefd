"""What may stand in anything that a model reads."""

import json
import re
from typing import Any, Final

from mcp import Client
from mcp_types import CallToolResult

from tests.fuzz.hostile import CANARY
from tests.hidden import hidden_in

_CURIE: Final = re.compile(r"[A-Za-z][A-Za-z0-9._-]*:[A-Za-z0-9._-]+")
_MOST_OF_A_CURIE: Final = 80
_MOST_OF_AN_ERROR: Final = 4_000
_LEAST_BYTES: Final = 4_096
"""An answer that holds nothing but what it must may be as long, whatever `max_tokens`."""


def wrong_with(result: CallToolResult, max_tokens: int) -> list[str]:
    """Return what is wrong with a tool result: hidden characters, its size, or two shapes that differ.

    Args:
        result: The result as a client got it.
        max_tokens: The size that was asked for; a token is 4 bytes.
    """
    text = "".join(getattr(content, "text", "") for content in result.content)
    problems = [f"shows U+{ord(one):04X}" for one in sorted(set(hidden_in(text)))]
    if result.is_error:
        return problems + ([f"an error of {len(text)} characters"] if len(text) > _MOST_OF_AN_ERROR else [])
    if len(text.encode()) > max(4 * max_tokens, _LEAST_BYTES):
        problems.append(f"{len(text.encode())} bytes for max_tokens {max_tokens}")
    if json.loads(text) != result.structured_content:
        problems.append("the text is not the structured content")
    return problems


async def wrong_with_texts(client: Client) -> list[str]:
    """Return what stands in instructions and descriptions that is text of the graph, and no plain CURIE."""
    tools = (await client.list_tools()).tools
    texts = [
        client.instructions or "",
        *(tool.description or "" for tool in tools),
        *(tool.title or "" for tool in tools),
    ]
    problems: list[str] = []
    for text in texts:
        if not text.isascii() or not text.isprintable():
            problems.append(f"not plain ASCII: {ascii(text)[:200]}")
        for word in re.split(r"[\s,;()]+", text):
            bare = word.rstrip(".")
            if CANARY in word.lower() and not (_CURIE.fullmatch(bare) and len(bare) <= _MOST_OF_A_CURIE):
                problems.append(f"text of the graph: {word[:200]!r}")
    return problems


async def called(client: Client, tool: str, arguments: dict[str, Any]) -> list[str]:
    """Call a tool and return what is wrong with the result, with the call."""
    result = await client.call_tool(tool, arguments)
    given = arguments.get("max_tokens")
    tokens = given if isinstance(given, int) and not isinstance(given, bool) else 12_000
    failed = ["fails with a defect"] if "This gateway has a defect" in str(result.content) else []
    return [f"{tool}({str(arguments)[:300]}): {problem}" for problem in failed + wrong_with(result, tokens)]
