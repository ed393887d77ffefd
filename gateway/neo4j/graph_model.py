"""What one graph is made of in Neo4j, as Cypher that the queries read it by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from gateway.errors import ConfigurationError
from gateway.neo4j.cypher import filled
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
        names = ", ".join(f"toStringOrNull(n.{identifier(name)})" for name in nodes.names)
        synonyms = filled("parts/synonyms", synonyms=identifier(nodes.synonyms)) if nodes.synonyms else "[]"
        name = f"coalesce({names})" if names else "null"
        read_apart = [nodes.id, *nodes.names, nodes.synonyms, nodes.properties]
        return {
            "labels": identifiers(self.labels, "|"),
            "id": node_id,
            "name": name,
            "synonyms": synonyms,
            "types": types,
            "matching": filled("parts/matching", id=node_id, name=name, synonyms=synonyms, types=types),
            "rule": filled("parts/rule", id=node_id),
            "size_of_n": filled("parts/size", of="n"),
            "size_of_r": filled("parts/size", of="r"),
            "json_of_n": _property("n", nodes.properties),
            "json_of_r": _property("r", edges.properties),
            "without_of_n": _without([*read_apart, *nodes.left_out]),
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


def _without(names: Iterable[str]) -> str:
    """Return the end of a map of all properties by which some of these are null."""
    return "".join(f", {identifier(name)}: null" for name in dict.fromkeys(names) if name)
