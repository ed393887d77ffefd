"""The SDK's own start: a low-level server over standard input and output with six tools that do nothing."""

from __future__ import annotations

import asyncio
from typing import Any

from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp_types import ListToolsResult, PaginatedRequestParams, Tool

_SCHEMA = {"type": "object", "properties": {}, "additionalProperties": False}
_TOOLS = [Tool(name=f"tool_{number}", description="Does nothing.", input_schema=_SCHEMA) for number in range(6)]


async def _list(_: ServerRequestContext[Any, Any], __: PaginatedRequestParams | None) -> ListToolsResult:
    return ListToolsResult(tools=_TOOLS)


async def _serve() -> None:
    server: Server[dict[str, Any]] = Server("bare", on_list_tools=_list)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(_serve())
