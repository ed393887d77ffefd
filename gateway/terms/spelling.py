"""How near two spellings are: how many edits make one text the other, and what a misspelt name probably means."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from itertools import islice

_LETTERS_AN_EDIT = 4
"""Five characters are near with one edit, nine with two: in a shorter text, an edit makes another word."""

SHORTEST_MISSPELT = _LETTERS_AN_EDIT + 1
"""Characters of the shortest text that is near to another one."""


def is_near(one: str, other: str) -> bool:
    """Return whether one text is the other, misspelt: their edits are few for the length of the shorter one."""
    return edits(one, other, _most_edits(one, other)) is not None


def may_be_near(one: str, other: str) -> bool:
    """Return whether one text may be the other, misspelt, by their lengths and letters: a quick look before the edits.

    Each edit adds one letter at most that the other text does not have.
    """
    most = _most_edits(one, other)
    return abs(len(one) - len(other)) <= most and len(set(one).difference(other)) <= most


def _most_edits(one: str, other: str) -> int:
    return (min(len(one), len(other)) - 1) // _LETTERS_AN_EDIT


def edits(one: str, other: str, most: int) -> int | None:
    """Return how many edits make one text the other; None for more than `most`.

    An edit inserts, deletes or replaces a character, or swaps two neighbours.
    """
    if abs(len(one) - len(other)) > most:
        return None
    before: list[int] = []
    above = list(range(len(other) + 1))
    for row, character in enumerate(one, 1):
        # Two beginnings whose lengths differ by more are more edits apart.
        first, last = max(1, row - most), min(len(other), row + most)
        current = [row, *[most + 1] * len(other)]
        for column in range(first, last + 1):
            another = other[column - 1]
            cost = min(above[column] + 1, current[column - 1] + 1, above[column - 1] + (character != another))
            if row > 1 and column > 1 and character == other[column - 2] and one[row - 2] == another:
                cost = min(cost, before[column - 2] + 1)
            current[column] = cost
        # Two neighbours that are swapped skip a row.
        if min(*current, *above) > most:
            return None
        before, above = above, current
    return above[-1] if above[-1] <= most else None


_COMPARED = 1_000


_LONGEST_COMPARED = 100
"""Known names, and characters of each and of a misspelt one, that are compared at most: other calls wait."""


def nearest(name: str, known: Iterable[str], most: int = 1) -> list[str]:
    """Return the known names that a misspelt one is nearest to, as they are written; none where none is near."""
    compared = islice((each for each in known if len(each) <= _LONGEST_COMPARED), _COMPARED)
    return difflib.get_close_matches(name[:_LONGEST_COMPARED], [*compared], most)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a question about the known name that a misspelt one is nearest to, after a blank; empty if none is."""
    near = nearest(name, known)
    return f" Did you mean {near[0]!r}?" if near else ""


def is_one_edit_apart(one: str, other: str) -> bool:
    """Return whether inserting, deleting or replacing one character, or swapping two neighbours, is enough.

    Equal words are one edit apart too.
    """
    if abs(len(one) - len(other)) > 1:
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    left, right = one[start:], other[start:]
    if len(left) == len(right):
        return left[1:] == right[1:] or (left[2:] == right[2:] and left[:2] == right[1::-1])
    return left[1:] == right or left == right[1:]
