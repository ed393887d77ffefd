"""The MCP server of one graph, and the versions of the protocol.

It uses the low-level server of the SDK, because the convenience server changes argument names, texts and structured
content (decision record 0004; docs/notes/mcp.md, "The convenience server").
"""

from __future__ import annotations

import logging
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from mcp.server import Server
from mcp.server.lowlevel import NotificationOptions
from mcp.server.models import InitializationOptions
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    CompleteRequestParams,
    CompleteResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    NotificationParams,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    ServerCapabilities,
    TextContent,
    Tool,
)

from gateway import PROGRAM
from gateway.answers.models import CompactAnswer, ToolAnswer
from gateway.arguments import BY_TOOL
from gateway.errors import Fault, GatewayError, quoted
from gateway.escaping import json_text, printable
from gateway.server import prompts, resources, tools
from gateway.server.calls import Calls, OthersOf, ToolCaller
from gateway.server.client import Context, origin_of
from gateway.server.gateway_opener import GatewayOpener, OnProgress, ignore_progress
from gateway.server.prompts import Completer
from gateway.server.resources import ChangeNotifier
from gateway.settings.profile import ShapeName, with_shape

if TYPE_CHECKING:
    from gateway.tools.gateway import Gateway


class AnnouncingServer(Server[dict[str, Any]]):
    """A server that announces what may change: the list of tools, and nothing else."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """Return the options of a session; the list of tools may change."""
        options = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(options, experimental_capabilities, extensions)

    def get_capabilities(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
        *,
        protocol_version: str | None = None,
    ) -> ServerCapabilities:
        """Return what clients are told; the lists of prompts and of resources do not change."""
        announced = super().get_capabilities(
            notification_options, experimental_capabilities, extensions, protocol_version=protocol_version
        )
        # The SDK announces a change of every list where a client can subscribe to any.
        for capability in (announced.prompts, announced.resources):
            if capability is not None:
                capability.list_changed = False
        return announced


def result_of(answer: ToolAnswer | CompactAnswer) -> CallToolResult:
    """Return the result of a call: the answer as text and as structured content, which are the same."""
    written = answer.as_json()
    return CallToolResult(content=[TextContent(type="text", text=json_text(written))], structured_content=written)


def error_result(text: str) -> CallToolResult:
    """Return the result of a call that failed."""
    return CallToolResult(content=[TextContent(type="text", text=printable(text))], is_error=True)


def progress_of(context: Context) -> OnProgress:
    """Return a function that reports progress to the client of a request.

    What the client sees never falls, as the protocol demands: stages that are counted apart, such as the names of a
    graph and the hops of a traversal, follow each other.
    """
    before = last = 0.0

    async def report(done: float, total: float, message: str) -> None:
        nonlocal before, last
        if before + done < last:
            before = last
        last = before + done
        await context.session.report_progress(last, before + total, message)

    return report


def package_version() -> str:
    """Return the version of this package; 0 in a checkout that is not installed."""
    try:
        return version(PROGRAM)
    except PackageNotFoundError:
        return "0"


_log = logging.getLogger(__name__)

LIST_SECONDS = 1.0
"""How long a client waits for the list of tools at most, if the schema is not read yet."""


async def build(gateway: Gateway, shape: ShapeName | None = None) -> Server[dict[str, Any]]:
    """Return the MCP server of an open gateway, after the schema was read or could not be read.

    `shape` is that of its answers; by default the profile's.
    """
    try:
        await gateway.call("describe_schema", {}, ignore_progress)
    except Fault as fault:
        _log.warning("the graph cannot be read now: %s", fault)
    opener = GatewayOpener(with_shape(gateway.profile, shape), lambda _: gateway)
    await opener.gateway(ignore_progress)
    return mcp_server(opener)


def mcp_server(
    opener: GatewayOpener,
    calls: Calls | None = None,
    *,
    list_seconds: float = LIST_SECONDS,
    others: OthersOf | None = None,
) -> Server[dict[str, Any]]:
    """Return the MCP server of a gateway that may still be opening.

    It answers `initialize` at once, with as much of the schema as is known, and notifies its clients when the
    descriptions of the tools change. `tools/list` waits a moment for the schema, because some clients list only once.
    Calls wait for the gateway.

    Args:
        opener: The gateway.
        calls: Limits the calls that run at once; by default as many as `Calls` allows.
        list_seconds: How long `tools/list` waits at most.
        others: Returns the other graphs of the server that a client may see; None where it has one graph.
    """
    caller = ToolCaller(opener, calls or Calls(opener.profile.limits.deadline_seconds), others)
    bus = InMemorySubscriptionBus()
    handlers = _Handlers(opener, caller, list_seconds)
    server = AnnouncingServer(
        PROGRAM,
        version=package_version(),
        title="BFS-QL gateway",
        instructions=_instructions(opener),
        get_tool_input_schema=handlers.input_schema,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_resource_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
        on_completion=handlers.complete,
        on_subscriptions_listen=ListenHandler(bus),
    )
    notifier = ChangeNotifier(bus)
    server.add_notification_handler("notifications/initialized", NotificationParams, notifier.add)

    def update() -> None:
        server.instructions = _instructions(opener)
        notifier.resource_updated(resources.SCHEMA_URI)
        if handlers.describe_tools():
            notifier.tools_changed()

    opener.on_schema(update)
    return server


class _Handlers:
    """Answers the requests of clients."""

    def __init__(self, opener: GatewayOpener, caller: ToolCaller, list_seconds: float) -> None:
        self._opener = opener
        self._caller = caller
        self._list_seconds = list_seconds
        self._completer = Completer(caller, opener.profile.server.completion_seconds)
        # Described before a load begins, because both would compete for the interpreter.
        self._tools = self._described()

    def describe_tools(self) -> bool:
        """Describe the tools as far as the schema is known now, and return whether that changed anything."""
        before, self._tools = self._tools, self._described()
        return self._tools != before

    def _described(self) -> list[Tool]:
        server = self._opener.profile.server
        return tools.published(self._opener.known_schema(), server.shape, explain=server.explain)

    def input_schema(self, tool: str) -> dict[str, Any] | None:
        """Return the schema of a tool's arguments; the SDK would list the tools for it, and so wait."""
        return next((each.input_schema for each in self._tools if each.name == tool), None)

    async def list_tools(self, context: Context, _params: PaginatedRequestParams | None) -> ListToolsResult:
        if tools.may_list_schema_later(self._opener.known_schema()):
            await self._opener.wait_for_schema(self._list_seconds)
        return ListToolsResult(tools=resources.linked(self._tools, context))

    async def call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        if params.name not in BY_TOOL:
            return error_result(f"There is no tool {quoted(params.name)}. The tools are {', '.join(BY_TOOL)}.")
        try:
            answer = await self._caller.answer(
                params.name, params.arguments or {}, progress_of(context), origin_of(context)
            )
        except GatewayError as error:
            return error_result(str(error))
        return result_of(answer)

    async def list_resources(self, context: Context, _params: PaginatedRequestParams | None) -> ListResourcesResult:
        return ListResourcesResult(resources=[*resources.RESOURCES, *resources.app_resources(context)])

    async def list_resource_templates(
        self, _context: Context, _params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=resources.TEMPLATES)

    async def read_resource(self, context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        if params.uri == resources.APP_URI:
            return resources.app_page()
        return await resources.read(params.uri, self._caller, progress_of(context), origin_of(context))

    async def list_prompts(self, _context: Context, _params: PaginatedRequestParams | None) -> ListPromptsResult:
        return ListPromptsResult(prompts=prompts.PROMPTS)

    async def get_prompt(self, _context: Context, params: GetPromptRequestParams) -> GetPromptResult:
        return prompts.prompt_result(params.name, params.arguments or {})

    async def complete(self, context: Context, params: CompleteRequestParams) -> CompleteResult:
        return await self._completer.complete(params, origin_of(context))


def _instructions(opener: GatewayOpener) -> str:
    return tools.instructions(opener.known_schema(), opener.profile.description)
