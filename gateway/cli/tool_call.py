"""One call of a tool: opens the graph, calls the tool, and prints the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

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
    EntitiesResult,
    Entity,
    IntersectionResult,
    SchemaResult,
    SearchResult,
)
from gateway.engine.arguments import DescribeSchema, SearchEntities
from gateway.engine.gateway import Gateway
from gateway.errors import GatewayError
from gateway.escaping import json_text
from gateway.graph.call import Progress
from gateway.telemetry.record import Record


def call_tool(options: CommonOptions, tool: str, arguments: Mapping[str, Any], *, whole: bool) -> None:
    """Call a tool and print its answer; with `--explain` print the cost of the call too, also if it fails.

    If `whole`, `describe_schema` waits until the schema is read in full.
    """
    records: list[Record] = []

    async def answer_of(gateway: Gateway, progress: Progress) -> Answer:
        async with gateway:
            # The store needs them complete: the next run then finds names and schema ready.
            if tool in {DescribeSchema.tool, SearchEntities.tool} and options.graph and options.store is not None:
                await gateway.wait_until_ready(progress)
            if tool == DescribeSchema.tool:
                return await known_schema(gateway, arguments, explain=options.explain, whole=whole)
            return await gateway.call(tool, {**arguments, "explain": options.explain}, progress, explain=True)

    try:
        with ProgressBar(quiet=options.as_json) as bar:
            # Opened outside the event loop, where Ctrl-C ends a long load at once.
            gateway = GraphSource(options).open(bar.show_load, records.append)
            answer = asyncio.run(answer_of(gateway, bar.show_call))
        if options.as_json:
            print_json(json_text(answer.as_json()))
        else:
            Screen().show(rendered(answer, arguments))
    finally:
        if options.explain and not options.as_json:
            for record in records:
                print_explained(Screen(), record)


async def known_schema(gateway: Gateway, arguments: Mapping[str, Any], *, explain: bool, whole: bool) -> SchemaResult:
    """Return the schema; if `whole`, after it is read in full.

    Raises:
        GatewayError: No type and no predicate could be read; there is nothing to print.
    """
    answer = await gateway.describe_schema(**arguments, explain=explain)
    if whole and not answer.comprehensive:
        await gateway.wait_for_schema()
        answer = await gateway.describe_schema(**arguments, explain=explain)
    if not (answer.comprehensive or answer.entity_types or answer.predicates):
        raise GatewayError("No type or predicate could be read.", valid=" ".join(answer.warnings or ()))
    return answer


def rendered(answer: Answer, arguments: Mapping[str, Any]) -> RenderableType:
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
