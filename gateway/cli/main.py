"""Runs a command line: from its arguments to its exit status. An error is one line on standard error."""

from __future__ import annotations

import contextlib
import functools
import logging
import sys
from collections.abc import Sequence
from typing import Any

import typer
from typer.main import get_command

from gateway import PROGRAM
from gateway.cli.command_line import CommandLine
from gateway.cli.commands import app
from gateway.cli.completion import is_completion_asked, register_shells
from gateway.cli.options import SELECTS_GRAPH, CommonOptions
from gateway.cli.own_words import own_words, to_the_operator
from gateway.cli.streams import (
    FAILED,
    INTERRUPTED,
    StderrLog,
    discard_stdout,
    flush,
    line,
    logging_to_stderr,
    lower_level,
    only_errors,
    print_error,
    print_note,
    write,
)
from gateway.errors import ConfigurationError, GatewayError, InputError, quoted
from gateway.settings.paths import is_file

_log = logging.getLogger(__name__)

_HELP = frozenset({"-h", "--help"})

_NO_GRAPH = "No graph was given, so this is the demo graph: give yours with --graph FILE or --endpoint URL."

_UsageError: Any = typer.BadParameter.__base__
"""The class of Click, whose place in typer changes from version to version."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit status.

    The status is 0, 1 if a check found differences, 2 for an error, or 130 for Ctrl-C.

    Args:
        argv: The arguments after the program's name; by default those of this process.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    with logging_to_stderr() as log:
        try:
            status = _run(arguments, log)
            flush()
            log.write_held()
        except GatewayError as error:
            # What is wrong with a profile, a file or an option names options already.
            in_words = to_the_operator if isinstance(error, ConfigurationError) else own_words
            print_error(" ".join([in_words(str(error)), *getattr(error, "__notes__", ()), *_misplaced(arguments)]))
        except _UsageError as error:
            print_error(" ".join([*_misplaced(arguments), _usage(error)]))
        except BrokenPipeError:
            # A reader such as `head` has closed the pipe.
            discard_stdout()
            return 0
        except OSError as error:
            _log.debug("what happened in full", exc_info=error)
            print_error(f"{error.filename or 'standard output'}: {error.strerror or error}.")
            discard_stdout()
        except (KeyboardInterrupt, typer.Abort):
            return INTERRUPTED
        else:
            return status
    return FAILED


def _run(arguments: list[str], log: StderrLog) -> int:
    _refuse_bytes(arguments)
    if is_completion_asked():
        register_shells()
    # Typer only reads the command line: it would handle some errors of the gateway itself.
    request = _command().main(arguments, prog_name=PROGRAM, standalone_mode=False)
    if not isinstance(request, CommandLine):
        _show_below_help(arguments)
        return int(request or 0)
    options = request.options
    _configure_log(log, request)
    _refuse_misplaced(arguments, request)
    is_demo = request.is_about_a_graph and not (options.graph or options.endpoint or options.profile)
    try:
        status = request.run() or 0
    except GatewayError as error:
        if is_demo:
            error.add_note(_NO_GRAPH)
        if isinstance(error, InputError):
            raise
        for name, place in options.places.items():
            error.add_note(f"--{name} is from {place}.")
        url = "" if isinstance(error, ConfigurationError) else _configured_endpoint(options)
        if url:
            error.add_note(f"The configured URL is {url}")
        raise
    if is_demo:
        print_note(_NO_GRAPH, quiet=options.quiet)
    return status


def _refuse_bytes(arguments: Sequence[str]) -> None:
    for argument in arguments:
        if not argument.isprintable() and any("\ud800" <= character <= "\udfff" for character in argument):
            raise typer.BadParameter(f"{argument!a} is not text in this terminal's encoding.")


def _show_below_help(arguments: Sequence[str]) -> None:
    if not _HELP.isdisjoint(arguments):
        _show_defaults()
    elif not arguments:
        _show_first_step()


def _show_defaults() -> None:
    """Print below a help what the environment and the project file select."""
    from gateway.cli.graph_source import shown_defaults  # noqa: PLC0415 - `--help` is quick without it

    try:
        lines = shown_defaults()
    except ConfigurationError as error:
        lines = [f"none, because of an error: {error}"]
    if lines:
        write(
            sys.stdout, "\n".join(["\nNot given, these options are now:", *(f"  {line(text)}" for text in lines), ""])
        )


def _show_first_step() -> None:
    from gateway.cli.graph_source import with_defaults  # noqa: PLC0415 - `--help` is quick without it
    from gateway.cli.next_step import print_first  # noqa: PLC0415

    # What is wrong with the project file, the next command says.
    with contextlib.suppress(ConfigurationError):
        print_first(with_defaults(CommonOptions(), frozenset(SELECTS_GRAPH)))


def _configure_log(log: StderrLog, request: CommandLine) -> None:
    options = request.options
    # A -v before the command has lowered the level already.
    if request.is_server or options.verbose or logging.getLogger().level < logging.WARNING:
        log.show_times()
    if request.logs_json:
        log.write_json()
    if request.is_server:
        log.write_held()
    if options.quiet:
        only_errors()
    else:
        lower_level(options.verbose)


def _configured_endpoint(options: CommonOptions) -> str:
    """Return the URL of the endpoint as a log may show it; empty for a graph in this process."""
    from gateway.settings.load import load_profile  # noqa: PLC0415 - `--help` is quick without it
    from gateway.settings.urls import without_query  # noqa: PLC0415

    if options.graph:
        return ""
    url = options.endpoint or (load_profile(options.profile).endpoint.url if options.profile else "")
    return without_query(url) if url else ""


@functools.cache
def _command() -> Any:
    """Build the commands; that takes longer than most of what a program that calls `main` again and again asks."""
    return get_command(app)


def _refuse_misplaced(arguments: Sequence[str], request: CommandLine) -> None:
    # Beside an ID a file would be left out as an unknown name, and another graph be asked about the ID.
    if request.is_about_a_graph and _misplaced(arguments):
        raise ConfigurationError("A file stands where a name or an ID is expected.")


def _misplaced(arguments: Sequence[str]) -> list[str]:
    """Return what is to be said of graph files that stand where a command takes a name, an ID or nothing."""
    from gateway.files.recognition import format_by_name  # noqa: PLC0415 - `--help` is quick without it

    parameters = [one for command in _command().commands.values() for one in command.params]
    with_value = {name for one in parameters if not getattr(one, "is_flag", False) for name in one.opts}
    given = [
        word
        for before, word in zip(["", *arguments], arguments, strict=False)
        if before not in with_value and format_by_name(word) and is_file(word)
    ]
    if not given or "load" in arguments:
        return []
    return [f"{quoted(given[0])} is a file: a graph is given as --graph {given[0]}."]


def _usage(error: Any) -> str:
    path = error.ctx.command_path if error.ctx is not None else PROGRAM
    text = error.format_message().rstrip(".")
    return f"{text}{'' if text.endswith(('?', ')')) else '.'} Try: {path} --help"
