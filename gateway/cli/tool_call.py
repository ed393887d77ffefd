"""A tool called from the command line, and all its pages."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from rich.console import RenderableType

from gateway.answers.models import (
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
from gateway.arguments import BfsQuery, DescribeSchema, IntersectSubgraphs, Show
from gateway.cli import render, subgraph, tsv
from gateway.cli.graph_source import GraphSource
from gateway.cli.options import CommonOptions
from gateway.cli.render import print_explained
from gateway.cli.screen import ProgressBar, Screen, is_terminal, paged
from gateway.cli.streams import print_line
from gateway.errors import GatewayError
from gateway.escaping import json_text
from gateway.graph.call import Progress
from gateway.settings.profile import Profile
from gateway.telemetry.record import Record
from gateway.tools.gateway import Gateway, drop_record
from gateway.tools.whole_subgraph import Traversed

_MAX_TOKENS = 4_000_000
"""Size of an answer for a person, who reads no tokens: some 16 MB, which bounds memory."""

_DEFAULTS: Mapping[str, Mapping[str, Any]] = {tool: {"limit": 500} for tool in (BfsQuery.tool, IntersectSubgraphs.tool)}
"""Arguments for a person who does not give them: nodes on a page."""

AnyAnswer = TypeVar("AnyAnswer", bound=Answer | CompactAnswer)


def call_tool(options: CommonOptions, tool: str, arguments: Mapping[str, Any], *, whole: bool) -> None:
    """Call a tool and print its answer; with `--explain` print the cost of the call too, also if it fails.

    If `whole`, `describe_schema` waits until the schema is read in full.
    """
    records: list[Record] = []
    wants_schema = tool == DescribeSchema.tool
    source = GraphSource(options)
    if not options.as_json:
        source.profile, arguments = for_a_person(source.profile), {**_DEFAULTS.get(tool, {}), **_given(arguments)}

    async def answer_of(gateway: Gateway, progress: Progress) -> ToolAnswer | CompactAnswer:
        # A person gets the rendering of the reference shape's objects.
        shape = gateway.profile.server.shape if options.as_json else "reference"
        async with gateway:
            await source.wait(gateway, tool, arguments, progress)

            async def ask() -> ToolAnswer | CompactAnswer:
                given = {**arguments, "explain": options.explain}
                return await gateway.call(tool, given, progress, explain=True, shape=shape)

            return await (known_schema(gateway, ask, whole=whole or source.stores_files) if wants_schema else ask())

    as_text = is_terminal(sys.stdout) if options.as_text is None else options.as_text
    try:
        with ProgressBar(quiet=options.as_json or options.quiet) as bar:
            # Opened outside the event loop, where Ctrl-C ends a long load at once.
            gateway = source.open_for(tool, arguments, bar.show_load, records.append)
            answer = asyncio.run(answer_of(gateway, bar.show_call))
        if options.as_json:
            print_line(json_text(answer.as_json()))
        elif as_text:
            with paged(wanted=options.pager and not options.explain) as screen:
                screen.show(rendered(answer, arguments))
        else:
            print_columns(answer, arguments, options)
    finally:
        if options.explain and not options.as_json:
            for record in records:
                print_explained(Screen(on_stderr=not as_text), record)


def print_columns(answer: Answer | CompactAnswer, arguments: Mapping[str, Any], options: CommonOptions) -> None:
    """Print the rows of an answer on standard output, and what it says beside them on standard error."""
    rows = tsv.columns(answer, show=shown(arguments), guard_formulas=options.guard_formulas)
    print_line("\n".join("\t".join(row) for row in rows))
    if not options.quiet:
        Screen(on_stderr=True).show(tsv.notes(answer, arguments))


def for_a_person(profile: Profile) -> Profile:
    """Return a profile by which every node has its name, and an answer may be as large as a screen scrolls."""
    size = profile.size.model_copy(update={"max_tokens": _MAX_TOKENS, "ceiling_tokens": _MAX_TOKENS})
    names = profile.names.model_copy(update={"on_stubs": True})
    return profile.model_copy(update={"size": size, "names": names})


def _given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}


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


def shown(arguments: Mapping[str, Any]) -> Show:
    """Return what stands for a node in the rows of an answer."""
    return arguments.get("show") or "both"


def rendered(answer: Answer | CompactAnswer, arguments: Mapping[str, Any]) -> RenderableType:
    """Return the answer of a tool as a person reads it."""
    match answer:
        case SchemaResult():
            return render.schema(answer)
        case SearchResult():
            return render.search(answer, arguments["query"], arguments.get("offset") or 0, shown(arguments))
        case BfsResult():
            return subgraph.bfs(answer, arguments.get("offset") or 0, shown(arguments))
        case IntersectionResult():
            return subgraph.intersection(answer, arguments.get("offset") or 0, shown(arguments))
        case Entity():
            return render.entity(answer)
        case EntitiesResult():
            return render.entities(answer)
        case _:
            raise TypeError(answer)


def print_all(options: CommonOptions, tool: str, arguments: Mapping[str, Any]) -> None:
    """Print all nodes and edges of a traversal.

    Raises:
        GatewayError: The graph cannot be opened or asked, or changed between two pages.
        BrokenPipeError: Nobody reads on.
    """
    source = GraphSource(options)
    source.profile = for_a_person(source.profile)
    as_text = is_terminal(sys.stdout) if options.as_text is None else options.as_text
    with ProgressBar(quiet=options.quiet) as bar:
        gateway = source.open_for(tool, arguments, bar.show_load, drop_record)
        with paged(wanted=as_text and options.pager) as screen:
            guards = options.guard_formulas
            printed = _print_pages(
                source, gateway, tool, arguments, bar, screen if as_text else None, guard_formulas=guards
            )
            notes = asyncio.run(printed)
            if as_text:
                screen.show(notes)
    if not as_text and not options.quiet:
        Screen(on_stderr=True).show(notes)


async def _print_pages(
    source: GraphSource,
    gateway: Gateway,
    tool: str,
    arguments: Mapping[str, Any],
    bar: ProgressBar,
    screen: Screen | None,
    *,
    guard_formulas: bool,
) -> RenderableType:
    """Print the pages on a screen, or without one as columns, and return what is to be said of all together."""
    offset, whole = 0, subgraph.WholeNotes()
    async with gateway:
        await source.wait(gateway, tool, arguments, bar.show_call)
        # A node on one page is an end of edges on others.
        with gateway.prefixes.one_answer():
            async for page in gateway.pages(tool, arguments, bar.show_call):
                # A pager has the terminal from now on.
                bar.stop()
                if screen is not None:
                    screen.show(subgraph.part(page, offset, shown(arguments)))
                else:
                    _print_columns(page, offset, shown(arguments), guard_formulas=guard_formulas)
                offset += len(page.nodes if page.rows is None else page.rows)
                whole.add(page)
    return whole.shown()


def _print_columns(page: Traversed, offset: int, show: Show, *, guard_formulas: bool) -> None:
    titles, *rows = ("\t".join(row) for row in tsv.columns(page, show=show, guard_formulas=guard_formulas))
    lines = rows if offset else [titles, *rows]
    if lines:
        print_line("\n".join(lines))
