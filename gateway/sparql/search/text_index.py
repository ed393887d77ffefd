"""The text indexes of engines: how each is queried, and which words prove that one is there.

Sources: docs/notes/endpoints.md, "Text search"; docs/notes/blazegraph.md, "Features".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from gateway.settings.endpoint import EngineName
from gateway.sparql.search import text_query
from gateway.terms.words import words_of


class Writer(Protocol):
    """Writes words in the query language of an index."""

    def __call__(self, words: Sequence[str], *, every: bool) -> str:
        """Write a query for names with every word, or with some."""
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
    write: Writer
    takes: frozenset[str] = frozenset()


INDEXES: Mapping[EngineName, TextIndex] = {
    "fuseki": TextIndex("text:query", "search/fuseki", text_query.lucene, frozenset({"covered", "matches"})),
    "virtuoso": TextIndex("bif:contains", "search/virtuoso", text_query.virtuoso),
    "blazegraph": TextIndex("bds:search", "search/blazegraph", text_query.plain, frozenset({"every"})),
}
"""The text index of each engine that has one which is known here."""

_LONG_WORD = re.compile(r"[a-z]{4,24}")
_SHORTEST_WORD = 3
"""Characters of a word that an index is probed with, at least: shorter ones are often stop words."""

Named = TypeVar("Named")


def distinctive_words(names: Iterable[tuple[Named, str]], most: int) -> list[tuple[Named, str]]:
    """Return the longest words of names, each with whose name it is: a long one is no stop word.

    Args:
        names: Names, each with what is returned beside its words.
        most: Words at most.
    """
    found = {word: named for named, text in names for word in words_of(text) if len(word) >= _SHORTEST_WORD}
    plain = {word: named for word, named in found.items() if _LONG_WORD.fullmatch(word)} or found
    longest = sorted(plain, key=lambda word: (-len(word), word))[:most]
    return [(plain[word], word) for word in longest]
