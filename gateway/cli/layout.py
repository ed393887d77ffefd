"""Layouts that break no ID over two lines, however narrow the terminal is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

ID = "cyan"
TYPE = "dim"
STRONG = "bold"
"""Styles of rich."""

_UNBROKEN = frozenset({ID, TYPE})
"""Styles of columns that hold IDs."""

_MIN_TEXT_WIDTH = 12
"""Cells of a column of texts, at least."""

_GAP = 3
"""Cells between two columns of a table."""

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
        for line in self.content.split("\n", allow_blank=True):
            yield from _wrapped(line, options.max_width)


@dataclass(frozen=True, slots=True)
class IdTable:
    """A table with IDs; if they leave too little room for the other columns, each row has lines of its own.

    Attributes:
        columns: Title and style of each column.
        rows: The cells of each row, each on one line.
        numeric: The title of a column of numbers.
    """

    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[str]]
    numeric: str | None = None

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        """Render the table, or the rows if it does not fit."""
        yield from [self._table()] if self._min_width() <= options.max_width else self._stacked(options)

    def _min_width(self) -> int:
        """Return the width that a table needs to break no ID."""
        widths = []
        for place, (title, style) in enumerate(self.columns):
            width = max(cell_len(text) for text in (title, *(row[place] for row in self.rows)))
            widths.append(width if style in _UNBROKEN else min(width, _MIN_TEXT_WIDTH))
        return sum(widths) + _GAP * (len(widths) - 1)

    def _table(self) -> Table:
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
        for title, style in self.columns:
            justify = "right" if title == self.numeric else "left"
            table.add_column(
                title,
                style=style,
                overflow="fold",
                no_wrap=style in _UNBROKEN,
                justify=justify,  # type: ignore[arg-type]
            )
        for row in self.rows:
            table.add_row(*map(Text, row))
        return table

    def _stacked(self, options: ConsoleOptions) -> Iterator[Text]:
        styles = [style for _, style in self.columns]
        for first, *others in self.rows:
            yield _line(first, styles[0])
            cells = [Text(text, style) for text, style in zip(others, styles[1:], strict=True) if text]
            for line in _wrapped(Text("  ").join(cells), options.max_width - 2):
                yield _line("  ").append_text(line)


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
            values = [piece for line in lines for piece in _wrapped(Text(line), room)]
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
    for line in text.divide(breaks):
        line.rstrip()
        line.no_wrap, line.overflow = True, "ignore"
        yield line
