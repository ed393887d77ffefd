r"""Makes regular expressions that match words in spite of case, accents and Unicode forms.

The patterns use literal characters, classes, groups, both anchors and ``\p{M}`` only, which Java, PCRE, RE2 and Rust
read alike. Patterns match every text that fits by `gateway.terms.words`, and some others: the caller compares again.
"""

from __future__ import annotations

import sys
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, groupby
from operator import itemgetter

from gateway.terms.folding import fold_letters
from gateway.terms.words import inflections, is_unspaced, may_be_part

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
    first = {form.form for one in cut for form in _forms().inside.get(one[0], ()) if _ends_in(form.letters, one)}
    return _either((_BEGINNING + _MARKS if begins else "") + _tree(cut, end), sorted(first))


def _tree(texts: Iterable[str], end: str) -> str:
    """Return a pattern for the letters of any of some texts and then the end."""
    branches = []
    for letter, group in groupby(sorted(texts), key=itemgetter(0)):
        left = list(group)
        # A code point that stands for more than this letter ends the pattern: the caller compares again.
        several = _forms().beginning.get(letter, ())
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
    """Return a pattern for all forms of one letter."""
    own = _class([letter, *_forms().single.get(letter, ())])
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
    return _class([chr(code), *_forms().single.get(chr(code), ())])


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
def _forms() -> _Forms:
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
