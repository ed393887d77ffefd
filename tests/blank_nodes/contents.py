"""What a node says by itself, in one form for oracle and answers, and which blank nodes of the two are the same."""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, Final, TypeAlias
from urllib.parse import quote

from rdflib import BNode, Graph, Literal, URIRef
from rdflib.compare import isomorphic

from gateway.export.subgraph import Subgraph
from tests.blank_nodes.expressions import EXPRESSION, said_text
from tests.blank_nodes.oracle import Array, Edge, Expected, Node, Term
from tests.oracle import GENERIC_TYPES, NO_TYPES

Ends: TypeAlias = tuple[str, str, str]
"""An edge; blank nodes begin with `_:`."""

_TRIES: Final = 40
"""How many pairs of nodes of one colour are tried before two graphs are said to differ."""

_SMALL: Final = 60
"""Edges of an answer that rdflib compares as well."""

POSITION: Final = "urn:x-test:position:"
CONTENT: Final = "urn:x-test:content"


@dataclass
class Shape:
    """A graph in which blank nodes are known by what they say.

    Attributes:
        edges: The edges, each with its positions.
        contents: What each node says by itself; the same for the same content.
    """

    edges: dict[Ends, frozenset[str]] = field(default_factory=dict)
    contents: dict[str, Hashable] = field(default_factory=dict)

    @property
    def nodes(self) -> set[str]:
        """All nodes."""
        return {*self.contents, *(end for edge in self.edges for end in (edge[0], edge[2]))}

    def within(self, nodes: Iterable[str]) -> "Shape":
        """Return the part of it with these nodes only."""
        kept = set(nodes)
        edges = {edge: at for edge, at in self.edges.items() if edge[0] in kept and edge[2] in kept}
        return Shape(edges, {node: said for node, said in self.contents.items() if node in kept})


def is_blank(node: str) -> bool:
    """Return whether a node is blank."""
    return node.startswith("_:")


def matched(one: Shape, other: Shape) -> dict[str, str] | None:
    """Return the blank nodes of another graph by those of the first, None where the two are not isomorphic."""
    if len(one.edges) != len(other.edges) or len(one.contents) != len(other.contents):
        return None
    return _matched(_Side(one), _Side(other), {}, {}, [_TRIES])


def unlike(one: Shape, other: Shape) -> str:
    """Say what the first has that the other has not, and the reverse, by the colours that blank nodes end with."""
    left, right = (_readable(shape) for shape in (one, other))
    missing, added = left - right, right - left
    if not missing and not added:
        return "the same edges, put together in another way"
    shown = [f"missing {edge} x{count}" for edge, count in list(missing.items())[:3]]
    shown += [f"not expected {edge} x{count}" for edge, count in list(added.items())[:3]]
    return f"{missing.total()} missing, {added.total()} not expected: {'; '.join(shown)}"


def differences(expected: Shape, answered: Shape, same: Mapping[str, str] | None) -> str:
    """Say how an answer differs from what was expected, or nothing.

    Args:
        expected: What was expected, with nodes of the oracle.
        answered: What was answered.
        same: The blank nodes of answers by those of the oracle; without it, the two need to be isomorphic.
    """
    if same is None:
        return "" if are_isomorphic(expected, answered) else unlike(expected, answered)
    named = _renamed(expected, same)
    if named.edges == answered.edges and named.nodes == answered.nodes:
        return ""
    missing, added = set(named.edges) - set(answered.edges), set(answered.edges) - set(named.edges)
    moved = {edge for edge in named.edges if answered.edges.get(edge, named.edges[edge]) != named.edges[edge]}
    parts = [f"{len(missing)} edges missing {sorted(missing)[:2]}"] if missing else []
    parts += [f"{len(added)} edges not expected {sorted(added)[:2]}"] if added else []
    if moved:
        edge = min(moved)
        told = f"{edge} {sorted(answered.edges[edge])}, not {sorted(named.edges[edge])}"
        parts.append(f"{len(moved)} edges with another position: {told}")
    if gone := named.nodes - answered.nodes:
        parts.append(f"{len(gone)} nodes missing {sorted(gone)[:2]}")
    if more := answered.nodes - named.nodes:
        parts.append(f"{len(more)} nodes not expected {sorted(more)[:2]}")
    return "; ".join(parts)


def are_isomorphic(one: Shape, other: Shape) -> bool:
    """Return whether two graphs are the same but for the names of blank nodes; small ones are asked of rdflib, too."""
    are_same = matched(one, other) is not None
    if len(one.edges) <= _SMALL and len(other.edges) <= _SMALL:
        by_rdflib = isomorphic(as_rdflib(one), as_rdflib(other))
        if by_rdflib != are_same:
            raise AssertionError(f"rdflib says {by_rdflib}: {one}, {other}")
    return are_same


def as_rdflib(shape: Shape) -> Graph:
    """Return a graph for rdflib, positions as further triples of each edge."""
    graph = Graph()

    def term(node: str) -> URIRef | BNode:
        return BNode(node[2:]) if is_blank(node) else URIRef(node)

    for (s, p, o), positions in shape.edges.items():
        graph.add((term(s), URIRef(p), term(o)))
        for position in positions:
            graph.add((term(s), URIRef(f"{POSITION}{quote(position)}:{p}"), term(o)))
    for node, said in shape.contents.items():
        graph.add((term(node), URIRef(CONTENT), Literal(_hashed(said))))
    return graph


class _Side:
    """One of two graphs that are compared."""

    def __init__(self, shape: Shape) -> None:
        self.blank = {node for node in shape.nodes if is_blank(node)}
        self.fixed: Counter[object] = Counter()
        self.links: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
        self.contents = {node: _hashed(said) for node, said in shape.contents.items()}
        self.edges = {edge: tuple(sorted(at)) for edge, at in shape.edges.items()}
        for (s, p, o), at in self.edges.items():
            if s not in self.blank and o not in self.blank:
                self.fixed[s, p, o, at] += 1
            if s in self.blank:
                self.links[s].append((f">{p} {at}", o))
            if o in self.blank:
                self.links[o].append((f"<{p} {at}", s))
        for node, said in self.contents.items():
            if node not in self.blank:
                self.fixed[node, said] += 1

    def colours(self, marked: Mapping[str, str]) -> dict[str, str]:
        """Return a colour for each blank node, the same for all that nothing tells apart."""
        colours = {node: _hashed((self.contents.get(node), marked.get(node))) for node in self.blank}
        known = 0
        while (now := len(set(colours.values()))) > known:
            known = now
            colours = {
                node: _hashed((colours[node], sorted((said, colours.get(end, end)) for said, end in self.links[node])))
                for node in self.blank
            }
        return colours

    def classes(self, colours: Mapping[str, str]) -> dict[str, list[str]]:
        """Return the nodes of each colour."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for node, colour in colours.items():
            found[colour].append(node)
        return found


def _matched(
    one: _Side, other: _Side, marks: dict[str, str], other_marks: dict[str, str], tries: list[int]
) -> dict[str, str] | None:
    """Refine both until each colour has one node; where several are alike, take two of them for one and go on."""
    classes, others = one.classes(one.colours(marks)), other.classes(other.colours(other_marks))
    if {colour: len(nodes) for colour, nodes in classes.items()} != {
        colour: len(nodes) for colour, nodes in others.items()
    }:
        return None
    several = [colour for colour, nodes in classes.items() if len(nodes) > 1]
    if not several:
        same = {nodes[0]: others[colour][0] for colour, nodes in classes.items()}
        return same if one.fixed == other.fixed and _is_same(one, other, same) else None
    marks, other_marks = dict(marks), dict(other_marks)
    # All of one colour that have no links among themselves or to others alike are told apart at once.
    alone = [colour for colour in several if _has_fixed_links(one, classes[colour], classes)]
    for colour in alone:
        for number, (node, answered) in enumerate(zip(classes[colour], others[colour], strict=True)):
            marks[node] = other_marks[answered] = f"{colour} {number}"
    if alone:
        return _matched(one, other, marks, other_marks, tries)
    chosen = min(several, key=lambda colour: len(classes[colour]))
    node = classes[chosen][0]
    for answered in others[chosen]:
        if tries[0] <= 0:
            return None
        with_one, with_other = marks | {node: chosen}, other_marks | {answered: chosen}
        found = _matched(one, other, with_one, with_other, tries)
        if found is not None:
            return found
        tries[0] -= 1
    return None


def _has_fixed_links(side: _Side, nodes: Iterable[str], classes: Mapping[str, list[str]]) -> bool:
    """Return whether nodes have links to nodes only that are told apart: then any of them is as good as any other."""
    several = {node for members in classes.values() if len(members) > 1 for node in members}
    return not any(end in several for node in nodes for _, end in side.links[node])


def _is_same(one: _Side, other: _Side, same: Mapping[str, str]) -> bool:
    named = {(same.get(s, s), p, same.get(o, o)): at for (s, p, o), at in one.edges.items()}
    return named == other.edges


def _renamed(shape: Shape, same: Mapping[str, str]) -> Shape:
    def name(node: str) -> str:
        return same.get(node, node)

    edges = {(name(s), p, name(o)): at for (s, p, o), at in shape.edges.items()}
    return Shape(edges, {name(node): said for node, said in shape.contents.items()})


def _readable(shape: Shape) -> Counter[str]:
    """Return the edges and contents of a graph, each blank node as what it says, and what leads to it."""

    def name(node: str) -> str:
        return f"_:{shape.contents.get(node, '')}" if is_blank(node) else node

    found = Counter(f"{name(s)} {p} {name(o)} {sorted(at)}" for (s, p, o), at in shape.edges.items())
    found.update(f"{node if not is_blank(node) else '_:'} {said}" for node, said in shape.contents.items())
    return found


def _hashed(content: object) -> str:
    return hashlib.sha256(repr(content).encode()).hexdigest()[:24]


Expand = Callable[[str], str]
"""Returns the whole IRI of an ID."""

BLANK_NODE: Final = "urn:x-bfsql-blank:node:"
REACHED_BY: Final = "urn:x-bfsql-blank:reached-by:"
"""How the gateway expands the IDs of blank nodes, and of the types of those without one."""

_NUMBER: Final = re.compile(r"\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*")
_TIME: Final = re.compile(r"\s*(?:-?\d{4,}(?:-\d\d){0,2}|--\d.*|\d\d:\d\d.*)(?:T.*)?(?:Z|[+-]\d\d:\d\d)?\s*")
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
        members = chain.from_iterable(map(_members, chain.from_iterable(expected.arrays.values())))
        self._iris = {str(node) for node in chain(expected.nodes, members) if isinstance(node, URIRef)}
        self._shown = {str(iri) for iris in expected.shown.values() for iri in iris}
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
                    is_shown = isinstance(each, str) and ":" in each and self._iri(each) in self._shown
                    scalars.add(self._scalar(self._iri(each) if is_shown else each))
        return frozenset(scalars - {_UNCOMPARED}), frozenset(arrays)

    def expected_said(self, node: Node) -> tuple[frozenset[str], frozenset[Hashable]]:
        """Return the literals of a node of the oracle, the IRIs that are shown as such, and its arrays."""
        literals = self._expected.literals.get(node, {})
        scalars = {self._literal(value) for values in literals.values() for value in values}
        scalars |= {self._scalar(str(iri)) for iri in self._expected.shown.get(node, ())}
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
        return set(map(str, types)) - GENERIC_TYPES - NO_TYPES

    @cached_property
    def _by_node(self) -> Mapping[Node, tuple[frozenset[str], frozenset[Hashable]]]:
        nodes = {*self._expected.literals, *self._expected.shown, *(owner for owner, _ in self._expected.arrays)}
        return {node: self.expected_said(node) for node in nodes}

    def _array(self, value: object) -> Hashable:
        if isinstance(value, list):
            return tuple(map(self._array, value))
        if isinstance(value, dict):
            return EXPRESSION
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
            case ("expression",):
                return EXPRESSION
            case _:
                return tuple(map(self._expected_array, item))

    def _literal(self, literal: Literal) -> str:
        return _UNCOMPARED if literal.language else self._scalar(str(literal))

    def _scalar(self, value: object) -> str:
        short = _scalar(value)
        return _UNCOMPARED if short in self.in_languages else short


def _members(array: Array) -> Iterator["Term | Array"]:
    for member in array:
        yield member
        if isinstance(member, tuple):
            yield from _members(member)


def positions(evidence: Mapping[str, Any] | None) -> frozenset[str]:
    """Return the positions in the evidence of an edge, and how expressions say it, as text."""
    if not evidence:
        return frozenset()
    found: set[str] = set()
    found.update(filter(None, map(said_text, evidence.get("assertions", [evidence]))))
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
