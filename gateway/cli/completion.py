"""Completion of command lines by a shell: the script for it, and the answers to what the script asks.

Both are typer's. Its own options would change the start files of a shell; here the script is printed, and whoever
wants it puts it where the shell looks.
"""

from __future__ import annotations

import os
from typing import Any

from typer import completion

from gateway import PROGRAM
from gateway.errors import ConfigurationError, quoted

SHELLS = ("bash", "zsh", "fish")

VARIABLE = f"_{PROGRAM.upper().replace('-', '_')}_COMPLETE"
"""The variable by which a script asks; typer derives the same name from that of the program."""


def is_asked() -> bool:
    """Return whether this process was started by a completion script."""
    return VARIABLE in os.environ


def register_shells() -> None:
    """Let typer answer scripts, which it does when a command runs."""
    # No other public function does it; that these are parameters for typer's own options does not matter.
    completion.get_completion_inspect_parameters()


def print_script(command: Any, shell: str) -> int:
    """Print the completion script of a shell, and return the exit status.

    Args:
        command: The command of the whole program.
        shell: One of `SHELLS`.

    Raises:
        ConfigurationError: It is another shell.
    """
    if shell not in SHELLS:
        raise ConfigurationError(f"There is no completion for {quoted(shell)}.", valid=f"Give {' or '.join(SHELLS)}.")
    register_shells()
    return completion.shell_complete(command, {}, PROGRAM, VARIABLE, f"source_{shell}")
