"""The program itself: its name, its help, and the options before any command."""

from __future__ import annotations

from typing import Annotated

import typer

from gateway.cli.options import Verbose
from gateway.cli.output import louder

PROGRAM = "bfsql-gateway"

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


def example(*lines: str) -> str:
    """Return the epilogue of a command's help; Click keeps the lines of a paragraph that begins with a backspace."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])
