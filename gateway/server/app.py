"""The MCP server of a gateway: lists the tools, calls them, and returns errors as text that a model can act on.

It uses the low-level server of the SDK, because the convenience server changes argument names, texts and structured
content (decision record 0004; docs/notes/mcp.md, "The convenience server").
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server import Server, ServerRequestContext
from mcp.server.lowlevel import NotificationOptions
from mcp.server.models import InitializationOptions
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, SubscriptionBus, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    NotificationParams,
    PaginatedRequestParams,
    TextContent,
    Tool,
)

from gateway import PROGRAM
from gateway.engine.answers import CompactAnswer, ToolAnswer
from gateway.engine.arguments import BY_TOOL
from gateway.errors import Fault, GatewayError, quoted
from gateway.escaping import json_text, printable
from gateway.server import tool_texts, tools
from gateway.server.calls import Calls
from gateway.server.gateway_opener import GatewayOpener
from gateway.telemetry.tally import Tally

if TYPE_CHECKING:
    from gateway.engine.gateway import Gateway

_log = logging.getLogger(__name__)

_UNEXPECTED = (
    "This gateway has a defect; the details are in its log. Try once more. If it fails again, tell the operator of the "
    "gateway."
)


async def build(gateway: Gateway) -> Server[dict[str, Any]]:
    """Return the MCP server of an open gateway, after the schema was read or could not be read."""
    try:
        await gateway.call("describe_schema", {}, _no_progress)
    except Fault as fault:
        _log.warning("the graph cannot be read now: %s", fault)
    opener = GatewayOpener.over(gateway)
    await opener.gateway(_no_progress)
    return mcp_server(opener)


def mcp_server(opener: GatewayOpener, calls: Calls | None = None) -> Server[dict[str, Any]]:
    """Return the MCP server of a gateway that may still be opening.

    It answers `initialize` and `tools/list` at once, with as much of the schema as is known, and notifies its clients
    when the descriptions of the tools change. Calls wait for the gateway.

    `calls` limits the calls that run at once; by default as many as `Calls` allows.
    """
    limited = calls or Calls(opener.profile.limits.deadline_seconds)
    # Described before a load begins, because both would compete for the interpreter.
    published = _published(opener)
    bus = InMemorySubscriptionBus()

    async def list_tools(_context: Context, _params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=published)

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        return await _call_tool(opener, limited, context, params)

    server = _Server(
        PROGRAM,
        version=_version(),
        title="BFS-QL gateway",
        instructions=tool_texts.instructions(opener.known_schema(), opener.profile.description),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_subscriptions_listen=ListenHandler(bus),
    )
    notifier = ToolsChangedNotifier(bus)
    server.add_notification_handler("notifications/initialized", NotificationParams, notifier.add)

    def update() -> None:
        nonlocal published
        server.instructions = tool_texts.instructions(opener.known_schema(), opener.profile.description)
        before, published = published, _published(opener)
        if published != before:
            notifier.notify()

    opener.on_schema(update)
    return server


class _Server(Server[dict[str, Any]]):
    """A server that announces in the handshake, on every transport, that its list of tools may change."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        options = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(options, experimental_capabilities, extensions)


def _published(opener: GatewayOpener) -> list[Tool]:
    """Return the tools, described as far as the schema is known now."""
    server = opener.profile.server
    return tools.published(opener.known_schema(), server.shape, explain=server.explain)


async def _no_progress(done: float, total: float, message: str) -> None:
    """Report to nobody."""


async def _call_tool(
    opener: GatewayOpener, calls: Calls, context: Context, params: CallToolRequestParams
) -> CallToolResult:
    if params.name not in BY_TOOL:
        return _error(f"There is no tool {quoted(params.name)}. The tools are {', '.join(BY_TOOL)}.")

    async def progress(done: float, total: float, message: str) -> None:
        await context.session.report_progress(done, total, message)

    # The gateway records the calls that reach it; this records the others.
    unrecorded: Tally | None = Tally(params.name)

    async def answered() -> ToolAnswer | CompactAnswer:
        nonlocal unrecorded
        gateway = await opener.gateway(progress)
        unrecorded = None
        return await gateway.call(params.name, params.arguments or {}, progress, shape=gateway.profile.server.shape)

    try:
        try:
            answer = await calls.run(answered)
        except BaseException as error:
            if unrecorded is not None:
                unrecorded.failed(error)
            raise
    except GatewayError as error:
        # Not logged above debugging: the text quotes the caller, and the record of the call has the class of the error.
        _log.debug("%s: %s", params.name, error)
        return _error(str(error))
    except Exception:  # noqa: BLE001 - a defect must not reach a model as silence or as a traceback
        _log.exception("%s failed", params.name)
        return _error(_UNEXPECTED)
    written = answer.as_json()
    return CallToolResult(
        content=[TextContent(type="text", text=json_text(written))],
        structured_content=written,
    )


def _error(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=printable(text))], is_error=True)


def _version() -> str:
    try:
        return version(PROGRAM)
    except PackageNotFoundError:
        return "0"


Context = ServerRequestContext[dict[str, Any], Any]

_MOST_SESSIONS = 1_000
"""The oldest are dropped: the SDK does not report the end of a session."""

_SECONDS = 5.0
"""For one client, which may have stopped reading."""


class ToolsChangedNotifier:
    """Sends `tools/list_changed` to all clients; the bus reaches those of the era of 2026-07-28, which subscribe."""

    def __init__(self, bus: SubscriptionBus) -> None:
        self._bus = bus
        self._sessions: deque[ServerSession] = deque(maxlen=_MOST_SESSIONS)
        self._tasks: set[asyncio.Task[None]] = set()

    async def add(self, context: Context, _params: NotificationParams) -> None:
        """Add the session of a client of the handshake era, which is ready now."""
        self._sessions.append(context.session)

    def notify(self) -> None:
        """Notify all clients, in the background."""
        task = asyncio.get_running_loop().create_task(self._notify())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _notify(self) -> None:
        await self._bus.publish(ToolsListChanged())
        for session in list(self._sessions):
            with anyio.move_on_after(_SECONDS) as scope:
                try:
                    await session.send_tool_list_changed()
                except (anyio.BrokenResourceError, anyio.ClosedResourceError, MCPError) as error:
                    _log.debug("a client went away: %r", error)
                    self._remove(session)
            if scope.cancelled_caught:
                self._remove(session)

    def _remove(self, session: ServerSession) -> None:
        # Two notifications at once may find the same client gone.
        with suppress(ValueError):
            self._sessions.remove(session)
