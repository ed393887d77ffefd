"""What a node says by itself, in one form for the oracle and for answers, and the shapes that are compared."""

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import cached_property
from typing import Any, Final

from rdflib import BNode, Literal, URIRef

from gateway.export.subgraph import Subgraph
from tests.blank_nodes.lists import Array, Node, Term
from tests.blank_nodes.matching import Ends, Shape
from tests.blank_nodes.oracle import Edge, Expected
from tests.oracle import GENERIC_TYPES, OWL, SCHEMA_TERM_CLASSES

Expand = Callable[[str], str]
"""Returns the whole IRI of an ID."""

BLANK_NODE: Final = "urn:x-bfsql-blank:node:"
REACHED_BY: Final = "urn:x-bfsql-blank:reached-by:"
"""How the gateway expands the IDs of blank nodes, and of the types of those without one."""

_NUMBER: Final = re.compile(r"\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*")
_TIME: Final = re.compile(r"\s*(?:-?\d{4,}(?:-\d\d){0,2}|--\d.*|\d\d:\d\d.*)(?:T.*)?(?:Z|[+-]\d\d:\d\d)?\s*")
_OF_AXIOMS: Final = frozenset({f"{OWL}Axiom", f"{OWL}AllDifferent"})
"""Classes of schema terms, too (docs/contract.md, "Entity types", leaves the list open)."""

_UNCOMPARED: Final = "?"
"""What stands for a text whose form or language the gateway chooses."""

_CHARACTERS: Final = 40
"""Of texts, the first are compared."""


def name_of(node: Node) -> str:
    """Return a node of the oracle as shapes name it."""
    return f"_:{node}" if isinstance(node, BNode) else str(node)


class Contents:
    """Reads what nodes say, of the oracle and of answers.

    Attributes:
        in_languages: All texts of the graph with a language: an answer shows some of them.
    """

    def __init__(self, expected: Expected, expand: Expand) -> None:
        self._expected = expected
        self._expand = expand
        self._iris = {str(node) for node in expected.nodes if isinstance(node, URIRef)}
        said = (value for of_node in expected.literals.values() for values in of_node.values() for value in values)
        self.in_languages = {_short(str(value)) for value in said if value.language}

    def expected_shape(self, distance: Iterable[Node], edges: Iterable[Edge]) -> Shape:
        """Return the shape of nodes and edges of the oracle."""
        at = self._expected.edges
        named = {(name_of(s), p, name_of(o)): at[s, p, o] for s, p, o in edges}
        return Shape(named, {name_of(node): self._of_node(node) for node in distance})

    def answered_shape(self, answer: Subgraph) -> Shape:
        """Return the shape of an answer."""
        named: dict[Ends, frozenset[str]] = {}
        for edge in answer.edges:
            ends = (self.node(edge.subject), self._expand(edge.predicate), self.node(edge.object))
            named[ends] = positions(edge.evidence)
        contents = {}
        for node in answer.nodes:
            types = frozenset(map(self.type_name, node.types))
            values = {**node.metadata, **({"name": node.name} if node.name else {})}
            contents[self.node(node.id)] = _all(node.id, types, *self.said(values))
        return Shape(named, contents)

    def node(self, name_id: str) -> str:
        """Return the name of a node of an answer."""
        return name_id if name_id.startswith("_:") else self._expand(name_id)

    def type_name(self, name_id: str) -> str:
        """Return a type of an answer as the oracle has it."""
        iri = self._expand(name_id)
        return f"({iri.removeprefix(REACHED_BY)})" if iri.startswith(REACHED_BY) else iri

    def said(self, metadata: Mapping[str, Any]) -> tuple[frozenset[str], frozenset[Hashable]]:
        """Return the scalars of metadata, and its arrays."""
        scalars: set[str] = set()
        arrays: set[Hashable] = set()
        for key, value in metadata.items():
            if key == "types":
                continue
            values = value if isinstance(value, list) else [value]
            for each in values:
                if isinstance(each, list):
                    arrays.add((self._expand(key), self._array(each)))
                elif not isinstance(each, dict):
                    scalars.add(self._scalar(each))
        return frozenset(scalars - {_UNCOMPARED}), frozenset(arrays)

    def expected_said(self, node: Node) -> tuple[frozenset[str], frozenset[Hashable]]:
        """Return the literals of a node of the oracle, and its arrays."""
        literals = self._expected.literals.get(node, {})
        scalars = {self._literal(value) for values in literals.values() for value in values}
        arrays = {(predicate, self._expected_array(array)) for predicate, array in self._arrays[node]}
        return frozenset(scalars - {_UNCOMPARED}), frozenset(arrays)

    def _of_node(self, node: Node) -> Hashable:
        types = self._expected.types.get(node, frozenset())
        return _all(name_of(node), types, *self._by_node.get(node, (frozenset(), frozenset())))

    @cached_property
    def _arrays(self) -> Mapping[Node, list[tuple[str, Array]]]:
        found: defaultdict[Node, list[tuple[str, Array]]] = defaultdict(list)
        for (owner, predicate), listed in self._expected.arrays.items():
            found[owner] += ((predicate, array) for array in listed)
        return found

    @staticmethod
    def shown_types(types: Iterable[str]) -> set[str]:
        """Return the types that are entity types."""
        return set(map(str, types)) - GENERIC_TYPES - SCHEMA_TERM_CLASSES - _OF_AXIOMS

    @cached_property
    def _by_node(self) -> Mapping[Node, tuple[frozenset[str], frozenset[Hashable]]]:
        nodes = {*self._expected.literals, *(owner for owner, _ in self._expected.arrays)}
        return {node: self.expected_said(node) for node in nodes}

    def _array(self, value: object) -> Hashable:
        if isinstance(value, list):
            return tuple(map(self._array, value))
        if isinstance(value, str):
            if value.startswith("_:"):
                return "_:"
            if ":" in value and (iri := self._iri(value)) in self._iris:
                return iri
        return _scalar(value)

    def _iri(self, text: str) -> str:
        try:
            return self._expand(text)
        except Exception:  # noqa: BLE001 - a text that is no ID
            return text

    def _expected_array(self, item: "Term | Array") -> Hashable:
        match item:
            case BNode():
                return "_:"
            case URIRef():
                return str(item)
            case Literal():
                return _scalar(str(item))
            case _:
                return tuple(map(self._expected_array, item))

    def _literal(self, literal: Literal) -> str:
        return _UNCOMPARED if literal.language else self._scalar(str(literal))

    def _scalar(self, value: object) -> str:
        short = _scalar(value)
        return _UNCOMPARED if short in self.in_languages else short


def positions(evidence: Mapping[str, Any] | None) -> frozenset[str]:
    """Return the positions in the evidence of an edge, as text."""
    if not evidence:
        return frozenset()
    found: set[str] = set()
    for each in (evidence, *evidence.get("assertions", ())):
        value = each.get("position", [])
        found.update(map(str, value if isinstance(value, list) else [value]))
    return frozenset(found)


def _all(name: str, types: Iterable[str], scalars: Iterable[str], arrays: Iterable[Hashable]) -> Hashable:
    """Return what is compared of a node: of those with an IRI nothing but arrays, since it is no question here."""
    kept = sorted(map(repr, arrays))
    if not name.startswith("_:"):
        return tuple(kept)
    shown = Contents.shown_types(types)
    return tuple(sorted(map(str, shown))), tuple(sorted(scalars)), tuple(kept)


def _scalar(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value)
    if _NUMBER.fullmatch(text):
        return f"{float(text) + 0.0:.6g}"
    return _UNCOMPARED if _TIME.fullmatch(text) else _short(text)


def _short(text: str) -> str:
    return " ".join(text.split())[:_CHARACTERS]
