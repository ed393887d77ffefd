"""Exports a whole subgraph: to a file, or to standard output."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gateway.cli.graph_source import GraphSource
from gateway.cli.options import CommonOptions
from gateway.cli.row_pages import export_rows
from gateway.cli.screen import ProgressBar
from gateway.cli.streams import print_note, write_bytes
from gateway.errors import ConfigurationError, counted
from gateway.export.formats import FORMATS, content_of, format_named, write_file
from gateway.export.subgraph import Subgraph
from gateway.graph.call import Progress
from gateway.tools.gateway import Gateway, drop_record
from gateway.tools.whole_subgraph import asks_for_rows


def export(
    options: CommonOptions, tool: str, arguments: Mapping[str, Any], format_name: str | None, out: str | None
) -> None:
    """Traverse a graph and write all nodes and edges in a format; say on standard error what was written.

    CSV is the table of rows where values are asked for.

    Raises:
        ConfigurationError: The format is unknown, or cannot hold the subgraph, or the file cannot be written.
        GatewayError: The graph cannot be opened or asked.
    """
    path = None if out is None else Path(out)
    name = format_named(format_name, path)
    if path is None and not FORMATS[name].is_text and sys.stdout.isatty():
        raise ConfigurationError(f"{name} is no text for a terminal.", next_step="Give a file with --out.")
    if name == "csv" and asks_for_rows(arguments):
        export_rows(options, tool, arguments, path)
        return
    content = content_of(name, guard_formulas=options.guard_formulas)
    with ProgressBar(quiet=options.quiet) as bar:
        # Opened outside the event loop, where Ctrl-C ends a long load at once.
        source = GraphSource(options)
        gateway = source.open_for(tool, arguments, bar.show_load, drop_record)
        subgraph = asyncio.run(_traversed(source, gateway, tool, arguments, bar.show_call))
    if path is None:
        write_bytes(content(subgraph))
        written = "standard output"
    else:
        files = write_file(subgraph, path, name, guard_formulas=options.guard_formulas)
        written = " and ".join(map(str, files))
    if options.quiet:
        return
    _report(subgraph, name, written, has_nodes=path is not None)


async def _traversed(
    source: GraphSource, gateway: Gateway, tool: str, arguments: Mapping[str, Any], progress: Progress
) -> Subgraph:
    async with gateway:
        await source.wait(gateway, tool, arguments, progress)
        return await gateway.subgraph(tool, arguments, progress)


def _report(subgraph: Subgraph, name: str, written: str, *, has_nodes: bool) -> None:
    whole = "complete" if subgraph.complete else "not complete"
    nodes, edges = counted(len(subgraph.nodes), "node"), counted(len(subgraph.edges), "edge")
    print_note(f"Wrote {nodes} and {edges}, {whole}, to {written}.")
    lacks = FORMATS[name].lacks
    if lacks and not (name == "csv" and has_nodes):
        print_note(f"{name} leaves out {lacks}.")
    for note in subgraph.notes:
        print_note(note)
