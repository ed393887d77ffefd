"""Draws a small graph, and what is hidden of it: three types, two predicates, literals of one more, and a named graph.

Whatever a hidden triple alone says has a word `hush` and a number in it, which is nowhere else in the graph.
"""

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyoxigraph
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

from tests.policy.visible import OBAN, RDF, RDFS, Hidden, visible_at_endpoint, visible_triples

X = "https://example.org/"
XSD = "http://www.w3.org/2001/XMLSchema#"
TYPES = [NamedNode(f"{X}type/{name}") for name in ("Person", "Place", "Work")]
HIDDEN_TYPES = [NamedNode(f"{X}type/hush{number}") for number in range(3)]
BELOW = NamedNode(f"{X}type/hush3")
"""A subclass of one that is hidden."""

PREDICATES = [NamedNode(f"{X}p/{name}") for name in ("knows", "near", "made", "cites")]
HIDDEN_PREDICATES = [NamedNode(f"{X}p/hush{number}") for number in (10, 11)]
NOTE, PAY = NamedNode(f"{X}p/note"), NamedNode(f"{X}p/pay")
"""Predicates of literals; those of the latter are hidden."""

AGE, SINCE = NamedNode(f"{X}p/age"), NamedNode(f"{X}p/since")
"""Predicates of numbers and of dates."""

GRAPH = NamedNode(f"{X}graph/hush20")
OPEN_GRAPH = f"{X}graph/open"
"""The named graph of all other triples at an endpoint."""

HIDDEN = Hidden(
    tuple(node.value for node in HIDDEN_TYPES),
    tuple(node.value for node in HIDDEN_PREDICATES),
    (GRAPH.value,),
    (PAY.value,),
)
TYPE, LABEL, COMMENT = NamedNode(f"{RDF}type"), NamedNode(f"{RDFS}label"), NamedNode(f"{RDFS}comment")
WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath")


@dataclass(frozen=True)
class DrawnGraph:
    """A graph, and names to ask about.

    Attributes:
        quads: All of it.
        nodes: Its nodes, hidden ones among them.
        names: Names of nodes, hidden ones among them.
    """

    quads: list[Quad]
    nodes: list[str]
    names: list[str]

    def write(self, folder: Path) -> tuple[Path, Path]:
        """Write it, and what the policy leaves of it; return both files, which have the same name."""
        whole, left = folder / "whole", folder / "left"
        for each in (whole, left):
            each.mkdir()
        # The prefix of a file may be a secret too.
        pyoxigraph.serialize(
            self.quads,
            output=whole / "graph.trig",
            format=pyoxigraph.RdfFormat.TRIG,
            prefixes={"hush30": f"{X}node/hush", "node": f"{X}node/"},
        )
        # Where no order is asked for, Oxigraph gives what was loaded last first, and so the copy is in reverse.
        rest = reversed(visible_triples(self.quads, HIDDEN))
        pyoxigraph.serialize(rest, output=left / "graph.trig", format=pyoxigraph.RdfFormat.TRIG)
        return whole / "graph.trig", left / "graph.trig"

    def write_for_endpoints(self, folder: Path) -> tuple[Path, Path]:
        """Write it, and what the policy leaves of it at an endpoint, with all that is open in a named graph."""
        whole, left = folder / "whole.trig", folder / "left.trig"
        opened = NamedNode(OPEN_GRAPH)
        quads = [_in_graph(quad.triple, GRAPH if quad.graph_name == GRAPH else opened) for quad in self.quads]
        rest = [_in_graph(triple, opened) for triple in visible_at_endpoint(self.quads, HIDDEN)]
        pyoxigraph.serialize(quads, output=whole, format=pyoxigraph.RdfFormat.TRIG)
        pyoxigraph.serialize(rest, output=left, format=pyoxigraph.RdfFormat.TRIG)
        return whole, left


def _in_graph(triple: Triple, graph: NamedNode) -> Quad:
    return Quad(triple.subject, triple.predicate, triple.object, graph)


def drawn_graph(seed: int) -> DrawnGraph:
    """Return the graph of a seed."""
    return _Maker(random.Random(seed)).make()  # noqa: S311 - test data, not a secret


class _Maker:
    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._quads: list[Quad] = []
        self._numbers = itertools.count(100)
        size = dice.randint(8, 30)
        self._open = [NamedNode(f"{X}node/n{at}") for at in range(size)]
        self._shut = [NamedNode(f"{X}node/hush{next(self._numbers)}") for _ in range(dice.randint(3, 10))]
        self._names: list[str] = []

    def make(self) -> DrawnGraph:
        self._classes()
        for node in self._open:
            self._describe(node, self._dice.sample(TYPES, self._dice.randint(0, 2)), self._words(2))
        for node in self._shut:
            kind = self._dice.choice([*HIDDEN_TYPES, BELOW])
            self._describe(node, [kind, *self._dice.sample(TYPES, self._dice.randint(0, 1))], self._hush())
        for edge in self._edges():
            self._add(*edge)
            self._perhaps_state(edge)
        for node in self._dice.sample(self._open, 3):
            self._add(node, PAY, Literal(self._hush()))
            self._state(Triple(node, PAY, Literal(self._hush())), self._hush())
            self._add(node, self._dice.choice(PREDICATES), NamedNode(f"{X}node/hush{next(self._numbers)}"), GRAPH)
        self._add(self._open[0], NOTE, Literal(self._hush(), datatype=HIDDEN_TYPES[0]))
        self._measure()
        return DrawnGraph(self._quads, [node.value for node in (*self._open, *self._shut)], self._names)

    def _classes(self) -> None:
        self._add(BELOW, NamedNode(f"{RDFS}subClassOf"), HIDDEN_TYPES[0])
        for term in (*HIDDEN_TYPES, BELOW, *HIDDEN_PREDICATES, GRAPH):
            self._add(term, LABEL, Literal(self._hush()))
        for term in (*TYPES, *PREDICATES):
            self._add(term, LABEL, Literal(term.value.rsplit("/", 1)[1]))

    def _describe(self, node: NamedNode, types: list[NamedNode], name: str) -> None:
        is_shut = "hush" in name
        for kind in types:
            self._add(node, TYPE, kind)
        self._names.append(name)
        self._add(node, LABEL, Literal(name, language=self._dice.choice(("en", "de"))))
        self._add(node, NOTE, Literal(self._hush() if is_shut else self._words(3)))
        if self._dice.random() < 0.3:
            part = BlankNode()
            self._add(node, self._dice.choice(PREDICATES), part)
            self._add(part, LABEL, Literal(self._hush() if is_shut else self._words(1)))
            self._lead_on(part, levels=2, is_shut=is_shut)
        if self._dice.random() < 0.2:
            self._list(node)

    def _lead_on(self, part: BlankNode, *, levels: int, is_shut: bool) -> None:
        """Let a blank node say something, and lead to nodes and, at some levels, to others of its kind."""
        self._add(part, NOTE, Literal(self._hush() if is_shut else self._words(1)))
        for _ in range(self._dice.randint(0, 2)):
            self._add(part, self._dice.choice(PREDICATES), self._dice.choice([*self._open, *self._shut]))
        if self._dice.random() < 0.3:
            self._add(part, TYPE, self._dice.choice([*TYPES, *HIDDEN_TYPES[:1]] if is_shut else TYPES))
        if levels and self._dice.random() < 0.4:
            inner = BlankNode()
            self._add(part, self._dice.choice([*PREDICATES, HIDDEN_PREDICATES[0]] if is_shut else PREDICATES), inner)
            self._lead_on(inner, levels=levels - 1, is_shut=is_shut)

    def _measure(self) -> None:
        """Give nodes numbers and dates, of which some are hidden and no word in them says so."""
        for term in (AGE, SINCE):
            self._add(term, LABEL, Literal(term.value.rsplit("/", 1)[1]))
        for node in (*self._open, *self._shut):
            if self._dice.random() < 0.7:
                self._add(node, AGE, self._number())
            if self._dice.random() < 0.5:
                self._add(node, SINCE, self._date())
        for node in self._dice.sample(self._open, 4):
            self._add(node, PAY, self._number())
            self._add(node, AGE, Literal(str(self._dice.randint(1, 90)), datatype=self._dice.choice(HIDDEN_TYPES)))
            self._add(node, self._dice.choice((AGE, SINCE)), self._dice.choice((self._number, self._date))(), GRAPH)

    def _number(self) -> Literal:
        number = self._dice.randint(1, 90)
        return self._dice.choice((Literal(number), Literal(number + 0.5), Literal(str(number))))

    def _date(self) -> Literal:
        month = f"{self._dice.randint(1980, 2020)}-{self._dice.randint(1, 12):02}"
        return Literal(f"{month}-{self._dice.randint(1, 28):02}", datatype=NamedNode(f"{XSD}date"))

    def _list(self, node: NamedNode) -> None:
        """Give a node a list of others, some of which may be hidden."""
        members = self._dice.sample([*self._open, *self._shut], self._dice.randint(1, 4))
        cells = [BlankNode() for _ in members]
        self._add(node, self._dice.choice(PREDICATES), cells[0])
        rests: list[NamedNode | BlankNode] = [*cells[1:], NamedNode(f"{RDF}nil")]
        for cell, member, rest in zip(cells, members, rests, strict=True):
            self._add(cell, NamedNode(f"{RDF}first"), member)
            self._add(cell, NamedNode(f"{RDF}rest"), rest)

    def _edges(self) -> Iterator[tuple[NamedNode, NamedNode, NamedNode]]:
        nodes = [*self._open, *self._shut]
        for _ in range(3 * len(nodes)):
            yield self._dice.choice(nodes), self._dice.choice(PREDICATES), self._dice.choice(nodes)
        for _ in range(len(nodes)):
            yield self._dice.choice(self._open), self._dice.choice(HIDDEN_PREDICATES), self._dice.choice(self._open)

    def _perhaps_state(self, edge: tuple[NamedNode, NamedNode, NamedNode]) -> None:
        if self._dice.random() < 0.3:
            is_hidden = any("hush" in term.value for term in edge)
            self._state(Triple(*edge), self._hush() if is_hidden else self._words(2))

    def _state(self, triple: Triple, source: str) -> None:
        """State something about a triple in one of four ways."""
        is_hidden = "hush" in source
        # Only a hidden node of evidence has a name that may be seen nowhere.
        name = f"{X}evidence/{'hush' if is_hidden else 'e'}{next(self._numbers)}"
        node = BlankNode() if self._dice.random() < 0.5 else NamedNode(name)
        ways: list[Callable[[Triple, NamedNode | BlankNode], None]] = [self._annotate, self._reify, self._associate]
        if isinstance(node, NamedNode):
            ways.append(self._specialise)
        self._dice.choice(ways)(triple, node)
        self._add(node, NamedNode(f"{X}p/source"), Literal(source))
        self._add(node, NamedNode(f"{X}p/confidence"), Literal(round(self._dice.random(), 2)))

    def _annotate(self, triple: Triple, node: NamedNode | BlankNode) -> None:
        self._add(node, NamedNode(f"{RDF}reifies"), triple)

    def _reify(self, triple: Triple, node: NamedNode | BlankNode) -> None:
        self._add(node, TYPE, NamedNode(f"{RDF}Statement"))
        for part, term in zip(("subject", "predicate", "object"), triple, strict=True):
            self._add(node, NamedNode(f"{RDF}{part}"), term)

    def _associate(self, triple: Triple, node: NamedNode | BlankNode) -> None:
        for part, term in zip(("subject", "predicate", "object"), triple, strict=True):
            self._add(node, NamedNode(f"{OBAN}association_has_{part}"), term)

    def _specialise(self, triple: Triple, node: NamedNode | BlankNode) -> None:
        assert isinstance(node, NamedNode)
        self._add(node, NamedNode(f"{RDF}singletonPropertyOf"), triple.predicate)
        self._add(triple.subject, node, triple.object)

    def _words(self, count: int) -> str:
        return " ".join(self._dice.choice(WORDS) for _ in range(count))

    def _hush(self) -> str:
        return f"hush{next(self._numbers)} {self._words(1)}"

    def _add(
        self,
        subject: NamedNode | BlankNode | Triple,
        predicate: NamedNode,
        value: NamedNode | BlankNode | Literal | Triple,
        graph: NamedNode | None = None,
    ) -> None:
        self._quads.append(Quad(subject, predicate, value, graph) if graph else Quad(subject, predicate, value))
