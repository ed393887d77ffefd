"""Resolving names: words in, ranked entities out."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from gateway.graph.values import Hit, Iri
from gateway.terms.folding import fold

_MOST_WORDS = 12


def words_of(query: str) -> list[str]:
    """Take a query apart into lower-case words; single characters only where there is nothing longer.

    What is no letter or digit never reaches a query (field notes, ``sparql-endpoints.md`` 3).
    """
    spaced = "".join(character if _in_word(character) else " " for character in query.lower())
    words = [word for word in dict.fromkeys(spaced.split()) if any(map(str.isalnum, word))]
    longer = [word for word in words if len(word) > 1]
    return (longer or words)[:_MOST_WORDS]


def _in_word(character: str) -> bool:
    """Tell whether a character is a letter, a digit or a mark upon one, as vowel signs are."""
    return character.isalnum() or unicodedata.category(character).startswith("M")


def best_hits(hits: Iterable[Hit], query: str, words: Sequence[str]) -> list[Hit]:
    """Return one hit per entity, the best first.

    Exact name, exact synonym, name that begins so, then the more of the words a name has, the shorter it is, and
    by IRI: the order does not depend on the engine's.
    """
    wanted = fold(query)

    def rank(hit: Hit) -> tuple[int, int, int, str, str]:
        text = fold(hit.text)
        lowered = hit.text.lower()
        missing = sum(word not in lowered for word in words)
        if text == wanted:
            place = 1 if hit.is_synonym else 0
        elif text.startswith(wanted):
            place = 2
        else:
            place = 3 + missing
        return (place, len(text), int(hit.is_synonym), hit.iri, hit.text)

    best: dict[Iri, Hit] = {}
    for hit in sorted(hits, key=rank):
        best.setdefault(hit.iri, hit)
    return list(best.values())
