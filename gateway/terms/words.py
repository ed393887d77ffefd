"""Splits texts into words of letters, digits and their marks; no other character reaches a query as part of a word.

Source: docs/notes/endpoints.md, "Text search".
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

_MOST_WORDS = 12
"""Words of a query that are searched: each is a pattern more for the engine."""

_SHOWN = 24
"""Characters of a word in a list of words."""


def words_of(query: str) -> list[str]:
    """Return the words of a query in lower case; single characters only if there are no longer words."""
    words = every_word_of(query)
    longer = [word for word in words if len(word) > 1]
    return (longer or words)[:_MOST_WORDS]


def every_word_of(query: str) -> list[str]:
    """Return all words of a query in lower case, each once."""
    spaced = "".join(character if _in_word(character) else " " for character in query.lower())
    return [word for word in dict.fromkeys(spaced.split()) if any(map(str.isalnum, word))]


def has_symbol(text: str) -> bool:
    """Return whether a text has a visible character other than the separators `_` and `-`."""
    return any(unicodedata.category(character)[0] in "LNPS" for character in text if character not in "_-")


def is_word(text: str) -> bool:
    """Return whether a text is one word, which no query language reads as anything else."""
    return any(map(str.isalnum, text)) and all(map(_in_word, text))


def listed_words(words: Iterable[str]) -> str:
    """Return words separated by commas, long ones cut."""
    return ", ".join(cut(word, _SHOWN) for word in words)


def cut(text: str, longest: int) -> str:
    """Return a text of at most `longest` characters; one that is cut ends in `…`."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _in_word(character: str) -> bool:
    """Return whether a character is a letter, a digit or a mark, such as a vowel sign."""
    return character.isalnum() or unicodedata.category(character).startswith("M")


def inflections(word: str) -> list[str]:
    """Return the possible English singulars of a word, and its possible plurals."""
    found = []
    for ending, instead in (("ies", "y"), ("ves", "f"), ("ves", "fe"), ("es", ""), ("s", ""), ("men", "man")):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            found.append(word[: -len(ending)] + instead)
    found += [f"{word}s", f"{word}es"]
    if word.endswith("y"):
        found.append(f"{word[:-1]}ies")
    return found
