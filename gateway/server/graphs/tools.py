"""The six tools of a server of several graphs: each takes `graph`, and no description says what a graph has.

The list stays as short as that of one graph (docs/graphs.md, "The list of tools"): an argument that two tools share is
described in one of them, and the lines about the graphs are cut to the room that is left.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from mcp_types import Tool

from gateway.engine.arguments import BfsQuery, DescribeSchema, IntersectSubgraphs
from gateway.server.graphs.graph_set import ARGUMENT
from gateway.server.tools import published
from gateway.settings.profile import ShapeName
from gateway.terms.words import cut

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
