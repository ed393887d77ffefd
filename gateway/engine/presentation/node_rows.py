"""Writes the metadata of nodes as rows below one line of columns, where that is shorter than objects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from gateway.engine.presentation.shape import Json, size_of
from gateway.expand_compact import NODE_COLUMNS

MOST_COLUMNS = 8
"""Columns at most: a reader counts the cells."""


def node_columns(said: Sequence[Json]) -> list[str]:
    """Return the columns of rows that say the same as some objects in the fewest bytes, the most frequent first.

    None where objects are as short.
    """
    counts = Counter(key for metadata in said for key in metadata)
    frequent = [key for key, _ in counts.most_common(MOST_COLUMNS)]
    sizes = {key: size_of(key) for key in frequent}
    best: list[str] = []
    most = 0
    for count in range(1, len(frequent) + 1):
        columns = frequent[:count]
        saved = sum(sizes[key] for metadata in said if _fits(metadata, columns) for key in metadata)
        if saved - size_of({NODE_COLUMNS: columns}) > most:
            best, most = columns, saved - size_of({NODE_COLUMNS: columns})
    return best


def node_row(metadata: Json, columns: Sequence[str]) -> Any:
    """Return the cells of a node that has the first columns and nothing else; the metadata of any other node."""
    return [metadata[column] for column in columns[: len(metadata)]] if _fits(metadata, columns) else metadata


def _fits(metadata: Mapping[str, Any], columns: Sequence[str]) -> bool:
    """Return whether a row has no empty cell and nothing is left out of it."""
    return bool(metadata) and sum(1 for _ in takewhile(metadata.__contains__, columns)) == len(metadata)
