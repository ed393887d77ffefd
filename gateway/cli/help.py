"""The help of a command, its options in groups; what is meant by a command line that is nearly right."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from gateway import PROGRAM

WIDEST = 160
"""Cells of a line, at most: longer lines of text are hard to read."""

_FIRST = "Options"

_FILTERS, _VALUES, _SIZE, _OUTPUT = "What is shown", "Values", "Size and pages", "Output"
_HTTP, _CLIENTS = "Over HTTP", "Who may ask"
_GRAPH, _FILES, _STORED, _MESSAGES = "Graph", "Reading files", "What is stored", "Messages"

GROUPS: Mapping[str, str] = {
    **dict.fromkeys(
        ("only_predicates", "direction", "only_node_types", "exclude_node_types", "min_mentions", "max_degree"),
        _FILTERS,
    ),
    **dict.fromkeys(("node_types", "predicates", "topology_only", "language", "via"), _FILTERS),
    **dict.fromkeys(("where", "values", "sort_by", "group_by", "compute", "edges", "show"), _VALUES),
    **dict.fromkeys(("limit", "offset", "edge_offset", "max_tokens", "max_edges_per_node", "snapshot"), _SIZE),
    **dict.fromkeys(("is_all", "export_format", "out", "as_json", "shape", "as_text", "guard_formulas"), _OUTPUT),
    **dict.fromkeys(("pager", "explain"), _OUTPUT),
    **dict.fromkeys(("graph", "endpoint", "profile", "prefix", "contact", "user", "password_file", "embedder"), _GRAPH),
    **dict.fromkeys(("encoding", "base", "context", "lenient", "file_limits"), _FILES),
    **dict.fromkeys(("store", "cache", "no_cache", "shared_cache"), _STORED),
    **dict.fromkeys(("quiet", "verbose", "log_format", "audit_log", "metrics_port", "metrics_host", "help"), _MESSAGES),
    **dict.fromkeys(("allow_host", "allow_origin", "host", "http", "port", "proxy", "workers"), _HTTP),
    **dict.fromkeys(("client_limit", "drain_seconds", "graphs_by", "explorer"), _HTTP),
    **dict.fromkeys(
        (
            "token_file",
            "oauth_issuer",
            "oauth_keys",
            "oauth_audience",
            "oauth_token_audience",
            "unauthenticated",
            "tls_cert",
            "tls_key",
        ),
        _CLIENTS,
    ),
}
"""The group of an option, by its name as a parameter; all others come first."""

_ORDER = (_FIRST, _FILTERS, _VALUES, _SIZE, _OUTPUT, _GRAPH, _HTTP, _CLIENTS, _STORED, _FILES, _MESSAGES)


_UsageError: Any = typer.BadParameter.__base__
"""The class of Click, whose place in typer changes from version to version."""

OTHER_OPTIONS: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("depth", "max-depth", "max-hops", "distance", "radius", "levels", "d"), ("--hops",)),
    **dict.fromkeys(("max", "max-results", "max-nodes", "top", "first", "head", "count", "size", "n"), ("--limit",)),
    **dict.fromkeys(("skip", "start", "page"), ("--offset",)),
    **dict.fromkeys(("type", "types", "class", "only-type", "node-types"), ("--only-node-type", "--node-type")),
    **dict.fromkeys(("exclude", "exclude-type", "without-type", "not-type"), ("--exclude-node-type",)),
    **dict.fromkeys(("relation", "property", "edge", "edge-type", "follow"), ("--only-predicate",)),
    **dict.fromkeys(("filter", "condition"), ("--where",)),
    **dict.fromkeys(("column", "columns", "select", "field", "fields"), ("--value",)),
    **dict.fromkeys(("order-by", "order", "sort"), ("--sort-by",)),
    **dict.fromkeys(("incoming", "inverse", "reverse"), ("--direction in",)),
    **dict.fromkeys(("outgoing", "outbound"), ("--direction out",)),
    **dict.fromkeys(("path", "paths"), ("--via",)),
    **dict.fromkeys(("file", "input", "data", "ttl", "rdf"), ("--graph",)),
    **dict.fromkeys(("url", "server"), ("--endpoint",)),
    **dict.fromkeys(("output", "save", "to"), ("--out",)),
    **dict.fromkeys(("lang", "locale"), ("--language",)),
    **dict.fromkeys(("csv", "dot", "svg", "html", "graphml", "turtle"), ("--format",)),
}
"""What other programs call an option, each with the options of which the first that a command has is meant."""

_LEAVING_OUT = frozenset(
    f"{verb}-{noun}"
    for verb in ("exclude", "without", "no", "not", "skip")
    for noun in ("predicate", "property", "relation")
)
"""What would be the names of an option that leaves predicates out."""


class GroupedCommand(TyperCommand):
    """A command whose help has its options in groups, and which knows what other programs call an option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line, or say which option is meant by one that is none."""
        try:
            return super().parse_args(ctx, args)
        except _UsageError as error:
            name = getattr(error, "option_name", "").lstrip("-")
            if meant := self._meant(ctx, name.removesuffix("s") if name.removesuffix("s") in _LEAVING_OUT else name):
                ctx.fail(f"No such option: {error.option_name}. {meant}")
            raise

    def _meant(self, ctx: Any, name: str) -> str:
        """Return what to do in place of an option that is none; empty where nothing is known to be like it."""
        own = {option for one in self.get_params(ctx) for option in one.opts}
        if name in _LEAVING_OUT and "--only-predicate" in own:
            return (
                "No predicate can be left out: name those to follow, each with --only-predicate. "
                f"{PROGRAM} schema lists them."
            )
        meant = next((one for one in OTHER_OPTIONS.get(name, ()) if one.partition(" ")[0] in own), "")
        if meant == "--format":
            meant = f"--format {name}"
        return f"Did you mean {meant}?" if meant else ""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options: those of the command, then each group that it has."""
        groups: dict[str, list[tuple[str, str]]] = {title: [] for title in _ORDER}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                groups[GROUPS.get(parameter.name or "", _FIRST)].append(record)
        for title, records in groups.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


OTHER_WORDS = {
    **dict.fromkeys(("find", "lookup", "grep"), "search"),
    **dict.fromkeys(("query", "ask", "select"), "sparql"),
    **dict.fromkeys(("neighbors", "neighbours", "neighborhood", "traverse", "hops"), "bfs"),
    **dict.fromkeys(("show", "get", "info", "entity", "node"), "describe"),
    **dict.fromkeys(("common", "paths", "path", "connect", "between"), "intersect"),
    **dict.fromkeys(("types", "stats", "summary", "predicates"), "schema"),
    **dict.fromkeys(("server", "run", "start", "mcp"), "serve"),
    **dict.fromkeys(("browse", "ui", "web", "view"), "explore"),
    **dict.fromkeys(("ls", "table", "entities"), "list"),
    "import": "load",
}
"""What other programs call a command, where the nearest by its letters is another one."""


class Program(TyperGroup):
    """The commands; an option of a command may stand before it, and a word of another program leads to a command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line as it is meant."""
        return super().parse_args(ctx, self._in_order(ctx, args))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is named first, or say which is meant."""
        meant = OTHER_WORDS.get(args[0])
        if meant is not None and self.get_command(ctx, args[0]) is None and not ctx.resilient_parsing:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {meant!r}?")
        return super().resolve_command(ctx, args)

    def _in_order(self, ctx: Any, args: list[str]) -> list[str]:
        """Return a command line with the options of the command behind it; as it is, where one is not known."""
        own = {name for one in self.get_params(ctx) for name in one.opts}
        are_flags = self._are_flags()
        before, moved, at = list[str](), list[str](), 0
        while at < len(args) and args[at].startswith("-"):
            name, is_joined, _ = args[at].partition("=")
            if name in own:
                before.append(args[at])
                at += 1
                continue
            if name not in are_flags:
                return args
            end = at + 1 if is_joined or are_flags[name] else at + 2
            moved += args[at:end]
            at = end
        if not moved:
            return args
        if not {*ctx.help_option_names, "--version"}.isdisjoint(before):
            return before
        if at >= len(args) and not ctx.resilient_parsing:
            ctx.fail(f"A command is missing: {PROGRAM} COMMAND {shlex.join(moved)}")
        return [*before, *args[at : at + 1], *moved, *args[at + 1 :]]

    def _are_flags(self) -> Mapping[str, bool]:
        """Return of each option of a command whether it takes no value; none that is read in both ways."""
        found: dict[str, set[bool]] = {}
        for command in self.commands.values():
            for one in command.params:
                for name in (*one.opts, *one.secondary_opts):
                    found.setdefault(name, set()).add(
                        bool(getattr(one, "is_flag", False) or getattr(one, "count", False))
                    )
        return {name: is_flag for name, (is_flag, *others) in found.items() if name.startswith("-") and not others}
