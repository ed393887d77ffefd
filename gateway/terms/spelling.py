"""How near two spellings are: how many edits make one text the other."""

from __future__ import annotations

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
