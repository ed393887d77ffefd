"""What the commands do once their options are read. Here the heavy imports are; `--help` does without them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from rich.console import RenderableType
from rich.text import Text

from gateway.api import connect, load, make_label_index, open_gateway
from gateway.cli import render, subgraph
from gateway.cli.explain_report import print_explained
from gateway.cli.layout import Whole
from gateway.cli.output import louder, print_json, print_note
from gateway.cli.prefixes import prefixes
from gateway.cli.profiles import profile_of
from gateway.cli.requests import (
    BfsCommand,
    CheckCommand,
    CommonOptions,
    DemoCommand,
    DescribeCommand,
    IndexCommand,
    IntersectCommand,
    Request,
    SchemaCommand,
    SearchCommand,
)
from gateway.cli.screen import Screen
from gateway.cli.statuses import DIFFERENT
from gateway.cli.waiting import Waiting
from gateway.engine.answers import Answer, SchemaResult, SearchResult
from gateway.engine.gateway import Gateway, OnRecord, ignored
from gateway.engine.presentation.size import compact_json
from gateway.errors import ConfigurationError, Fault, GatewayError, InputError, NoQueryEndpoint
from gateway.graph.call import Progress
from gateway.settings.load import DEFAULT, load_profile, with_contact
from gateway.settings.profile import Profile
from gateway.settings.urls import without_query
from gateway.telemetry import Record
from gateway.transport.base import Transport

AnyAnswer = TypeVar("AnyAnswer", bound=Answer)
AnyTransport = TypeVar("AnyTransport", bound=Transport)
Result = TypeVar("Result")


def do(request: Request) -> int:
    """Do what a command line asks for, and return the exit status.

    Raises:
        GatewayError: It cannot be done; the text is for the person who typed it, and names the endpoint that failed.
    """
    try:
        return _do(request)
    except (InputError, ConfigurationError):
        raise
    except GatewayError as error:
        # What takes no queries was looked at, and the log has said which URL does; `check` looks by itself.
        is_logged = isinstance(error, NoQueryEndpoint) and not isinstance(request, CheckCommand)
        url = "" if is_logged or isinstance(request, DemoCommand) else _endpoint_of(request.common)
        if not url:
            raise
        raise GatewayError(str(error), valid=f"The configured URL is {without_query(url)}") from error


def _endpoint_of(common: CommonOptions) -> str:
    """Return the URL of the endpoint that is asked; empty where it is a graph in this process."""
    if common.graph:
        return ""
    return common.endpoint or (load_profile(common.profile).endpoint.url if common.profile else "")


def _do(request: Request) -> int:
    match request:
        case SchemaCommand(common, whole):
            _answer(
                common,
                lambda gateway, progress: _schema(gateway, common, progress, whole=whole),
                render.schema,
            )
        case SearchCommand(common, query):
            _answer(
                common,
                lambda gateway, progress: _searched(gateway, request, progress),
                lambda answer: render.search(answer, query),
            )
        case BfsCommand(common, seeds, hops, detail):
            _answer(
                common,
                lambda gateway, progress: gateway.bfs_query(
                    seeds, hops, **asdict(detail), explain=common.explain, progress=progress
                ),
                lambda answer: subgraph.bfs(answer, detail.offset),
            )
        case IntersectCommand(common, seeds, hops, via, detail):
            _answer(
                common,
                lambda gateway, progress: gateway.intersect_subgraphs(
                    seeds, hops, via=via, **asdict(detail), explain=common.explain, progress=progress
                ),
                lambda answer: subgraph.intersection(answer, detail.offset),
            )
        case DescribeCommand(common, [only], max_tokens):
            _answer(
                common,
                lambda gateway, _: gateway.describe_entity(only, max_tokens=max_tokens, explain=common.explain),
                render.entity,
            )
        case DescribeCommand(common, ids, max_tokens):
            _answer(
                common,
                lambda gateway, _: gateway.describe_entities(ids, max_tokens=max_tokens, explain=common.explain),
                render.entities,
            )
        case CheckCommand() | IndexCommand() | DemoCommand():
            return _do_other(request)
    return 0


def _do_other(request: CheckCommand | IndexCommand | DemoCommand) -> int:
    """Do what is no question to a graph."""
    match request:
        case CheckCommand(common):
            return _check(common)
        case IndexCommand(common, afresh):
            _index(common, afresh=afresh)
        case DemoCommand(verbose):
            louder(verbose)
            _demo()
    return 0


async def _schema(gateway: Gateway, common: CommonOptions, progress: Progress, *, whole: bool) -> SchemaResult:
    await _prepare(gateway, common, progress)
    return await _known_schema(gateway, explain=common.explain, whole=whole)


async def _searched(gateway: Gateway, request: SearchCommand, progress: Progress) -> SearchResult:
    await _prepare(gateway, request.common, progress)
    explain = request.common.explain
    return await gateway.search_entities(request.query, request.node_types, limit=request.limit, explain=explain)


async def _prepare(gateway: Gateway, common: CommonOptions, progress: Progress) -> None:
    """Have the names and the schema of files read where they are stored: the next run will find them."""
    if common.graph and common.store is not None:
        await gateway.prepared(progress)


async def _known_schema(gateway: Gateway, *, explain: bool, whole: bool) -> SchemaResult:
    """Return the schema; a model can go on without one, but who asks for nothing else has got nothing.

    Raises:
        GatewayError: Not a single type or predicate could be read.
    """
    answer = await gateway.describe_schema(explain=explain)
    if whole and not answer.comprehensive:
        await gateway.oriented()
        answer = await gateway.describe_schema(explain=explain)
    if not (answer.comprehensive or answer.entity_types or answer.predicates):
        raise GatewayError("No type or predicate could be read.", valid=" ".join(answer.warnings or ()))
    return answer


def _check(common: CommonOptions) -> int:
    # SPARQLWrapper is needed here and nowhere else.
    from gateway.checking.check import check_endpoint, check_graph  # noqa: PLC0415
    from gateway.cli import check_report  # noqa: PLC0415

    louder(common.verbose)
    profile = profile_of(common)
    if common.graph and common.endpoint:
        raise ConfigurationError("Both a graph and an endpoint were given.", valid="Give one of them.")
    url = common.endpoint or ("" if common.graph else profile.endpoint.url)
    if url:
        report = asyncio.run(_closing(connect(url, profile), lambda http: check_endpoint(http, profile)))
    else:
        with Waiting(quiet=common.as_json) as waiting:
            transport, _ = load(common.graph, profile, waiting.loading, common.store)
        place = ", ".join(Path(path).name for path in common.graph) if common.graph else "the demo graph"
        report = asyncio.run(_closing(transport, lambda graph: check_graph(graph, place, profile)))
    if common.as_json:
        print_json(compact_json(report.as_json()))
    else:
        Screen().show(check_report.report(report))
    return 0 if report.agrees else DIFFERENT


def _index(common: CommonOptions, *, afresh: bool) -> None:
    """Make the label index of an endpoint, and say what it holds."""
    louder(common.verbose)
    profile = with_contact(load_profile(common.profile or DEFAULT), common.contact)
    url = common.endpoint or profile.endpoint.url
    if not url:
        raise ConfigurationError(
            "No endpoint was given.",
            valid="Give one with --endpoint URL, or a profile that has one with --profile FILE.",
        )
    host = urlsplit(url).hostname
    with Waiting(quiet=False) as waiting:

        async def told(read: int, total: int) -> None:
            await waiting.asking(read, total, f"Reading names of {total:,} entities")

        try:
            about, place = asyncio.run(
                make_label_index(url, profile, store=common.store, restart=afresh, on_progress=told)
            )
            schema = asyncio.run(_read_schema(url, profile, common)) if afresh else None
        except (Fault, KeyboardInterrupt):
            waiting.stop()
            print_note("What was read is kept: `bfsql-gateway index` goes on where this was.")
            raise
    lines = [f"The endpoint on {host} has {about}."]
    if schema is not None:
        whole = "all there are" if schema.comprehensive else "not all there are"
        lines.append(f"It has {schema.entity_types_total} types and {schema.predicates_total} predicates, {whole}.")
    Screen().show(Whole(Text("\n".join([*lines, f"Kept in {place}."]))))
    if not about.whole:
        print_note("Some names did not come, or came while the graph changed: `bfsql-gateway refresh` reads them anew.")


async def _read_schema(url: str, profile: Profile, common: CommonOptions) -> SchemaResult:
    """Read the schema of an endpoint in full, which keeps it."""
    async with open_gateway(endpoint=url, profile=profile, store=common.store, keep_schema=True) as gateway:
        return await _known_schema(gateway, explain=False, whole=True)


async def _closing(transport: AnyTransport, work: Callable[[AnyTransport], Awaitable[Result]]) -> Result:
    try:
        return await work(transport)
    finally:
        await transport.close()


def _demo() -> None:
    from gateway.cli.demo import play  # noqa: PLC0415 - it needs the whole MCP library, as the server does

    asyncio.run(play(Screen()))


def _answer(
    common: CommonOptions,
    ask: Callable[[Gateway, Progress], Awaitable[AnyAnswer]],
    show: Callable[[AnyAnswer], RenderableType],
) -> None:
    """Ask one question and print the answer; and what it cost, where that is asked for, also when there is none."""
    records: list[Record] = []
    try:
        with Waiting(quiet=common.as_json) as waiting:
            gateway, _ = _opened(common, waiting, records.append)
            answer = _run(gateway, ask(gateway, waiting.asking))
        if common.as_json:
            print_json(compact_json(answer.as_json()))
        else:
            Screen().show(show(answer))
    finally:
        if common.explain and not common.as_json:
            for record in records:
                print_explained(Screen(), record)


def _run(gateway: Gateway, work: Awaitable[Result]) -> Result:
    async def closing() -> Result:
        async with gateway:
            return await work

    return asyncio.run(closing())


def _opened(common: CommonOptions, waiting: Waiting, on_record: OnRecord = ignored) -> tuple[Gateway, str]:
    """Open the graph, outside the event loop, where Ctrl-C ends a long load at once; and say what it is."""
    louder(common.verbose)
    gateway = open_gateway(
        common.graph,
        endpoint=common.endpoint,
        profile=profile_of(common),
        prefixes=prefixes(common.prefix or ()),
        store=common.store,
        keep_schema=True,
        progress=waiting.loading,
        on_record=on_record,
    )
    if common.graph:
        return gateway, ", ".join(Path(path).name for path in common.graph)
    if url := common.endpoint or gateway.profile.endpoint.url:
        # Only the host: the rest of a URL may be nobody's business.
        return gateway, f"the endpoint on {urlsplit(url).hostname}"
    return gateway, "the demo graph"
