"""How the index compares names: words without case and accents, and typos."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from itertools import chain

from gateway.terms.words import folded_words, is_unspaced

LONGEST_NAME = 1_000
"""Characters of a name that are searched; a longer name is found by its beginning."""

_LONGEST_KEY = 200
"""Characters of a key; longer names are compared by their beginnings."""

LONGEST_WORD = 40
"""Characters of a word above which the index finds no typos in it."""


def index_words(text: str) -> list[str]:
    """Return the words of a name as the index has them.

    In scripts that write no blanks between words, each character is a word: a run of them has them all.
    """
    words = folded_words(text[:LONGEST_NAME])
    return list(chain.from_iterable(word if is_unspaced(word) else [word] for word in words))


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

    Words that share a key need not be one edit apart; see `gateway.terms.words.is_one_edit_apart`.
    """
    return {zlib.crc32(part.encode()) for part in (word, *deletions(word))}
