"""How names are compared by the index: words without case and accents, and what a slip of the finger makes of them."""

from __future__ import annotations

import unicodedata
import zlib
from collections.abc import Iterator, Sequence

from gateway.terms.folding import fold_marks

LONGEST_NAME = 1_000
"""Characters of a name that are looked at: what is longer is a text, and found by its beginning."""

_LONGEST_KEY = 200
LONGEST_WORD = 40
"""Characters of a word above which slips in it are not looked for."""

_WRITTEN_WITHOUT_BLANKS = (
    ("\u0e00", "\u0eff"),  # Thai, Lao
    ("\u1000", "\u109f"),  # Burmese
    ("\u1780", "\u17ff"),  # Khmer
    ("\u3040", "\u30ff"),  # Hiragana, Katakana
    ("\u3400", "\u9fff"),  # Han
    ("\uf900", "\ufaff"),
    ("\U00020000", "\U0003ffff"),
)


def words_of(text: str) -> list[str]:
    """Return the words of a name as the index compares them: letters and digits, without case, accents and signs.

    In scripts that put no blanks between words, each character is a word.
    """
    return "".join(map(_spaced, fold_marks(text[:LONGEST_NAME]))).split()


def _spaced(character: str) -> str:
    if character.isascii():
        return character if character.isalnum() else " "
    if character.isalnum():
        return f" {character} " if stands_alone(character) else character
    return character if unicodedata.category(character)[0] == "M" else " "


def stands_alone(character: str) -> bool:
    """Tell whether a character is of a script that puts no blanks between words, so that it is a word by itself."""
    return any(first <= character <= last for first, last in _WRITTEN_WITHOUT_BLANKS)


def squashed(words: Sequence[str]) -> str:
    """Return the key under which names are the same that differ in blanks and signs only."""
    return "".join(words)[:_LONGEST_KEY]


def bag(words: Sequence[str]) -> str:
    """Return the key under which names are the same that differ in the order of their words only."""
    return " ".join(sorted(words))[:_LONGEST_KEY]


def forms(word: str) -> list[str]:
    """Return what an English plural may be the plural of, and the plurals that a word may have."""
    found = []
    for ending, instead in (("ies", "y"), ("ves", "f"), ("ves", "fe"), ("es", ""), ("s", ""), ("men", "man")):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            found.append(word[: -len(ending)] + instead)
    found += [f"{word}s", f"{word}es"]
    if word.endswith("y"):
        found.append(f"{word[:-1]}ies")
    return found


def without_one(word: str) -> Iterator[str]:
    """Return a word without each of its characters in turn."""
    return (word[:place] + word[place + 1 :] for place in range(len(word)))


def slips(word: str) -> set[int]:
    """Return numbers of which two words share one if a single slip makes one out of the other.

    They are those of the word itself and of what is left of it without one character (symmetric deletion); that two
    words share one proves nothing.
    """
    return {zlib.crc32(part.encode()) for part in (word, *without_one(word))}


def one_slip(one: str, other: str) -> bool:
    """Tell whether one character more, less or other, or two that changed places, makes one word out of the other."""
    if abs(len(one) - len(other)) > 1:
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    left, right = one[start:], other[start:]
    if len(left) == len(right):
        return left[1:] == right[1:] or (left[2:] == right[2:] and left[:2] == right[1::-1])
    return left[1:] == right or left == right[1:]
