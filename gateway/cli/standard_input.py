"""IDs and names from standard input, in the place of `-` on a command line."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from gateway.arguments import MAX_ID
from gateway.errors import ConfigurationError

STANDARD_INPUT = "-"

MOST_LINES = 100_000
"""Lines that are read from standard input, at most."""

_MOST_BYTES = 4 * MAX_ID
"""Bytes of a line that are read, at most: those behind the first column are not of interest."""

_TITLES = frozenset({"id", "subject", "query"})
"""The first title of columns that a command of this program prints."""


def with_standard_input(given: Sequence[str], graph: Sequence[str] | None) -> list[str]:
    """Return IDs or names with the lines of standard input in the place of `-`.

    Of a line with tabs, as the commands print them in a pipe, the first column counts, and their titles do not. Empty
    lines do not count, and no line counts twice.

    Args:
        given: The IDs or names of the command line.
        graph: The files of the graph.

    Raises:
        ConfigurationError: The graph is read from standard input too, or what is there has no ID, too many, or is no
            text.
    """
    if STANDARD_INPUT not in given:
        return list(given)
    if any(file.startswith(STANDARD_INPUT) for file in graph or ()) or list(given).count(STANDARD_INPUT) > 1:
        raise ConfigurationError(
            "Standard input was given twice.", valid="It has either a graph or IDs, one a line, and is read once."
        )
    read = list(dict.fromkeys(_lines()))
    if not read:
        raise ConfigurationError("Standard input has no line.", valid="Give an ID or a name on each line.")
    place = list(given).index(STANDARD_INPUT)
    return [*given[:place], *read, *given[place + 1 :]]


def _lines() -> Iterator[str]:
    if sys.stdin is None:
        return
    for number in range(MOST_LINES + 1):
        line = sys.stdin.buffer.readline(_MOST_BYTES)
        if not line:
            return
        if number == MOST_LINES:
            raise ConfigurationError(f"Standard input has more than {MOST_LINES:,} lines.", valid="Give it in parts.")
        if len(line) == _MOST_BYTES and not line.endswith(b"\n"):
            raise ConfigurationError(f"Line {number + 1} of standard input is too long for an ID or a name.")
        try:
            text = line.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ConfigurationError(f"Line {number + 1} of standard input is no text in UTF-8.") from error
        first, tab, _ = text.rstrip("\r\n").partition("\t")
        if first.strip() and not (number == 0 and tab and first in _TITLES):
            yield first.strip()
