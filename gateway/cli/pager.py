"""The pager through which an answer at a terminal is read, so that its beginning is not scrolled away."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import TextIO, cast

from gateway.cli.screen import Screen, is_terminal
from gateway.errors import ConfigurationError

_USUAL = "" if sys.platform == "win32" else "less"
"""On Windows a program is looked for in the working directory first, which may be anybody's."""

_OF_LESS = "FRX"
"""Quit if all of it fits on one screen, show colours, and leave it on the screen: what git gives to less."""


@contextlib.contextmanager
def paged(*, wanted: bool) -> Iterator[Screen]:
    """Print inside the block through the user's pager, where standard output is a terminal.

    The pager is `$PAGER`, or less; none if that is empty or `cat`, or cannot be started. An error inside the block is
    raised when the user has left the pager.

    A terminal that can only scroll (`TERM=dumb`) needs none.

    Args:
        wanted: Whether the user wants a pager.

    Raises:
        BrokenPipeError: The user left the pager before the end.
        ConfigurationError: The pager failed, so nobody may have seen the answer.
    """
    is_screen = is_terminal(sys.stdout) and os.environ.get("TERM") != "dumb"
    command = _command() if wanted and is_screen else ()
    with contextlib.ExitStack() as stack:
        pager = _started(command)
        if pager is not None:
            stack.callback(_wait_for, pager)
        yield Screen(stream=None if pager is None else cast("TextIO", pager.stdin))


def _command() -> Sequence[str]:
    try:
        command = shlex.split(os.environ.get("PAGER", _USUAL))
    except ValueError:
        return ()
    return command if command and command[0] != "cat" and shutil.which(command[0]) else ()


def _started(command: Sequence[str]) -> subprocess.Popen[str] | None:
    if not command:
        return None
    environment = {"LESS": _OF_LESS, **os.environ}
    try:
        return subprocess.Popen(  # noqa: S603 - the user's own program
            command, stdin=subprocess.PIPE, env=environment, encoding="utf-8", errors="replace"
        )
    except OSError:
        return None


def _wait_for(pager: subprocess.Popen[str]) -> None:
    with contextlib.suppress(OSError):
        if pager.stdin is not None:
            pager.stdin.close()
    while pager.poll() is None:
        # Ctrl-C reaches both; what it means is the pager's to say.
        with contextlib.suppress(KeyboardInterrupt):
            pager.wait()
    if pager.returncode > 0:
        raise ConfigurationError(
            f"The pager ended with status {pager.returncode}.", next_step="Print without it: --no-pager, or PAGER=cat."
        )
