"""Exports a whole subgraph, or rows: to a file, or to standard output.

The formats need libraries that take longer to import than most answers to print.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gateway.arguments import SearchEntities
from gateway.cli import render
from gateway.cli.graph_source import GraphSource
from gateway.cli.options import CommonOptions
from gateway.cli.own_words import own_words
from gateway.cli.screen import ProgressBar
from gateway.cli.streams import print_note, write_bytes
from gateway.cli.tool_call import RowNotes, for_a_file, row_pages, shown
from gateway.errors import ConfigurationError, counted
from gateway.export.conversions import table_csv
from gateway.export.formats import FORMATS, content_of, format_named, write_file
from gateway.export.subgraph import Subgraph
from gateway.graph.call import Progress
from gateway.settings.paths import local_path
from gateway.tools.answering import drop_record
from gateway.tools.gateway import Gateway
from gateway.tools.whole_subgraph import asks_for_rows, only_rows


def export(
    options: CommonOptions, tool: str, arguments: Mapping[str, Any], format_name: str | None, out: str | None
) -> None:
    """Traverse a graph and write all nodes and edges in a format; say on standard error what was written.

    CSV is the table of rows where values are asked for.

    Raises:
        ConfigurationError: The format is unknown, or cannot hold the subgraph, or the file cannot be written.
        GatewayError: The graph cannot be opened or asked.
    """
    path = None if out is None else local_path(out)
    name = format_named(format_name, path)
    if path is None and not FORMATS[name].is_text and sys.stdout.isatty():
        raise ConfigurationError(f"{name} is no text for a terminal.", next_step="Give a file with --out.")
    if name == "csv" and asks_for_rows(arguments):
        export_rows(options, tool, arguments, path)
        return
    if path is not None:
        _check_folder(path)
    content = content_of(name, guard_formulas=options.guard_formulas)
    with ProgressBar(quiet=options.quiet) as bar:
        # Opened outside the event loop, where Ctrl-C ends a long load at once.
        source = GraphSource(options)
        gateway = source.open_for(tool, arguments, bar.show_load, drop_record)
        subgraph = asyncio.run(_traversed(source, gateway, tool, arguments, bar.show_call))
        bar.show_next(f"Writing {name}")
        if path is None:
            made = content(subgraph)
            bar.stop_for_output()
            write_bytes(made)
            written = "standard output"
        else:
            files = write_file(subgraph, path, name, guard_formulas=options.guard_formulas)
            written = " and ".join(map(str, files))
    if options.quiet:
        return
    _report(subgraph, name, written, has_nodes=path is not None)


def _check_folder(path: Path) -> None:
    """Refuse a file in a folder that is none, before the graph is asked.

    Raises:
        ConfigurationError: It is none.
    """
    if not path.parent.is_dir():
        raise ConfigurationError(f"{path} cannot be written: {path.parent} is no folder.", next_step="Make it first.")


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
        print_note(own_words(note))


def export_rows(options: CommonOptions, tool: str, arguments: Mapping[str, Any], path: Path | None) -> None:
    """Write all rows of an answer as CSV, to a file or to standard output; say on standard error what was written.

    Raises:
        ConfigurationError: The file cannot be written.
        GatewayError: The graph cannot be opened or asked.
    """
    if path is not None:
        _check_folder(path)
    notes, show, cells = RowNotes(), shown(arguments), list[list[Any]]()
    source = GraphSource(options)
    source.profile = for_a_file(source.profile)
    titles: list[str] = []

    async def read(gateway: Gateway, progress: Progress) -> None:
        async for page in row_pages(source, gateway, tool, only_rows(arguments), progress):
            titles[:] = render.row_titles(page, show)
            cells.extend(render.row_cells(page, show))
            notes.add(page)

    with ProgressBar(quiet=options.quiet) as bar:
        gateway = source.open_for(tool, arguments, bar.show_load, drop_record)
        asyncio.run(read(gateway, bar.show_call))
    content = table_csv(titles, cells, guard_formulas=options.guard_formulas).encode()
    if path is None:
        write_bytes(content)
    else:
        try:
            path.write_bytes(content)
        except OSError as error:
            raise ConfigurationError(f"{error.filename or path} cannot be written: {error.strerror}.") from error
    if options.quiet:
        return
    print_note(f"Wrote {notes.summary}, to {path or 'standard output'}.")
    if tool != SearchEntities.tool and arguments.get("edges") is not False:
        print_note("csv leaves out the edges where values are asked for: --format graphml has both.")
    for note in (*notes.said, *notes.warned, *render.not_shown(notes.languages)):
        print_note(own_words(note))
