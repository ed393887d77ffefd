"""All pages of an answer about values, printed as they are read or written as one table."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from gateway.answers.models import BfsResult, IntersectionResult, SearchResult
from gateway.arguments import MAX_HITS, SearchEntities
from gateway.cli import render, rows, subgraph, tsv
from gateway.cli.graph_source import GraphSource
from gateway.cli.options import CommonOptions
from gateway.cli.screen import ProgressBar, Screen, is_terminal, paged
from gateway.cli.streams import line, print_line, print_note, write_bytes
from gateway.cli.tool_call import for_a_person, shown
from gateway.errors import ConfigurationError, EndpointFault, counted
from gateway.export.texts import table_csv
from gateway.graph.call import Progress
from gateway.tools.gateway import Gateway, drop_record
from gateway.tools.whole_subgraph import NODES_A_PAGE, VALUES_INCOMPLETE, notes_of, only_rows

RowPage = SearchResult | BfsResult | IntersectionResult
AskRows = Callable[[Mapping[str, Any]], Awaitable[RowPage]]
"""Answers in rows, with these further arguments."""


async def pages_of_rows(ask: AskRows, most: int, limit: int | None) -> AsyncIterator[RowPage]:
    """Yield the pages of an answer in rows; with a limit, those of the first so many.

    Args:
        ask: Answers with these further arguments.
        most: Rows of a page at most.
        limit: Rows of all pages at most.

    Raises:
        InputError: An argument is wrong.
        Fault: The graph could not be queried, or changed meanwhile.
    """
    found: int | None = None
    place: dict[str, Any] = {}
    while True:
        page = await ask({**place, "limit": most if limit is None else min(most, limit)})
        snapshot = None if isinstance(page, SearchResult) else page.snapshot
        has_changed = not isinstance(page, SearchResult) and page.result_changed
        # How many an incomplete page found says nothing of the graph.
        if has_changed or (page.complete and found not in {None, page.found}):
            raise EndpointFault(
                "The graph changed while its rows were read, so the pages do not fit together.", next_step="Ask again."
            )
        found = page.found if page.complete else found
        limit = None if limit is None else limit - len(page.rows or ())
        is_last = page.next_offset is None or limit == 0
        # What the last row of any other page ties with stands on the next one.
        yield page if is_last else page.model_copy(update={"tied": None})
        if is_last:
            return
        place = {"offset": page.next_offset, **({} if snapshot is None else {"snapshot": snapshot})}


async def _pages(
    source: GraphSource, gateway: Gateway, tool: str, arguments: Mapping[str, Any], progress: Progress
) -> AsyncIterator[RowPage]:
    async def ask(place: Mapping[str, Any]) -> RowPage:
        page = await gateway.call(tool, {**arguments, **place}, progress)
        if not isinstance(page, RowPage):
            raise TypeError(page)
        return page

    async with gateway:
        await source.wait(gateway, tool, arguments, progress)
        most = MAX_HITS if tool == SearchEntities.tool else NODES_A_PAGE
        with gateway.prefixes.one_answer():
            async for page in pages_of_rows(ask, most, arguments.get("limit")):
                yield page


class _Notes:
    """What is said of rows of which all pages were read."""

    def __init__(self) -> None:
        self.count = 0
        self.found = 0
        self.is_complete = True
        self.said: dict[str, None] = {}
        self.warned: dict[str, None] = {}

    def add(self, page: RowPage) -> None:
        """Note what a page says."""
        self.count += len(page.rows or ())
        self.found = page.found or 0
        self.is_complete = self.is_complete and page.complete
        self.said |= dict.fromkeys(rows.said(page))
        if isinstance(page, SearchResult):
            left_out = [VALUES_INCOMPLETE] if page.values_complete is False else []
            self.warned |= dict.fromkeys([*(page.warnings or ()), *left_out])
        else:
            self.said |= dict.fromkeys(subgraph.removed(page))
            self.warned |= dict.fromkeys(notes_of(page))

    @property
    def summary(self) -> str:
        """How many rows there are, and whether these are all that there are in the graph."""
        some = "" if self.count == self.found else f" of {self.found:,}"
        return f"{counted(self.count, 'row')}{some}, {'' if self.is_complete else 'not '}complete"

    def shown(self) -> RenderableType:
        """Return all of it."""
        said = [Text(line(text)) for text in (f"{self.summary}.", *self.said)]
        return render.sections([*said, *map(render.warned, self.warned)])


def print_all_rows(options: CommonOptions, tool: str, arguments: Mapping[str, Any]) -> None:
    """Print all rows of an answer.

    Raises:
        GatewayError: The graph cannot be opened or asked, or changed between two pages.
        BrokenPipeError: Nobody reads on.
    """
    source = GraphSource(options)
    source.profile = for_a_person(source.profile)
    as_text = is_terminal(sys.stdout) if options.as_text is None else options.as_text
    notes, show = _Notes(), shown(arguments)

    async def printed(gateway: Gateway, bar: ProgressBar, screen: Screen) -> None:
        async for page in _pages(source, gateway, tool, arguments, bar.show_call):
            # A pager has the terminal from now on.
            bar.stop()
            if as_text:
                screen.show(render.sections(rows.table(page, show)))
            else:
                found = tsv.columns(page, show=show, guard_formulas=options.guard_formulas)
                titles, *others = ("\t".join(row) for row in found)
                print_line("\n".join(others if notes.count else [titles, *others]))
            notes.add(page)

    with ProgressBar(quiet=options.quiet) as bar:
        gateway = source.open_for(tool, arguments, bar.show_load, drop_record)
        with paged(wanted=as_text and options.pager) as screen:
            asyncio.run(printed(gateway, bar, screen))
            if as_text:
                screen.show(notes.shown())
    if not as_text and not options.quiet:
        Screen(on_stderr=True).show(notes.shown())


def export_rows(options: CommonOptions, tool: str, arguments: Mapping[str, Any], path: Path | None) -> None:
    """Write all rows of an answer as CSV, to a file or to standard output; say on standard error what was written.

    Raises:
        ConfigurationError: The file cannot be written.
        GatewayError: The graph cannot be opened or asked.
    """
    notes, show, cells = _Notes(), shown(arguments), list[list[Any]]()
    source = GraphSource(options)
    source.profile = for_a_person(source.profile)
    titles: list[str] = []

    async def read(gateway: Gateway, progress: Progress) -> None:
        async for page in _pages(source, gateway, tool, only_rows(arguments), progress):
            titles[:] = rows.titles_of(page, show)
            cells.extend(rows.cells_of(page, show))
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
    for note in (*notes.said, *notes.warned):
        print_note(note)
