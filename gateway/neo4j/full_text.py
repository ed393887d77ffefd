"""The full-text index of a database, by which a search finds names without comparing all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from gateway.databases.client import Row
from gateway.settings.neo4j import NodesInNeo4j
from gateway.terms.words import is_word

MOST_INDEXES = 1_000
"""Full-text indexes that are looked at."""


@dataclass(frozen=True, slots=True)
class FullTextIndex:
    """A full-text index of the names of nodes.

    Attributes:
        name: Its name.
        has_all: Whether it is of every label that is read, and of every property with names.
    """

    name: str
    has_all: bool


def best_index(rows: Iterable[Row], labels: Sequence[str], nodes: NodesInNeo4j) -> FullTextIndex | None:
    """Return the index that has the most of the names; None if no index has any of them.

    Args:
        rows: The indexes, as `full_text_indexes.cypher` gives them.
        labels: The labels that are read.
        nodes: Says which properties are names.
    """
    properties = name_properties(nodes)
    found: list[tuple[int, int, str]] = []
    for name, of, on in rows:
        known_labels = len({*labels} & {*cast("Sequence[str]", of)})
        known_properties = len({*properties} & {*cast("Sequence[str]", on)})
        if known_labels and known_properties:
            found.append((-known_labels, -known_properties, str(name)))
    if not found:
        return None
    less_labels, less_properties, name = min(found)
    return FullTextIndex(name, has_all=(-less_labels, -less_properties) == (len({*labels}), len(properties)))


def name_properties(nodes: NodesInNeo4j) -> list[str]:
    """Return the properties with names and synonyms."""
    return list(dict.fromkeys(filter(None, (*nodes.names, nodes.synonyms))))


def lucene_query(words: Sequence[str], *, every: bool, whole: bool = False) -> str:
    """Return what finds names that have words beginning with these, or the words as a whole: all of them, or any.

    A word of Chinese is several to the index, so that it is also asked for as a whole, which the index splits
    (Lucene, classic query parser).

    Raises:
        ValueError: One of them is not a word, and could be an operator.
    """
    if not all(map(is_word, words)):
        raise ValueError("a word has letters, digits and marks only")
    # Operators of the syntax are in capitals.
    each = [word if whole else f"({word} {word}*)" for word in map(str.lower, words)]
    return " ".join(f"+{one}" for one in each) if every else " ".join(each)
