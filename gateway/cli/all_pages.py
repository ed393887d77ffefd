"""Prints a whole traversal, page after page as they are read: it may be larger than memory should hold twice."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from typing import Any

from rich.console import RenderableType

from gateway.cli import subgraph, tsv
from gateway.cli.graph_source import GraphSource
from gateway.cli.options import CommonOptions
from gateway.cli.pager import paged
from gateway.cli.screen import ProgressBar, Screen, is_terminal
from gateway.cli.standard_streams import print_line
from gateway.cli.tool_call import for_a_person
from gateway.engine.gateway import Gateway, drop_record
from gateway.engine.whole_subgraph import Traversed


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
                    screen.show(subgraph.part(page, offset))
                else:
                    _print_columns(page, offset, guard_formulas=guard_formulas)
                offset += len(page.nodes)
                whole.add(page)
    return whole.shown()


def _print_columns(page: Traversed, offset: int, *, guard_formulas: bool) -> None:
    titles, *rows = ("\t".join(row) for row in tsv.columns(page, guard_formulas=guard_formulas))
    lines = rows if offset else [titles, *rows]
    if lines:
        print_line("\n".join(lines))
