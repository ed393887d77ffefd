"""The options of the commands that ask the tools, and what a command line asks for: a page, all pages, or an export."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from gateway.arguments import DescribeEntities, DescribeSchema, SearchEntities, TraversalBase
from gateway.cli.completion import one_of
from gateway.cli.options import CommonOptions, not_empty, optional_arguments, text_option
from gateway.errors import ConfigurationError
from gateway.settings.paths import local_path

_Texts = Mapping[str, tuple[str | None, str]]

_ENTITIES: _Texts = {
    "max_tokens": (
        "N",
        "Maximum size of the answer; a token counts as 4 bytes. Default: none; with --shape compact, the profile's.",
    ),
}
_CONDITION = (
    "Only nodes for which this holds: 'weight < 50', 'price/amount >= 10', 'name starts U', 'manager missing', "
    "'type = Part', 'width > @height'. Repeatable; all must hold."
)
_COLUMN = (
    "Show this of each node as a column, in place of details: a predicate, a walk of several (price/amount; ^NAME: "
    "incoming edges), name, or type. Repeatable."
)
_VALUES: _Texts = {
    "where": ("CONDITION", _CONDITION),
    "values": ("WALK", _COLUMN),
    "sort_by": ("WALK", "Order the nodes by this, or by name; - before it for descending."),
    "group_by": ("WALK", "Show groups in place of nodes: by where this leads, or by name or type."),
    "compute": (
        "FIGURE",
        "Compute this for each group, or for all: count, 'sum price', avg, min, max, distinct. Repeatable.",
    ),
    "edges": (None, "Show edges, or nodes only."),
    "show": (None, "What stands for a node in rows."),
}
_TRAVERSAL: _Texts = {
    **_VALUES,
    "node_types": ("TYPE", "Give details only of nodes of this type; other nodes become stubs. Repeatable."),
    "predicates": ("NAME", "Give evidence only of edges with this predicate; other edges stay bare. Repeatable."),
    "only_predicates": (
        "NAME",
        "Follow only edges with this predicate; ^NAME: incoming ones. Repeatable, or JSON: one list a hop or seed.",
    ),
    "direction": (None, "Follow edges that leave a node (out), that point to it (in), or both."),
    "only_node_types": ("TYPE", "Show only nodes of this type, and those on the way to them. Repeatable."),
    "topology_only": (None, "Show only IDs, types and edges."),
    "exclude_node_types": ("TYPE", "Remove nodes of this type, and their edges. Repeatable."),
    "min_mentions": ("N", "Remove nodes with fewer mentions."),
    "limit": ("N", "Maximum number of nodes on a page. Default: 500; with --shape compact, as many as fit."),
    "offset": ("N", "Skip the first N nodes."),
    "edge_offset": ("N", "With --offset: go on after N edges of the node before, as the previous page says."),
    "max_degree": ("N", "Do not expand nodes with more edges, unless they are seeds: keeps hubs out."),
    "max_edges_per_node": ("N", "Maximum number of edges shown per node."),
    "snapshot": ("HASH", "The snapshot of the previous page: a warning says if the answer has changed since."),
    **_ENTITIES,
}
_SCHEMA: _Texts = {
    "all": (None, "Show up to 200 types and 200 predicates, not only the 40 most frequent of each."),
    "node_types": ("TYPE", "Show what instances of this type have, as for a TYPE. Repeatable."),
    "query": ("TEXT", "List only the types, predicates and values that fit these words, the best first."),
}
_SEARCH: _Texts = {
    "node_types": ("TYPE", "Find only entities of this type. Repeatable."),
    "limit": ("N", "Maximum number of hits, 1 to 100."),
    "offset": ("N", "Where values are asked for: skip the first N entities."),
    **_VALUES,
    "edges": (None, "A search shows no edges."),
}
_LIST: _Texts = {
    **_SEARCH,
    "limit": ("N", "Maximum number of entities on a page, 1 to 100. Default: 100; with --shape compact, 10."),
    "offset": ("N", "Skip the first N entities."),
}
"""Shorter help texts than the descriptions for models, by argument, with the placeholder of the value."""

EXPORT_FORMATS = ("turtle", "ntriples", "jsonld", "csv", "graphml", "dot", "html", "svg", "png")
"""The formats of exports, named here too because `--help` is quick without the libraries that write them."""


def _format_option(names: Sequence[str], about: str) -> Any:
    return typer.Option(
        "--format",
        "-f",
        metavar="NAME",
        callback=not_empty,
        autocompletion=one_of(names),
        help=f"{about} Default: by the suffix of --out.",
        show_default=False,
    )


ExportFormat = Annotated[
    str | None,
    _format_option(
        EXPORT_FORMATS, f"Export all of it instead: {', '.join(EXPORT_FORMATS[:-1])} or {EXPORT_FORMATS[-1]}."
    ),
]
TableFormat = Annotated[str | None, _format_option(("csv",), "Write all of it as a table instead: csv.")]
Out = Annotated[str | None, text_option("--out -o", "FILE", "Export all of it to this file.")]
AllRows = Annotated[
    bool, typer.Option("--all", "-a", help="Show all entities, as they are read, and not a page.", show_default=False)
]
IsAll = Annotated[
    bool,
    typer.Option("--all", "-a", help="Show all nodes and edges, as they are read, and not a page.", show_default=False),
]


SchemaOptions = Annotated[Mapping[str, Any], optional_arguments(DescribeSchema, _SCHEMA)]
SearchOptions = Annotated[Mapping[str, Any], optional_arguments(SearchEntities, _SEARCH, without={"query", "queries"})]
ListOptions = Annotated[
    Mapping[str, Any], optional_arguments(SearchEntities, _LIST, without={"query", "queries", "node_types", "edges"})
]
EntityOptions = Annotated[Mapping[str, Any], optional_arguments(DescribeEntities, _ENTITIES)]
TraversalOptions = Annotated[Mapping[str, Any], optional_arguments(TraversalBase, _TRAVERSAL)]


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A command line as typer read it; `main` carries it out, because typer would handle some errors itself.

    Attributes:
        options: The options that several commands take.
        run: Carries it out, and returns the exit status if that is not 0. It imports what it needs: `--help` is quick
            without the libraries of the commands.
        is_about_a_graph: Whether its answer is about one graph, which is the demo graph if none was given.
        is_server: Whether the log is written at once.
        logs_json: Whether each line of the log is an object in JSON.
    """

    options: CommonOptions
    run: Callable[[], int | None]
    is_about_a_graph: bool = False
    is_server: bool = False
    logs_json: bool = False


def _check_guard(options: CommonOptions) -> None:
    if options.guard_formulas and (options.as_json or options.as_text):
        raise ConfigurationError(
            "--guard-formulas is for columns and CSV.", valid="Give it with --tsv, or --format csv."
        )


def call_line(options: CommonOptions, tool: str, arguments: Mapping[str, Any], *, whole: bool = False) -> CommandLine:
    """Return what a command asks for that calls a tool once."""
    _check_guard(options)

    def run() -> None:
        from gateway.cli.tool_call import call_tool  # noqa: PLC0415 - see `CommandLine.run`

        call_tool(options, tool, arguments, whole=whole)

    return CommandLine(options, run, is_about_a_graph=True)


def _export_line(
    options: CommonOptions, tool: str, arguments: Mapping[str, Any], export_format: str | None, out: str | None
) -> CommandLine:
    if options.as_json or options.explain:
        raise ConfigurationError("--json and --explain print an answer; --format and --out export a subgraph instead.")

    def run() -> None:
        from gateway.cli.export import export  # noqa: PLC0415 - see `CommandLine.run`

        export(options, tool, arguments, export_format, out)

    return CommandLine(options, run, is_about_a_graph=True)


def print_all_line(options: CommonOptions, tool: str, arguments: Mapping[str, Any]) -> CommandLine:
    """Return what a command asks for that prints all pages of a traversal or of a list."""
    if options.explain or options.shape == "compact":
        raise ConfigurationError("--explain and --shape compact are about one page, and --all is about all of them.")
    _check_guard(options)

    def run() -> None:
        from gateway.cli.tool_call import print_all  # noqa: PLC0415 - see `CommandLine.run`

        print_all(options, tool, arguments)

    return CommandLine(options, run, is_about_a_graph=True)


def traversal_line(
    options: CommonOptions,
    tool: str,
    arguments: Mapping[str, Any],
    *,
    is_all: bool,
    export_format: str | None,
    out: str | None,
) -> CommandLine:
    """Return what a command about a subgraph asks for: a page of it, all of it, or an export."""
    if export_format is not None or out is not None:
        return _export_line(options, tool, arguments, export_format, out)
    return (print_all_line if is_all else call_line)(options, tool, arguments)


def table_line(
    options: CommonOptions, arguments: Mapping[str, Any], export_format: str | None, out: str | None
) -> CommandLine:
    """Return what `list` asks for where it writes a table."""
    if options.as_json or options.explain:
        raise ConfigurationError("--json and --explain print an answer; --format and --out write a table instead.")
    if export_format not in {None, "csv"} or (export_format is None and not str(out).lower().endswith(".csv")):
        raise ConfigurationError("A list is written as csv only.", valid="Give --format csv, or a file that ends so.")

    def run() -> None:
        from gateway.cli.export import export_rows  # noqa: PLC0415 - see `CommandLine.run`

        export_rows(options, SearchEntities.tool, arguments, None if out is None else local_path(out))

    return CommandLine(options, run, is_about_a_graph=True)
