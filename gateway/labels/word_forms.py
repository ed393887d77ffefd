"""How the index compares names: words without case and accents, and typos."""

from __future__ import annotations

import unicodedata
import zlib
from collections.abc import Iterator, Sequence

from gateway.terms.folding import fold_marks

LONGEST_NAME = 1_000
"""Characters of a name that are searched; a longer name is found by its beginning."""

_LONGEST_KEY = 200
"""Characters of a key; longer names are compared by their beginnings."""

LONGEST_WORD = 40
"""Characters of a word above which the index finds no typos in it."""

_SCRIPTS_WITHOUT_BLANKS = (
    ("\u0e00", "\u0eff"),  # Thai, Lao
    ("\u1000", "\u109f"),  # Burmese
    ("\u1780", "\u17ff"),  # Khmer
    ("\u3040", "\u30ff"),  # Hiragana, Katakana
    ("\u3400", "\u9fff"),  # Han
    ("\uf900", "\ufaff"),
    ("\U00020000", "\U0003ffff"),
)


def index_words(text: str) -> list[str]:
    """Return the words of a name as the index compares them: letters and digits, without case, accents and signs.

    In scripts that write no blanks between words, each character is a word.
    """
    return "".join(map(_spaced, fold_marks(text[:LONGEST_NAME]))).split()


def _spaced(character: str) -> str:
    if character.isascii():
        return character if character.isalnum() else " "
    if character.isalnum():
        return f" {character} " if stands_alone(character) else character
    return character if unicodedata.category(character)[0] == "M" else " "


def stands_alone(character: str) -> bool:
    """Return whether a character is a word by itself, because its script writes no blanks between words."""
    return any(first <= character <= last for first, last in _SCRIPTS_WITHOUT_BLANKS)


def joined_key(words: Sequence[str]) -> str:
    """Return a key that is equal for names that differ in blanks and signs only."""
    return "".join(words)[:_LONGEST_KEY]


def sorted_key(words: Sequence[str]) -> str:
    """Return a key that is equal for names that differ in the order of their words only."""
    return " ".join(sorted(words))[:_LONGEST_KEY]


def deletions(word: str) -> Iterator[str]:
    """Return the word without its first character, without its second one, and so on."""
    return (word[:place] + word[place + 1 :] for place in range(len(word)))


def deletion_keys(word: str) -> set[int]:
    """Return the keys of a word and of its deletions: words one edit apart share a key (symmetric deletion).

    Words that share a key need not be one edit apart; see `is_one_edit_apart`.
    """
    return {zlib.crc32(part.encode()) for part in (word, *deletions(word))}


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
