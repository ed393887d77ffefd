"""The commands: their options, and the request that each makes of them. `run` carries requests out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

import typer

from gateway.cli.log import lower_level
from gateway.cli.options import CommonOptions, common, not_empty, optional_arguments, with_options
from gateway.engine.arguments import (
    BfsQuery,
    DescribeEntities,
    DescribeEntity,
    DescribeSchema,
    IntersectSubgraphs,
    SearchEntities,
    TraversalBase,
)
from gateway.errors import ConfigurationError

PROGRAM = "bfsql-gateway"
_LAST_PORT = 65_535

app = typer.Typer(
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A call of a tool.

    Attributes:
        options: The graph, and how the answer is printed.
        tool: The name of the tool.
        arguments: Its arguments except `explain`.
        whole: Whether to wait until the schema is read in full.
    """

    options: CommonOptions
    tool: str
    arguments: Mapping[str, Any]
    whole: bool = False


@dataclass(frozen=True, slots=True)
class ServeRequest:
    """A server.

    Attributes:
        options: The graph.
        address: Host and port for HTTP; None for stdio.
    """

    options: CommonOptions
    address: tuple[str, int] | None


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """A check of an endpoint."""

    options: CommonOptions


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """A label index of an endpoint.

    Attributes:
        options: The endpoint.
        rebuild: Whether an index that exists is replaced, and the schema read again.
    """

    options: CommonOptions
    rebuild: bool


@dataclass(frozen=True, slots=True)
class DemoRequest:
    """A session on the demo graph.

    Attributes:
        options: Only how much is logged.
    """

    options: CommonOptions


Request = ToolRequest | ServeRequest | CheckRequest | IndexRequest | DemoRequest

_Texts = Mapping[str, tuple[str | None, str]]

_ENTITIES: _Texts = {"max_tokens": ("N", "Size of the answer at most; a token is 4 bytes. Without it: the profile's.")}
_TRAVERSAL: _Texts = {
    "node_types": ("TYPE", "Details only for nodes of this type; the others stay, bare. Repeatable."),
    "predicates": ("NAME", "Evidence only for edges of this predicate; the others stay, bare. Repeatable."),
    "topology_only": (None, "Only IDs, types and edges."),
    "exclude_node_types": ("TYPE", "Remove nodes of this type and their edges. Repeatable."),
    "min_mentions": ("N", "Remove nodes that are mentioned less often."),
    "limit": ("N", "Nodes on one page at most."),
    "offset": ("N", "Skip the first N nodes."),
    "max_degree": ("N", "Do not go on from nodes with more edges, seeds apart: keeps hubs out."),
    "max_edges_per_node": ("N", "Edges that one node shows at most."),
    "snapshot": ("HASH", "The answer that a page belongs to, as the page before tells it."),
    **_ENTITIES,
}
_SEARCH: _Texts = {
    "node_types": ("TYPE", "Only entities of this type. Repeatable."),
    "limit": ("N", "Hits at most, 1 to 100."),
}

_Common = Annotated[CommonOptions, common()]
_Seeds = Annotated[list[str], typer.Argument(metavar="SEED", hidden=True)]
_TraversalOptions = Annotated[Mapping[str, Any], optional_arguments(TraversalBase, _TRAVERSAL)]


def _command(*examples: str) -> Callable[[Callable[..., Request]], Callable[..., Request]]:
    """Register a command of the program, with examples in its help."""
    # Click keeps the line breaks of a paragraph that begins with a backspace.
    epilog = "\n".join(["\b", "Examples:", *(f"  {PROGRAM} {example}" for example in examples)])

    def register(command: Callable[..., Request]) -> Callable[..., Request]:
        app.command(epilog=epilog)(with_options(command))
        return command

    return register


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415 - no other option needs it

        typer.echo(f"{PROGRAM} {version(PROGRAM)}")
        raise typer.Exit


def _program(
    context: typer.Context,
    *,
    options: Annotated[CommonOptions, common("verbose")],
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version.", show_default=False
        ),
    ] = False,
) -> None:
    """Let a language model explore an RDF graph, or explore it yourself.

    `serve` offers the graph to a model, as six tools over MCP; the other commands put the same questions here.
    Each takes a graph (--graph FILE, --endpoint URL, or a --profile that has an endpoint) and uses the demo graph
    without one.
    """
    lower_level(options.verbose)
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.callback(invoke_without_command=True)(with_options(_program))


@_command("schema", "schema --graph films.ttl --json")
def schema(
    *,
    whole: Annotated[
        bool,
        typer.Option("--whole", help="Wait until a large graph was read in full; minutes perhaps.", show_default=False),
    ] = False,
    options: _Common,
) -> Request:
    """Say what the graph contains: types and predicates.

    Each with how often it occurs, and with its label where IDs say nothing.
    """
    return ToolRequest(options, DescribeSchema.tool, {}, whole)


@_command("search insulin", 'search "steve mcqueen" -g films.ttl')
def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", hidden=True)],
    *,
    arguments: Annotated[Mapping[str, Any], optional_arguments(SearchEntities, _SEARCH)],
    options: _Common,
) -> Request:
    """Find the IDs of entities by name.

    QUERY is a name, an alias or a part of one.
    """
    return ToolRequest(options, SearchEntities.tool, {"query": query, **arguments})


@_command("bfs drug:warfarin --hops 2", "bfs drug:warfarin --exclude-node-type Paper")
def bfs(
    seeds: _Seeds,
    *,
    hops: Annotated[int, typer.Option("--hops", "-n", metavar="N", help="How far to go from any seed, 1 to 5.")] = 1,
    arguments: _TraversalOptions,
    options: _Common,
) -> Request:
    """Show what is around entities, as a tree by distance.

    SEED is an ID, as `search` tells it. Edges are followed in both directions.
    """
    return ToolRequest(options, BfsQuery.tool, {"seeds": seeds, "max_hops": hops, **arguments})


@_command("describe drug:warfarin", "describe gene:CYP2C9 protein:CYP2C9")
def describe(
    ids: Annotated[list[str], typer.Argument(metavar="ID", hidden=True)],
    *,
    arguments: Annotated[Mapping[str, Any], optional_arguments(DescribeEntities, _ENTITIES)],
    options: _Common,
) -> Request:
    """Show all that is known about entities, edges apart.

    ID is as `search` tells it. With --json, one ID gives the answer of describe_entity, several that of
    describe_entities.
    """
    if len(ids) == 1:
        return ToolRequest(options, DescribeEntity.tool, {"id": ids[0], **arguments})
    return ToolRequest(options, DescribeEntities.tool, {"ids": ids, **arguments})


@_command("intersect drug:warfarin drug:aspirin", "intersect drug:warfarin drug:glibenclamide -k 2")
def intersect(
    seeds: _Seeds,
    *,
    hops: Annotated[int, typer.Option("-k", "--hops", metavar="N", help="How far to go from each seed, 1 to 5.")] = 1,
    via: Annotated[
        bool, typer.Option("--via", help="Show how each node hangs together with each seed.", show_default=False)
    ] = False,
    arguments: _TraversalOptions,
    options: _Common,
) -> Request:
    """Show what entities share: all that is near to each of them.

    SEED is an ID, as `search` tells it; it takes two or more. The answer has the nodes within reach of every seed and
    all edges among them.
    """
    return ToolRequest(options, IntersectSubgraphs.tool, {"seeds": seeds, "k": hops, "via": via, **arguments})


@_command("serve --graph medical.ttl", "serve --http --port 8001")
def serve(
    *,
    http: Annotated[
        bool, typer.Option("--http", help="Serve at http://127.0.0.1:8000/mcp instead.", show_default=False)
    ] = False,
    port: Annotated[
        int | None,
        typer.Option(
            "--port", metavar="PORT", help="For --http: 8000 unless given; 0: any free port.", show_default=False
        ),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(
            "--host",
            metavar="HOST",
            callback=not_empty,
            help="For --http: 127.0.0.1 unless given; only loopback is served.",
            show_default=False,
        ),
    ] = None,
    options: Annotated[
        CommonOptions,
        common("graph", "endpoint", "contact", "store", "file_limits", "profile", "prefix", "verbose"),
    ],
) -> Request:
    """Offer the graph to a language model, over MCP.

    The six BFS-QL tools are served over standard input and output, to the program that starts this, or with --http
    to programs on this machine.
    """
    if not http and (port is not None or host is not None):
        raise ConfigurationError("--port and --host are nothing without --http.")
    if port is not None and not 0 <= port <= _LAST_PORT:
        raise ConfigurationError(f"--port {port} is no port.", valid=f"A port is 0 to {_LAST_PORT}.")
    return ServeRequest(options, (host or "127.0.0.1", 8000 if port is None else port) if http else None)


@_command("check http://127.0.0.1:3030/ds/sparql", "check --graph films.ttl")
def check(
    url: Annotated[
        str | None, typer.Argument(metavar="URL", hidden=True, show_default=False, callback=not_empty)
    ] = None,
    *,
    options: Annotated[
        CommonOptions,
        common(
            *("graph", "endpoint", "contact", "store", "file_limits", "profile", "as_json", "verbose"),
            as_json="Print what was found as one JSON object, on one line.",
        ),
    ],
) -> Request:
    """Find out what an endpoint can do, and compare its answers with another client's.

    URL is a SPARQL query endpoint; without one, the profile's, a file or the demo graph. A few dozen harmless queries
    are sent, to this endpoint only. Exit status: 0, or 1 where the clients are answered differently, or 2 for an error.
    """
    if url is not None and options.endpoint is not None:
        raise ConfigurationError("The endpoint is given twice.", valid="Give the URL alone.")
    return CheckRequest(replace(options, endpoint=url or options.endpoint))


_IndexOptions = Annotated[CommonOptions, common("endpoint", "contact", "profile", "store", "verbose")]


@_command("index -e http://127.0.0.1:3030/ds/sparql", "index -p films.toml")
def index(*, options: _IndexOptions) -> Request:
    """Read all names of an endpoint, so that searches need not ask it.

    The names are kept in a label index that finds them in spite of slips. It may take long; interrupted, it goes on
    where it was when it is called again. Graphs in files need no call: their index is made by itself.
    """
    return IndexRequest(options, rebuild=False)


@_command("refresh -e http://127.0.0.1:3030/ds/sparql")
def refresh(*, options: _IndexOptions) -> Request:
    """Make anew what is kept of an endpoint: its label index and its schema.

    What is old serves until the new is whole.
    """
    return IndexRequest(options, rebuild=True)


@_command("demo")
def demo(*, options: Annotated[CommonOptions, common("verbose")]) -> Request:
    """Play a model's whole session on the demo graph: six tools over MCP.

    A server is started over standard input and output, and a scripted client puts the questions that a model would.
    """
    return DemoRequest(options)
