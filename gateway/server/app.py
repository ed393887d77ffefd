"""The MCP server over a gateway: lists tools, calls them, turns errors into text that a model can act on.

Built on the SDK's low-level server, so that argument names, texts and structured content are ours to the letter
(decision record 0004; docs/notes/mcp.md, "The convenience server").
"""

from __future__ import annotations

import logging
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from mcp.server import Server
from mcp.server.lowlevel import NotificationOptions
from mcp.server.models import InitializationOptions
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    NotificationParams,
    PaginatedRequestParams,
    TextContent,
    Tool,
)

from gateway.engine.answers import ToolAnswer
from gateway.engine.arguments import BY_TOOL
from gateway.engine.presentation.size import compact_json
from gateway.errors import Fault, GatewayError, quoted
from gateway.escaping import printable
from gateway.server import tool_texts as texts
from gateway.server import tools
from gateway.server.calls import Calls
from gateway.server.gateway_opener import GatewayOpener, OpenGateway
from gateway.server.tools_changed import Context, ToolsChangedNotifier
from gateway.telemetry import Tally

_log = logging.getLogger(__name__)

NAME = "bfsql-gateway"
_UNEXPECTED = (
    "This gateway failed in a way it should not; the details are in its log. "
    "Try once more; if it stays, tell whoever runs the gateway."
)


async def build(gateway: OpenGateway) -> Server[dict[str, Any]]:
    """Return the MCP server of a gateway that is open, once its schema is known or cannot be."""
    try:
        await gateway.call("describe_schema", {}, _no_progress)
    except Fault as fault:
        _log.warning("the graph cannot be read now: %s", fault)
    opening = GatewayOpener.over(gateway)
    await opening.gateway(_no_progress)
    return serving(opening)


def serving(opening: GatewayOpener, calls: Calls | None = None) -> Server[dict[str, Any]]:
    """Return the MCP server of a gateway that will be there.

    It answers `initialize` and `tools/list` at once, with what is known, and tells its clients when descriptions have
    changed. Calls wait for the gateway.

    Args:
        opening: The gateway.
        calls: Where calls run; the usual bounds unless given.
    """
    bounded = calls or Calls(opening.profile.limits.deadline_seconds)
    listed = Listed(opening)
    bus = InMemorySubscriptionBus()

    async def list_tools(_context: Context, _params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=listed.tools)

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        return await _called(opening, bounded, context, params)

    server = _Server(
        NAME,
        version=_version(),
        title="BFS-QL gateway",
        instructions=texts.instructions(opening.known_schema(), opening.profile.description),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_subscriptions_listen=ListenHandler(bus),
    )
    notifier = ToolsChangedNotifier(bus)
    server.add_notification_handler("notifications/initialized", NotificationParams, notifier.join)

    def renew() -> None:
        server.instructions = texts.instructions(opening.known_schema(), opening.profile.description)
        if listed.renew():
            notifier.tell()

    opening.on_schema(renew)
    return server


class _Server(Server[dict[str, Any]]):
    """A server that says in the handshake that its tools may change, on every transport."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        options = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(options, experimental_capabilities, extensions)


class Listed:
    """The tools as they are published now.

    Attributes:
        tools: The six, described with what is known of the graph.
    """

    def __init__(self, opening: GatewayOpener) -> None:
        self._opening = opening
        # Made before a load begins, which would make it slower.
        self.tools = self._described()

    def renew(self) -> bool:
        """Describe the tools anew, and return whether what a client may have read has changed."""
        before, self.tools = self.tools, self._described()
        return before != self.tools

    def _described(self) -> list[Tool]:
        return tools.published(self._opening.known_schema(), explain=self._opening.profile.server.explain)


async def _no_progress(done: float, total: float, message: str) -> None:
    """Tell nobody."""


async def _called(
    opening: GatewayOpener, calls: Calls, context: Context, params: CallToolRequestParams
) -> CallToolResult:
    if params.name not in BY_TOOL:
        return _error(f"There is no tool {quoted(params.name)}. The tools are {', '.join(BY_TOOL)}.")

    async def progress(done: float, total: float, message: str) -> None:
        await context.session.report_progress(done, total, message)

    # The gateway records the calls that reach it.
    unrecorded: Tally | None = Tally(params.name)

    async def answered() -> ToolAnswer:
        nonlocal unrecorded
        gateway = await opening.gateway(progress)
        unrecorded = None
        return await gateway.call(params.name, params.arguments or {}, progress)

    try:
        try:
            answer = await calls.run(answered)
        except BaseException as error:
            if unrecorded is not None:
                unrecorded.failed(error)
            raise
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
    return CallToolResult(content=[TextContent(type="text", text=printable(text))], is_error=True)


def _version() -> str:
    try:
        return version(NAME)
    except PackageNotFoundError:
        return "0"
