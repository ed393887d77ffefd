"""What one graph is made of in Neo4j, as Cypher that the queries read it by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from gateway.errors import ConfigurationError
from gateway.neo4j.cypher import filled
from gateway.neo4j.full_text import name_properties
from gateway.neo4j.quoting import identifier, identifiers
from gateway.settings.neo4j import Neo4jSettings

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
