"""The commands: their options, their help, and what each runs."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Annotated

import typer
from typer.main import get_command

from gateway import PROGRAM
from gateway.arguments import (
    MAX_HITS,
    BfsQuery,
    DescribeEntities,
    DescribeEntity,
    DescribeSchema,
    IntersectSubgraphs,
    SearchEntities,
)
from gateway.cli.command_line import (
    AllRows,
    CommandLine,
    EntityOptions,
    ExportFormat,
    IsAll,
    ListOptions,
    Out,
    SchemaOptions,
    SearchOptions,
    TableFormat,
    TraversalOptions,
    call_line,
    print_all_line,
    table_line,
    traversal_line,
)
from gateway.cli.completion import SHELLS, of_graph, one_of
from gateway.cli.help import WIDEST, GroupedCommand, Program
from gateway.cli.options import OF_GRAPH, READING, CommonOptions, common, group_of, not_empty, with_options
from gateway.cli.serving_options import GraphsWay, HttpOptions, ObserveOptions
from gateway.cli.sparql_options import SparqlOptions
from gateway.cli.standard_input import STANDARD_INPUT, with_standard_input
from gateway.cli.streams import lower_level
from gateway.errors import ConfigurationError

app = typer.Typer(
    cls=Program,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDEST},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


_Common = Annotated[CommonOptions, common()]
_Seeds = Annotated[list[str], typer.Argument(metavar="SEED", hidden=True)]
_Hops = Annotated[int, typer.Option("-k", "--hops", metavar="N", help="Maximum distance to each seed, 1 to 5.")]


def _command(
    *examples: str, name: str | None = None
) -> Callable[[Callable[..., CommandLine]], Callable[..., CommandLine]]:
    """Register a command of the program, with examples in its help."""
    # Click keeps the line breaks of a paragraph that begins with a backspace.
    epilog = "\n".join(["\b", "Examples:", *(f"  {PROGRAM} {example}" for example in examples)])

    def register(command: Callable[..., CommandLine]) -> Callable[..., CommandLine]:
        app.command(name, cls=GroupedCommand, epilog=epilog)(with_options(command))
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

    `serve` offers the graph to a model, as six tools over MCP. The other commands ask the same questions from a
    terminal. Each command takes a graph (--graph FILE, --endpoint URL, or a --profile that has an endpoint); without
    one, it uses the demo graph.

    The exit status is 0 for an answer, complete or not; 1 if `check` found differences; 2 for an error; 130 for Ctrl-C.
    """
    lower_level(options.verbose)
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.callback(invoke_without_command=True)(with_options(_program))


@_command("schema", "schema Film Person --graph films.ttl", "schema --graph films.ttl --json")
def schema(
    types: Annotated[
        list[str] | None, typer.Argument(metavar="TYPE", hidden=True, autocompletion=of_graph("types"))
    ] = None,
    *,
    whole: Annotated[
        bool,
        typer.Option(
            "--whole", help="Wait until a large graph has been read in full; may take minutes.", show_default=False
        ),
    ] = False,
    arguments: SchemaOptions,
    options: _Common,
) -> CommandLine:
    """Show the types, predicates and values in the graph.

    Of a TYPE, what its instances have. Each is shown with the number of its occurrences, and with its label if IDs are
    opaque.
    """
    node_types = [*(types or ()), *(arguments.get("node_types") or ())]
    return call_line(options, DescribeSchema.tool, {**arguments, "node_types": node_types or None}, whole=whole)


@_command("search insulin", 'search "steve mcqueen" -g films.ttl', "search aspirin ibuprofen")
def search(
    queries: Annotated[list[str] | None, typer.Argument(metavar="[QUERY]...", hidden=True)] = None,
    *,
    arguments: SearchOptions,
    options: _Common,
) -> CommandLine:
    """Find the IDs of entities by name, or all entities of a type.

    QUERY is a name, an alias, or a part of one; several are each searched by itself. - reads one from each line of
    standard input. Without it, --node-type says which entities to list.
    """
    several = with_standard_input(queries or [""], options.graph)
    asked = {"queries": several} if several[1:] else {"query": several[0]}
    return call_line(options, SearchEntities.tool, {**asked, **arguments})


@_command(
    "list Drug --sort-by -totalMentions --limit 5",
    "list Drug --where 'totalMentions > 20' --value INTERACTS_WITH --value totalMentions",
    "list Film --value year --format csv -g films.ttl",
    "list Film --group-by ^directed --compute count --compute 'avg year' -g films.ttl",
    name="list",
)
def list_entities(
    types: Annotated[list[str], typer.Argument(metavar="TYPE", hidden=True, autocompletion=of_graph("types"))],
    *,
    is_all: AllRows = False,
    export_format: TableFormat = None,
    out: Out = None,
    arguments: ListOptions,
    options: _Common,
) -> CommandLine:
    """List the entities of types by their values, as a table.

    TYPE is a type, as `schema` prints it, or untyped. Entities are chosen with --where, ordered with --sort-by, and
    shown with the columns of --value, or else with that of --sort-by. With --group-by or --compute, groups and figures
    stand in their place.
    """
    given = {"query": "", "node_types": types, **arguments}
    if not any(given[name] for name in ("values", "sort_by", "group_by", "compute")):
        given["values"] = ["name"]
    if export_format is not None or out is not None:
        return table_line(options, given, export_format, out)
    if is_all:
        return print_all_line(options, SearchEntities.tool, given)
    if given["limit"] is None and options.shape != "compact":
        given["limit"] = MAX_HITS
    return call_line(options, SearchEntities.tool, given)


@_command(
    "bfs drug:warfarin -k 2",
    "bfs drug:warfarin --only-predicate INTERACTS_WITH",
    "bfs drug:warfarin --out warfarin.svg",
)
def bfs(
    seeds: _Seeds,
    *,
    hops: _Hops = 1,
    is_all: IsAll = False,
    export_format: ExportFormat = None,
    out: Out = None,
    arguments: TraversalOptions,
    options: _Common,
) -> CommandLine:
    """Show the neighbourhood of entities, as a tree by distance.

    SEED is an ID, as `search` prints it; - reads one from each line of standard input. Edges are followed in both
    directions, unless --direction says otherwise.
    """
    given = {"seeds": with_standard_input(seeds, options.graph), "max_hops": hops, **arguments}
    return traversal_line(options, BfsQuery.tool, given, is_all=is_all, export_format=export_format, out=out)


@_command("describe drug:warfarin", "describe gene:CYP2C9 protein:CYP2C9")
def describe(
    ids: Annotated[list[str], typer.Argument(metavar="ID", hidden=True)],
    *,
    arguments: EntityOptions,
    options: _Common,
) -> CommandLine:
    """Show all that is known about entities.

    ID is as `search` prints it; - reads one from each line of standard input. Of one entity it is shown where its edges
    lead, too. With --json, one ID gives the answer of describe_entity, several IDs or - give that of describe_entities,
    for each 200 IDs a document on a line.
    """
    if len(ids) == 1 and ids[0] != STANDARD_INPUT:
        return call_line(options, DescribeEntity.tool, {"id": ids[0], **arguments})
    given = with_standard_input(ids, options.graph)
    return call_line(options, DescribeEntities.tool, {"ids": given, **arguments})


@_command("intersect drug:warfarin drug:aspirin", "intersect drug:warfarin drug:glibenclamide -k 2")
def intersect(
    seeds: _Seeds,
    *,
    hops: _Hops = 1,
    via: Annotated[
        bool | None,
        typer.Option(
            "--via/--no-via",
            help="Show the paths from all nodes to the seeds, or none. Default: as many as fit.",
            show_default=False,
        ),
    ] = None,
    is_all: IsAll = False,
    export_format: ExportFormat = None,
    out: Out = None,
    arguments: TraversalOptions,
    options: _Common,
) -> CommandLine:
    """Show what entities have in common: the nodes near all of them.

    SEED is an ID, as `search` prints it; give at least two, or - to read one from each line of standard input. The
    answer has the nodes within reach of every seed, and all edges among them.
    """
    is_export = export_format is not None or out is not None
    if is_export and via:
        raise ConfigurationError("--via shows paths on a page; only Python writes them into files (docs/python.md).")
    seeds = with_standard_input(seeds, options.graph)
    given = {"seeds": seeds, "k": hops, **arguments, "via": False if is_export else via}
    return traversal_line(options, IntersectSubgraphs.tool, given, is_all=is_all, export_format=export_format, out=out)


@_command(
    "sparql 'SELECT ?drug { ?drug a b:Drug } LIMIT 5'",
    "sparql query.rq -g films.ttl --format csv",
    "sparql - -e http://127.0.0.1:3030/ds/sparql < query.rq",
)
def sparql(
    query: Annotated[str, typer.Argument(metavar="QUERY", hidden=True, callback=not_empty)],
    *,
    asking: Annotated[SparqlOptions, group_of(SparqlOptions)],
    options: Annotated[
        CommonOptions,
        common(
            *OF_GRAPH,
            *("profile", "prefix", "as_json", "as_text", "guard_formulas", "pager", "quiet", "verbose"),
            as_json="Print the JSON of SPARQL: the same as --format json.",
            as_text="Print a table, or columns as --format tsv has them. Default: a table at a terminal.",
            base="What relative IRIs in files and in the query are resolved against.",
        ),
    ],
) -> CommandLine:
    """Run a SPARQL query over files or at an endpoint.

    QUERY is the text of a SELECT, ASK, CONSTRUCT or DESCRIBE, a file, or - for standard input. Prefixes of the graph
    need not be declared. Nothing is changed: an update is refused. Blank nodes are blank nodes here, and have no IDs.
    """

    def run() -> None:
        from gateway.cli.sparql import sparql as run_query  # noqa: PLC0415 - see `CommandLine.run`

        run_query(options, query, asking)

    return CommandLine(options, run, is_about_a_graph=True)


@_command("serve --graph medical.ttl", "serve --http --port 8001", "serve --graphs graphs.toml --http")
def serve(
    *,
    graphs: Annotated[
        str | None,
        typer.Option(
            "--graphs",
            metavar="FILE|DIR",
            callback=not_empty,
            help="Serve several graphs: those of a graphs.toml, or of a folder of profiles.",
            show_default=False,
        ),
    ] = None,
    graphs_by: Annotated[
        GraphsWay | None,
        typer.Option(
            "--graphs-by",
            help="How clients choose over --http: by the argument graph at /mcp, by the path /mcp/NAME, or by either. "
            "Default: both.",
            show_default=False,
        ),
    ] = None,
    explorer: Annotated[
        bool, typer.Option("--explorer/--no-explorer", help="Serve the page of `explore` too, at / of --http.")
    ] = True,
    options: Annotated[
        CommonOptions,
        common(
            *OF_GRAPH,
            *("profile", "prefix", "shape", "shared_cache", "embedder", "quiet", "verbose"),
            shape="How answers are written: compact, or reference (lists of objects). Default: the profile's.",
        ),
    ],
    reached: Annotated[HttpOptions, group_of(HttpOptions)],
    observing: Annotated[ObserveOptions, group_of(ObserveOptions)],
) -> CommandLine:
    """Serve the graph to a language model, over MCP.

    The six BFS-QL tools are served over standard input and output to the program that starts this one, or with --http
    to programs on this machine or to clients with a token. With --graphs, each tool takes the graph, or each graph has
    a path.
    """
    http = reached.settings()
    observed = observing.settings(is_http=http is not None)
    if graphs_by is not None and not (http and graphs):
        raise ConfigurationError("--graphs-by requires --graphs and --http: over stdio, tools take the argument graph.")

    def run() -> int:
        # A client waits, and collecting garbage among imported modules would take a tenth of the start.
        gc.disable()
        from gateway.cli.serving import serve as serve_graph  # noqa: PLC0415 - see `CommandLine.run`

        gc.freeze()
        gc.enable()
        return serve_graph(
            options, http, graphs, "both" if graphs_by is None else graphs_by.value, observed, explorer=explorer
        )

    return CommandLine(options, run, is_server=True, logs_json=observing.as_json)


@_command("token alice >> tokens.txt")
def token(name: Annotated[str, typer.Argument(metavar="NAME", hidden=True)]) -> CommandLine:
    """Make a token for a client of `serve --http --token-file`.

    A line for the file, with a hash of the token, is printed on standard output; the token itself, to give to the
    client, on standard error.
    """

    def run() -> None:
        from gateway.cli.serving import print_token  # noqa: PLC0415 - see `CommandLine.run`

        print_token(name)

    return CommandLine(CommonOptions(), run)


@_command("explore --graph medical.ttl", "explore --endpoint http://127.0.0.1:3030/ds/sparql")
def explore(
    *,
    port: Annotated[int, typer.Option("--port", metavar="PORT", help="Port of the page. Default: any free port.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")] = True,
    options: Annotated[
        CommonOptions,
        common(
            *OF_GRAPH,
            *("profile", "prefix", "embedder", "quiet", "verbose"),
        ),
    ],
) -> CommandLine:
    """Look at the graph in a browser.

    A page on this machine searches, draws neighbourhoods, and says what they lack. Programs can use the same server at
    /mcp.
    """

    def run() -> int:
        from gateway.cli.serving import explore as serve_page  # noqa: PLC0415 - see `CommandLine.run`

        return serve_page(options, port, opens_browser=browser)

    return CommandLine(options, run, is_server=True)


@_command("check http://127.0.0.1:3030/ds/sparql", "check --graph films.ttl")
def check(
    url: Annotated[
        str | None, typer.Argument(metavar="URL", hidden=True, show_default=False, callback=not_empty)
    ] = None,
    *,
    options: Annotated[
        CommonOptions,
        common(
            *OF_GRAPH,
            *("profile", "prefix", "as_json", "quiet", "verbose"),
            as_json="Print the report as one JSON object, on one line.",
        ),
    ],
) -> CommandLine:
    """Find out what an endpoint supports, with evidence.

    Some of its answers are compared with those that another client gets. URL is a SPARQL query endpoint, or a database
    of PostgreSQL or Neo4j, of which missing indexes are told. Without it, the profile's endpoint, a file or the demo
    graph is checked. Some hundred harmless queries are sent, to this endpoint only. What the profile says of the
    endpoint is checked too. What was found is kept for a week, and the other commands use it. The exit status is 0, 1
    if the two clients get different answers or the profile is wrong, or 2 for an error.
    """
    if url is not None and options.endpoint is not None and "endpoint" not in options.places:
        raise ConfigurationError("The endpoint was given twice.", valid="Give only the URL.")
    checked = options if url is None else options.at_endpoint(url)

    def run() -> int:
        from gateway.cli.check import check as check_graph  # noqa: PLC0415 - see `CommandLine.run`

        return check_graph(checked)

    return CommandLine(checked, run, is_about_a_graph=True)


@_command("profiles", "profiles --json")
def profiles(
    *,
    options: Annotated[
        CommonOptions,
        common("as_json", "verbose", as_json="Print all that is known of them as one JSON object, on one line."),
    ],
) -> CommandLine:
    """List the profiles that come with the gateway.

    Each profile of a public endpoint is shown with what its graph is about, and whether it was tried there. With
    --json, also where each of its facts is from, and which are unchecked.
    """

    def run() -> None:
        from gateway.cli.render import print_profiles  # noqa: PLC0415 - see `CommandLine.run`

        print_profiles(options)

    return CommandLine(options, run)


_IndexOptions = Annotated[
    CommonOptions,
    common("endpoint", "contact", "user", "password_file", "profile", "prefix", "store", "quiet", "verbose"),
]


@_command("index -e http://127.0.0.1:3030/ds/sparql", "index -p films.toml")
def index(*, options: _IndexOptions) -> CommandLine:
    """Build a local label index of the names of an endpoint.

    Searches then use the index, which also finds misspelled names, and no longer query the endpoint. Reading all names
    may take long; if it is interrupted, the next call continues where it stopped. Graphs in files need no call: their
    index is built automatically.
    """
    return _index(options, rebuild=False)


@_command("refresh -e http://127.0.0.1:3030/ds/sparql")
def refresh(*, options: _IndexOptions) -> CommandLine:
    """Rebuild the stored label index and schema of an endpoint.

    The old ones stay in use until the new ones are complete.
    """
    return _index(options, rebuild=True)


def _index(options: CommonOptions, *, rebuild: bool) -> CommandLine:
    def run() -> None:
        from gateway.cli.storing import index as build_index  # noqa: PLC0415 - see `CommandLine.run`

        build_index(options, rebuild=rebuild)

    return CommandLine(options, run)


@_command("load medical.ttl --to postgresql://owner@127.0.0.1/graph")
def load(
    files: Annotated[list[str], typer.Argument(metavar="FILE", hidden=True)],
    *,
    to: Annotated[
        str, typer.Option("--to", metavar="URL", callback=not_empty, help="The database: postgresql://user@host/name.")
    ],
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace the tables if they are there; readers wait.", show_default=False)
    ] = False,
    options: Annotated[
        CommonOptions,
        common(
            *("user", "password_file", "store", "cache", "no_cache", "file_limits"),
            *(*READING, "profile", "quiet", "verbose"),
            user="User of the database, who may create tables. Requires --password-file.",
            profile="Names the tables and says what is an edge: bfsql-postgres (the default), or a TOML file.",
        ),
    ],
) -> CommandLine:
    """Write a graph from files into tables of a PostgreSQL database.

    FILE is what --graph takes; several become one graph. All is written in one transaction, or nothing: the tables that
    the profile names, and their indexes. Tables that are there already are left alone, unless --replace is given.
    """

    def run() -> None:
        from gateway.cli.storing import load_graph  # noqa: PLC0415 - see `CommandLine.run`

        load_graph(options, files, to, replace=replace)

    return CommandLine(options, run)


@_command("demo")
def demo(*, options: Annotated[CommonOptions, common("verbose")]) -> CommandLine:
    """Run a scripted session of a model on the demo graph.

    This starts an MCP server over standard input and output, and a client that calls its tools as a model would.
    """

    def run() -> None:
        from gateway.cli.demo import demo as run_session  # noqa: PLC0415 - see `CommandLine.run`

        run_session()

    return CommandLine(options, run)


@_command("completion bash > ~/.local/share/bash-completion/completions/bfsql-gateway")
def completion(
    shell: Annotated[str, typer.Argument(metavar="SHELL", hidden=True, autocompletion=one_of(SHELLS))],
) -> CommandLine:
    """Print the script that completes command lines in a shell.

    SHELL is bash, zsh or fish. docs/cli.md says where each shell looks for the script. Types, predicates and formats
    are completed too: those of the graph that the options before them, the environment or bfsql.toml name.
    """

    def run() -> int:
        from gateway.cli.completion import print_script  # noqa: PLC0415 - see `CommandLine.run`

        return print_script(get_command(app), shell)

    return CommandLine(CommonOptions(), run)
