"""Draws small graphs with blank nodes and lists, each kind of use by its number, and writes them to files."""

import functools
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias, cast

import pyoxigraph
from rdflib import BNode, Dataset, Graph, Literal, URIRef
from rdflib.namespace import OWL, RDF, RDFS, SH, XSD
from rdflib.plugins.serializers.nt import _quoteLiteral

from tests.blank_nodes.oracle import FIRST, NIL, REST, Node, Term, Triple, triples_of

X: Final = "https://example.org/"
Object: TypeAlias = URIRef | BNode | Literal
Fact: TypeAlias = tuple[Node, URIRef, Object]

PREDICATES: Final = [URIRef(f"{X}p/{name}") for name in ("with", "part", "near", "made")]
SAYS: Final = [URIRef(f"{X}says/{name}") for name in ("amount", "note", "when")]
TYPES: Final = [URIRef(f"{X}type/{name}") for name in ("Dose", "Event", "Person")]
LISTS: Final = [URIRef(f"{X}list/{name}") for name in ("steps", "order")]
WORDS: Final = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath", "inlet", "jetty")


@dataclass
class Document:
    """One file.

    Attributes:
        facts: Its triples, by the named graph that they are in; of the default graph, by nothing.
    """

    facts: dict[URIRef | None, list[Fact]] = field(default_factory=dict)


@dataclass
class _Maker:
    """Collects facts."""

    dice: random.Random
    facts: list[Fact] = field(default_factory=list)
    blanks: int = 0

    def blank(self) -> BNode:
        self.blanks += 1
        return BNode(f"b{self.blanks}")

    def iri(self) -> URIRef:
        return URIRef(f"{X}n{self.dice.randrange(8)}")

    def add(self, s: Node, p: URIRef, o: Object) -> None:
        self.facts.append((s, p, o))

    def literal(self) -> Literal:
        dice = self.dice
        return dice.choice(
            (
                Literal(dice.choice(WORDS)),
                Literal(str(dice.randrange(5)), datatype=XSD.integer),
                Literal(f"0{dice.randrange(3)}", datatype=XSD.integer, normalize=False),
                Literal(f"{dice.randrange(5)}.5", datatype=XSD.decimal),
                Literal(dice.choice(WORDS), lang=dice.choice(("en", "de"))),
                Literal(dice.choice(("true", "false")), datatype=XSD.boolean),
                Literal(f'{dice.choice(WORDS)} "quoted"\nline \\ end'),
            )
        )

    def describe(self, node: Node, share: float = 0.5) -> None:
        dice = self.dice
        if dice.random() < share:
            self.add(node, RDF.type, dice.choice(TYPES))
        if dice.random() < share:
            self.add(node, RDFS.label, Literal(f"{dice.choice(WORDS)} {dice.choice(WORDS)}"))
        if dice.random() < share:
            self.add(node, dice.choice(SAYS), self.literal())

    def named(self) -> None:
        """Give the IRIs names and edges among themselves."""
        for number in range(8):
            self.describe(URIRef(f"{X}n{number}"), 0.4)
        for _ in range(3):
            self.add(self.iri(), self.dice.choice(PREDICATES), self.iri())

    def items(self, members: Sequence[Object], head: Node | None = None) -> Node:
        """Add a list and return its head."""
        if not members:
            return NIL
        cells: list[Node] = [head or self.blank(), *(self.blank() for _ in members[1:])]
        for place, (cell, member) in enumerate(zip(cells, members, strict=True), 1):
            self.add(cell, FIRST, member)
            self.add(cell, REST, cells[place] if place < len(cells) else NIL)
        return cells[0]

    def member(self, depth: int = 0) -> Object:
        """Draw a member of a list."""
        roll = self.dice.random()
        if roll < 0.4:
            return self.iri()
        if roll < 0.6:
            return self.literal()
        if roll < 0.8 or depth > 2:
            node = self.blank()
            self.describe(node)
            self.add(node, self.dice.choice(PREDICATES), self.iri())
            return node
        return self.items([self.member(depth + 1) for _ in range(self.dice.randrange(4))])


def _in_one_file(fill: Callable[[_Maker, random.Random], None]) -> Callable[[random.Random], Iterator[Document]]:
    """Return what draws a file of named IRIs and of what a function adds."""

    @functools.wraps(fill)
    def drawn(dice: random.Random) -> Iterator[Document]:
        make = _Maker(dice)
        make.named()
        fill(make, dice)
        yield Document({None: make.facts})

    return drawn


@_in_one_file
def _nests(make: _Maker, dice: random.Random) -> None:
    """Blank nodes in each other, up to five deep."""

    def fill(node: Node, depth: int) -> None:
        for _ in range(dice.randint(1, 3)):
            inner = make.blank()
            make.add(node, dice.choice(PREDICATES), inner)
            make.describe(inner)
            if depth < 4 and dice.random() < 0.6:
                fill(inner, depth + 1)
            if dice.random() < 0.4:
                make.add(inner, dice.choice(PREDICATES), make.iri())

    for _ in range(3):
        fill(make.iri(), 0)


@_in_one_file
def _chain(make: _Maker, dice: random.Random) -> None:
    """A chain of up to thirty blank nodes that say nothing, between two IRIs."""
    node: Node = make.iri()
    for _ in range(dice.randint(5, 30)):
        following = make.blank()
        make.add(node, PREDICATES[0], following)
        node = following
    make.add(node, PREDICATES[0], make.iri())


@_in_one_file
def _cycles(make: _Maker, dice: random.Random) -> None:
    """Rings of blank nodes, one of which an IRI leads to, and a pair that differs only as a whole: 6 and 3 + 3."""
    for size in (dice.randint(1, 6), 3, 3, 6):
        ring = [make.blank() for _ in range(size)]
        for place, node in enumerate(ring):
            make.add(node, PREDICATES[1], ring[(place + 1) % size])
        make.add(make.iri(), PREDICATES[2], ring[0])
        if dice.random() < 0.5:
            make.describe(dice.choice(ring), 1)


@_in_one_file
def _siblings(make: _Maker, dice: random.Random) -> None:
    """Blank nodes of equal content, alone and with equal nodes below them."""
    for _ in range(3):
        owner, value, predicate = make.iri(), Literal(dice.choice(WORDS)), dice.choice(PREDICATES)
        below = dice.random() < 0.5
        for _ in range(dice.randint(2, 5)):
            node = make.blank()
            make.add(owner, predicate, node)
            make.add(node, SAYS[1], value)
            if below:
                inner = make.blank()
                make.add(node, PREDICATES[0], inner)
                make.add(inner, SAYS[0], Literal(1))


@_in_one_file
def _relations(make: _Maker, dice: random.Random) -> None:
    """Relations of several ends, without an owner or with one."""
    for _ in range(8):
        node = make.blank()
        make.describe(node, 0.7)
        for predicate in dice.sample(PREDICATES, dice.randint(1, 4)):
            make.add(node, predicate, make.iri())
        if dice.random() < 0.5:
            make.add(make.iri(), dice.choice(PREDICATES), node)


@_in_one_file
def _broken(make: _Maker, dice: random.Random) -> None:
    """Lists that are malformed, in every way."""
    for way in range(10):
        cells = cast("list[BNode]", [make.blank() for _ in range(dice.randint(2, 4))])
        for place, cell in enumerate(cells):
            make.add(cell, FIRST, make.iri() if way % 2 else make.member(3))
            make.add(cell, REST, cells[place + 1] if place + 1 < len(cells) else NIL)
        make.add(make.iri(), LISTS[way % 2], cells[0])
        _break(make, cells, way)


def _break(make: _Maker, cells: Sequence[BNode], way: int) -> None:
    last, middle = cells[-1], cells[1]
    match way:
        case 0:
            make.add(middle, FIRST, URIRef(f"{X}second"))
        case 1:
            make.add(middle, REST, make.items([make.iri()]))
        case 2:
            make.facts.remove((last, REST, NIL))
        case 3:
            make.facts.remove((last, REST, NIL))
            make.add(last, REST, cells[0])
        case 4:
            make.facts.remove((last, REST, NIL))
            make.add(last, REST, make.iri())
        case 5:
            make.facts[:] = [fact for fact in make.facts if fact[:2] != (last, FIRST)]
        case 6:
            make.add(middle, SAYS[1], Literal("a cell that says more"))
        case 7:
            make.add(make.iri(), LISTS[1], middle)
        case 8:
            make.facts.remove((last, REST, NIL))
            make.add(last, REST, Literal("the end"))
        case _:
            make.add(last, RDF["_1"], make.iri())


@_in_one_file
def _in_themselves(make: _Maker, _dice: random.Random) -> None:
    """Lists and containers that are their own members."""
    own, one, other, seq = make.blank(), make.blank(), make.blank(), make.blank()
    make.items([own, make.iri()], own)
    make.items([make.iri(), other], one)
    make.items([one], other)
    make.add(seq, RDF.type, RDF.Seq)
    make.add(seq, RDF["_1"], seq)
    for node in (own, one, seq):
        make.add(make.iri(), LISTS[0], node)
    make.add(make.iri(), LISTS[1], make.items([make.iri(), own]))


@_in_one_file
def _lists(make: _Maker, dice: random.Random) -> None:
    """Lists of nodes, of literals and of both, in each other, empty ones, members twice."""
    for _ in range(8):
        members = [make.member() for _ in range(dice.randrange(6))]
        if members and dice.random() < 0.4:
            members.append(members[0] if isinstance(members[0], URIRef) else make.iri())
        make.add(make.iri(), dice.choice(LISTS), make.items(members))


@_in_one_file
def _nodes_in_lists(make: _Maker, dice: random.Random) -> None:
    """Lists of nodes alone, members twice and beside plain edges of the same ends."""
    for _ in range(8):
        owner, predicate = make.iri(), dice.choice(LISTS)
        members = [make.iri() for _ in range(dice.randint(1, 30))]
        make.add(owner, predicate, make.items(members))
        if dice.random() < 0.4:
            make.add(owner, predicate, members[0])


@_in_one_file
def _shared(make: _Maker, dice: random.Random) -> None:
    """Lists with several owners, some of them lists."""
    for _ in range(4):
        head = make.items([make.member(3) for _ in range(dice.randint(1, 4))])
        for _ in range(2):
            make.add(make.iri(), dice.choice(LISTS), head)
        if dice.random() < 0.5:
            make.add(make.iri(), dice.choice(LISTS), make.items([head, make.iri()]))
        owner = make.blank()
        make.add(owner, dice.choice(LISTS), head)
        make.add(make.iri(), PREDICATES[0], owner)


@_in_one_file
def _heads(make: _Maker, dice: random.Random) -> None:
    """Lists whose head is a node: an IRI, one that says more, one without an owner."""
    for number in range(4):
        members = [make.member(3) for _ in range(dice.randint(1, 4))]
        head = make.items([*members, make.iri()], URIRef(f"{X}list{number}"))
        make.add(make.iri(), dice.choice(LISTS), head)
        if dice.random() < 0.5:
            make.add(head, RDF.type, RDF.List)
        other = make.items([make.iri(), make.member(3)])
        make.describe(other, 1)
        if dice.random() < 0.5:
            make.add(make.iri(), dice.choice(LISTS), other)
        make.items([make.iri(), make.iri()])
        make.add(make.iri(), dice.choice(LISTS), make.items([head, other]))


@_in_one_file
def _containers(make: _Maker, dice: random.Random) -> None:
    """Containers, blank and with an IRI, in lists and with lists in them."""
    for number in range(8):
        node: Node = make.blank() if number % 3 else URIRef(f"{X}bag{number}")
        make.add(node, RDF.type, dice.choice((RDF.Seq, RDF.Bag, RDF.Alt)))
        for place in range(1, dice.randint(2, 12)):
            make.add(node, RDF[f"_{place}"], make.member(2))
        if number % 4 != 1:
            make.add(make.iri(), dice.choice(LISTS), node)
        if number % 4 == 2:
            make.add(make.iri(), dice.choice(LISTS), make.items([node, make.iri()]))
        if number % 4 == 3:
            make.add(node, SAYS[0], make.literal())


def _graphs(dice: random.Random) -> Iterator[Document]:
    """Blank nodes and lists over several named graphs."""
    make = _Maker(dice)
    make.named()
    for _ in range(4):
        node = make.blank()
        make.describe(node)
        make.add(make.iri(), dice.choice(PREDICATES), node)
        make.add(node, dice.choice(PREDICATES), make.iri())
        make.add(node, dice.choice(LISTS), make.items([make.member(3) for _ in range(3)]))
    names = [None, URIRef(f"{X}graph/1"), URIRef(f"{X}graph/2")]
    document = Document({name: [] for name in names})
    for fact in make.facts:
        for name in dice.sample(names, dice.choice((1, 1, 2))):
            document.facts[name].append(fact)
    yield document


def _documents(dice: random.Random) -> Iterator[Document]:
    """Several files with equal labels for other nodes, and equal nodes."""
    same = random.Random(dice.randrange(1000))  # noqa: S311 - not for security
    for _ in range(dice.randint(2, 4)):
        yield from _relations(dice if dice.random() < 0.6 else random.Random(same.randrange(2)))  # noqa: S311


@_in_one_file
def _expressions(make: _Maker, dice: random.Random) -> None:
    """Class expressions, property paths and chains among other blank nodes."""
    classes = [URIRef(f"{X}class/{name}") for name in "ABCDE"]
    for cls in classes:
        make.add(cls, RDF.type, OWL.Class)
        make.describe(cls, 0.3)
        restriction = make.blank()
        make.add(restriction, RDF.type, OWL.Restriction)
        make.add(restriction, OWL.onProperty, dice.choice(PREDICATES))
        make.add(restriction, OWL.someValuesFrom, dice.choice(classes))
        make.add(cls, dice.choice((RDFS.subClassOf, OWL.equivalentClass)), restriction)
    make.add(classes[0], OWL.unionOf, make.items(classes[1:3]))
    both = make.blank()
    make.add(both, OWL.intersectionOf, make.items([classes[3], restriction_of(make)]))
    make.add(classes[1], RDFS.subClassOf, both)
    make.add(PREDICATES[0], OWL.propertyChainAxiom, make.items(PREDICATES[1:3]))
    valued, individual = restriction_of(make), make.blank()
    make.add(valued, OWL.hasValue, individual)
    make.describe(individual, 1)
    make.add(make.iri(), PREDICATES[1], individual)
    make.add(make.iri(), RDF.type, restriction_of(make))
    disjoint = make.blank()
    make.add(disjoint, RDF.type, OWL.AllDisjointClasses)
    make.add(disjoint, OWL.members, make.items(classes))
    make.add(make.iri(), LISTS[0], make.items([restriction_of(make), make.iri()]))
    for _ in range(3):
        node = make.blank()
        make.describe(node)
        make.add(make.iri(), dice.choice(PREDICATES), node)
        make.add(node, dice.choice(PREDICATES), dice.choice(classes))


@_in_one_file
def _shapes(make: _Maker, dice: random.Random) -> None:
    """Shapes of SHACL with property paths in each other, shared ones and some that are malformed."""
    of_one = (SH.inversePath, SH.zeroOrMorePath, SH.oneOrMorePath, SH.zeroOrOnePath)

    def path(depth: int = 0) -> Node:
        roll = dice.random()
        if roll < 0.4 or depth > 3:
            return dice.choice(PREDICATES)
        if roll < 0.6:
            return make.items([path(depth + 1) for _ in range(dice.randint(2, 3))])
        node = make.blank()
        if roll < 0.75:
            make.add(node, SH.alternativePath, make.items([path(depth + 1) for _ in range(dice.randint(2, 3))]))
        else:
            make.add(node, dice.choice(of_one), path(depth + 1))
        if dice.random() < 0.03:
            make.add(node, SAYS[1], Literal("a path that says more"))
        return node

    for number in range(4):
        shape = URIRef(f"{X}shape{number}")
        make.add(shape, RDF.type, SH.NodeShape)
        shared = path()
        for place in range(dice.randint(1, 3)):
            of_property = make.blank() if dice.random() < 0.8 else make.iri()
            make.add(shape, SH.property, of_property)
            make.add(of_property, SH.path, shared if place == 0 or dice.random() < 0.2 else path())
            make.add(of_property, SH.minCount, Literal(dice.randrange(3)))
            if dice.random() < 0.5:
                make.add(of_property, SH["class"], make.iri())


def restriction_of(make: _Maker) -> BNode:
    """Add a restriction and return it."""
    node = make.blank()
    make.add(node, OWL.onProperty, PREDICATES[0])
    return node


class _Ontology:
    """Draws axioms with expressions in each other, and copies of them."""

    def __init__(self, make: _Maker, dice: random.Random, *, shares: bool = True) -> None:
        self._make = make
        self._dice = dice
        self._shares = shares
        self.classes = [URIRef(f"{X}class/{name}") for name in "ABCDEFG"]
        self._made: list[BNode] = []

    def node(self, *facts: tuple[URIRef, Object]) -> BNode:
        node = self._make.blank()
        for predicate, value in facts:
            self._make.add(node, predicate, value)
        self._made.append(node)
        return node

    def filler(self, depth: int) -> Node:
        dice = self._dice
        if depth > 3 or dice.random() < 0.45:
            return dice.choice(self.classes)
        return self.expression(depth + 1)

    def expression(self, depth: int = 0) -> BNode:
        """Draw an expression; some are malformed, or parts of others too."""
        dice, make = self._dice, self._make
        if self._shares and self._made and dice.random() < 0.04:
            return dice.choice(self._made)
        roll = dice.random()
        if roll < 0.6:
            return self._restriction(depth)
        if roll < 0.8:
            of = dice.choice((OWL.unionOf, OWL.intersectionOf))
            parts = [self.filler(depth) for _ in range(dice.randint(1, 3))]
            return self.node((RDF.type, OWL.Class), (of, make.items(parts)))
        if roll < 0.92:
            return self.node((RDF.type, OWL.Class), (OWL.complementOf, self.filler(depth)))
        # A blank node in an enumeration is no node of an endpoint.
        members = [make.member(9) if self._shares else make.iri() for _ in range(dice.randint(1, 3))]
        return self.node((OWL.oneOf, make.items(members)))

    def _restriction(self, depth: int) -> BNode:
        dice = self._dice
        on: Node = dice.choice(PREDICATES[:2])
        if dice.random() < 0.15:
            on = self.node((OWL.inverseOf, on))
        facts: list[tuple[URIRef, Object]] = [(OWL.onProperty, on)]
        if dice.random() < 0.9:
            facts.append((RDF.type, OWL.Restriction))
        kinds = (self._of_values, self._of_values, self._of_values, self._of_numbers, self._of_others)
        facts += dice.choice(kinds)(depth)
        if dice.random() < 0.03:
            facts.append((SAYS[0], Literal("more")))
        return self.node(*facts)

    def _of_values(self, depth: int) -> list[tuple[URIRef, Object]]:
        return [(self._dice.choice((OWL.someValuesFrom, OWL.someValuesFrom, OWL.allValuesFrom)), self.filler(depth))]

    def _of_numbers(self, depth: int) -> list[tuple[URIRef, Object]]:
        dice = self._dice
        number = Literal(str(dice.choice((0, 1, 2))), datatype=XSD.nonNegativeInteger)
        if dice.random() < 0.4:
            return [(dice.choice((OWL.minCardinality, OWL.maxCardinality, OWL.cardinality)), number)]
        qualified = (OWL.minQualifiedCardinality, OWL.maxQualifiedCardinality, OWL.qualifiedCardinality)
        on = (OWL.onClass, self.filler(depth)) if dice.random() < 0.9 else (OWL.onDataRange, XSD.integer)
        return [(dice.choice(qualified), number), on]

    def _of_others(self, _depth: int) -> list[tuple[URIRef, Object]]:
        """Draw a value, a data range, the node itself, or nothing, which is malformed."""
        roll = self._dice.random()
        if roll < 0.5:
            return [(OWL.hasValue, self._make.member(9))]
        if roll < 0.7:
            return [(OWL.someValuesFrom, self._dice.choice((XSD.string, RDFS.Literal)))]
        return [(OWL.hasSelf, Literal("true", datatype=XSD.boolean))] if roll < 0.9 else []

    def annotate(self, axiom: Fact, copy: Node) -> None:
        self.node(
            (RDF.type, OWL.Axiom),
            (OWL.annotatedSource, axiom[0]),
            (OWL.annotatedProperty, axiom[1]),
            (OWL.annotatedTarget, copy),
            (SAYS[1], self._make.literal()),
        )


def _axioms_of(make: _Maker, dice: random.Random, *, shares: bool) -> _Ontology:
    """Add axioms with expressions of every kind in each other; some have parts in common."""
    ontology = _Ontology(make, dice, shares=shares)
    for cls in ontology.classes:
        make.add(cls, RDF.type, OWL.Class)
        for _ in range(dice.randint(1, 3)):
            predicate = dice.choice((RDFS.subClassOf, RDFS.subClassOf, OWL.equivalentClass))
            axiom = (cls, predicate, ontology.expression())
            make.add(*axiom)
            if shares and dice.random() < 0.2:
                ontology.annotate(axiom, axiom[2])
    one = ontology.classes[0]
    for _ in range(2):
        on, filler = PREDICATES[2], dice.choice(ontology.classes)
        same = [ontology.node((OWL.onProperty, on), (OWL.someValuesFrom, filler)) for _ in range(2)]
        make.add(one, RDFS.subClassOf, same[0])
        if shares:
            ontology.annotate((one, RDFS.subClassOf, same[0]), same[1])
        make.add(one, RDFS.subClassOf, ontology.node((OWL.onProperty, on), (OWL.allValuesFrom, filler)))
    make.add(PREDICATES[0], RDFS.domain, ontology.expression())
    make.add(PREDICATES[1], RDFS.range, ontology.expression())
    make.add(ontology.expression(), OWL.equivalentClass, dice.choice(ontology.classes))
    make.add(ontology.classes[1], OWL.disjointWith, ontology.expression())
    make.add(ontology.classes[2], OWL.disjointUnionOf, make.items(ontology.classes[3:5]))
    return ontology


@_in_one_file
def _axioms(make: _Maker, dice: random.Random) -> None:
    """Axioms as most ontologies have them."""
    _axioms_of(make, dice, shares=False)


@_in_one_file
def _ontology(make: _Maker, dice: random.Random) -> None:
    """Axioms, also of individuals, and about expressions, with parts in common."""
    ontology = _axioms_of(make, dice, shares=True)
    make.add(make.iri(), RDF.type, ontology.expression())
    make.add(ontology.expression(), RDFS.subClassOf, ontology.classes[0])
    make.add(ontology.classes[5], OWL.unionOf, make.items([ontology.filler(1) for _ in range(2)]))


@_in_one_file
def _evidence(make: _Maker, dice: random.Random) -> None:
    """Blank statements about edges between nodes of any kind."""
    for _ in range(6):
        node = make.blank()
        make.describe(node)
        edge: Fact = (make.iri(), dice.choice(PREDICATES), node)
        make.add(*edge)
        statement = make.blank()
        make.add(statement, RDF.type, RDF.Statement)
        for part, term in zip((RDF.subject, RDF.predicate, RDF.object), edge, strict=True):
            make.add(statement, part, term)
        make.add(statement, SAYS[1], make.literal())
        if dice.random() < 0.5:
            source = make.blank()
            make.add(statement, PREDICATES[3], source)
            make.describe(source, 1)
        if dice.random() < 0.5:
            make.add(make.iri(), PREDICATES[2], statement)


def _everything(dice: random.Random) -> Iterator[Document]:
    """All of it in one file."""
    facts: list[Fact] = []
    for place, kind in enumerate((_nests, _siblings, _lists, _heads, _containers, _expressions, _evidence, _broken)):
        for document in kind(dice):
            facts += (_moved(fact, place) for some in document.facts.values() for fact in some)
    yield Document({None: facts})


def _moved(fact: Fact, place: int) -> Fact:
    s, p, o = (BNode(f"k{place}{term}") if isinstance(term, BNode) else term for term in fact)
    return cast("Fact", (s, p, o))


KINDS: Final[dict[str, Callable[[random.Random], Iterator[Document]]]] = {
    made.__name__.removeprefix("_"): made
    for made in (
        *(_nests, _chain, _cycles, _siblings, _relations, _broken, _in_themselves, _lists, _nodes_in_lists, _shared),
        *(_heads, _containers, _graphs, _documents, _expressions, _axioms, _ontology, _evidence, _everything, _shapes),
    )
}

FORMATS: Final = ("turtle", "nt", "xml", "json-ld", "trig")


def _as_ntriples(term: Term) -> str:
    assert not isinstance(term, tuple)
    if isinstance(term, Literal):
        return str(_quoteLiteral(term))
    return f"_:{term}" if isinstance(term, BNode) else term.n3()


_SUFFIXES: Final = {"turtle": "ttl", "nt": "nt", "xml": "rdf", "json-ld": "jsonld", "trig": "trig"}


@dataclass(frozen=True)
class DrawnGraph:
    """A graph of one or several files.

    Attributes:
        number: It is drawn again by this number.
        kind: What it has.
        documents: Its files.
    """

    number: int
    kind: str
    documents: Sequence[Document]

    @property
    def triples(self) -> list[Triple]:
        """All triples; the blank nodes of two files are apart."""
        return [
            triple
            for place, document in enumerate(self.documents)
            for triple in triples_of(_dataset(document), f"{place}-")
        ]

    def as_ntriples(self) -> str:
        """Return it as the lines of one file; it has no triple terms."""
        lines = (" ".join(_as_ntriples(term) for term in triple) for triple in self.triples)
        return "".join(f"{line} .\n" for line in dict.fromkeys(lines))

    def write(self, folder: Path) -> list[Path]:
        """Write it in the format that its number says, or where that cannot hold it as N-Triples or TriG."""
        paths = []
        for place, document in enumerate(self.documents):
            # The writers of rdflib never end where a list is a loop.
            choice = ("nt", "trig") if self.kind in _BROKEN else FORMATS
            wanted = choice[(self.number + place) % len(choice)]
            suffix, text = _written(document, wanted)
            path = folder / f"drawn-{self.number}-{place}.{suffix}"
            path.write_text(text, encoding="utf-8")
            paths.append(path)
        return paths


def drawn(number: int) -> DrawnGraph:
    """Draw the graph of a number; numbers that leave the same rest have the same kind."""
    kinds = list(KINDS)
    kind = kinds[number % len(kinds)]
    dice = random.Random(f"blank nodes {number}")  # noqa: S311 - not for security
    return DrawnGraph(number, kind, list(KINDS[kind](dice)))


KIND_COUNT: Final = len(KINDS)
_BROKEN: Final = frozenset({"broken", "in_themselves", "everything"})


def _dataset(document: Document) -> Dataset:
    dataset = Dataset()
    for name, facts in document.facts.items():
        graph = dataset.default_graph if name is None else dataset.graph(name)
        for fact in facts:
            graph.add(fact)
    return dataset


def _written(document: Document, wanted: str) -> tuple[str, str]:
    """Return the suffix and the text of a file; what cannot hold all of it is N-Triples, or TriG for named graphs."""
    plain = set(document.facts) <= {None}
    if plain and wanted != "trig":
        graph = Graph()
        for fact in document.facts.get(None, ()):
            graph.add(fact)
        text = graph.serialize(format=wanted)
        if _says_the_same(text, wanted, graph):
            return _SUFFIXES[wanted], text
        return "nt", graph.serialize(format="nt")
    quads = [_quad(fact, name) for name, facts in document.facts.items() for fact in facts]
    written = pyoxigraph.serialize(quads, format=pyoxigraph.RdfFormat.TRIG)
    return "trig", (written or b"").decode()


def _says_the_same(text: str, written: str, graph: Graph) -> bool:
    """Return whether a file that rdflib wrote has the triples that it should: it writes some broken lists as others."""
    try:
        again = Graph().parse(data=text, format=written)
        if written == "json-ld":
            # Its writer makes an object of a type that is a blank node, which is no JSON-LD.
            list(pyoxigraph.parse(text, pyoxigraph.RdfFormat.JSON_LD))
    except Exception:  # noqa: BLE001 - its parsers raise anything for what its writers wrote
        return False
    return _kinds_of(again) == _kinds_of(graph)


def _kinds_of(graph: Graph) -> Counter[tuple[str, ...]]:
    return Counter(tuple(map(_kind_of, triple)) for triple in graph)


def _kind_of(term: object) -> str:
    match term:
        case BNode():
            return "_:"
        case Literal():
            # 01 is 1: what reads it may write it so.
            return Literal(str(term), lang=term.language, datatype=term.datatype).n3()
        case _:
            return str(term)


def _quad(fact: Fact, name: URIRef | None) -> pyoxigraph.Quad:
    subject, predicate, value = (_of_rdflib(term) for term in fact)
    if isinstance(subject, pyoxigraph.Literal) or not isinstance(predicate, pyoxigraph.NamedNode):
        raise TypeError(f"not a triple: {fact!r}")
    graph = pyoxigraph.DefaultGraph() if name is None else pyoxigraph.NamedNode(name)
    return pyoxigraph.Quad(subject, predicate, value, graph)


def _of_rdflib(term: object) -> "pyoxigraph.NamedNode | pyoxigraph.BlankNode | pyoxigraph.Literal":
    match term:
        case URIRef():
            return pyoxigraph.NamedNode(term)
        case BNode():
            return pyoxigraph.BlankNode(term)
        case Literal(language=str(language)):
            return pyoxigraph.Literal(str(term), language=language)
        case Literal():
            return pyoxigraph.Literal(str(term), datatype=pyoxigraph.NamedNode(term.datatype or XSD.string))
        case _:
            raise TypeError(f"not an RDF term: {term!r}")
