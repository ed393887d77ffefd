"""Words written in the query languages of text indexes.

A word is letters, digits and marks; it is quoted for the inner language, or refused. So no operator, wildcard or field
name of that language comes from what somebody typed (docs/notes/endpoints.md, "Text search").
"""

from __future__ import annotations

from collections.abc import Sequence

from gateway.errors import InputError, quoted
from gateway.terms.words import is_word

_PREFIX = 4
"""Characters that a word needs before it may be the beginning of one: Virtuoso refuses fewer."""

_PLURALS = ((("ies",), 3, 5), (("ses", "xes", "zes", "ches", "shes"), 2, _PREFIX), (("s",), 1, _PREFIX))
"""Endings, how many of their characters a singular may not have, and characters that have to be left."""

_LONGEST = 60
"""Characters of a word that an index is asked for, as its beginning: on a word of 1,000 Virtuoso fails with 500."""


def lucene(words: Sequence[str], *, every: bool) -> str:
    """Write a query of Lucene's classic syntax, which Jena takes.

    A word of capitals would be an operator and a word of digits a number's; inside of quotes it is neither. The
    beginning of a word stands outside of them, where a lower-case word is only ever a term.
    """
    return _joined([_lucene_word(word) for word in words], every=every)


def virtuoso(words: Sequence[str], *, every: bool) -> str:
    """Write a query of Virtuoso's, which takes digits and other scripts only in quotes."""
    return _joined([f'"{_begun(word)}"' for word in words], every=every)


def plain(words: Sequence[str], *, every: bool) -> str:  # noqa: ARG001 - Blazegraph takes that beside the words
    """Write a query of words and nothing else, as Blazegraph takes it: it knows no operators."""
    return " ".join(map(_begun, words))


def _lucene_word(word: str) -> str:
    begun = _begun(word)
    return f'("{word[:_LONGEST]}" OR {begun})' if begun.endswith("*") else f'"{begun}"'


def _begun(word: str) -> str:
    """Let a word be the beginning of one where it is long enough."""
    if not is_word(word) or word != word.lower():
        raise InputError(
            f"{quoted(word)} is no word to search for.", valid="Lower-case letters, digits and the marks upon them."
        )
    return f"{_without_plural(word[:_LONGEST])}*" if len(word) >= _PREFIX else word


def _without_plural(word: str) -> str:
    """Return the beginning that an English plural has in common with its singular; else the word."""
    for endings, length, least in _PLURALS:
        if word.endswith(endings) and not word.endswith("ss") and len(word) - length >= least:
            return word[:-length]
    return word


def _joined(terms: Sequence[str], *, every: bool) -> str:
    return (" AND " if every else " OR ").join(terms)
