"""Standard output for a person, by rich; commands that print nothing else do not import it."""

from __future__ import annotations

import io
import sys

from rich.console import Console, RenderableType

from gateway.cli.output import write

_UNLIMITED = 1_000_000
"""Cells of a line in a pipe or a file."""


class Screen:
    """Prints for a person: as wide as the terminal; in a pipe or a file a line has any length."""

    def __init__(self) -> None:
        if isinstance(sys.stdout, io.TextIOWrapper):
            # A character that the encoding of the terminal lacks becomes a question mark.
            sys.stdout.reconfigure(errors="replace")
        self._is_terminal = sys.stdout is not None and sys.stdout.isatty()
        width = None if self._is_terminal else _UNLIMITED
        self._console = _Stdout(highlight=False, markup=False, emoji=False, width=width)

    def show(self, content: RenderableType = "") -> None:
        """Print something and a line break."""
        with self._console.capture() as captured:
            self._console.print(content, crop=False)
        text = captured.get()
        if not self._is_terminal:
            # Rich pads the last column of a table with blanks.
            text = "\n".join(part.rstrip(" ") for part in text.split("\n"))
        write(sys.stdout, text)


class _Stdout(Console):
    """A console that raises an error for a closed pipe, which `main` handles; rich would end the process."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError
