"""The text indexes of engines: how each is queried, and which words prove that one is there.

A word is letters, digits and marks; it is quoted for the query language of the index, or refused. So no operator,
wildcard or field name of that language comes from what somebody typed.

Sources: docs/notes/endpoints.md, "Text search"; docs/notes/blazegraph.md, "Features".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from gateway.errors import InputError, quoted
from gateway.settings.endpoint import EngineName
from gateway.terms.words import is_word, words_of

_PREFIX = 4
"""Characters that a word needs before it may be the beginning of one: Virtuoso refuses fewer."""

_PLURALS = ((("ies",), 3, 5), (("ses", "xes", "zes", "ches", "shes"), 2, _PREFIX), (("s",), 1, _PREFIX))
"""Endings, how many of their characters a singular may not have, and characters that have to be left."""

_LONGEST = 60
"""Characters of a word that an index is asked for, as its beginning: on a word of 1,000 Virtuoso fails with 500."""

_LONG_WORD = re.compile(r"[a-z]{4,24}")
_SHORTEST_WORD = 3
"""Characters of a word that an index is probed with, at least: shorter ones are often stop words."""

Named = TypeVar("Named")


def lucene_query(words: Sequence[str], *, every: bool, whole: bool = False) -> str:
    """Write a query of Lucene's classic syntax, which Jena takes.

    A word of capitals would be an operator and a word of digits a number's; inside of quotes it is neither. The
    beginning of a word stands outside of them, where a lower-case word is only ever a term.
    """
    return _joined([f'"{_word(word)}"' if whole else _lucene_word(word) for word in words], every=every)


def virtuoso_query(words: Sequence[str], *, every: bool, whole: bool = False) -> str:
    """Write a query of Virtuoso's, which takes digits and other scripts only in quotes."""
    return _joined([f'"{_word(word) if whole else _begun(word)}"' for word in words], every=every)


def blazegraph_query(words: Sequence[str], *, every: bool, whole: bool = False) -> str:  # noqa: ARG001 - it takes `every` beside the words
    """Write a query of words and nothing else, as Blazegraph takes it: it knows no operators."""
    return " ".join(map(_word if whole else _begun, words))


def _lucene_word(word: str) -> str:
    begun = _begun(word)
    return f'("{word[:_LONGEST]}" OR {begun})' if begun.endswith("*") else f'"{begun}"'


def _begun(word: str) -> str:
    """Let a word be the beginning of one where it is long enough."""
    return f"{_without_plural(_word(word))}*" if len(word) >= _PREFIX else _word(word)


def _word(word: str) -> str:
    if not is_word(word) or word != word.lower():
        raise InputError(
            f"{quoted(word)} is no word to search for.", valid="Lower-case letters, digits and the marks upon them."
        )
    return word[:_LONGEST]


def _without_plural(word: str) -> str:
    """Return the beginning that an English plural has in common with its singular; else the word."""
    for endings, length, least in _PLURALS:
        if word.endswith(endings) and not word.endswith("ss") and len(word) - length >= least:
            return word[:-length]
    return word


def _joined(terms: Sequence[str], *, every: bool) -> str:
    return (" AND " if every else " OR ").join(terms)


class QueryWriter(Protocol):
    """Writes words in the query language of an index."""

    def __call__(self, words: Sequence[str], *, every: bool, whole: bool = False) -> str:
        """Write a query for names with every word, or with some; as a whole, or else as the beginning of one too."""
        ...


@dataclass(frozen=True, slots=True)
class TextIndex:
    """A kind of text index.

    Attributes:
        name: The function or predicate that queries it.
        template: The template that queries it.
        write: Writes its queries.
        takes: Parameters of its template that the others lack.
    """

    name: str
    template: str
    write: QueryWriter
    takes: frozenset[str] = frozenset()


INDEXES: Mapping[EngineName, TextIndex] = {
    "fuseki": TextIndex("text:query", "search/fuseki", lucene_query, frozenset({"covered", "matches"})),
    "virtuoso": TextIndex("bif:contains", "search/virtuoso", virtuoso_query),
    "blazegraph": TextIndex("bds:search", "search/blazegraph", blazegraph_query, frozenset({"every"})),
}
"""The text index of each engine that has one which is known here."""


def long_words(words: Sequence[str]) -> list[str]:
    """Return the words that may be beginnings of words, if others are among them; none if all words are such."""
    long = [word for word in words if len(word) >= _PREFIX]
    return long if len(long) < len(words) else []


def distinctive_words(names: Iterable[tuple[Named, str]], most: int) -> list[tuple[Named, str]]:
    """Return the longest words of names, so many at most, each with whose it is: a long one is no stop word."""
    found = {word: named for named, text in names for word in words_of(text) if len(word) >= _SHORTEST_WORD}
    plain = {word: named for word, named in found.items() if _LONG_WORD.fullmatch(word)} or found
    longest = sorted(plain, key=lambda word: (-len(word), word))[:most]
    return [(plain[word], word) for word in longest]
