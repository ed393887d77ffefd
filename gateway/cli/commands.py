"""The commands and their options: what each takes, and the request that it means."""

from __future__ import annotations

from typing import Annotated

import typer

from gateway.cli.options import (
    AsJson,
    Contact,
    Endpoint,
    ExcludedTypes,
    Explain,
    FileLimits,
    Graphs,
    Limit,
    MaxDegree,
    MaxEdges,
    MaxTokens,
    MinMentions,
    NodeTypes,
    Offset,
    Predicates,
    Prefixes,
    ProfileName,
    Snapshot,
    Store,
    TopologyOnly,
    Verbose,
    given,
)
from gateway.cli.output import louder
from gateway.cli.requests import (
    Bfs,
    Check,
    Common,
    Demo,
    Describe,
    Detail,
    Index,
    Intersect,
    Request,
    Schema,
    Search,
    Serve,
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


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415 - no other option needs it

        typer.echo(f"{PROGRAM} {version(PROGRAM)}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _program(
    context: typer.Context,
    *,
    verbose: Verbose = 0,
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
    louder(verbose)
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def _example(*lines: str) -> str:
    """Return the epilogue of a command's help; Click keeps the lines of a paragraph that begins with a backspace."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])


@app.command(epilog=_example(f"{PROGRAM} schema", f"{PROGRAM} schema --graph films.ttl --json"))
def schema(
    *,
    whole: Annotated[
        bool,
        typer.Option("--whole", help="Wait until a large graph was read in full; minutes perhaps.", show_default=False),
    ] = False,
    graph: Graphs = None,
    endpoint: Endpoint = None,
    contact: Contact = None,
    store: Store = None,
    file_limit: FileLimits = None,
    profile: ProfileName = None,
    prefix: Prefixes = None,
    json: AsJson = False,
    explain: Explain = False,
    verbose: Verbose = 0,
) -> Request:
    """Say what the graph contains: types and predicates.

    Each with how often it occurs, and with its label where IDs say nothing.
    """
    return Schema(Common(graph, endpoint, profile, prefix, json, verbose, explain, store, contact, file_limit), whole)


@app.command(epilog=_example(f"{PROGRAM} search insulin", f'{PROGRAM} search "steve mcqueen" -g films.ttl'))
def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", hidden=True)],
    *,
    node_type: Annotated[
        list[str] | None,
        typer.Option("--node-type", metavar="TYPE", help="Only entities of this type. Repeatable.", show_default=False),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="Hits at most, 1 to 100.")] = 10,
    graph: Graphs = None,
    endpoint: Endpoint = None,
    contact: Contact = None,
    store: Store = None,
    file_limit: FileLimits = None,
    profile: ProfileName = None,
    prefix: Prefixes = None,
    json: AsJson = False,
    explain: Explain = False,
    verbose: Verbose = 0,
) -> Request:
    """Find the IDs of entities by name.

    QUERY is a name, an alias or a part of one.
    """
    return Search(
        Common(graph, endpoint, profile, prefix, json, verbose, explain, store, contact, file_limit),
        query,
        node_type,
        limit,
    )


@app.command(
    epilog=_example(f"{PROGRAM} bfs drug:warfarin --hops 2", f"{PROGRAM} bfs drug:warfarin --exclude-node-type Paper")
)
def bfs(
    seeds: Annotated[
        list[str],
        typer.Argument(metavar="SEED", hidden=True),
    ],
    *,
    hops: Annotated[int, typer.Option("--hops", "-n", metavar="N", help="How far to go from any seed, 1 to 5.")] = 1,
    node_type: NodeTypes = None,
    predicate: Predicates = None,
    topology_only: TopologyOnly = False,
    exclude_node_type: ExcludedTypes = None,
    min_mentions: MinMentions = 1,
    limit: Limit = None,
    offset: Offset = 0,
    max_tokens: MaxTokens = None,
    max_degree: MaxDegree = None,
    max_edges_per_node: MaxEdges = None,
    snapshot: Snapshot = None,
    graph: Graphs = None,
    endpoint: Endpoint = None,
    contact: Contact = None,
    store: Store = None,
    file_limit: FileLimits = None,
    profile: ProfileName = None,
    prefix: Prefixes = None,
    json: AsJson = False,
    explain: Explain = False,
    verbose: Verbose = 0,
) -> Request:
    """Show what is around entities, as a tree by distance.

    SEED is an ID, as `search` tells it. Edges are followed in both directions.
    """
    return Bfs(
        Common(graph, endpoint, profile, prefix, json, verbose, explain, store, contact, file_limit),
        seeds,
        hops,
        Detail(
            node_types=node_type,
            predicates=predicate,
            topology_only=topology_only,
            exclude_node_types=exclude_node_type,
            min_mentions=min_mentions,
            limit=limit,
            offset=offset,
            max_tokens=max_tokens,
            max_degree=max_degree,
            max_edges_per_node=max_edges_per_node,
            snapshot=snapshot,
        ),
    )


@app.command(epilog=_example(f"{PROGRAM} describe drug:warfarin", f"{PROGRAM} describe gene:CYP2C9 protein:CYP2C9"))
def describe(
    ids: Annotated[list[str], typer.Argument(metavar="ID", hidden=True)],
    *,
    max_tokens: MaxTokens = None,
    graph: Graphs = None,
    endpoint: Endpoint = None,
    contact: Contact = None,
    store: Store = None,
    file_limit: FileLimits = None,
    profile: ProfileName = None,
    prefix: Prefixes = None,
    json: AsJson = False,
    explain: Explain = False,
    verbose: Verbose = 0,
) -> Request:
    """Show all that is known about entities, edges apart.

    ID is as `search` tells it. With --json, one ID gives the answer of describe_entity, several that of
    describe_entities.
    """
    return Describe(
        Common(graph, endpoint, profile, prefix, json, verbose, explain, store, contact, file_limit), ids, max_tokens
    )


@app.command(
    epilog=_example(
        f"{PROGRAM} intersect drug:warfarin drug:aspirin", f"{PROGRAM} intersect drug:warfarin drug:glibenclamide -k 2"
    )
)
def intersect(
    seeds: Annotated[
        list[str],
        typer.Argument(metavar="SEED", hidden=True),
    ],
    *,
    hops: Annotated[int, typer.Option("-k", "--hops", metavar="N", help="How far to go from each seed, 1 to 5.")] = 1,
    via: Annotated[
        bool, typer.Option("--via", help="Show how each node hangs together with each seed.", show_default=False)
    ] = False,
    node_type: NodeTypes = None,
    predicate: Predicates = None,
    topology_only: TopologyOnly = False,
    exclude_node_type: ExcludedTypes = None,
    min_mentions: MinMentions = 1,
    limit: Limit = None,
    offset: Offset = 0,
    max_tokens: MaxTokens = None,
    max_degree: MaxDegree = None,
    max_edges_per_node: MaxEdges = None,
    snapshot: Snapshot = None,
    graph: Graphs = None,
    endpoint: Endpoint = None,
    contact: Contact = None,
    store: Store = None,
    file_limit: FileLimits = None,
    profile: ProfileName = None,
    prefix: Prefixes = None,
    json: AsJson = False,
    explain: Explain = False,
    verbose: Verbose = 0,
) -> Request:
    """Show what entities share: all that is near to each of them.

    SEED is an ID, as `search` tells it; it takes two or more. The answer has the nodes within reach of every seed and
    all edges among them.
    """
    return Intersect(
        Common(graph, endpoint, profile, prefix, json, verbose, explain, store, contact, file_limit),
        seeds,
        hops,
        via,
        Detail(
            node_types=node_type,
            predicates=predicate,
            topology_only=topology_only,
            exclude_node_types=exclude_node_type,
            min_mentions=min_mentions,
            limit=limit,
            offset=offset,
            max_tokens=max_tokens,
            max_degree=max_degree,
            max_edges_per_node=max_edges_per_node,
            snapshot=snapshot,
        ),
    )


@app.command(epilog=_example(f"{PROGRAM} serve --graph medical.ttl", f"{PROGRAM} serve --http --port 8001"))
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
            callback=given,
            help="For --http: 127.0.0.1 unless given; only loopback is served.",
            show_default=False,
        ),
    ] = None,
    graph: Graphs = None,
    endpoint: Endpoint = None,
    contact: Contact = None,
    store: Store = None,
    file_limit: FileLimits = None,
    profile: ProfileName = None,
    prefix: Prefixes = None,
    verbose: Verbose = 0,
) -> Request:
    """Offer the graph to a language model, over MCP.

    The six BFS-QL tools are served over standard input and output, to the program that starts this, or with --http
    to programs on this machine.
    """
    if not http and (port is not None or host is not None):
        raise ConfigurationError("--port and --host are nothing without --http.")
    if port is not None and not 0 <= port <= _LAST_PORT:
        raise ConfigurationError(f"--port {port} is no port.", valid=f"A port is 0 to {_LAST_PORT}.")
    common = Common(
        graph,
        endpoint,
        profile,
        prefix,
        as_json=False,
        verbose=verbose,
        store=store,
        contact=contact,
        file_limits=file_limit,
    )
    return Serve(common, (host or "127.0.0.1", 8000 if port is None else port) if http else None)


@app.command(epilog=_example(f"{PROGRAM} check http://127.0.0.1:3030/ds/sparql", f"{PROGRAM} check --graph films.ttl"))
def check(
    url: Annotated[str | None, typer.Argument(metavar="URL", hidden=True, show_default=False, callback=given)] = None,
    *,
    graph: Graphs = None,
    endpoint: Endpoint = None,
    contact: Contact = None,
    store: Store = None,
    file_limit: FileLimits = None,
    profile: ProfileName = None,
    json: Annotated[
        bool,
        typer.Option("--json", help="Print what was found as one JSON object, on one line.", show_default=False),
    ] = False,
    verbose: Verbose = 0,
) -> Request:
    """Find out what an endpoint can do, and compare its answers with another client's.

    URL is a SPARQL query endpoint; without one, the profile's, a file or the demo graph. A few dozen harmless queries
    are sent, to this endpoint only. Exit status: 0, or 1 where the clients are answered differently, or 2 for an error.
    """
    if url is not None and endpoint is not None:
        raise ConfigurationError("The endpoint is given twice.", valid="Give the URL alone.")
    return Check(
        Common(
            graph,
            url or endpoint,
            profile,
            None,
            json,
            verbose,
            store=store,
            contact=contact,
            file_limits=file_limit,
        )
    )


@app.command(epilog=_example(f"{PROGRAM} index -e http://127.0.0.1:3030/ds/sparql", f"{PROGRAM} index -p films.toml"))
def index(
    *,
    endpoint: Endpoint = None,
    contact: Contact = None,
    profile: ProfileName = None,
    store: Store = None,
    verbose: Verbose = 0,
) -> Request:
    """Read all names of an endpoint, so that searches need not ask it.

    The names are kept in a label index that finds them in spite of slips. It may take long; interrupted, it goes on
    where it was when it is called again. Graphs in files need no call: their index is made by itself.
    """
    return Index(
        Common(None, endpoint, profile, None, as_json=False, verbose=verbose, store=store, contact=contact),
        afresh=False,
    )


@app.command(epilog=_example(f"{PROGRAM} refresh -e http://127.0.0.1:3030/ds/sparql"))
def refresh(
    *,
    endpoint: Endpoint = None,
    contact: Contact = None,
    profile: ProfileName = None,
    store: Store = None,
    verbose: Verbose = 0,
) -> Request:
    """Make anew what is kept of an endpoint: its label index and its schema.

    What is old serves until the new is whole.
    """
    return Index(
        Common(None, endpoint, profile, None, as_json=False, verbose=verbose, store=store, contact=contact), afresh=True
    )


@app.command(epilog=_example(f"{PROGRAM} demo"))
def demo(*, verbose: Verbose = 0) -> Request:
    """Play a model's whole session on the demo graph: six tools over MCP.

    A server is started over standard input and output, and a scripted client puts the questions that a model would.
    """
    return Demo(verbose)
