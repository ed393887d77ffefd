"""Labels, relationships and properties of Neo4j as a graph, and its full-text index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import cast

from gateway.databases.client import Row
from gateway.errors import ConfigurationError
from gateway.neo4j.cypher import filled, identifier, identifiers
from gateway.settings.databases import Neo4jSettings, NodesInNeo4j
from gateway.terms.names import is_word

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


MOST_LABELS = 200
"""Labels that are looked up; a graph of more names those that it reads."""


@dataclass(frozen=True)
class GraphModel:
    """The labels and properties of one graph.

    Args:
        settings: The section of the profile.
        labels: The labels of its nodes.

    Raises:
        ConfigurationError: There are no labels, or a name cannot stand in a query.
    """

    settings: Neo4jSettings
    labels: Sequence[str]

    def __post_init__(self) -> None:
        """Check that a node can be asked for."""
        if not self.labels:
            raise ConfigurationError(
                "The database has no labels, so that no node of it can be read.",
                valid="A node has a label, and a text as its ID.",
                next_step="Name another database, or load a graph into this one.",
            )
        self._texts()

    def query(self, name: str) -> str:
        """Return a query over this graph."""
        return _query(name, *self._texts().items())

    def _texts(self) -> dict[str, str]:
        nodes, edges = self.settings.nodes, self.settings.edges
        node_id, types = identifier(nodes.id), filled("parts/types", no_types=_no_types(nodes.no_types))
        names, synonyms = _texts_of(nodes.names), _texts_of(filter(None, [nodes.synonyms]))
        return {
            "labels": identifiers(self.labels, "|"),
            "id": node_id,
            "names": names,
            "synonyms": synonyms,
            "types": types,
            "matching": filled("parts/matching", id=node_id, names=names, synonyms=synonyms, types=types),
            "rule": filled("parts/rule", id=node_id),
            "size_of_n": filled("parts/size", of="n"),
            "size_of_r": filled("parts/size", of="r"),
            "json_of_n": _property("n", nodes.properties),
            "json_of_r": _property("r", edges.properties),
            "without_of_n": _without([nodes.id, nodes.properties, *nodes.left_out], name_properties(nodes)),
            "without_of_r": _without([edges.properties, *edges.left_out]),
        }


@cache
def _query(name: str, *texts: tuple[str, str]) -> str:
    return filled(name, **dict(texts))


def _no_types(labels: Iterable[str]) -> str:
    """Return the members of a map of labels."""
    return ", ".join(f"{identifier(label)}: 0" for label in labels)


def _property(owner: str, name: str) -> str:
    return f"{owner}.{identifier(name)}" if name else "null"


def _values_of(names: Iterable[str]) -> str:
    """Return the list of all values of some properties of a node, each of which may be a list."""
    return " + ".join(f"coalesce([] + n.{identifier(name)}, [])" for name in names) or "[]"


def _texts_of(names: Iterable[str]) -> str:
    return filled("parts/texts", values=_values_of(names))


def _without(names: Iterable[str], with_names: Iterable[str] = ()) -> str:
    """Return the end of a map of all properties by which some are null, and those whose values all are names."""
    left_out = dict.fromkeys(map(identifier, filter(None, names)), "null")
    shown = {
        identifier(name): filled(
            "parts/not_only_names", texts=_texts_of([name]), values=_values_of([name]), property=identifier(name)
        )
        for name in with_names
    }
    return "".join(f", {name}: {value}" for name, value in {**shown, **left_out}.items())
