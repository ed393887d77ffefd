"""Probes the text index of an engine. Only a bound row proves one: without an index many engines return no error."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gateway.checking.claims import Claim, not_determined
from gateway.checking.prober import Prober, value_of
from gateway.errors import QueryRefused
from gateway.graph.values import Iri
from gateway.settings.endpoint import EngineName
from gateway.sparql.engines.traits import TRAITS

_WORD = re.compile(r"[A-Za-z]{4,24}")
"""A word that needs no escape in the query language of any text index."""

_NAMES = 50
_TRIED = 3
_HITS = 5
"""Names that are read, words of them that are searched for, and rows of each search."""


@dataclass(frozen=True, slots=True)
class _Index:
    """A kind of text index.

    Attributes:
        name: The predicate or function that queries it.
        template: The template of the query.
        quoted: Returns the search expression for a word.
    """

    name: str
    template: str
    quoted: Callable[[str], str]


_INDEXES: Mapping[EngineName, _Index] = {
    "fuseki": _Index("text:query", "check/text_fuseki", str),
    "virtuoso": _Index("bif:contains", "check/text_virtuoso", '"{}"'.format),
    "blazegraph": _Index("bds:search", "check/text_blazegraph", str),
}


async def text_search(prober: Prober, engine: EngineName, predicates: Sequence[Iri]) -> Claim:
    """Return whether the text index of the engine finds words of names.

    Args:
        prober: Sends the queries.
        engine: The engine.
        predicates: The predicates of names.
    """
    index = _INDEXES.get(engine)
    if index is None:
        known = (
            "the engine is not recognised"
            if engine == "unknown"
            else f"no text index of {TRAITS[engine].name} is known here"
        )
        return not_determined(known)
    words = _words(
        [
            (value_of(row, "p"), value_of(row, "v"))
            for row in await prober.rows("check/names", _NAMES, predicates=predicates)
        ]
    )
    if not words:
        return not_determined("no name has a word to search for")
    for predicate, word in words:
        try:
            rows = await prober.rows(index.template, _HITS, predicate=predicate, word=index.quoted(word))
        except QueryRefused:
            return Claim(False, f"{index.name} is refused")
        if any("n" in row for row in rows):
            return Claim(index.name, f"{index.name} found a node by the word {word}")
        if rows:
            return Claim(False, f"{index.name} binds nothing: there is no index")
    return not_determined(f"{index.name} is taken, but found nothing for {len(words)} words that names have")


def _words(names: Sequence[tuple[Iri, str]]) -> list[tuple[Iri, str]]:
    """Return the longest words of names, each with its predicate: long words are no stop words."""
    found = {word: predicate for predicate, text in names for word in _WORD.findall(text)}
    longest = sorted(found, key=lambda word: (-len(word), word))[:_TRIED]
    return [(found[word], word) for word in longest]
