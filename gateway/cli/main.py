"""A command line, from its arguments to its exit status; every error is one line on standard error."""

from __future__ import annotations

import gc
import logging
import sys
from collections.abc import Sequence
from typing import Any

import typer
from typer.main import get_command

from gateway.cli.commands import PROGRAM, app
from gateway.cli.output import Log, flush, give_up_stdout, logging_to_stderr, print_error
from gateway.cli.requests import ServeCommand
from gateway.cli.statuses import FAILED, INTERRUPTED
from gateway.errors import GatewayError

_log = logging.getLogger(__name__)

_UsageError: Any = typer.BadParameter.__base__
"""Click's; typer keeps Click in another place from version to version."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit status.

    0, or 1 where a check found differences, 2 for an error, 130 for Ctrl-C.

    Args:
        argv: The arguments after the program's name; those of this process by default.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    with logging_to_stderr() as log:
        try:
            status = _run(arguments, log)
            flush()
            log.let_go()
        except GatewayError as error:
            print_error(str(error))
        except _UsageError as error:
            print_error(_usage(error))
        except BrokenPipeError:
            # Who reads through `head` has seen enough.
            give_up_stdout()
            return 0
        except OSError as error:
            _log.debug("what happened in full", exc_info=error)
            print_error(f"{error.filename or 'standard output'}: {error.strerror or error}.")
            give_up_stdout()
        except (KeyboardInterrupt, typer.Abort):
            return INTERRUPTED
        else:
            return status
    return FAILED


def _run(arguments: list[str], log: Log) -> int:
    for argument in arguments:
        if not argument.isprintable() and any("\ud800" <= character <= "\udfff" for character in argument):
            raise typer.BadParameter(f"{argument!a} is no text in this terminal's encoding.")
    # Typer only reads the command line; what it would do with an error of ours is not what we want.
    result = get_command(app).main(arguments, prog_name=PROGRAM, standalone_mode=False)
    if result is None or isinstance(result, int):
        return result or 0
    if isinstance(result, ServeCommand):
        log.let_go()
        # A client waits. What is imported stays, and to look for garbage in it meanwhile takes a tenth of the start.
        gc.disable()
        from gateway.cli.serving import serve  # noqa: PLC0415 - only what its first answer needs

        gc.freeze()
        gc.enable()
        return serve(result.common, result.address)
    from gateway.cli.run import do  # noqa: PLC0415 - `--help` is quick without all that the commands need

    return do(result)


def _usage(error: Any) -> str:
    """Return what Click found wrong, and where help is."""
    path = error.ctx.command_path if error.ctx is not None else PROGRAM
    text = error.format_message().rstrip(".")
    return f"{text}{'' if text.endswith(('?', ')')) else '.'} Try: {path} --help"
