"""A naive oracle of searches: which names fit a query, by the Unicode standard and docs/tools.md alone.

Like `tests.oracle`, it imports nothing of the gateway.
"""

import unicodedata
from enum import Enum
from functools import lru_cache
from typing import Final

_WITHOUT_BLANKS: Final = frozenset(
    {"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "IDEOGRAPHIC", "THAI", "LAO", "KHMER", "MYANMAR"}
)
"""How the names of characters begin whose scripts write no blanks between words."""

_LEAST_PART: Final = 3


class Fit(Enum):
    """How a name fits a query."""

    WORDS = "it has every word"
    PLURAL = "it has every word, some in the singular or plural"
    BEGINS = "it begins with the query, within a word"
    HARDLY_BEGINS = "it begins with the query, within a number or after one letter of a word"
    PART = "it has every word, some as parts of words"
    NOT = "it lacks a word"


def fit(query: str, name: str) -> Fit:
    """Return how a name fits a query that has words."""
    each = {has(word, name) for word in words(query)}
    if each == {Fit.WORDS}:
        return Fit.WORDS
    if each <= {Fit.WORDS, Fit.PLURAL}:
        return Fit.PLURAL
    if _same(name).startswith(_same(query)):
        end = len(_same(query))
        lacking = [word for word in words(query) if has(word, name) not in {Fit.WORDS, Fit.PLURAL}]
        hardly = len(lacking[0]) == 1 or _same(name)[end - 1 : end + 1].isdigit()
        return Fit.HARDLY_BEGINS if hardly else Fit.BEGINS
    return Fit.NOT if Fit.NOT in each else Fit.PART


@lru_cache(1 << 17)
def words(text: str) -> tuple[str, ...]:
    """Return the words of a text, bare of case and accents."""
    found, before = [""], ""
    for character in _bare(text):
        kind = _kind(character)
        if kind == "mark":
            kind = before
        if kind != before:
            found.append("")
        if kind:
            found[-1] += character
        before = kind
    return tuple(word for word in found if word)


def has(word: str, name: str) -> Fit:
    """Return how a name has one of the `words` of a query; it never begins with one."""
    if _kind(word[0]) == "unspaced":
        composed = [unicodedata.normalize("NFC", text) for text in (word, _bare(name))]
        return Fit.WORDS if composed[0] in composed[1] else Fit.NOT
    own = [one for one in words(name) if _kind(one[0]) == "spaced"]
    if word in own:
        return Fit.WORDS
    if len(word) < _LEAST_PART:
        return Fit.NOT
    if any(_are_forms(word, one) or _are_forms(one, word) for one in own):
        return Fit.PLURAL
    return Fit.PART if any(word in one for one in own) else Fit.NOT


def _are_forms(singular: str, plural: str) -> bool:
    ends = [("", "s"), ("", "es"), ("y", "ies"), ("f", "ves"), ("fe", "ves"), ("man", "men")]
    stems = {(one, other): singular[: len(singular) - len(one)] for one, other in ends if singular.endswith(one)}
    return any(len(stem) >= 2 and stem + other == plural for (_, other), stem in stems.items())


@lru_cache(1 << 17)
def _kind(character: str) -> str:
    category = unicodedata.category(character)
    if category[0] == "M":
        return "mark"
    if category[0] not in "LN":
        return ""
    script = unicodedata.name(character, "").partition(" ")[0]
    return "unspaced" if script in _WITHOUT_BLANKS else "spaced"


@lru_cache(1 << 17)
def _bare(text: str) -> str:
    """Return a text decomposed, without case and accents; marks that are vowels or part of a letter stay."""
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return "".join(one for one in apart if unicodedata.combining(one) < 10 and not _is_combining_accent(one))


def _is_combining_accent(character: str) -> bool:
    return 0x300 <= ord(character) < 0x370


@lru_cache(1 << 17)
def _same(text: str) -> str:
    """Return what names share that differ in case, Latin, Greek and Cyrillic accents, `_`, `-` and blanks alone."""
    apart = unicodedata.normalize("NFKD", " ".join(text.replace("_", " ").replace("-", " ").split()).casefold())
    bare = "".join(one for one in apart if not _is_combining_accent(one))
    return unicodedata.normalize("NFC", bare).casefold()
