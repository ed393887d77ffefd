"""What a terminal shows."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO, cast

from rich import box
from rich.bar import Bar
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from gateway.cli.streams import clean, line, write
from gateway.errors import ConfigurationError

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


class _HowFar(ProgressColumn):
    """How much is done, with the time left at the speed so far; how long it takes already where nobody knows."""

    def __init__(self) -> None:
        super().__init__()
        self._left = TimeRemainingColumn(compact=True)

    def render(self, task: Task) -> Text:
        if task.total is None:
            return Text(f"for {task.elapsed or 0:.0f} s")
        return Text.assemble(f"{task.percentage:>3.0f}% left: ", self._left.render(task))


_PATIENCE = 1.0
"""Seconds without a report after which it is said that something is under way."""


class ProgressBar:
    """Shows the progress of loads and calls and the time left, from the first report until it is stopped.

    Where no report comes within a second, it shows what is under way, and for how long. It erases itself when it is
    stopped. If `quiet`, it shows nothing, even on a terminal.

    Args:
        doing: What is under way.
        quiet: Whether nothing is shown.
        clock: Gives seconds.
    """

    def __init__(
        self, doing: str = "Asking the graph", *, quiet: bool, clock: Callable[[], float] | None = None
    ) -> None:
        # Rich would take FORCE_COLOR for a terminal.
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=30),
            _HowFar(),
            console=Console(stderr=True, highlight=False),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            get_time=clock,
            disable=quiet or not is_terminal(sys.stderr),
        )
        self._doing = clean(doing)
        self._tasks: dict[str, TaskID] = {}
        self._is_stopped = False
        self._lock = threading.RLock()
        self._timer = threading.Timer(_PATIENCE, self.show_waiting)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        if not self._bar.disable:
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Erase the bar, and show it no more."""
        self._timer.cancel()
        with self._lock:
            self._is_stopped = True
            self._bar.stop()

    def stop_for_output(self) -> None:
        """Stop it where an answer begins at a terminal, or in a pipe, whose reader may print at the same one."""
        if not _is_file(sys.stdout):
            self.stop()

    def show_waiting(self) -> None:
        """Show what is under way, unless something was reported."""
        with self._lock:
            if not self._tasks:
                self._show("", self._doing, 0, 0)

    def show_next(self, doing: str) -> None:
        """Show what is under way now, of which nobody knows how much is done."""
        self._show("", clean(doing), 0, 0)

    def show_load(self, path: Path, read: int, size: int) -> None:
        """Show how many bytes of a file are read."""
        self._show(str(path), f"Loading {clean(path.name)}", read, size)

    async def show_call(self, done: int, total: int, message: str) -> None:
        """Show how many steps of a call are done."""
        self._show("", line(message), done, total)

    def _show(self, task: str, description: str, done: int, total: int) -> None:
        # Of one step nobody knows how much is done.
        known = None if done == 0 and total <= 1 else total
        with self._lock:
            if self._is_stopped:
                return
            if task not in self._tasks:
                self._bar.start()
                self._tasks[task] = self._bar.add_task(description, total=known)
            self._bar.update(self._tasks[task], description=description, completed=done)
            self._bar.tasks[self._bar.task_ids.index(self._tasks[task])].total = known


def _is_file(stream: TextIO | None) -> bool:
    """Return whether a stream goes into a regular file."""
    with contextlib.suppress(OSError, ValueError):
        return stream is not None and stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    return False


ID = "cyan"
TYPE = "dim"
STRONG = "bold"
"""Styles of rich."""

_UNBROKEN = frozenset({ID, TYPE})
"""Styles of columns that hold IDs."""

_MIN_TEXT_WIDTH = 12
"""Cells of a column of texts, at least."""

_LONG_WORD = 40
"""Cells of a word that may be broken."""

_GAP = 3
"""Cells between two columns of a table."""

_BAR = 20
"""Cells of the longest bar."""

_MAX_KEY_WIDTH = 28
_MIN_VALUE_WIDTH = 20
"""Cells of a key at most, and of its value at least."""

_UNLIMITED_WIDTH = 1_000_000
"""More cells than any line has: rich wants a width."""

_WORD = re.compile(r"\S+\s*|^\s+")
"""A word and the blanks behind it, or the indent of a line."""


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """Content that is not wrapped here; the terminal wraps lines that are too long for it."""

    content: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render it as wide as it is."""
        natural = Measurement.get(console, options.update(width=_UNLIMITED_WIDTH), self.content).maximum
        yield from console.render(self.content, options.update(width=max(options.max_width, natural)))


@dataclass(frozen=True, slots=True)
class WordWrapped:
    """A text that is wrapped between words only; a word that is longer than a line is not broken."""

    content: Text

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        """Render the lines."""
        for row in self.content.split("\n", allow_blank=True):
            yield from _wrapped(row, options.max_width)


@dataclass(frozen=True, slots=True)
class Hanging:
    """A line that is wrapped between words where it is longer than the terminal, what follows indented.

    An ID that is longer than a line is not broken. Inside content that is as wide as it is, such as a tree, the
    terminal's width counts all the same.

    Attributes:
        content: The line.
        before: The cells before it, such as those of the guides of a tree.
    """

    content: Text
    before: int = 0

    def __rich_console__(self, console: Console, _options: ConsoleOptions) -> RenderResult:
        """Render the line, or its pieces."""
        room = max(console.width - self.before, _MIN_VALUE_WIDTH)
        if self.content.cell_len <= room:
            yield from _wrapped(self.content, room)
            return
        for place, row in enumerate(_wrapped(self.content, room - _HANGING)):
            yield row if place == 0 else _line(" " * _HANGING).append_text(row)


_HANGING = 4
"""Cells by which what follows in a wrapped line is indented."""


@dataclass(frozen=True, slots=True)
class IdTable:
    """A table with IDs; if they leave too little room for the other columns, each row has lines of its own.

    Attributes:
        columns: Title and style of each column.
        rows: The cells of each row, each on one line.
        numeric: The places of columns of numbers.
        is_titled: Whether a cell has its title before it where a row has lines of its own.
        bars: The length of a bar beside each row, up to 1; they are drawn on a terminal with room for them.
    """

    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[str]]
    numeric: Collection[int] = ()
    is_titled: bool = False
    bars: Sequence[float] = ()

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        """Render the table, or the rows if it does not fit."""
        room = options.max_width - self._min_width()
        if room < 0:
            yield from self._stacked(options)
            return
        is_for_bars = room >= _BAR + _GAP and options.max_width < _UNLIMITED and not options.ascii_only
        yield self._table(self._widths(options.max_width), self.bars if is_for_bars else ())

    def _min_width(self) -> int:
        """Return the width that a table needs to break no ID."""
        widths = [self._min_width_of(place) for place in range(len(self.columns))]
        return sum(widths) + _GAP * (len(widths) - 1)

    def _min_width_of(self, place: int) -> int:
        """Return the width that a column needs to break no ID, and no word that is not very long."""
        style, texts = self.columns[place][1], self._texts(place)
        width = max(map(cell_len, texts))
        if style in _UNBROKEN:
            return width
        longest_word = max(cell_len(word) for text in texts for word in text.split(" "))
        return min(width, max(_MIN_TEXT_WIDTH, min(longest_word, _LONG_WORD)))

    def _widths(self, most: int) -> list[int]:
        """Return the width of each column: as wide as it is, or else the narrowest get what is over first."""
        least = [self._min_width_of(place) for place in range(len(self.columns))]
        wanted = [max(map(cell_len, self._texts(place))) for place in range(len(self.columns))]
        left = most - _GAP * (len(least) - 1) - sum(least)
        widths = least.copy()
        for share, place in enumerate(sorted(range(len(least)), key=lambda place: wanted[place] - least[place])):
            more = min(wanted[place] - least[place], left // (len(least) - share))
            widths[place] += more
            left -= more
        return widths

    def _texts(self, place: int) -> list[str]:
        return [self.columns[place][0], *(row[place] for row in self.rows)]

    def _table(self, widths: Sequence[int], bars: Sequence[float]) -> Table:
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
        for place, (title, style) in enumerate(self.columns):
            justify = "right" if place in self.numeric else "left"
            table.add_column(
                title,
                style=style,
                overflow="fold",
                no_wrap=style in _UNBROKEN,
                width=widths[place],
                justify=justify,  # type: ignore[arg-type]
            )
        if bars:
            table.add_column(width=_BAR)
        for place, row in enumerate(self.rows):
            bar = [Bar(1, 0, bars[place], width=_BAR)] if bars else []
            table.add_row(*map(Text, row), *bar)
        return table

    def _stacked(self, options: ConsoleOptions) -> Iterator[Text]:
        # A number alone says nothing.
        columns = [
            (f"{title}: " if self.is_titled or place in self.numeric else "", style)
            for place, (title, style) in enumerate(self.columns)
        ]
        for first, *others in self.rows:
            yield _line(first, columns[0][1])
            cells = [
                Text(f"{title}{text}", style) for text, (title, style) in zip(others, columns[1:], strict=True) if text
            ]
            if self.is_titled:
                yield from _packed(cells, options.max_width - 2)
                continue
            for row in _wrapped(Text("  ").join(cells), options.max_width - 2):
                yield _line("  ").append_text(row)


def _packed(cells: Sequence[Text], width: int) -> Iterator[Text]:
    """Return lines with as many cells beside each other as fit; one that is longer than a line has lines of its own."""
    packed: list[Text] = []
    for cell in cells:
        if packed and packed[-1].cell_len + 2 + cell.cell_len <= width:
            packed[-1] = Text("  ").join([packed[-1], cell])
        else:
            packed.append(cell)
    for row in packed:
        is_long = row.cell_len > width
        for place, piece in enumerate(_wrapped(row, width - 2 if is_long else width)):
            yield _line(" " * (_HANGING if place else 2)).append_text(piece)


@dataclass(frozen=True, slots=True)
class KeyValues:
    """Keys, each followed by the lines of its value.

    Attributes:
        rows: Each key with the lines of its value.
        indent: The cells before each key.
    """

    rows: Sequence[tuple[str, Sequence[str]]]
    indent: int = 0

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        """Render keys and values; a long key has a line of its own."""
        widest = max((cell_len(key) for key, _ in self.rows), default=0)
        left = self.indent + min(widest, _MAX_KEY_WIDTH) + 2
        for key, lines in self.rows:
            title = _line(" " * self.indent).append(key, STRONG)
            room = max(options.max_width - left, _MIN_VALUE_WIDTH)
            values = [piece for row in lines for piece in _wrapped(Text(row), room)]
            if title.cell_len > left - 2 or not values:
                yield title
                title = _line("")
            for value in values:
                title.append(" " * (left - title.cell_len))
                yield title.append_text(value)
                title = _line("")


def _line(text: str, style: str = "") -> Text:
    """Return a line that rich does not wrap."""
    return Text(text, style, no_wrap=True, overflow="ignore")


def _wrapped(text: Text, width: int) -> Iterator[Text]:
    """Return the pieces of a line, broken at blanks only."""
    breaks: list[int] = []
    used = 0
    for word in _WORD.finditer(text.plain):
        if used and used + cell_len(word[0].rstrip()) > width:
            breaks.append(word.start())
            used = 0
        used += cell_len(word[0])
    for row in text.divide(breaks):
        row.rstrip()
        row.no_wrap, row.overflow = True, "ignore"
        yield row


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
