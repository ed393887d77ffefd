"""One call of a tool: opens the graph, calls the tool, and prints the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from rich.console import RenderableType

from gateway.cli import render, subgraph
from gateway.cli.graph_source import GraphSource
from gateway.cli.options import CommonOptions
from gateway.cli.output import print_json
from gateway.cli.render import print_explained
from gateway.cli.screen import ProgressBar, Screen
from gateway.engine.answers import (
    Answer,
    BfsResult,
    CompactAnswer,
    EntitiesResult,
    Entity,
    IntersectionResult,
    SchemaResult,
    SearchResult,
    ToolAnswer,
)
from gateway.engine.arguments import DescribeSchema, SearchEntities
from gateway.engine.gateway import Gateway
from gateway.errors import GatewayError
from gateway.escaping import json_text
from gateway.graph.call import Progress
from gateway.telemetry.record import Record

_NEEDS: Mapping[str, str] = {SearchEntities.tool: "labels-*.sqlite", DescribeSchema.tool: "schema.json"}
"""What a call waits for that reads a graph in full; see `FileCache`."""

AnyAnswer = TypeVar("AnyAnswer", bound=Answer | CompactAnswer)


def call_tool(options: CommonOptions, tool: str, arguments: Mapping[str, Any], *, whole: bool) -> None:
    """Call a tool and print its answer; with `--explain` print the cost of the call too, also if it fails.

    If `whole`, `describe_schema` waits until the schema is read in full.
    """
    records: list[Record] = []
    wants_schema = tool == DescribeSchema.tool
    source = GraphSource(options)

    async def answer_of(gateway: Gateway, progress: Progress) -> ToolAnswer | CompactAnswer:
        # A person gets the rendering of the reference shape's objects.
        shape = gateway.profile.server.shape if options.as_json else "reference"
        async with gateway:
            # The store needs them complete: the next run then finds names and schema ready.
            if options.graph and (tool == SearchEntities.tool or (wants_schema and options.store is not None)):
                await gateway.wait_until_ready(progress)

            async def ask() -> ToolAnswer | CompactAnswer:
                given = {**arguments, "explain": options.explain}
                return await gateway.call(tool, given, progress, explain=True, shape=shape)

            return await (known_schema(gateway, ask, whole=whole or source.stores_files) if wants_schema else ask())

    try:
        with ProgressBar(quiet=options.as_json) as bar:
            # Opened outside the event loop, where Ctrl-C ends a long load at once.
            gateway = source.open(bar.show_load, records.append, needs=_NEEDS.get(tool, ""))
            answer = asyncio.run(answer_of(gateway, bar.show_call))
        if options.as_json:
            print_json(json_text(answer.as_json()))
        else:
            Screen().show(rendered(answer, arguments))
    finally:
        if options.explain and not options.as_json:
            for record in records:
                print_explained(Screen(), record)


async def known_schema(gateway: Gateway, ask: Callable[[], Awaitable[AnyAnswer]], *, whole: bool) -> AnyAnswer:
    """Return the answer of `ask`, a call of `describe_schema`; if `whole`, after the schema is read in full.

    Raises:
        GatewayError: No type and no predicate could be read; there is nothing to print.
    """
    answer = await ask()
    if whole and not answer.as_json()["comprehensive"]:
        await gateway.wait_for_schema()
        answer = await ask()
    written = answer.as_json()
    if not (written["comprehensive"] or written["entity_types"] or written["predicates"]):
        raise GatewayError("No type or predicate could be read.", valid=" ".join(written.get("warnings", ())))
    return answer


def rendered(answer: Answer | CompactAnswer, arguments: Mapping[str, Any]) -> RenderableType:
    """Return the answer of a tool as a person reads it."""
    match answer:
        case SchemaResult():
            return render.schema(answer)
        case SearchResult():
            return render.search(answer, arguments["query"])
        case BfsResult():
            return subgraph.bfs(answer, arguments.get("offset", 0))
        case IntersectionResult():
            return subgraph.intersection(answer, arguments.get("offset", 0))
        case Entity():
            return render.entity(answer)
        case EntitiesResult():
            return render.entities(answer)
        case _:
            raise TypeError(answer)
