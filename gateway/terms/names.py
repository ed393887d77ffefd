r"""How names are compared: folded, in words, and by patterns for engines.

Everything that searches names, and the ranking of what it found, agrees on `Sought`: how each store finds its
candidates is its own affair. Sources: docs/notes/endpoints.md, "Text search"; docs/decisions, record 22.

The patterns use literal characters, classes, groups, both anchors and ``\p{M}`` only, which Java, PCRE, RE2 and Rust
read alike. Patterns match every text that fits by `gateway.terms.words`, and some others: the caller compares again.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache, lru_cache
from itertools import chain, groupby
from operator import itemgetter

_ACCENTS = re.compile("[\u0300-\u036f]")
"""The combining diacritical marks of Latin, Greek and Cyrillic letters."""

_VOWEL_SIGNS = 9
"""The highest combining class of marks that are part of a word, as in Indic scripts; accents have higher ones."""


def fold(name: str) -> str:
    """Return a name without case, with one blank for each run of ``_``, ``-`` and blanks."""
    # Six times as fast as a regular expression, for the thousands of names that one search folds.
    return " ".join(name.replace("_", " ").replace("-", " ").split()).casefold()


_BREAKS = re.compile(r"\s*[\t\n\v\f\r\x85\u2028\u2029]\s*")


def one_line(text: str) -> str:
    r"""Return a text without blanks around it, with one blank for each line break and what is around that.

    >>> one_line("\n  Moby\n  Dick ")
    'Moby Dick'
    """
    stripped = text.strip()
    return stripped if stripped.isprintable() else _BREAKS.sub(" ", stripped)


@lru_cache(maxsize=1 << 10)
def compact(name: str) -> str:
    """Return the folded form without separators: the same for ``totalMentions`` and ``total_mentions``."""
    return fold(name).replace(" ", "")


def fold_accents(name: str) -> str:
    """Return the folded form without the accents of Latin, Greek and Cyrillic letters.

    The vowel signs of other scripts stay, because they are not accents.
    """
    folded = fold(name)
    if folded.isascii():
        return folded
    decomposed = unicodedata.normalize("NFKD", folded)
    return unicodedata.normalize("NFC", _ACCENTS.sub("", decomposed)).casefold()


def fold_marks(text: str) -> str:
    """Return the folded form, decomposed, without the accents and points of any script: searches compare it.

    Texts with the same `fold_accents` have the same form.
    """
    folded = fold(text)
    if folded.isascii():
        return folded
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", folded).casefold())
    return "".join(
        character for character in _ACCENTS.sub("", decomposed) if unicodedata.combining(character) <= _VOWEL_SIGNS
    )


def fold_letters(text: str) -> str:
    """Return a text without case and marks, composed: its letters, digits and signs."""
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    letters = (character for character in decomposed if unicodedata.category(character)[0] != "M")
    return unicodedata.normalize("NFC", "".join(letters))


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


def _in_word(character: str) -> bool:
    """Return whether a character is a letter, a digit or a mark, such as a vowel sign."""
    return character.isalnum() or unicodedata.category(character).startswith("M")


def _words(folded: str) -> list[str]:
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


_LENGTHS = (40, 20, 12, 8, 5, 3)
"""Letters of a word in its pattern, tried in this order until all patterns are short enough."""

_MAX_CHARACTERS = 6_000
"""Of all patterns of one search."""

_MARK = "[\\p{M}\uff9e\uff9f]"
"""Includes the half-width signs of kana, which Unicode classifies as marks only in their decomposed form."""

_MARKS = f"{_MARK}*"

_MAY_BE_FORMS = (range(0x80, 0x3400), range(0xA000, 0xAC00), range(0xF900, 0x20000), range(0x2F800, 0x2FA20))
"""Code points that may be forms of others: all except Han, Hangul syllables, surrogates and private use."""

_STYLED = range(0x1D400, 0x1D800)
"""Mathematical letters and digits; a class with some of them includes all, which makes it half as long."""

_LETTERS = (
    "0-9A-Za-z"
    # Latin: all but the two with a middle dot.
    "\u00aa\u00b2\u00b3\u00b5\u00b9\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u013e\u0141-\u02c1"
    # Greek and Cyrillic.
    "\u0370-\u0373\u0376\u0377\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f"
    # Armenian, Hebrew and Arabic.
    "\u0531-\u0556\u0561-\u0586\u05d0-\u05ea\u0620-\u063f\u0641-\u064a\u0671-\u06d3"
    # Hangul.
    "\uac00-\ud7a3"
)
"""Letters and digits beside which no word begins or ends, as the inside of a class: those of the commonest scripts.
Beside any other character one may."""

_BEGINNING = f"(?:^|[^{_LETTERS}])"
_END = f"(?:$|[^{_LETTERS}])"

_SYLLABLES = ("\uac00", "\ud7a3")
_LEADING, _VOWEL, _FINAL = 0x1100, 0x1161, 0x11A7
_VOWELS, _FINALS = 21, 28
"""How Hangul syllables are composed (Unicode, section 3.12)."""


@dataclass(frozen=True, slots=True)
class _Several:
    """A code point that stands for several letters."""

    form: str
    letters: str


@dataclass(frozen=True, slots=True)
class _Forms:
    """The code points that are forms of others.

    Attributes:
        single: The other forms of a letter.
        beginning: Code points that stand for several letters, by the first of these.
        inside: The same by each of the others.
    """

    single: Mapping[str, Sequence[str]]
    beginning: Mapping[str, Sequence[_Several]]
    inside: Mapping[str, Sequence[_Several]]


def patterns(words: Sequence[str], *, whole: bool = False) -> list[str]:
    """Return a pattern for each word, or for the beginning of each word if the patterns get too long.

    Args:
        words: Words as `gateway.terms.words.folded_words` returns them, in the order of the query.
        whole: Whether words that are a part of another are left out, as far as a pattern can tell. Else a word that is
            too short to be looked for inside others is found as a word, and the last one as the beginning of a word
            too: a name that begins with the query has all others as words.
    """
    found: list[str] = []
    for length in _LENGTHS:
        found = [_pattern(word, length, whole=whole, last=place == len(words)) for place, word in enumerate(words, 1)]
        if sum(map(len, found)) <= _MAX_CHARACTERS:
            break
    return found


def patterns_inside(words: Sequence[str]) -> list[str]:
    """Return a pattern for each word that matches wherever its letters stand, inside other words too."""
    found: list[str] = []
    for length in _LENGTHS:
        found = [_any_of([word], length, begins=False, ends=False) for word in words]
        if sum(map(len, found)) <= _MAX_CHARACTERS:
            break
    return found


def _pattern(word: str, length: int, *, whole: bool, last: bool) -> str:
    begins = not is_unspaced(word) and (whole or not may_be_part(word))
    ends = begins and (whole or not last)
    forms = [] if is_unspaced(word) else inflections(word)
    if whole:
        return _any_of([word, *forms], length, begins=begins, ends=ends)
    # What begins with the word, or contains it, is found with it.
    others = [form for form in forms if word not in form]
    found = _any_of([word], length, begins=begins, ends=ends)
    return f"(?:{found}|{_any_of(others, length, begins=True, ends=True)})" if others else found


def _any_of(texts: Sequence[str], length: int, *, begins: bool, ends: bool) -> str:
    """Return a pattern for texts, of which letters beyond a length are left out, and the end of all with them."""
    letters = list(map(fold_letters, texts))
    end = _MARKS + _END if ends and max(map(len, letters)) <= length else ""
    cut = [one[:length] for one in letters]
    first = {
        form.form for one in cut for form in _character_forms().inside.get(one[0], ()) if _ends_in(form.letters, one)
    }
    return _either((_BEGINNING + _MARKS if begins else "") + _tree(cut, end), sorted(first))


def _tree(texts: Iterable[str], end: str) -> str:
    """Return a pattern for the letters of any of some texts and then the end."""
    branches = []
    for letter, group in groupby(sorted(texts), key=itemgetter(0)):
        left = list(group)
        # A code point that stands for more than this letter ends the pattern: the caller compares again.
        several = _character_forms().beginning.get(letter, ())
        joined = [one.form for one in several if any(_agree(one.letters, text) for text in left)]
        branches.append(_either(_letter(letter) + _rest([text[1:] for text in left], end), joined))
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"


def _rest(texts: Sequence[str], end: str) -> str:
    """Return a pattern for what follows the first letter of some texts."""
    longer = [text for text in texts if text]
    if len(longer) == len(texts):
        return _MARKS + _tree(longer, end)
    return f"(?:{end}|{_MARKS}{_tree(longer, end)})" if longer and end else end


@cache
def all_marks() -> str:
    """Return the inside of a class with all marks, for expressions that know no classes of Unicode; it takes 0.1 s."""
    return _ranges(code for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code))[0] == "M")


def _agree(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)


def _ends_in(several: str, letters: str) -> bool:
    """Return whether the letters begin inside those of one code point, which stands for several."""
    return any(_agree(several[place:], letters) for place in range(1, len(several)))


def _either(pattern: str, others: Sequence[str]) -> str:
    return f"(?:{pattern}|{_class(others)})" if others else pattern


@lru_cache(maxsize=4096)
def _letter(letter: str) -> str:
    own = _class([letter, *_character_forms().single.get(letter, ())])
    if not _SYLLABLES[0] <= letter <= _SYLLABLES[1]:
        return own
    number = ord(letter) - ord(_SYLLABLES[0])
    leading, vowel, final = number // _FINALS // _VOWELS, number // _FINALS % _VOWELS, number % _FINALS
    open_syllable = _jamo(_LEADING + leading) + _MARKS + _jamo(_VOWEL + vowel)
    if not final:
        return f"(?:{own}|{open_syllable})"
    beginning = _class([chr(ord(letter) - final)])
    return f"(?:{own}|(?:{beginning}|{open_syllable}){_MARKS}{_jamo(_FINAL + final)})"


def _jamo(code: int) -> str:
    return _class([chr(code), *_character_forms().single.get(chr(code), ())])


def _class(characters: Iterable[str]) -> str:
    """Return a class of letters and digits, with ranges."""
    codes = sorted(set(map(ord, characters)))
    if any(code in _STYLED for code in codes):
        codes = sorted({*codes, *_STYLED})
    return f"[{_ranges(codes)}]"


def _ranges(codes: Iterable[int]) -> str:
    """Return code points, which ascend, as the inside of a class."""
    runs: list[list[int]] = []
    for code in codes:
        if runs and runs[-1][1] == code - 1:
            runs[-1][1] = code
        else:
            runs.append([code, code])
    return "".join(map(_run, runs))


def _run(run: Sequence[int]) -> str:
    first, last = map(chr, run)
    return first if first == last else first + ("-" if run[1] - run[0] > 1 else "") + last


@cache
def _character_forms() -> _Forms:
    single: defaultdict[str, list[str]] = defaultdict(list)
    beginning: defaultdict[str, list[_Several]] = defaultdict(list)
    inside: defaultdict[str, list[_Several]] = defaultdict(list)
    for form in map(chr, chain(range(ord("A"), ord("Z") + 1), *_MAY_BE_FORMS)):
        letters = fold_letters(form)
        if len(letters) == 1 and letters != form:
            single[letters].append(form)
        elif len(letters) > 1:
            one = _Several(form, letters)
            beginning[letters[0]].append(one)
            for letter in set(letters[1:]):
                inside[letter].append(one)
    return _Forms(single, beginning, inside)
