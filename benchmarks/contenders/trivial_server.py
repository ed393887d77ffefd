"""Servers of the SDK alone, over HTTP, with one tool that returns one answer whatever it is asked.

`python -m benchmarks.contenders.trivial_server PORT FILE` serves the answer in a JSON file by a decorated function;
`... PORT FILE --low-level` by a handler of the low-level server.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import uvicorn
from mcp.server import Server, ServerRequestContext
from mcp.server.mcpserver import MCPServer
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)
from starlette.applications import Starlette

from tests.servers.loopback import HOST

NAME = "trivial"


def _decorated(answer: dict[str, Any]) -> Starlette:
    server = MCPServer(NAME)

    @server.tool()
    def trivial(question: str) -> dict[str, Any]:
        """Return the answer."""
        del question
        return answer

    return server.streamable_http_app()


def _low_level(answer: dict[str, Any]) -> Starlette:
    async def call(_: ServerRequestContext[Any, Any], __: CallToolRequestParams) -> CallToolResult:
        return CallToolResult(content=[TextContent(text=json.dumps(answer))], structured_content=answer)

    async def tools(_: ServerRequestContext[Any, Any], __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[Tool(name=NAME, input_schema={"type": "object"})])

    server: Server[dict[str, Any]] = Server(NAME, on_call_tool=call, on_list_tools=tools)
    return server.streamable_http_app()


def main() -> None:
    """Serve until the process is ended."""
    port, file, *how = sys.argv[1:]
    answer: dict[str, Any] = json.loads(Path(file).read_text(encoding="utf-8"))
    uvicorn.run((_low_level if how else _decorated)(answer), host=HOST, port=int(port), log_config=None)


if __name__ == "__main__":
    main()
