"""The properties of Neo4j that are names: those of the profile, or those that are called names.

Rules: docs/neo4j.md, "Nodes and edges".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from gateway.databases.client import Row
from gateway.settings.databases import NodesInNeo4j, name_problem
from gateway.terms.literals import Literal
from gateway.terms.name_choice import likely_name_predicate, named_predicates

SAMPLED_NODES = 20
"""Nodes of each label whose texts are looked at."""

SAMPLED_TEXTS = 20_000
"""Texts of these that are looked at, at most."""

_MOST = 10
"""Properties of names, and of synonyms, that are found at most: each makes every query longer."""


@dataclass(frozen=True, slots=True)
class NameProperties:
    """The properties that are names.

    Attributes:
        names: Those of display names, the best first.
        synonyms: Those of further names.
    """

    names: tuple[str, ...]
    synonyms: tuple[str, ...]

    @classmethod
    def of_profile(cls, nodes: NodesInNeo4j) -> NameProperties:
        """Return those that the profile names, or that are usual."""
        return cls(nodes.names, tuple(filter(None, [nodes.synonyms])))

    @property
    def all(self) -> list[str]:
        """Both, the names first."""
        return list(dict.fromkeys((*self.names, *self.synonyms)))


def are_found(nodes: NodesInNeo4j) -> bool:
    """Return whether the properties of names are found out, because the profile names none."""
    return "names" not in nodes.model_fields_set


def not_names(nodes: NodesInNeo4j) -> list[str]:
    """Return the properties that mean something else."""
    return list(filter(None, (nodes.id, nodes.properties, *nodes.left_out)))


def found_among(nodes: NodesInNeo4j, rows: Iterable[Row]) -> NameProperties:
    """Return the properties of names: the usual ones, and those of a sample that are called so.

    Args:
        nodes: Says which properties are usual.
        rows: The ID of a node, a property and a text of it, as `sampled_texts.cypher` gives them.
    """
    usual = NameProperties.of_profile(nodes)
    texts = [(str(node), str(key), Literal(str(text))) for node, key, text in rows if not name_problem(str(key))]
    values: dict[str, list[Literal]] = defaultdict(list)
    for _, key, text in texts:
        values[key].append(text)
    names, synonyms = named_predicates(values, {}, usual.all)
    if not names:
        names = likely_name_predicate(texts, usual.names, usual.synonyms)
        synonyms = tuple(one for one in synonyms if one not in names)
    return NameProperties((*usual.names, *names[:_MOST]), (*usual.synonyms, *synonyms[:_MOST]))
