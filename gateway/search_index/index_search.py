"""A search in an index of names, by words and their forms.

User text reaches FTS5 only as quoted words of letters and digits, so it cannot contain FTS5 syntax.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from gateway.graph.values import Hit, HitKind, Iri, SearchTerms
from gateway.terms.names import (
    Fit,
    Sought,
    fold_accents,
    fold_marks,
    folded_words,
    inflections,
    is_unspaced,
    may_be_part,
)
from gateway.terms.spelling import SHORTEST_MISSPELT, is_one_edit_apart
from gateway.terms.transliteration import latin_words

CODE, LOCAL_NAME, WHOLE_LOCAL_NAME = 2, 3, 4
"""What a text is beside a name, 0, and a synonym, 1; see `gateway.graph.values.HitKind`."""

WHOLE_KINDS = frozenset({CODE, WHOLE_LOCAL_NAME})
"""Those that are found by nothing less than the whole text."""

_KINDS: Mapping[int, HitKind] = {CODE: "code", LOCAL_NAME: "id", WHOLE_LOCAL_NAME: "id"}

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


def whole_key(words: Sequence[str]) -> str:
    """Return the key of a text that a search has to have as a whole: no beginning or misspelling has it."""
    return f"={joined_key(words)}"


def sorted_key(words: Sequence[str]) -> str:
    """Return a key that is equal for names that differ in the order of their words only."""
    return " ".join(sorted(words))[:_LONGEST_KEY]


def deletions(word: str) -> Iterator[str]:
    """Return the word without its first character, without its second one, and so on."""
    return (word[:place] + word[place + 1 :] for place in range(len(word)))


def deletion_keys(word: str) -> set[int]:
    """Return the keys of a word and of its deletions: words one edit apart share a key (symmetric deletion).

    Words that share a key need not be one edit apart; see `gateway.terms.spelling.is_one_edit_apart`.
    """
    return {zlib.crc32(part.encode()) for part in (word, *deletions(word))}


_MOST_WORDS = 24
"""Words of a query that are looked up; of a longer query, the first."""

_FEW_NAMES = 5
"""Names found below which the search goes on to similar names."""

_LOOKED_AT = 20_000
"""Names read at most, where only some of them match: names that begin with the text, or have symbols only."""

_ALTERNATIVES = 200
"""Words of the index at most that are tried in place of one word."""

_WORDS_INSIDE = 1_000
"""Words of the index at most that contain one word, the most frequent first."""

_LAST = "\U0010ffff"

_NAME = "SELECT name.id, node.iri, name.text, name.is_synonym, name.language"
_OF_TYPES = """
(:untyped OR EXISTS (
    SELECT 1 FROM built.node_type AS its
    WHERE its.node = node.id AND its.type IN (SELECT value FROM json_each(:types))
))
LIMIT :rows
"""
_BY_KEY = "FROM built.name JOIN built.node ON node.id = name.node WHERE"
_KEYS = "IN (SELECT value FROM json_each(:keys)) AND"
_SQUASHED = f"{_NAME} {_BY_KEY} name.squashed {_KEYS} {_OF_TYPES}"
_IN_ANY_ORDER = f"{_NAME} {_BY_KEY} name.bag {_KEYS} {_OF_TYPES}"
_BEGUN = "(SELECT * FROM built.name WHERE squashed >= :first AND squashed < :last LIMIT :looked_at)"
_BEGINNING = f"{_NAME} FROM {_BEGUN} AS name JOIN built.node ON node.id = name.node WHERE {_OF_TYPES}"
_HOW_MANY_BEGIN = """
SELECT count(*) FROM (SELECT 1 FROM built.name WHERE squashed >= :first AND squashed < :last LIMIT :looked_at)
"""
_FOUND = "(SELECT rowid FROM built.named WHERE named MATCH :query ORDER BY rowid LIMIT :rows)"
_MATCHING = f"""
{_NAME} FROM {_FOUND} AS found JOIN built.name ON name.id = found.rowid JOIN built.node ON node.id = name.node
"""
_TYPES = "SELECT id FROM built.type WHERE iri IN (SELECT value FROM json_each(?))"
_KNOWN_WORDS = "SELECT text, names FROM built.word WHERE text IN (SELECT value FROM json_each(?))"
_WORDS_BY_DELETION_KEYS = """
SELECT DISTINCT word.id, word.text FROM built.slip JOIN built.word ON word.id = slip.word
WHERE slip.variant IN (SELECT value FROM json_each(?)) ORDER BY word.id
"""
_WORDS_WITH_INSIDE = """
SELECT text FROM built.word WHERE id IN (SELECT rowid FROM built.inside WHERE inside MATCH ? ORDER BY rowid LIMIT ?)
"""

_HAS_OTHER_SCRIPTS = "SELECT 1 FROM built.latin LIMIT 1"
_LATIN_BY_DELETION_KEYS = "SELECT DISTINCT word FROM built.latin_slip WHERE variant IN (SELECT value FROM json_each(?))"
_LATIN = """
SELECT DISTINCT name FROM built.latin WHERE word IN (SELECT value FROM json_each(?)) ORDER BY name LIMIT ?
"""
_NUMBERED = f"{_NAME} {_BY_KEY} name.id {_KEYS} {_OF_TYPES}"

Row = tuple[int, str, str, int, str]
Groups = Sequence[Sequence[str]]
"""Alternatives for each word: one of each group is enough."""


@dataclass(slots=True)
class IndexSearch:
    """One search, and the rows that it found.

    Attributes:
        cut: Whether there are more than was asked for.
        shortened: Whether the search left something out: words beyond the first ones, or names that have the symbols of
            a text beside something else.
        absent: Words of the text that no name has, of the types if there are any; empty if a name has all words.
    """

    cut: bool
    shortened: bool
    absent: tuple[str, ...]
    _database: sqlite3.Connection
    _types: Sequence[int] | None
    _at_most: int
    _thorough: bool
    _rows: dict[int, Row] = field(default_factory=dict)
    _steps: dict[str, None] = field(default_factory=dict)

    @classmethod
    def of(
        cls, database: sqlite3.Connection, terms: SearchTerms, types: Sequence[Iri], at_most: int, thorough: bool
    ) -> IndexSearch:
        """Search for at most so many names in each step, and return the search with its rows.

        If the search is thorough, it looks inside words even if whole words were found.
        """
        words = index_words(terms.text)
        shortened = len(words) > _MOST_WORDS or not words
        search = cls(False, shortened, (), database, _numbers(database, types), at_most, thorough)
        if search._types is not None:
            if words:
                sought = Sought.of(terms.text)
                search._search(words[:_MOST_WORDS], sought)
                if not any(sought.is_in(row[2]) for row in search._rows.values()):
                    # How many guesses there are says nothing of the names that fit.
                    was_cut = search.cut
                    search._in_another_script(words[:_MOST_WORDS], terms.text)
                    search.cut = was_cut
            else:
                search._symbols(terms.text)
        return search

    @property
    def hits(self) -> tuple[Hit, ...]:
        """The names found, in no particular order."""
        return tuple(
            Hit(iri, text, kind == 1, _KINDS.get(kind, "name"), language)
            for _, iri, text, kind, language in self._rows.values()
        )

    @property
    def how(self) -> str:
        """Which names were found, as a phrase."""
        return f"names that {' or '.join(self._steps)}" if self._steps else "no name is near"

    def _search(self, words: Sequence[str], sought: Sought) -> None:
        is_whole = self._whole(words, sought.text)
        same = self._same(words) or is_whole
        self._beginning(words)
        self._with_all(words)
        self._in_other_forms(words)
        if not self._rows or (self._thorough and not self.cut):
            self._with_parts(words)
        elif may_be_part(words[-1]):
            self._unfinished(words)
        if not (self.shortened or any(max(sought.fits(row[2])) <= Fit.FORM for row in self._rows.values())):
            self.absent = tuple(word for word in sought.words if not self._is_known(word))
        if same:
            return
        if len(self._rows) < _FEW_NAMES:
            self._similar(words)
        if not self._rows:
            self._with_some(words)

    def _in_another_script(self, words: Sequence[str], text: str) -> None:
        """Find names of which the text is a spelling in other letters; they are guesses, whatever they have."""
        step = "are spelt so in other letters"
        spelt = latin_words(text)[:_MOST_WORDS]
        if spelt:
            self._take(step, self._matching([[word, *self._near(word)] for word in spelt]))
        if self._database.execute(_HAS_OTHER_SCRIPTS).fetchone() is None:
            return
        named = [self._spelt([word, *self._near_in_latin(word)]) for word in spelt or words]
        # Scripts without blanks have their words as one.
        every = set.intersection(*named) | self._spelt([joined_key(spelt or words)])
        # Where no name has them all, those that have the longest one.
        longest = max(zip(map(len, spelt or words), named, strict=True), key=lambda pair: bool(pair[1]) * pair[0])[1]
        names = sorted(every or longest)[:_LOOKED_AT]
        if names:
            self._take(step, self._rows_of(_NUMBERED, {"keys": json.dumps(names)}))

    def _spelt(self, words: Sequence[str]) -> set[int]:
        """Return the names that have one of some words in Latin letters, the shortest ones where they are very many."""
        return {name for (name,) in self._database.execute(_LATIN, (json.dumps(words), _LOOKED_AT))}

    def _near_in_latin(self, word: str) -> list[str]:
        """Return the words of names in Latin letters that are one edit from a word."""
        if not SHORTEST_MISSPELT <= len(word) <= LONGEST_WORD:
            return []
        rows = self._database.execute(_LATIN_BY_DELETION_KEYS, (json.dumps(sorted(deletion_keys(word))),))
        return sorted(text for (text,) in rows if is_one_edit_apart(text, word))[:_ALTERNATIVES]

    def _symbols(self, text: str) -> None:
        """Find names that equal a text of symbols."""
        wanted = fold_marks(text)
        rows = list(self._rows_of(_SQUASHED, {"keys": json.dumps(["", whole_key(())]), "rows": _LOOKED_AT}))
        self.cut = len(rows) == _LOOKED_AT
        self._take("are the same", (row for row in rows if fold_marks(row[2]) == wanted))

    def _whole(self, words: Sequence[str], text: str) -> bool:
        """Find codes and unreadable local names that are the text."""
        rows = self._by_key(_SQUASHED, [whole_key(words)])
        return self._take("are the same", (row for row in rows if fold_accents(row[2]) == text))

    def _same(self, words: Sequence[str]) -> bool:
        """Find names that differ only in case, accents, signs and the order of words."""
        return self._take(
            "are the same",
            chain(self._by_key(_SQUASHED, [joined_key(words)]), self._by_key(_IN_ANY_ORDER, [sorted_key(words)])),
        )

    def _beginning(self, words: Sequence[str]) -> None:
        """Find names that begin with the text."""
        key = joined_key(words)
        within = {"first": key, "last": key + _LAST, "looked_at": _LOOKED_AT}
        self._take("begin so", self._rows_of(_BEGINNING, within))
        if self._types:
            ((looked_at,),) = self._database.execute(_HOW_MANY_BEGIN, within)
            self.cut = self.cut or looked_at == _LOOKED_AT

    def _with_all(self, words: Sequence[str]) -> None:
        """Find names that have every word."""
        self._take("have every word", self._matching([[word] for word in words]))

    def _in_other_forms(self, words: Sequence[str]) -> None:
        """Find names that have every word, in the singular or plural."""
        self._take("have every word in some form", self._matching([[word, *inflections(word)] for word in words]))

    def _unfinished(self, words: Sequence[str]) -> None:
        """Find names that have every word, of which the last may be the beginning of a word."""
        *complete, last = words
        self._take("have the beginning of a word", self._matching([[word] for word in complete], f'"{last}"*'))

    def _similar(self, words: Sequence[str]) -> None:
        """Find names one edit from the text; if there are none, names with one edit in each word."""
        step = "are similar"
        # The empty key would match names without any letter.
        shorter = filter(None, deletions(joined_key(words)[: LONGEST_WORD * 2]))
        found = self._take(step, self._by_key(_SQUASHED, shorter))
        near = [self._near(word) for word in words]
        for place, alternatives in enumerate(near):
            if alternatives:
                others = [[word] for word in (*words[:place], *words[place + 1 :])]
                found = self._take(step, self._matching([alternatives, *others])) or found
        if not found and len(words) > 1:
            self._take(
                step, self._matching([[word, *alternatives] for word, alternatives in zip(words, near, strict=True)])
            )

    def _with_parts(self, words: Sequence[str]) -> None:
        """Find names whose words contain the words; one that is too short for that has to be a word."""
        groups = []
        for word in words:
            if not may_be_part(word):
                groups.append([word])
                continue
            rows = self._database.execute(_WORDS_WITH_INSIDE, (f'"{word}"', _WORDS_INSIDE + 1)).fetchall()
            groups.append([*(text for (text,) in rows[:_WORDS_INSIDE]), *inflections(word)])
            self.cut = self.cut or len(rows) > _WORDS_INSIDE
        self._take("have every word inside a word", self._matching(groups))

    def _with_some(self, words: Sequence[str]) -> None:
        """Find names that lack one of the words; if there are none, names that have one word, rare words first."""
        if len(words) == 1:
            return
        known = dict(self._database.execute(_KNOWN_WORDS, (json.dumps(words),)))
        rest = [word for word in dict.fromkeys(words) if word in known]
        for place in range(len(rest)) if len(rest) == len(set(words)) else ():
            self._take("have some of the words", self._matching([[word] for word in rest if word != rest[place]]))
        if not self._rows and len(rest) > 1 and len(rest) < len(set(words)):
            self._take("have some of the words", self._matching([[word] for word in rest]))
        if not self._rows and rest:
            for word in sorted(rest, key=known.__getitem__):
                self._take("have some of the words", self._matching([[word]]))
                if len(self._rows) > self._at_most // 2:
                    break

    def _is_known(self, word: str) -> bool:
        """Return whether a name has a word, in the singular or plural; True if there are too many names to say."""
        groups = [[one] for one in index_words(word)] if is_unspaced(word) else [[word, *inflections(word)]]
        rows = list(self._matching(groups))
        sought = Sought("", (word,))
        return len(rows) > self._at_most or any(max(sought.fits(row[2])) <= Fit.FORM for row in rows)

    def _near(self, word: str) -> list[str]:
        """Return the words of the index that are one edit from a word."""
        if not 1 < len(word) <= LONGEST_WORD:
            return []
        rows = self._database.execute(_WORDS_BY_DELETION_KEYS, (json.dumps(sorted(deletion_keys(word))),))
        return [text for _, text in rows if text != word and is_one_edit_apart(text, word)][:_ALTERNATIVES]

    def _by_key(self, query: str, keys: Iterable[str]) -> Iterable[Row]:
        return self._rows_of(query, {"keys": json.dumps(list(keys))})

    def _matching(self, groups: Groups, last: str = "") -> Iterable[Row]:
        """Return names that have a word of each group, the shortest first."""
        if not all(groups):
            return ()
        wanted = [" OR ".join(f'"{word}"' for word in group) for group in groups] + [last] * bool(last)
        query = " AND ".join(f"words : ({one})" for one in wanted)
        if self._types:
            query += f" AND types : ({' OR '.join(f't{number}' for number in self._types)})"
        return self._rows_of(_MATCHING, {"query": query})

    def _rows_of(self, query: str, parameters: Mapping[str, object]) -> Iterable[Row]:
        given = {"untyped": not self._types, "types": json.dumps(self._types), "rows": self._at_most + 1}
        return self._database.execute(query, {**given, **parameters})

    def _take(self, step: str, rows: Iterable[Row]) -> bool:
        """Add the rows of a step, so many and no more; return whether it found any."""
        found = list(rows)
        self.cut = self.cut or len(found) > self._at_most
        before = len(self._rows)
        self._rows.update((row[0], row) for row in found[: self._at_most])
        if len(self._rows) > before:
            self._steps[step] = None
        return bool(found)


def _numbers(database: sqlite3.Connection, types: Sequence[Iri]) -> list[int] | None:
    """Return the numbers that the index has for types; None if it has none of them."""
    if not types:
        return []
    return [number for (number,) in database.execute(_TYPES, (json.dumps(types),))] or None
