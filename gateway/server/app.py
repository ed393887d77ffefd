"""The MCP server over a gateway: lists tools, calls them, turns errors into text that a model can act on.

Built on the SDK's low-level server, so that argument names, texts and structured content are ours to the letter
(decision record 0004; traps of the convenience server: field notes, ``mcp.md`` 1.4).
"""

from __future__ import annotations

import logging
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from mcp.server import Server, ServerRequestContext
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)

from gateway.engine.arguments import BY_TOOL
from gateway.engine.gateway import Gateway
from gateway.engine.size import compact_json
from gateway.errors import Fault, GatewayError, quoted
from gateway.server import texts, tools

_log = logging.getLogger(__name__)

NAME = "bfsql-gateway"
_UNEXPECTED = (
    "This gateway failed in a way it should not; the details are in its log. "
    "Try once more; if it stays, tell whoever runs the gateway."
)

Context = ServerRequestContext[dict[str, Any], Any]


async def build(gateway: Gateway) -> Server[dict[str, Any]]:
    """Return the MCP server of a gateway, its texts written for the gateway's graph.

    The schema is read first, within the time the profile gives it; a graph that cannot be read now is served
    all the same, and its calls say what is wrong.
    """
    try:
        schema = await gateway.describe_schema()
    except Fault as fault:
        _log.warning("the graph cannot be read now: %s", fault)
        schema = None
    listed = tools.published(schema, explain=gateway.profile.server.explain)

    async def list_tools(_context: Context, _params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=listed)

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        return await _called(gateway, context, params)

    return Server(
        NAME,
        version=_version(),
        title="BFS-QL gateway",
        instructions=texts.instructions(schema),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def _called(gateway: Gateway, context: Context, params: CallToolRequestParams) -> CallToolResult:
    if params.name not in BY_TOOL:
        return _error(f"There is no tool {quoted(params.name)}. The tools are {', '.join(BY_TOOL)}.")

    async def progress(done: int, total: int, message: str) -> None:
        await context.session.report_progress(done, total, message)

    try:
        answer = await gateway.call(params.name, params.arguments or {}, progress)
    except GatewayError as error:
        # The text repeats what the caller wrote; that the call failed, and how, is in the record of the call.
        _log.debug("%s: %s", params.name, error)
        return _error(str(error))
    except Exception:  # noqa: BLE001 - the one place where everything is caught
        # The server's edge: whatever else happens must not reach a model as silence or as a traceback.
        _log.exception("%s failed", params.name)
        return _error(_UNEXPECTED)
    written = answer.as_json()
    return CallToolResult(
        content=[TextContent(type="text", text=compact_json(written))],
        structured_content=written,
    )


def _error(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)


def _version() -> str:
    try:
        return version(NAME)
    except PackageNotFoundError:
        return "0"
