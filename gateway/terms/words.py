"""The words of texts: those that a query sends, and those by which a name fits a query.

Everything that searches names, and the ranking of what it found, agrees on `Sought`: how each store finds its
candidates is its own affair. Sources: docs/notes/endpoints.md, "Text search"; docs/decisions, record 22.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from itertools import groupby

from gateway.terms.folding import fold_accents, fold_marks

MOST_WORDS = 12
"""Words of a query that are searched: each is a pattern more for the engine."""

SHORTEST_PART = 3
"""Characters of a word that is found inside words; a shorter one stands inside too many, and is a word or nothing."""

_SHORTEST_STEM = 2
"""Characters before the ending of a singular or a plural."""

_SHOWN = 24
"""Characters of a word in a list of words."""

_WITHOUT_BLANKS = (
    ("\u0e00", "\u0eff"),  # Thai, Lao
    ("\u1000", "\u109f"),  # Burmese
    ("\u1780", "\u17ff"),  # Khmer
    ("\u1950", "\u19ff"),  # Tai Le, New Tai Lue, Khmer symbols
    ("\u1a20", "\u1aaf"),  # Tai Tham
    ("\u3005", "\u3007"),  # Han: iteration mark, closing mark, zero
    ("\u3040", "\u312f"),  # Hiragana, Katakana, Bopomofo
    ("\u31a0", "\u31ff"),  # more of Bopomofo and Katakana
    ("\u3400", "\u9fff"),  # Han
    ("\ua000", "\ua4cf"),  # Yi
    ("\ua9e0", "\ua9ff"),  # more of Burmese
    ("\uaa60", "\uaadf"),  # more of Burmese, Tai Viet
    ("\uf900", "\ufaff"),  # Han
    ("\U0001b000", "\U0001b16f"),  # more of Kana
    ("\U00020000", "\U0003ffff"),  # Han
)
"""Scripts that write no blanks between words."""

_UNSPACED = "".join(f"{first}-{last}" for first, last in _WITHOUT_BLANKS)
_UNSPACED_FIRST = re.compile(f"[{_UNSPACED}]")
_PLAIN_WORD = re.compile(r"[^\W_]+")
_NOT_PLAIN = re.compile(rf"[{_UNSPACED}]|[^\w\x00-\u02ff\u2000-\u206f]")
"""What a text has that is not split by `_PLAIN_WORD` alone: scripts without blanks, and what may be a mark."""


class Fit(IntEnum):
    """How a name has a word: as a word, as its singular or plural, as the beginning of a word, inside one, or not."""

    WHOLE = 0
    FORM = 1
    BEGUN = 2
    INSIDE = 3
    ABSENT = 4


@dataclass(frozen=True, slots=True)
class Sought:
    """A text that is looked for among names, and how they fit it.

    Attributes:
        text: The text without case and accents.
        words: Its words, each once; see `folded_words`.
    """

    text: str
    words: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Sought:
        """Return what a query looks for."""
        return cls(fold_accents(text), tuple(dict.fromkeys(folded_words(text))))

    def fits(self, name: str) -> list[Fit]:
        """Return how a name has each of the words."""
        folded = fold_marks(name)
        own = set(_words(folded))
        return [_fit(word, own, folded) for word in self.words]

    def is_in(self, name: str) -> bool:
        """Return whether a name has every word, at least as a part of one, or begins with the text."""
        return Fit.ABSENT not in self.fits(name) or self.begins(fold_accents(name))

    def begins(self, folded_name: str) -> bool:
        """Return whether a name, without case and accents, begins with the text."""
        return bool(self.text) and folded_name.startswith(self.text)


def words_of(query: str) -> list[str]:
    """Return the first words of a query in lower case, each once: those that are searched."""
    return typed_words(query.lower())[:MOST_WORDS]


def typed_words(query: str) -> list[str]:
    """Return all words of a query as they are typed, each once."""
    spaced = "".join(character if _in_word(character) else " " for character in query)
    # Some letters are nothing but an accent of their own.
    return [word for word in dict.fromkeys(spaced.split()) if folded_words(word)]


def folded_words(text: str) -> list[str]:
    """Return the words of a text without case, accents and signs, as names are compared with queries.

    A word is a run of letters, digits and their marks. In scripts that write no blanks between words, a run of
    characters is one that fits wherever it stands; it ends where another script begins.
    """
    return _words(fold_marks(text))


def has_symbol(text: str) -> bool:
    """Return whether a text has a visible character other than the separators `_` and `-`."""
    return any(unicodedata.category(character)[0] in "LNPS" for character in text if character not in "_-")


def is_word(text: str) -> bool:
    """Return whether a text is one word, which no query language reads as anything else."""
    return any(map(str.isalnum, text)) and all(map(_in_word, text))


def is_unspaced(word: str) -> bool:
    """Return whether a word, or a character, is of a script that writes no blanks between words."""
    return _UNSPACED_FIRST.match(word) is not None


def may_be_part(word: str) -> bool:
    """Return whether a word, as `folded_words` returns it, is looked for inside words too, and not as a word alone."""
    return len(word) >= SHORTEST_PART and not is_unspaced(word)


def listed_words(words: Iterable[str]) -> str:
    """Return words separated by commas, long ones cut."""
    return ", ".join(cut(word, _SHOWN) for word in words)


def cut(text: str, longest: int) -> str:
    """Return a text of at most `longest` characters; one that is cut ends in `…`."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def inflections(word: str) -> list[str]:
    """Return the possible English singulars of a word, and its possible plurals; a word of two letters has none."""
    if len(word) < SHORTEST_PART:
        return []
    found = []
    for singular, plural in (("y", "ies"), ("f", "ves"), ("fe", "ves"), ("", "es"), ("", "s"), ("man", "men")):
        for ending, instead in ((plural, singular), (singular, plural)):
            stem = word.removesuffix(ending)
            if word.endswith(ending) and len(stem) >= _SHORTEST_STEM:
                found.append(stem + instead)
    return found


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


def _in_word(character: str) -> bool:
    """Return whether a character is a letter, a digit or a mark, such as a vowel sign."""
    return character.isalnum() or unicodedata.category(character).startswith("M")


def _words(folded: str) -> list[str]:
    """Return the words of a folded text."""
    if _NOT_PLAIN.search(folded) is None:
        # Ten times as fast, for the thousands of names that one search compares.
        return _PLAIN_WORD.findall(folded)
    runs = ((kind, "".join(one for _, one in run)) for kind, run in groupby(_kinds(folded), key=lambda one: one[0]))
    return [run for kind, run in runs if kind]


def _kinds(folded: str) -> Iterator[tuple[str, str]]:
    """Yield each character after its kind, empty for what is in no word; a mark is of the kind of what it is on."""
    kind = ""
    for character in folded:
        if character.isalnum():
            kind = "unspaced" if is_unspaced(character) else "spaced"
        elif not unicodedata.category(character).startswith("M"):
            kind = ""
        yield kind, character


@lru_cache(maxsize=256)
def _forms(word: str) -> frozenset[str]:
    return frozenset(inflections(word))


def _fit(word: str, own: Collection[str], folded: str) -> Fit:
    if is_unspaced(word):
        # Composed, because a letter of kana with its voicing mark is another letter.
        is_there = unicodedata.normalize("NFC", word) in unicodedata.normalize("NFC", folded)
        return Fit.WHOLE if is_there else Fit.ABSENT
    if word in own:
        return Fit.WHOLE
    if not _forms(word).isdisjoint(own):
        return Fit.FORM
    if len(word) < SHORTEST_PART or word not in folded:
        return Fit.ABSENT
    places = [one.find(word) for one in own]
    if 0 in places:
        return Fit.BEGUN
    return Fit.INSIDE if max(places, default=-1) > 0 else Fit.ABSENT
