"""The MCP server whose tools take `graph`: what one client may see decides what it is told."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from mcp.server import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
)

from gateway import PROGRAM
from gateway.engine.answers import CompactAnswer
from gateway.engine.arguments import BY_TOOL, DescribeSchema, parse
from gateway.errors import GatewayError, InputError, quoted
from gateway.server import graph_app
from gateway.server.completions import Completer
from gateway.server.graphs import prompts, resources
from gateway.server.graphs.graph_set import ARGUMENT, CallsByGraph, GraphSet, ServedGraph
from gateway.server.graphs.tools import INSTRUCTIONS, published_for
from gateway.server.origin import Context, origin_of
from gateway.server.protocol import AnnouncingServer, error_result, package_version, progress_of, result_of
from gateway.server.tool_caller import ToolCaller
from gateway.settings.profile import ServerSettings

_NEXT_STEPS = "Call describe_schema with the graph that the question is about."


def server_of_all(graphs: GraphSet, calls: CallsByGraph) -> Server[dict[str, Any]]:
    """Return the MCP server of all graphs: one, whose tools take `graph`."""
    bus = InMemorySubscriptionBus()
    handlers = _Handlers(graphs, calls)
    return AnnouncingServer(
        PROGRAM,
        version=package_version(),
        title="BFS-QL gateway",
        instructions=INSTRUCTIONS,
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


class _Handlers:
    """Answers the requests of clients."""

    def __init__(self, graphs: GraphSet, calls: CallsByGraph) -> None:
        self._graphs = graphs
        self._callers = {
            graph.name: ToolCaller(graph.opener, calls.of(graph), partial(graphs.others, graph)) for graph in graphs.all
        }
        self._completers = {
            graph.name: Completer(self._callers[graph.name], graph.opener.profile.server.completion_seconds)
            for graph in graphs.all
        }
        settings = [graph.opener.profile.server for graph in graphs.all]
        # A tool has one schema of answers, and graphs that disagree would break it.
        shapes = {each.shape for each in settings}
        self._settings = ServerSettings(
            shape=shapes.pop() if len(shapes) == 1 else "compact", explain=any(each.explain for each in settings)
        )

    def input_schema(self, tool: str) -> Mapping[str, Any] | None:
        """Return the schema of a tool's arguments, which no client reads here."""
        listed = published_for((), self._settings.shape, explain=self._settings.explain)
        return next((each.input_schema for each in listed if each.name == tool), None)

    async def list_tools(self, context: Context, _params: PaginatedRequestParams | None) -> ListToolsResult:
        seen = tuple((graph.name, graph.about) for graph in self._visible(context))
        tools = published_for(seen, self._settings.shape, explain=self._settings.explain)
        return ListToolsResult(tools=graph_app.linked(tools, context))

    async def call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        if params.name not in BY_TOOL:
            return error_result(f"There is no tool {quoted(params.name)}. The tools are {', '.join(BY_TOOL)}.")
        arguments = dict(params.arguments or {})
        name = arguments.pop(ARGUMENT, None)
        try:
            if params.name == DescribeSchema.tool and not name:
                parse(DescribeSchema, arguments, explain=self._settings.explain)
                return result_of(self._listed(context))
            origin = origin_of(context)
            graph = self._graphs.find(name, origin.authenticated)
            answer = await self._callers[graph.name].answer(params.name, arguments, progress_of(context), origin)
        except GatewayError as error:
            return error_result(str(error))
        return result_of(answer)

    def _listed(self, context: Context) -> CompactAnswer:
        """Return the graphs that a client may see, and which of them could not be opened."""
        graphs = self._visible(context)
        failures = {graph.name: graph.opener.failure for graph in graphs}
        unavailable = {name: str(failure) for name, failure in failures.items() if failure is not None}
        written: dict[str, Any] = {
            "complete": True,
            "graphs": {graph.name: graph.about for graph in graphs},
            **({"unavailable": unavailable} if unavailable else {}),
            "next_steps": _NEXT_STEPS if graphs else "You may see no graph: ask the operator of this gateway.",
        }
        return CompactAnswer(written)

    async def list_resources(self, context: Context, _params: PaginatedRequestParams | None) -> ListResourcesResult:
        schemas = [resources.schema_of(graph) for graph in self._visible(context)]
        return ListResourcesResult(resources=[*schemas, *graph_app.resources(context)])

    async def list_resource_templates(
        self, _context: Context, _params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=resources.TEMPLATES)

    async def read_resource(self, context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        if params.uri == graph_app.URI:
            return graph_app.read()
        origin = origin_of(context)
        graph, uri = resources.inside(params.uri, self._graphs, origin.authenticated)
        return await resources.read(uri, self._callers[graph.name], progress_of(context), origin, asked=params.uri)

    async def list_prompts(self, _context: Context, _params: PaginatedRequestParams | None) -> ListPromptsResult:
        return ListPromptsResult(prompts=prompts.PROMPTS)

    async def get_prompt(self, context: Context, params: GetPromptRequestParams) -> GetPromptResult:
        return prompts.prompt_result(
            params.name, params.arguments or {}, self._graphs, origin_of(context).authenticated
        )

    async def complete(self, context: Context, params: CompleteRequestParams) -> CompleteResult:
        origin = origin_of(context)
        if params.argument.name == ARGUMENT:
            names = [graph.name for graph in self._visible(context)]
            return CompleteResult(
                completion=Completion(values=[name for name in names if name.startswith(params.argument.value)])
            )
        chosen = (params.context.arguments or {}).get(ARGUMENT) if params.context is not None else None
        try:
            graph = self._graphs.find(chosen, origin.authenticated)
        except InputError:
            return CompleteResult(completion=Completion(values=[]))
        return await self._completers[graph.name].complete(resources.of_one(params), origin)

    def _visible(self, context: Context) -> list[ServedGraph]:
        return list(self._graphs.visible(origin_of(context).authenticated))
