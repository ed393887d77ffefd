"""What a person sees at a terminal, by rich: answers on standard output, a progress bar on standard error."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from gateway.cli.standard_streams import clean, line, write

_UNLIMITED = 1_000_000
"""Cells of a line in a pipe or a file."""


class Screen:
    """Prints for a person: as wide as the terminal; in a pipe or a file a line has any length."""

    def __init__(self, *, on_stderr: bool = False, stream: TextIO | None = None) -> None:
        """Print on standard output, on standard error, or through a stream that leads to standard output."""
        terminal = sys.stderr if on_stderr else sys.stdout
        self._stream = terminal if stream is None else stream
        if isinstance(self._stream, io.TextIOWrapper):
            # A character that the encoding of the terminal lacks becomes a question mark.
            self._stream.reconfigure(errors="replace")
        self._is_terminal = is_terminal(terminal)
        width = None if self._is_terminal else _UNLIMITED
        self._console = _Pipe(highlight=False, markup=False, emoji=False, width=width, stderr=on_stderr)

    def show(self, content: RenderableType = "") -> None:
        """Print something and a line break."""
        with self._console.capture() as captured:
            self._console.print(content, crop=False)
        text = captured.get()
        if not self._is_terminal:
            # Rich pads the last column of a table with blanks.
            text = "\n".join(part.rstrip(" ") for part in text.split("\n"))
        write(self._stream, text)


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether a stream is a terminal; one that was closed is none."""
    return stream is not None and stream.isatty()


class _Pipe(Console):
    """A console that raises an error for a closed pipe, which `main` handles; rich would end the process."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


class ProgressBar:
    """Shows the progress of loads and calls and the time left, from the first report until it is stopped.

    It erases itself then. If `quiet`, it shows nothing, even on a terminal. The time left is that of the speed so far;
    `clock` gives seconds.
    """

    def __init__(self, *, quiet: bool, clock: Callable[[], float] | None = None) -> None:
        # Rich would take FORCE_COLOR for a terminal.
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=30),
            TextColumn("{task.percentage:>3.0f}%"),
            TextColumn("left:"),
            TimeRemainingColumn(compact=True),
            console=Console(stderr=True, highlight=False),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            get_time=clock,
            disable=quiet or not is_terminal(sys.stderr),
        )
        self._tasks: dict[str, TaskID] = {}
        self._is_stopped = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Erase the bar, and show it no more."""
        self._is_stopped = True
        self._bar.stop()

    def show_load(self, path: Path, read: int, size: int) -> None:
        """Show how many bytes of a file are read."""
        self._show(str(path), f"Loading {clean(path.name)}", read, size)

    async def show_call(self, done: int, total: int, message: str) -> None:
        """Show how many steps of a call are done."""
        self._show("", line(message), done, total)

    def _show(self, task: str, description: str, done: int, total: int) -> None:
        if self._is_stopped:
            return
        if task not in self._tasks:
            self._bar.start()
            self._tasks[task] = self._bar.add_task(description, total=total)
        self._bar.update(self._tasks[task], description=description, completed=done, total=total)
