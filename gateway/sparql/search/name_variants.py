"""The spellings in which a graph may have a name that a user typed, for exact look-ups."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Sequence

_ROOM = 4_000
"""Characters of all variants together; the least likely ones come last."""

_UNSENDABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
"""Control characters stand in no name, and NUL and halves of surrogate pairs in no query."""


def variants(text: str, languages: Sequence[str]) -> list[tuple[str, str]]:
    """Return texts with their language tags, the likeliest first.

    Args:
        text: As it was asked for.
        languages: Tags of names beside none, `en` and `mul`.
    """
    tags = dict.fromkeys(["", "en", *languages, "mul"])
    found: list[tuple[str, str]] = []
    room = _ROOM
    for form in dict.fromkeys(_cases(text)):
        room -= len(form) * len(tags)
        if found and room < 0:
            break
        found += [(form, tag) for tag in tags]
    return found


def _cases(text: str) -> Iterator[str]:
    given = " ".join(_UNSENDABLE.sub(" ", text).split())
    for spaced in (given, " ".join(given.replace("_", " ").split())):
        if spaced:
            lower = spaced.lower()
            yield from (spaced, spaced[0].upper() + spaced[1:], lower, lower[0].upper() + lower[1:])
            yield from (string.capwords(spaced), spaced.upper())
