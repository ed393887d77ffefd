"""A tool called from the command line: its answer, or all of its pages."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from rich.console import RenderableType
from rich.text import Text

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
from gateway.arguments import (
    MAX_HITS,
    MAX_IDS,
    MAX_QUERIES,
    BfsQuery,
    DescribeEntities,
    DescribeSchema,
    IntersectSubgraphs,
    SearchEntities,
    TraversalShow,
)
from gateway.cli import render, subgraph, subgraph_notes, tsv
from gateway.cli.edges_said import EdgesSaid, how_edges_are_said
from gateway.cli.graph_source import GraphSource
from gateway.cli.next_step import print_after
from gateway.cli.options import CommonOptions
from gateway.cli.render import print_explained
from gateway.cli.screen import ProgressBar, Screen, is_terminal, paged
from gateway.cli.streams import line, print_line
from gateway.errors import Fault, GatewayError, InputError, counted
from gateway.escaping import json_text
from gateway.graph.call import Progress, no_progress
from gateway.settings.profile import Profile, ShapeName
from gateway.telemetry.record import Record
from gateway.tools.answering import drop_record
from gateway.tools.gateway import Gateway
from gateway.tools.row_pages import RowPage, pages_of_rows
from gateway.tools.whole_subgraph import NODES_A_PAGE, notes_of

_MAX_TOKENS = 4_000_000
"""Size of an answer for people and programs, who read no tokens: some 16 MB, which bounds memory."""

_DEFAULTS: Mapping[str, Mapping[str, Any]] = {tool: {"limit": 500} for tool in (BfsQuery.tool, IntersectSubgraphs.tool)}
"""Arguments for people and programs that do not give them: nodes on a page."""

_FEW = 3
"""Calls, and reasons, that the error of several calls tells."""

AnyAnswer = TypeVar("AnyAnswer", bound=Answer | CompactAnswer)


def call_tool(options: CommonOptions, tool: str, arguments: Mapping[str, Any], *, whole: bool) -> None:
    """Call a tool and print its answer; with `--explain` print the cost of the call too, also if it fails.

    More IDs or names than one call takes are several calls, whose answers are printed as they come. If `whole`,
    `describe_schema` waits until the schema is read in full.

    Raises:
        GatewayError: The graph cannot be opened or asked, or an argument is wrong; of several calls, after all of them.
            Some of several entities could not be described, which is told after the others.
    """
    records: list[Record] = []
    source = GraphSource(options)
    is_for_a_model = options.as_json and options.shape == "compact"
    if not is_for_a_model:
        source.profile, arguments = for_a_person(source.profile), {**_DEFAULTS.get(tool, {}), **_given(arguments)}
    shape: ShapeName = "compact" if is_for_a_model else "reference"
    as_text = _is_text(options)

    last: list[tuple[Answer | CompactAnswer, Mapping[str, Any]]] = []
    failed: dict[int, Fault | InputError] = {}
    missing: list[str] = []

    async def print_answers(gateway: Gateway, bar: ProgressBar, stack: contextlib.ExitStack) -> None:
        screen: Screen | None = None
        async with gateway:
            await source.wait(gateway, tool, arguments, bar.show_call)
            calls = _calls(arguments)

            async def answer_to(asked: Mapping[str, Any], place: int) -> ToolAnswer | CompactAnswer:
                return await answer_of(gateway, asked, no_progress if place else bar.show_call)

            async for place, asked, answer in _each_answer(calls, answer_to, failed):
                edges_said = await how_edges_are_said(gateway, answer) if as_text else EdgesSaid()
                bar.stop_for_output()
                await bar.show_call(place + 1, len(calls), f"{place + 1} of {counted(len(calls), 'call')}")
                if as_text and screen is None:
                    screen = stack.enter_context(paged(wanted=options.pager and not options.explain))
                _print_answer(answer, asked, options, screen, edges_said, has_titles=not last)
                last[:] = [(answer, asked)]
                missing.extend(_missing(answer))

    async def answer_of(gateway: Gateway, asked: Mapping[str, Any], progress: Progress) -> ToolAnswer | CompactAnswer:
        async def ask() -> ToolAnswer | CompactAnswer:
            return await _ask(gateway, tool, asked, options, progress, shape)

        is_schema = tool == DescribeSchema.tool
        return await (known_schema(gateway, ask, progress, whole=whole or source.stores_files) if is_schema else ask())

    try:
        with ProgressBar(quiet=options.quiet) as bar, contextlib.ExitStack() as stack:
            # Opened outside the event loop, where Ctrl-C ends a long load at once.
            gateway = source.open_for(tool, arguments, bar.show_load, records.append)
            asyncio.run(print_answers(gateway, bar, stack))
    finally:
        for record in records if options.explain and not options.as_json else ():
            print_explained(Screen(on_stderr=not as_text), record)
    _raise_of_calls(failed, _calls(arguments))
    _raise_of_missing(missing, arguments)
    for answer, asked in last if as_text else ():
        print_after(answer, asked, shown(asked), options)


async def _ask(
    gateway: Gateway,
    tool: str,
    arguments: Mapping[str, Any],
    options: CommonOptions,
    progress: Progress,
    shape: ShapeName,
) -> ToolAnswer | CompactAnswer:
    # What a model reads, and what a call costs, is of one call.
    is_of_one_call = options.explain or (options.as_json and options.shape == "compact")
    if tool == DescribeEntities.tool and not is_of_one_call:
        # In batches, in which any number of names that mean nothing spoils no other.
        return await gateway.describe_entities(**arguments)
    return await gateway.call(tool, {**arguments, "explain": options.explain}, progress, explain=True, shape=shape)


def _missing(answer: Answer | CompactAnswer) -> Iterator[str]:
    """Yield the IDs of which an answer about several entities says that it has no description."""
    if isinstance(answer, EntitiesResult):
        yield from answer.not_found
        yield from answer.failed or ()


def _raise_of_missing(missing: Sequence[str], arguments: Mapping[str, Any]) -> None:
    if missing:
        raise GatewayError(f"{counted(len(missing), 'ID')} of {len(arguments['ids']):,} could not be described.")


def _is_text(options: CommonOptions) -> bool:
    if options.as_json:
        return False
    return is_terminal(sys.stdout) if options.as_text is None else options.as_text


def _calls(arguments: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the arguments of one call, or those of several where one takes fewer IDs or names."""
    for name, most in (("ids", MAX_IDS), ("queries", MAX_QUERIES)):
        given: Sequence[str] = arguments.get(name) or ()
        if len(given) > most:
            return [{**arguments, name: given[start : start + most]} for start in range(0, len(given), most)]
    return [arguments]


async def _each_answer(
    calls: Sequence[Mapping[str, Any]],
    ask: Callable[[Mapping[str, Any], int], Awaitable[AnyAnswer]],
    failed: dict[int, Fault | InputError],
) -> AsyncIterator[tuple[int, Mapping[str, Any], AnyAnswer]]:
    """Yield the place, the arguments and the answer of each call; what fails of several calls is put in `failed`."""
    for place, asked in enumerate(calls):
        try:
            answer = await ask(asked, place)
        except (Fault, InputError) as error:
            if len(calls) == 1:
                raise
            failed[place] = error
        else:
            yield place, asked, answer


def _raise_of_calls(failed: Mapping[int, Fault | InputError], calls: Sequence[Mapping[str, Any]]) -> None:
    """Raise the error of several calls of which some failed: which, and why; each reason once."""
    if not failed:
        return
    name = "ids" if calls[0].get("ids") else "queries"
    noun, most = ("IDs", MAX_IDS) if name == "ids" else ("Names", MAX_QUERIES)
    reasons: dict[str, list[str]] = {}
    for place, error in failed.items():
        first = place * most + 1
        reasons.setdefault(str(error), []).append(f"{first:,} to {first + len(calls[place][name]) - 1:,}")
    told = [f"{noun} {', '.join(places[:_FEW])}{_more(places)}: {text}" for text, places in reasons.items()]
    others = "nothing was answered" if len(failed) == len(calls) else "the answers printed are about the others"
    raise GatewayError(
        f"{counted(len(failed), 'call')} of {len(calls):,} failed, and {others}.",
        valid=" ".join(told[:_FEW]) + _more(told),
    )


def _more(listed: Sequence[object]) -> str:
    return f" and {len(listed) - _FEW:,} more" if len(listed) > _FEW else ""


def _print_answer(
    answer: Answer | CompactAnswer,
    arguments: Mapping[str, Any],
    options: CommonOptions,
    screen: Screen | None,
    edges_said: EdgesSaid,
    *,
    has_titles: bool,
) -> None:
    """Print an answer on a screen, or without one as JSON or columns."""
    if options.as_json:
        print_line(json_text(answer.as_json()))
        # A program that was given no limit would take a page for all rows.
        if isinstance(answer, SearchResult) and arguments.get("limit") == MAX_HITS and not options.quiet:
            Screen(on_stderr=True).show(render.sections(render.left_out_of_rows(answer, arguments.get("offset") or 0)))
    elif screen is not None:
        screen.show(rendered(answer, arguments, edges_said))
    else:
        print_columns(answer, arguments, options, has_titles=has_titles)


def print_columns(
    answer: Answer | CompactAnswer, arguments: Mapping[str, Any], options: CommonOptions, *, has_titles: bool
) -> None:
    """Print the rows of an answer on standard output, and what it says beside them on standard error."""
    _print_rows(answer, shown(arguments), options, has_titles=has_titles)
    if not options.quiet:
        Screen(on_stderr=True).show(tsv.notes(answer, arguments))


def _print_rows(
    answer: Answer | CompactAnswer, show: TraversalShow, options: CommonOptions, *, has_titles: bool
) -> None:
    rows = tsv.columns(answer, show=show, guard_formulas=options.guard_formulas)
    titles, *others = ("\t".join(row) for row in rows)
    if lines := [titles, *others] if has_titles else others:
        print_line("\n".join(lines))


def for_a_person(profile: Profile) -> Profile:
    """Return a profile by which every node has its name, and an answer may be as large as a screen scrolls."""
    size = profile.size.model_copy(update={"max_tokens": _MAX_TOKENS, "ceiling_tokens": _MAX_TOKENS})
    names = profile.names.model_copy(update={"on_stubs": True})
    return profile.model_copy(update={"size": size, "names": names})


def for_a_file(profile: Profile) -> Profile:
    """Return a profile by which no cell of a row is cut either."""
    person = for_a_person(profile)
    size = person.size.model_copy(update={"cell_values": _MAX_TOKENS, "cell_characters": _MAX_TOKENS})
    return person.model_copy(update={"size": size})


def _given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}


async def known_schema(
    gateway: Gateway, ask: Callable[[], Awaitable[AnyAnswer]], progress: Progress, *, whole: bool
) -> AnyAnswer:
    """Return the answer of `ask`, a call of `describe_schema`; if `whole`, after the schema is read in full.

    Raises:
        GatewayError: No type and no predicate could be read; there is nothing to print.
    """
    answer = await ask()
    if whole and not answer.as_json()["comprehensive"]:
        await progress(0, 1, "Reading types and predicates")
        await gateway.wait_for_schema()
        answer = await ask()
    written = answer.as_json()
    if not (written["comprehensive"] or written["entity_types_total"] or written["predicates_total"]):
        raise GatewayError("No type or predicate could be read.", valid=" ".join(written.get("warnings", ())))
    return answer


def shown(arguments: Mapping[str, Any]) -> TraversalShow:
    """Return what stands for a node in the rows of an answer."""
    return arguments.get("show") or "both"


def rendered(
    answer: Answer | CompactAnswer, arguments: Mapping[str, Any], edges_said: EdgesSaid | None = None
) -> RenderableType:
    """Return the answer of a tool as a person reads it."""
    edges_said = EdgesSaid() if edges_said is None else edges_said
    match answer:
        case SchemaResult():
            return render.schema(answer)
        case SearchResult():
            return render.search(answer, arguments.get("query", ""), arguments.get("offset") or 0, shown(arguments))
        case BfsResult():
            return subgraph.bfs(answer, arguments.get("offset") or 0, shown(arguments))
        case IntersectionResult():
            tells_paths = arguments.get("via") is not False
            is_steered = bool(arguments.get("only_predicates")) or arguments.get("direction") not in {None, "both"}
            return subgraph.intersection(
                answer,
                arguments.get("offset") or 0,
                shown(arguments),
                tells_paths=tells_paths,
                are_edges_paths=tells_paths and not is_steered,
            )
        case Entity():
            return render.entity(answer, edges_said)
        case EntitiesResult():
            return render.entities(answer, edges_said)
        case _:
            raise TypeError(answer)


def print_all(options: CommonOptions, tool: str, arguments: Mapping[str, Any]) -> None:
    """Print all nodes and edges of a traversal, or all rows of a list; in JSON each page is a document on a line.

    Raises:
        GatewayError: The graph cannot be opened or asked, or changed between two pages.
        BrokenPipeError: Nobody reads on.
    """
    source = GraphSource(options)
    as_text = _is_text(options)
    source.profile = (for_a_person if as_text else for_a_file)(source.profile)
    with ProgressBar(quiet=options.quiet) as bar:
        gateway = source.open_for(tool, arguments, bar.show_load, drop_record)
        with paged(wanted=as_text and options.pager) as screen:
            printed = _print_pages(source, gateway, tool, arguments, bar, screen if as_text else None, options)
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
    options: CommonOptions,
) -> RenderableType:
    """Print the pages on a screen, or without one as JSON or columns, and return what is to be said of all together."""
    offset, show, shown_pages = 0, shown(arguments), list[int]()
    of_rows, of_subgraph = RowNotes(), subgraph_notes.WholeNotes()
    is_list = tool == SearchEntities.tool
    progress = _until(bar.show_call, shown_pages)
    read = (row_pages if is_list else _subgraph_pages)(source, gateway, tool, arguments, progress)
    # A pipe may be closed at any page, and what is read is closed here then, not by the end of the loop.
    async with contextlib.aclosing(read) as pages:
        async for page in pages:
            bar.stop_for_output()
            if options.as_json:
                print_line(json_text(page.as_json()))
            elif screen is not None:
                screen.show(_part(page, offset, show))
            else:
                _print_rows(page, show, options, has_titles=not offset)
            if isinstance(page, SearchResult):
                of_rows.add(page)
            else:
                of_subgraph.add(page)
            count, total, noun = _size(page)
            offset += count
            shown_pages.append(offset)
            await bar.show_call(offset, total, f"{offset:,} of {counted(total, noun)}")
    return of_rows.shown() if is_list else of_subgraph.shown()


async def _subgraph_pages(
    source: GraphSource, gateway: Gateway, tool: str, arguments: Mapping[str, Any], progress: Progress
) -> AsyncGenerator[RowPage, None]:
    """Yield all pages of a traversal, and close the gateway."""
    async with gateway:
        await source.wait(gateway, tool, arguments, progress)
        # A node on one page is an end of edges on others.
        with gateway.prefixes.one_answer():
            async for page in gateway.pages(tool, arguments, progress):
                yield page


def _part(page: RowPage, offset: int, show: TraversalShow) -> RenderableType:
    if isinstance(page, SearchResult):
        return render.sections(render.row_table(page, show))
    return subgraph.part(page, offset, show)


def _size(page: RowPage) -> tuple[int, int, str]:
    """Return how many nodes or rows a page has, and all pages, and the noun for one."""
    table = render.table_of(page)
    if isinstance(page, SearchResult) or table is not None:
        return len(table or ()), render.table_count(page), "row"
    return len(page.nodes), page.node_count, "node"


def _until(progress: Progress, shown_pages: Sequence[object]) -> Progress:
    """Return what reports the steps of the first page alone: of the others, how many are done says more."""

    async def report(done: int, total: int, message: str) -> None:
        if not shown_pages:
            await progress(done, total, message)

    return report


async def row_pages(
    source: GraphSource, gateway: Gateway, tool: str, arguments: Mapping[str, Any], progress: Progress
) -> AsyncGenerator[RowPage, None]:
    """Yield all pages of an answer in rows, and close the gateway."""

    async def ask(place: Mapping[str, Any]) -> RowPage:
        page = await gateway.call(tool, {**arguments, **place}, progress)
        if not isinstance(page, RowPage):
            raise TypeError(page)
        return page

    async with gateway:
        await source.wait(gateway, tool, arguments, progress)
        most = MAX_HITS if tool == SearchEntities.tool else NODES_A_PAGE
        with gateway.prefixes.one_answer():
            async for page in pages_of_rows(
                ask, most, arguments.get("limit"), gateway.prefixes.expand, arguments.get("offset") or 0
            ):
                yield page


class RowNotes:
    """What is said of rows of which all pages were read."""

    def __init__(self) -> None:
        self.count = 0
        self.found = 0
        self.is_complete = True
        self.has_all_values = True
        self.languages: Counter[str] = Counter()
        self.said: dict[str, None] = {}
        self.warned: dict[str, None] = {}

    def add(self, page: RowPage) -> None:
        """Note what a page says."""
        self.count += len(render.table_of(page) or ())
        self.found = render.table_count(page)
        self.is_complete = self.is_complete and page.complete
        self.said |= dict.fromkeys(render.said_of_rows(page))
        self.has_all_values = self.has_all_values and page.values_complete is not False
        self.languages.update(page.other_languages or {})
        if isinstance(page, SearchResult):
            left_out = [render.values_cut()] if page.values_complete is False else []
            self.warned |= dict.fromkeys([*(page.warnings or ()), *left_out])
        else:
            self.said |= dict.fromkeys(subgraph_notes.removed(page))
            self.warned |= dict.fromkeys(notes_of(page))

    @property
    def summary(self) -> str:
        """How many rows there are, and whether these are all that there are in the graph."""
        some = "" if self.count == self.found else f" of {self.found:,}"
        whole = "not complete" if not self.is_complete else "complete" if self.has_all_values else "not all values"
        return f"{counted(self.count, 'row')}{some}, {whole}"

    def shown(self) -> RenderableType:
        """Return all of it."""
        said = [Text(line(text)) for text in (f"{self.summary}.", *self.said)]
        warned = map(render.warned, (*self.warned, *render.not_shown(self.languages)))
        return render.sections([*said, *warned])
