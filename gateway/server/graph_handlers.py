"""The MCP handlers of a server of several graphs.

The list stays as short as that of one graph (docs/graphs.md, "The list of tools"): an argument that two tools share is
described in one of them, and the lines about the graphs are cut to the room that is left.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from mcp.server import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
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
    PromptArgument,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    ResourceTemplateReference,
    TextContent,
    Tool,
)

from gateway import PROGRAM
from gateway.answers.models import CompactAnswer
from gateway.arguments import BY_TOOL, BfsQuery, DescribeSchema, IntersectSubgraphs, parse
from gateway.errors import GatewayError, InputError, quoted
from gateway.escaping import json_text, printable
from gateway.server import prompts, resources
from gateway.server.app import AnnouncingServer, error_result, package_version, progress_of, result_of
from gateway.server.calls import ToolCaller
from gateway.server.client import Client, Context, origin_of
from gateway.server.graph_set import ARGUMENT, CallsByGraph, GraphSet, ServedGraph
from gateway.server.prompts import Completer
from gateway.server.resources import ENTITY_TEMPLATE, SCHEMA_URI, no_such_resource, read
from gateway.server.tools import published
from gateway.settings.profile import ServerSettings, ShapeName
from gateway.terms.names import cut

Json = dict[str, Any]

ROOM = 1_100
"""Characters that the names and lines of all graphs may add to the list of tools."""

_SHORTEST_LINE = 24
"""Characters of a line below which it says nothing."""

_LIST = "Leave it out to list the graphs"

_NOT_HERE = ", unless bfs_query's description lists types and predicates"
"""What the description of one graph's tool says of a schema that stands in none here."""

INSTRUCTIONS = (
    "This server answers questions from several knowledge graphs, each with IDs of its own. Every tool takes graph; "
    "describe_schema without it says what each graph is about. Where an ID is wanted, an exact name will do if one "
    "entity alone has it; search_entities finds the others. Never make an ID up. describe_entity shows what is known "
    "about a node and which predicates lead on from it: often that is the answer. also_in has its ID in other graphs: "
    "ask there with that. Follow a relation with bfs_query and only_predicates: the whole neighborhood of a node "
    "costs many times as much. intersect_subgraphs finds what several entities share, and entities that are known "
    "only by their relations. complete=true means that nothing was cut, so an absence is a fact of the graph; when "
    "it is false, say so in what you conclude."
)


@lru_cache(maxsize=64)
def published_for(graphs: tuple[tuple[str, str], ...], shape: ShapeName, *, explain: bool) -> Sequence[Tool]:
    """Return the tools for a client that may see some graphs, each a name and a line about it."""
    tools = published(None, shape, explain=explain)
    named: Json = {"type": "string", "enum": [name for name, _ in graphs]}
    unnamed: Json = {"type": "string"}
    # Names stand in each tool, or in the first alone, or in none.
    wide = next((many for many in (len(tools), 1) if many * len(_written(named)) <= ROOM // 2), 0)
    room = ROOM - wide * len(_written(named)) - (len(tools) - wide) * len(_written(unnamed))
    for position, tool in enumerate(tools):
        argument = dict(named if graphs and position < wide else unnamed)
        if tool.name == DescribeSchema.tool:
            argument["description"] = f"{_LIST}{_lines(graphs, room - len(_LIST))}."
        _take_graph(tool, argument)
    _shorten(tools)
    return tools


def _take_graph(tool: Tool, argument: Json) -> None:
    """Let a tool take the argument; it is required except where its absence asks for the graphs."""
    schema = tool.input_schema
    schema["properties"] = {ARGUMENT: argument, **schema["properties"]}
    if tool.name != DescribeSchema.tool:
        schema["required"] = [ARGUMENT, *schema.get("required", ())]
        return
    answer: Json = tool.output_schema or {}
    properties = {
        "graphs": {"type": "object", "description": "Without graph: {name: line}."},
        "unavailable": {"type": "object"},
    }
    # The fields of a schema are absent where the graphs are listed.
    tool.output_schema = {**answer, "properties": {**properties, **answer["properties"]}, "required": ["complete"]}


def _shorten(tools: Sequence[Tool]) -> None:
    """Describe an argument that two tools share in one of them: the other says that it is the same."""
    by_name = {tool.name: tool for tool in tools}
    described = by_name[BfsQuery.tool].input_schema["properties"]
    for name, argument in by_name[IntersectSubgraphs.tool].input_schema["properties"].items():
        if described.get(name) == argument:
            argument.pop("description", None)
    first = by_name[DescribeSchema.tool]
    first.description = (first.description or "").replace(_NOT_HERE, "")


def _lines(graphs: Sequence[tuple[str, str]], room: int) -> str:
    """Return the lines about graphs, each cut to its share of the room; nothing where the room is too small."""
    if not graphs:
        return ""
    share = room // len(graphs) - max(len(name) for name, _ in graphs) - len("; : ")
    if share < _SHORTEST_LINE:
        return ""
    return ". " + "; ".join(f"{name}: {cut(line.rstrip('.'), share)}" for name, line in graphs)


def _written(schema: Json) -> str:
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":"))


_ARGUMENT = PromptArgument(name=ARGUMENT, description="Which graph.", required=True)

PROMPTS = [
    prompt.model_copy(update={"arguments": [_ARGUMENT, *(prompt.arguments or ())]}) for prompt in prompts.PROMPTS
]


def prompt_result(name: str, given: Mapping[str, str], graphs: GraphSet, client: Client | None) -> GetPromptResult:
    """Return a prompt with its arguments filled in.

    Raises:
        MCPError: There is no such prompt, an argument is wrong, or there is no such graph that the client may see.
    """
    try:
        graph = graphs.find(given.get(ARGUMENT), client)
    except InputError as error:
        raise MCPError(INVALID_PARAMS, printable(str(error))) from error
    result = prompts.prompt_result(name, {key: text for key, text in given.items() if key != ARGUMENT})
    for message in result.messages:
        if isinstance(message.content, TextContent):
            message.content.text += f"\nGive each tool the argument {ARGUMENT}={json_text(graph.name)}."
    return result


__all__ = ["TEMPLATES", "inside", "of_one", "read", "schema_of"]

_SCHEME = "bfs-ql://"
_TEMPLATE = f"{_SCHEME}{{{ARGUMENT}}}/{ENTITY_TEMPLATE.removeprefix(_SCHEME)}"
_KINDS = tuple(uri.removeprefix(_SCHEME).split("/")[0] for uri in (SCHEMA_URI, ENTITY_TEMPLATE))

TEMPLATES: list[ResourceTemplate] = [
    template.model_copy(update={"uri_template": _TEMPLATE, "title": "An entity of a graph"})
    for template in resources.TEMPLATES
]


def schema_of(graph: ServedGraph) -> Resource:
    """Return the resource of a graph's schema, which its operator's line describes."""
    (one,) = resources.RESOURCES
    named = {"uri": _uri(graph, SCHEMA_URI), "name": f"{graph.name} schema", "title": f"Schema of {graph.name}"}
    return one.model_copy(update={**named, "description": f"{graph.about} {one.description}"})


def inside(uri: str, graphs: GraphSet, client: Client | None) -> tuple[ServedGraph, str]:
    """Return the graph that a URI names, and the URI of the same resource in a server of that graph alone.

    Raises:
        MCPError: It names no resource of a graph that the client may see.
    """
    name, _, rest = uri.removeprefix(_SCHEME).partition("/")
    if not uri.startswith(_SCHEME) or rest.split("/")[0] not in _KINDS:
        raise no_such_resource(uri, f"There is no resource {quoted(uri)}. One is {_TEMPLATE}.")
    try:
        return graphs.find(name, client), _SCHEME + rest
    except InputError as error:
        raise no_such_resource(uri, str(error)) from error


def of_one(params: CompleteRequestParams) -> CompleteRequestParams:
    """Return what a server of one graph would be asked to complete."""
    if isinstance(params.ref, ResourceTemplateReference) and params.ref.uri == _TEMPLATE:
        return params.model_copy(update={"ref": params.ref.model_copy(update={"uri": ENTITY_TEMPLATE})})
    return params


def _uri(graph: ServedGraph, uri: str) -> str:
    return f"{_SCHEME}{graph.name}/{uri.removeprefix(_SCHEME)}"


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
        return ListToolsResult(tools=resources.linked(tools, context))

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
        schemas = [schema_of(graph) for graph in self._visible(context)]
        return ListResourcesResult(resources=[*schemas, *resources.app_resources(context)])

    async def list_resource_templates(
        self, _context: Context, _params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=TEMPLATES)

    async def read_resource(self, context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        if params.uri == resources.APP_URI:
            return resources.app_page()
        origin = origin_of(context)
        graph, uri = inside(params.uri, self._graphs, origin.authenticated)
        return await read(uri, self._callers[graph.name], progress_of(context), origin, asked=params.uri)

    async def list_prompts(self, _context: Context, _params: PaginatedRequestParams | None) -> ListPromptsResult:
        return ListPromptsResult(prompts=PROMPTS)

    async def get_prompt(self, context: Context, params: GetPromptRequestParams) -> GetPromptResult:
        return prompt_result(params.name, params.arguments or {}, self._graphs, origin_of(context).authenticated)

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
        return await self._completers[graph.name].complete(of_one(params), origin)

    def _visible(self, context: Context) -> list[ServedGraph]:
        return list(self._graphs.visible(origin_of(context).authenticated))
