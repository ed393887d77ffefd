"""What a command line asks for: one answer, all of its pages, or an export."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateway.arguments import SearchEntities
from gateway.cli.options import CommonOptions
from gateway.errors import ConfigurationError


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
    """Return what a command asks for that prints all pages of a traversal, or of a list."""
    if options.as_json or options.explain:
        raise ConfigurationError(
            "--json and --explain are about one page.",
            next_step="" if tool == SearchEntities.tool else "For all of it in JSON: --format jsonld.",
        )
    _check_guard(options)

    def run() -> None:
        from gateway.cli.tool_call import print_all, print_all_rows  # noqa: PLC0415 - see `CommandLine.run`

        (print_all_rows if tool == SearchEntities.tool else print_all)(options, tool, arguments)

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

        export_rows(options, SearchEntities.tool, arguments, None if out is None else Path(out))

    return CommandLine(options, run, is_about_a_graph=True)
