"""What a person reads on standard output; only the commands that show something need rich."""

from __future__ import annotations

import io
import sys

from rich.console import Console, RenderableType

from gateway.cli.output import write

_UNBOUNDED = 1_000_000
"""Cells of a line that goes to a pipe or a file."""


class Screen:
    """Standard output for a person: as wide as the terminal, unbounded in a pipe or a file."""

    def __init__(self) -> None:
        if isinstance(sys.stdout, io.TextIOWrapper):
            # A terminal that lacks a character shows a question mark for it.
            sys.stdout.reconfigure(errors="replace")
        self._is_terminal = sys.stdout is not None and sys.stdout.isatty()
        width = None if self._is_terminal else _UNBOUNDED
        self._console = _Stdout(highlight=False, markup=False, emoji=False, width=width)

    def show(self, content: RenderableType = "") -> None:
        """Print something, and end the line."""
        with self._console.capture() as captured:
            self._console.print(content, crop=False)
        text = captured.get()
        if not self._is_terminal:
            # Rich pads the last column of a table with blanks.
            text = "\n".join(part.rstrip(" ") for part in text.split("\n"))
        write(sys.stdout, text)


class _Stdout(Console):
    """Standard output; `main` deals with a reader that went away, where rich would end the process."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError
