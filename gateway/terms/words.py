"""Text taken apart into words. What is no letter, digit or mark upon one never reaches a query as a word.

Source: docs/notes/endpoints.md, "Text search".
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

_MOST_WORDS = 12
_SHOWN = 24
"""Characters of a word that a person is shown when all are listed."""


def words_of(query: str) -> list[str]:
    """Take a query apart into lower-case words; single characters only where there is nothing longer."""
    words = every_word_of(query)
    longer = [word for word in words if len(word) > 1]
    return (longer or words)[:_MOST_WORDS]


def every_word_of(query: str) -> list[str]:
    """Take a query apart into lower-case words, all of them."""
    spaced = "".join(character if _in_word(character) else " " for character in query.lower())
    return [word for word in dict.fromkeys(spaced.split()) if any(map(str.isalnum, word))]


def has_symbol(text: str) -> bool:
    """Return whether a text has a character that can be seen, beside the separators `_` and `-`."""
    return any(unicodedata.category(character)[0] in "LNPS" for character in text if character not in "_-")


def is_word(text: str) -> bool:
    """Tell whether a text is a word, and nothing that a query language could take for anything else."""
    return any(map(str.isalnum, text)) and all(map(_in_word, text))


def listed(words: Iterable[str]) -> str:
    """Return words as they are told to a person, long ones cut."""
    return ", ".join(cut(word, _SHOWN) for word in words)


def cut(text: str, longest: int) -> str:
    """Return a text of at most so many characters; one that is cut ends in `…`."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _in_word(character: str) -> bool:
    """Tell whether a character is a letter, a digit or a mark upon one, as vowel signs are."""
    return character.isalnum() or unicodedata.category(character).startswith("M")
