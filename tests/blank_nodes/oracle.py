"""What a file with blank nodes and lists should become: nodes, edges with positions, arrays, and what is not read.

Written from the specification alone, over the triples of rdflib, without a line of the gateway. Class expressions that
fit no rule are no nodes, and edges to them are counted as left out.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, product
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

import pyoxigraph
import rdflib
from rdflib import BNode, Dataset, Graph, Literal, URIRef

from tests.blank_nodes.expressions import read_expressions
from tests.oracle import ASSOCIATION, DEFAULT_RULE, OWL, RDF, RDF_TYPE, RDFS, SINGLETON, EdgeRule, as_rdflib

# A triple term is a tuple, as in `tests/oracle.py`.
Term: TypeAlias = "URIRef | BNode | Literal | tuple[Term, Term, Term]"
Triple: TypeAlias = tuple[Term, URIRef, Term]
Node: TypeAlias = URIRef | BNode
Array: TypeAlias = "tuple[Term | Array, ...]"

FIRST: Final = URIRef(RDF + "first")
REST: Final = URIRef(RDF + "rest")
NIL: Final = URIRef(RDF + "nil")
TYPE: Final = URIRef(RDF_TYPE)
MEMBER: Final = URIRef(RDFS + "member")

_NUMBERED: Final = RDF + "_"
_LIST_TYPES: Final = frozenset(URIRef(RDF + name) for name in ("List", "Seq", "Bag", "Alt"))


@dataclass(slots=True)
class _Cell:
    """What a node says as a cell of a list, or as a container."""

    first: list[Term] = field(default_factory=list)
    rest: list[Term] = field(default_factory=list)
    numbered: list[tuple[int, Term]] = field(default_factory=list)
    says_more: bool = False
    cells_before: int = 0
    owners: int = 0


class Folding:
    """Triples in which lists and containers are folded.

    Attributes:
        triples: The triples, those from owners to members among them, each with the positions of the member.
        arrays: Lists with members that are no nodes, by owner and predicate.
        broken: How many lists stay as the nodes that they are made of.
    """

    def __init__(self, triples: Sequence[Triple], kept: set[object]) -> None:
        self.triples: dict[Triple, set[str]] = {}
        self.arrays: defaultdict[tuple[Node, str], list[Array]] = defaultdict(list)
        self._kept = kept
        self._cells = _cells_of(triples, kept)
        # Positions and members of each list that can be folded.
        self._members: dict[Term, list[tuple[int, Term]]] = {}
        further: dict[Term, set[Term]] = {}
        for head, cell in self._cells.items():
            read = None if cell.cells_before else self._read(head)
            if read is not None:
                self._members[head], further[head] = read
        for looped in self._in_themselves():
            del self._members[looped]
        self.broken = sum(not cell.cells_before and head not in self._members for head, cell in self._cells.items())
        folded = {name for head in self._members for name in further[head]}
        for s, p, o in triples:
            if s in folded:
                continue
            if s not in self._members or (not self._is_value(s) and _number(p) is None):
                self._add(s, p, o)
        for head in self._members:
            if not self._is_value(head):
                self._add_members(cast("Node", head), MEMBER, head)

    def subjects_and_objects(self) -> Iterator[Triple]:
        """Yield the triples, and one for each owner of an array."""
        yield from self.triples
        yield from ((owner, URIRef(predicate), Literal("")) for owner, predicate in self.arrays)

    def _read(self, head: Term) -> tuple[list[tuple[int, Term]], set[Term]] | None:
        """Return the members of a list or container with their positions, and its further cells; None if broken."""
        cell = self._cells[head]
        if cell.numbered:
            return None if cell.first or cell.rest else (sorted(cell.numbered, key=lambda each: each[0]), set())
        members: list[tuple[int, Term]] = []
        names: list[Term] = []
        name = head
        while name != NIL:
            at = self._cells.get(name)
            if at is None or name in names or len(at.first) != 1 or len(at.rest) != 1 or at.numbered:
                return None
            # A further cell that anything else speaks of cannot be folded without a loss.
            if names and (at.says_more or at.owners or at.cells_before > 1 or not isinstance(name, BNode)):
                return None
            names.append(name)
            members.append((len(names), at.first[0]))
            name = at.rest[0]
        return members, set(names[1:])

    def _is_value(self, name: Term) -> bool:
        """Return whether a list is a value of its owners only, and no node."""
        return (
            isinstance(name, BNode)
            and name in self._members
            and not self._cells[name].says_more
            and bool(self._cells[name].owners)
        )

    def _in_themselves(self) -> set[Term]:
        """Return the lists that are their own members, directly or in others."""
        inside = {head: {each for _, each in read if self._is_value(each)} for head, read in self._members.items()}
        found = set()
        for head, members in inside.items():
            reached: set[Term] = set()
            new = set(members)
            while new:
                reached |= new
                new = {each for other in new for each in inside[other]} - reached
            if head in reached:
                found.add(head)
        return found

    def _add(self, s: Term, p: URIRef, o: Term) -> None:
        if o == NIL and p != REST and s not in self._kept:
            self.arrays[cast("Node", s), str(p)].append(())
        elif self._is_value(o):
            self._add_members(cast("Node", s), p, o)
        else:
            self.triples.setdefault((s, p, o), set())

    def _add_members(self, owner: Node, predicate: URIRef, head: Term) -> None:
        for place, member in self._flat(head, ""):
            if isinstance(member, Node):
                self.triples.setdefault((owner, predicate, member), set()).add(place)
        members = [member for _, member in self._members[head]]
        if not all(isinstance(member, Node) and member != NIL and not self._is_value(member) for member in members):
            self.arrays[owner, str(predicate)].append(self._array(head))

    def _flat(self, head: Term, above: str) -> Iterator[tuple[str, Term]]:
        for number, member in self._members[head]:
            if self._is_value(member):
                yield from self._flat(member, f"{above}{number}.")
            elif member != NIL:
                yield f"{above}{number}", member

    def _array(self, head: Term) -> Array:
        return tuple(
            () if member == NIL else self._array(member) if self._is_value(member) else member
            for _, member in self._members[head]
        )


def _cells_of(triples: Sequence[Triple], kept: set[object]) -> dict[Term, _Cell]:
    cells: defaultdict[Term, _Cell] = defaultdict(_Cell)
    for s, p, o in triples:
        number = _number(p)
        if number is None or s in kept:
            continue
        cell = cells[s]
        if p == FIRST:
            cell.first.append(o)
        elif p == REST:
            cell.rest.append(o)
        else:
            cell.numbered.append((number, o))
    for s, p, o in triples:
        if s in cells and _number(p) is None and not (p == TYPE and o in _LIST_TYPES):
            cells[s].says_more = True
        if o in cells and p == REST:
            cells[o].cells_before += 1
        elif o in cells:
            cells[o].owners += 1
    return dict(cells)


def _number(predicate: URIRef) -> int | None:
    """Return the number of a predicate to a member of a container, 0 for those of cells, None for all others."""
    if predicate in {FIRST, REST}:
        return 0
    text = predicate.removeprefix(_NUMBERED)
    is_number = text != predicate and text.isascii() and text.isdecimal() and not text.startswith("0")
    return int(text) if is_number else None


Edge: TypeAlias = tuple[Node, str, Node]

SHACL: Final = "http://www.w3.org/ns/shacl#"

_EVIDENCE: Final = frozenset({RDF + "subject", RDF + "reifies", SINGLETON})
_OF_EXPRESSIONS: Final = frozenset(
    OWL + name
    for name in (
        *("onProperty", "onProperties", "intersectionOf", "unionOf", "complementOf", "oneOf"),
        *("onDatatype", "datatypeComplementOf", "inverseOf"),
    )
)
_TO_EXPRESSIONS: Final = frozenset(
    {
        *(OWL + name for name in ("intersectionOf", "unionOf", "oneOf", "disjointUnionOf", "hasKey")),
        OWL + "propertyChainAxiom",
        SHACL + "path",
    }
)
_RESTRICTION: Final = URIRef(OWL + "Restriction")
_VALUE: Final = OWL + "hasValue"


@dataclass(frozen=True)
class Expected:
    """A graph as the specification sees it.

    Attributes:
        nodes: All that exists.
        edges: The edges, each with the positions of its object in lists of its subject, and how expressions say it, as
            text.
        arrays: The lists of a node that have members which are no nodes, by the node and the predicate.
        types: The types of each node that has some; of an untyped blank node `(p)` for each predicate to it.
        literals: The literals of each node by predicate.
        shown: What has an IRI and is shown as a value, because the predicate to it is no edge.
        left_out: How many edges of a node lead to class expressions, in either direction.
        hidden: Edges with a class expression at one end, or at both.
        broken: How many lists are shown as the nodes that they are made of.
    """

    nodes: frozenset[Node]
    edges: Mapping[Edge, frozenset[str]]
    arrays: Mapping[tuple[Node, str], Sequence[Array]]
    types: Mapping[Node, frozenset[str]]
    literals: Mapping[Node, Mapping[str, frozenset[Literal]]]
    shown: Mapping[Node, frozenset[URIRef]]
    left_out: Mapping[Node, int]
    hidden: frozenset[Edge]
    broken: int

    @cached_property
    def touching(self) -> Mapping[Node, frozenset[Edge]]:
        """The edges of each node."""
        return _touching(self.edges)

    @cached_property
    def touching_all(self) -> Mapping[Node, frozenset[Edge]]:
        """The edges of each node, as if class expressions were nodes."""
        return _touching([*self.edges, *self.hidden])


@dataclass(frozen=True)
class Found:
    """What a search finds.

    Attributes:
        distance: The nodes, each with its distance from the nearest seed; of an intersection, 0.
        edges: The edges.
        left_out: How many edges of the expanded nodes lead to class expressions.
    """

    distance: Mapping[Node, int]
    edges: frozenset[Edge]
    left_out: int = 0


def bfs(graph: Expected, seeds: Iterable[Node], max_hops: int) -> Found:
    """Search breadth first along edges in both directions; the edges are those of expanded nodes."""
    distance = dict.fromkeys(seeds, 0)
    edges: set[Edge] = set()
    left_out = 0
    for hop in range(max_hops):
        for node in [node for node, at in distance.items() if at == hop]:
            left_out += graph.left_out.get(node, 0)
            for edge in graph.touching.get(node, ()):
                edges.add(edge)
                for end in (edge[0], edge[2]):
                    distance.setdefault(end, hop + 1)
    return Found(distance, frozenset(edges), left_out)


def intersect(graph: Expected, seeds: Sequence[Node], k: int) -> Found:
    """Find the nodes within k hops of every seed, and all edges among them.

    Returns:
        What was found; `left_out` is 1 where it would be other nodes or edges if class expressions were nodes.
    """
    nodes = frozenset.intersection(*(_within(graph.touching, seed, k) for seed in seeds))
    edges = frozenset(edge for edge in graph.edges if edge[0] in nodes and edge[2] in nodes)
    behind = frozenset.intersection(*(_within(graph.touching_all, seed, k) for seed in seeds))
    return Found(dict.fromkeys(nodes, 0), edges, int(behind & graph.nodes != nodes))


def may_lack(graph: Expected, seeds: Sequence[Node], k: int) -> bool:
    """Return whether any node within k hops of a seed has an edge to a class expression."""
    return any(graph.left_out.get(node) for seed in seeds for node in _within(graph.touching, seed, k))


def expected_of(triples: Iterable[Triple], rule: EdgeRule = DEFAULT_RULE) -> Expected:
    """Return what a graph should become.

    Args:
        triples: Its triples; those of named graphs count as others.
        rule: What counts as an edge.
    """
    read = read_expressions(dict.fromkeys(triples))
    everything = read.triples
    evidence = _evidence_of(everything)
    expressions = _expressions_of(everything) - evidence
    shown = Folding(everything, {*expressions, *(node for node in evidence if isinstance(node, BNode))})
    singletons = {str(s) for s, p, _ in everything if str(p) == SINGLETON}
    no_edges = singletons | evidence

    edges: dict[Edge, frozenset[str]] = {}
    hidden: set[Edge] = set()
    left_out: defaultdict[Node, int] = defaultdict(int)
    for (s, p, o), positions in shown.triples.items():
        if not (isinstance(s, Node) and isinstance(o, Node)) or not rule.counts(str(p)) or {s, str(p), o} & no_edges:
            continue
        edge = (s, str(p), o)
        if not expressions & {s, o}:
            edges[edge] = frozenset({*positions, *read.says.get((s, p, o), ())} - {""})
            continue
        hidden.add(edge)
        for end in {s, o} - expressions:
            left_out[end] += 1
    nodes = {
        end
        for end in chain(
            read.owners, (owner for owner, _ in read.arrays), *((s, o) for s, _, o in shown.subjects_and_objects())
        )
        if isinstance(end, URIRef) or (isinstance(end, BNode) and end not in expressions | evidence)
    }
    return Expected(
        frozenset(nodes),
        edges,
        {key: arrays for key, arrays in _together(shown.arrays, read.arrays).items() if key[0] in nodes},
        _types_of(shown.triples, nodes, rule),
        _literals_of(shown.triples, nodes),
        _shown_of(shown.triples, nodes, rule),
        dict(left_out),
        frozenset(hidden),
        shown.broken,
    )


def _together(some: Mapping[Any, Sequence[Any]], others: Mapping[Any, Sequence[Any]]) -> dict[Any, Sequence[Any]]:
    return {key: [*some.get(key, ()), *others.get(key, ())] for key in {**some, **others}}


def triples_of(graph: Graph, scope: str = "") -> Iterator[Triple]:
    """Yield the triples of an rdflib Graph or Dataset, its named graphs as one; `scope` keeps blank nodes apart."""
    quads: Iterable[Sequence[object]] = graph.quads() if isinstance(graph, Dataset) else graph
    for s, p, o, *_ in quads:
        yield _scoped(s, scope), cast("URIRef", p), _scoped(o, scope)


def read_file(path: Path, scope: str = "") -> list[Triple]:
    """Read a file by rdflib, and where that cannot read it by Oxigraph.

    Args:
        path: The file; its suffix says its format.
        scope: What keeps its blank nodes apart from those of other files.
    """
    names = {".ttl": "turtle", ".nt": "nt", ".trig": "trig", ".nq": "nquads", ".jsonld": "json-ld"}
    normalizes, rdflib.NORMALIZE_LITERALS = rdflib.NORMALIZE_LITERALS, False
    try:
        # rdflib takes what follows for an IRI.
        content = path.read_bytes()
        if b"<<" in content:
            return _read_by_oxigraph(path, scope)
        dataset = Dataset()
        dataset.parse(data=content, format=names.get(path.suffix, "xml"), publicID=path.resolve().as_uri())
        return list(triples_of(dataset, scope))
    except Exception:  # noqa: BLE001 - rdflib's parsers raise anything; what Oxigraph raises is raised
        return _read_by_oxigraph(path, scope)
    finally:
        rdflib.NORMALIZE_LITERALS = normalizes


def _read_by_oxigraph(path: Path, scope: str) -> list[Triple]:
    known = {"ttl": "ttl", "nt": "nt", "trig": "trig", "nq": "nq", "jsonld": "jsonld"}
    rdf_format = pyoxigraph.RdfFormat.from_extension(known.get(path.suffix[1:], "rdf"))
    quads = pyoxigraph.parse(path=str(path), format=rdf_format, base_iri=path.resolve().as_uri(), lenient=True)
    iris: dict[str, URIRef] = {}
    return [
        (as_rdflib(quad.subject, scope, iris), URIRef(quad.predicate.value), as_rdflib(quad.object, scope, iris))
        for quad in quads
    ]


def _scoped(term: object, scope: str) -> Term:
    return BNode(f"{scope}{term}") if isinstance(term, BNode) else cast("Term", term)


def _touching(edges: Iterable[Edge]) -> Mapping[Node, frozenset[Edge]]:
    found: defaultdict[Node, set[Edge]] = defaultdict(set)
    for edge in edges:
        found[edge[0]].add(edge)
        found[edge[2]].add(edge)
    return {node: frozenset(of_node) for node, of_node in found.items()}


def _within(touching: Mapping[Node, frozenset[Edge]], seed: Node, k: int) -> frozenset[Node]:
    near = frontier = frozenset({seed})
    for _ in range(k):
        reached = {end for node in frontier for edge in touching.get(node, ()) for end in (edge[0], edge[2])}
        frontier = frozenset(reached - near)
        near |= frontier
    return near


def _evidence_of(triples: Sequence[Triple]) -> set[object]:
    """Find the nodes whose triples are evidence; an association is where the triple that it names is asserted."""
    found: set[object] = {s for s, p, _ in triples if str(p) in _EVIDENCE}
    # A blank axiom of OWL is read as a statement.
    found |= {s for s, p, _ in triples if str(p) == OWL + "annotatedSource" and isinstance(s, BNode)}
    named: defaultdict[Term, tuple[set[Term], set[Term], set[Term]]] = defaultdict(lambda: (set(), set(), set()))
    for s, p, o in triples:
        for place, names in enumerate(ASSOCIATION):
            if str(p) in names:
                named[s][place].add(o)
    asserted = set(triples) if named else set()
    return found | {node for node, parts in named.items() if any(triple in asserted for triple in product(*parts))}


def _expressions_of(triples: Sequence[Triple]) -> set[object]:
    """Find the blank nodes of class expressions: by what they say, by what leads to them, and all blank below them."""
    found: set[object] = set()
    below: defaultdict[object, set[object]] = defaultdict(set)
    for s, p, o in triples:
        if isinstance(s, BNode) and (str(p) in _OF_EXPRESSIONS or (p == TYPE and o == _RESTRICTION)):
            found.add(s)
        if isinstance(o, BNode):
            if str(p) in _TO_EXPRESSIONS:
                found.add(o)
            if isinstance(s, BNode) and str(p) != _VALUE:
                below[s].add(o)
    new = set(found)
    while new:
        new = {o for s in new for o in below[s]} - found
        found |= new
    return found


_OF_TRIPLES: Final = {
    *(f"{RDF}{part}" for part in ("reifies", "subject", "predicate", "object")),
    *(f"{OWL}annotated{part}" for part in ("Source", "Property", "Target")),
}
"""Predicates of evidence to the terms of its triple, by which no blank node has a type."""


def _types_of(triples: Iterable[Triple], nodes: Iterable[Node], rule: EdgeRule) -> dict[Node, frozenset[str]]:
    typed: set[Term] = set()
    types: defaultdict[Term, set[str]] = defaultdict(set)
    reached: defaultdict[Term, set[str]] = defaultdict(set)
    for s, p, o in triples:
        if p == TYPE:
            typed.add(s)
        if str(p) in rule.type_predicates and isinstance(o, URIRef):
            types[s].add(str(o))
        if isinstance(o, BNode) and str(p) not in _OF_TRIPLES:
            reached[o].add(f"({p})")
    for node, names in reached.items():
        if node not in typed:
            types[node] |= names
    return {node: frozenset(types[node]) for node in nodes if types[node]}


def _literals_of(triples: Iterable[Triple], nodes: Iterable[Node]) -> dict[Node, dict[str, frozenset[Literal]]]:
    said: defaultdict[Term, defaultdict[str, set[Literal]]] = defaultdict(lambda: defaultdict(set))
    for s, p, o in triples:
        if isinstance(o, Literal):
            said[s][str(p)].add(o)
    return {
        node: {predicate: frozenset(values) for predicate, values in said[node].items()}
        for node in nodes
        if node in said
    }


def _shown_of(triples: Iterable[Triple], nodes: Iterable[Node], rule: EdgeRule) -> dict[Node, frozenset[URIRef]]:
    predicates = rule.excepted - rule.type_predicates - _OF_TRIPLES
    found: defaultdict[Term, set[URIRef]] = defaultdict(set)
    for s, p, o in triples:
        if str(p) in predicates and isinstance(o, URIRef):
            found[s].add(o)
    return {node: frozenset(found[node]) for node in nodes if node in found}
