"""Two hundred small random graphs, the same in every run, and questions about them.

They are made to be loaded once, as one dataset behind one server: each keeps its nodes in a namespace
of its own and no edge leads from one to another. What they share is no way through: the classes
(a type is no edge), and the predicates. Answers that depend on the whole dataset, the rarity of a
type for one, are asked of one oracle over `corpus_triples()`.
"""

import functools
import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from hypothesis import strategies as st
from rdflib import BNode, Literal, URIRef
from rdflib.namespace import XSD

from tests.oracle import OWL, RDF, RDF_TYPE, RDFS, SCHEMA, SKOS, Term, Triple

BASE: Final = "https://example.org/random/"
VOCABULARY: Final = BASE + "vocabulary/"
CLASSES: Final = tuple(
    f"{BASE}class/{name}" for name in ("Person", "Place", "Work", "Thing_Of_All", "Événement", "O'Clock_(100%25)")
)
GRAPHS: Final = 200
LARGEST: Final = 30

EDGE_PREDICATES: Final = (
    VOCABULARY + "knows",
    VOCABULARY + "partOf",
    VOCABULARY + "INCREASES_RISK",
    VOCABULARY + "cites",
    VOCABULARY + "near-to",
    VOCABULARY + "est_lié_à",
    RDFS + "subClassOf",
    RDFS + "seeAlso",
    OWL + "sameAs",
)
# No edges, though they lead to a node here: predicates that are excepted by default, with an IRI for a value.
TRAP_PREDICATES: Final = (
    RDFS + "label",
    RDFS + "comment",
    SKOS + "prefLabel",
    SKOS + "altLabel",
    SKOS + "definition",
    *(schema + name for schema in SCHEMA for name in ("name", "description")),
)
MENTIONS: Final = VOCABULARY + "totalMentions"
CONFIDENCE: Final = VOCABULARY + "confidence"
SOURCE: Final = VOCABULARY + "source"
SUPPORTS: Final = VOCABULARY + "supports"

# Local names that go wrong somewhere: escapes, quotes, what looks decoded, two forms of one letter.
AWKWARD: Final = (
    "caf%C3%A9",
    "café",
    "cafe\u0301",
    "50%25",
    "a%2Fb",
    "a%2fb",
    "a/b",
    "Cushing's_disease",
    "Something%27s",
    "Mercury_(planet)",
    "(",
    "AT&T;x=1",
    "Acme_Inc.",
    "3-hydroxy,5~keto!*",
    "-dash",
    "wd:Q5",
    "日本語",
    "\U0001d518nicode",
    "q?x=1&y=%20",
    "part#one",
    "$price@home+1",
)

Pair: TypeAlias = tuple[int, int]
# A term, or the plain string of an IRI.
Loose: TypeAlias = "str | Term"


class RandomGraph:
    """One graph of the corpus.

    No dataclass, as Hypothesis would print all of its fields with a failing example; this prints as
    the expression that gives it.

    Attributes:
        number: Its place in the corpus.
        namespace: Where its own IRIs lie.
        nodes: What a question starts from: they exist, and everything edges touch is among them.
        evidence: Named statements and reifiers: they exist and never have an edge.
        ghosts: IRIs of the namespace that are written in the graph, inside triple terms or as
            predicates, and yet do not exist.
        triples: All of it; some are written twice.
    """

    def __init__(
        self,
        number: int,
        namespace: str,
        *,
        nodes: Sequence[str],
        evidence: Sequence[str],
        ghosts: Sequence[str],
        triples: Sequence[Triple],
    ) -> None:
        self.number = number
        self.namespace = namespace
        self.nodes = tuple(nodes)
        self.evidence = tuple(evidence)
        self.ghosts = tuple(ghosts)
        self.triples = tuple(triples)

    def __repr__(self) -> str:
        return f"corpus()[{self.number}]"


@dataclass(frozen=True)
class Question:
    """A breadth-first search to be asked of the gateway and of the oracle.

    Attributes:
        graph: Where the seeds lie.
        seeds: One to four that exist, now and then one of them twice, or one more that is missing.
        max_hops: 1 to 5.
    """

    graph: RandomGraph
    seeds: tuple[str, ...]
    max_hops: int


@dataclass(frozen=True)
class IntersectionQuestion:
    """An intersection to be asked of the gateway and of the oracle.

    Attributes:
        graph: Where the seeds lie.
        seeds: Two to four different ones, or one twice; now and then one of them is missing.
        k: 1 to 5.
    """

    graph: RandomGraph
    seeds: tuple[str, ...]
    k: int


# --- the corpus ---


@functools.cache
def corpus() -> tuple[RandomGraph, ...]:
    """Make the graphs, once a run."""
    return tuple(_Maker(number).make() for number in range(GRAPHS))


def corpus_triples(*, triple_terms: bool = True) -> tuple[Triple, ...]:
    """Give the whole dataset: every graph, and the names of the shared classes and predicates.

    Args:
        triple_terms: False for a store that knows RDF 1.1 only: everything about reifiers is left
            out, and nothing else. No edge comes or goes by it; reifiers then do not exist.

    Returns:
        The triples, in the order of the graphs.
    """
    everything = (*_shared(), *(triple for graph in corpus() for triple in graph.triples))
    if triple_terms:
        return everything
    reifiers = {s for s, p, _ in everything if p == URIRef(RDF + "reifies")}
    return tuple(triple for triple in everything if triple[0] not in reifiers and triple[2] not in reifiers)


def write_corpus(path: Path, *, triple_terms: bool = True) -> None:
    """Write the dataset as one N-Triples file (RDF 1.2), which is a Turtle file as well.

    Args:
        path: The file to write.
        triple_terms: As for `corpus_triples`.
    """
    lines = "".join(map(to_ntriples, corpus_triples(triple_terms=triple_terms)))
    path.write_text(lines, encoding="utf-8", newline="\n")


def to_ntriples(triple: Triple) -> str:
    """Write one triple as a line of N-Triples."""
    return " ".join(map(_written, triple)) + " .\n"


def _written(term: Term) -> str:
    if isinstance(term, tuple):
        return f"<<( {' '.join(map(_written, term))} )>>"
    if isinstance(term, URIRef):
        return f"<{term}>"
    if isinstance(term, BNode):
        return f"_:{term}"
    text = str(term)
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        text = text.replace(plain, escaped)
    if term.language:
        return f'"{text}"@{term.language}'
    return f'"{text}"^^<{term.datatype}>' if term.datatype else f'"{text}"'


def _shared() -> Iterator[Triple]:
    for one in CLASSES:
        yield URIRef(one), URIRef(RDF_TYPE), URIRef(RDFS + "Class")
        yield URIRef(one), URIRef(RDFS + "label"), Literal(one.rsplit("/", 1)[1].replace("_", " "), lang="en")
    for one in EDGE_PREDICATES:
        if one.startswith(VOCABULARY):
            yield URIRef(one), URIRef(RDF_TYPE), URIRef(RDF + "Property")
            yield (
                URIRef(one),
                URIRef(RDFS + "label"),
                Literal(one.rsplit("/", 1)[1].replace("_", " "), lang="en"),
            )


# --- skeletons: which of `size` nodes are joined ---


def _sparse(size: int, dice: random.Random) -> list[Pair]:
    return [(dice.randrange(size), dice.randrange(size)) for _ in range(size)]


def _dense(size: int, dice: random.Random) -> list[Pair]:
    share = dice.choice((0.3, 0.6, 0.9))
    return [(a, b) for a in range(size) for b in range(size) if a != b and dice.random() < share / 2]


def _chain(size: int, dice: random.Random) -> list[Pair]:
    return [_turned((at, at + 1), dice) for at in range(size - 1)]


def _cycle(size: int, dice: random.Random) -> list[Pair]:
    pairs = [(at, (at + 1) % size) for at in range(size)] if size > 1 else []
    return pairs if dice.random() < 0.5 else [_turned(pair, dice) for pair in pairs]


def _hub(size: int, dice: random.Random) -> list[Pair]:
    return [_turned((0, at), dice) for at in range(1, size)]


def _two_hubs(size: int, dice: random.Random) -> list[Pair]:
    spokes = [_turned((dice.randrange(2), at), dice) for at in range(2, size)]
    return [*spokes, (0, 1)] if size > 1 else []


def _tree(size: int, dice: random.Random) -> list[Pair]:
    return [_turned(((at - 1) // 2, at), dice) for at in range(1, size)]


def _components(size: int, dice: random.Random) -> list[Pair]:
    parts = dice.randint(2, 5)
    return [_turned((at, at + parts), dice) for at in range(size - parts)]


def _grid(size: int, dice: random.Random) -> list[Pair]:
    width = max(2, round(size**0.5))
    across = [(at, at + 1) for at in range(size - 1) if (at + 1) % width]
    return [_turned(pair, dice) for pair in (*across, *((at, at + width) for at in range(size - width)))]


def _two_sides(size: int, dice: random.Random) -> list[Pair]:
    left = max(1, size // 4)
    return [(a, b) for a in range(left) for b in range(left, size) if dice.random() < 0.7]


def _turned(pair: Pair, dice: random.Random) -> Pair:
    return pair if dice.random() < 0.5 else (pair[1], pair[0])


_SKELETONS: Final[tuple[Callable[[int, random.Random], list[Pair]], ...]] = (
    _sparse,
    _dense,
    _components,
    _chain,
    _cycle,
    _hub,
    _tree,
    _grid,
    _two_sides,
    _two_hubs,
)


class _Maker:
    """Makes one graph; a graph's number decides all of it."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.namespace = f"{BASE}{number:03d}/"
        self.dice = random.Random(20_000 + number)  # noqa: S311 - test data, not a secret
        self.triples: list[Triple] = []
        self.evidence: list[str] = []
        self.ghosts: list[str] = []
        self.blank_count = 0
        self.kind = number // len(_SKELETONS) % 5
        size = self.dice.choice((1, 2, LARGEST)) if number % 12 == 0 else self.dice.randint(1, LARGEST)
        if self.kind == 3:
            size = min(size, LARGEST - 1)
        awkward = self.dice.sample(AWKWARD, k=len(AWKWARD))[: size // 2 if self.dice.random() < 0.4 else 0]
        plain = [f"Q{at}" for at in range(size - len(awkward))]
        names = [*awkward, *plain]
        self.dice.shuffle(names)
        self.nodes = [self.namespace + name for name in names]

    def make(self) -> RandomGraph:
        edges = self.skeleton()
        self.types()
        self.literals()
        self.perhaps(0.3, self.self_loops)
        self.perhaps(0.4, self.traps)
        self.perhaps(0.4, self.blank_nodes)
        self.perhaps(0.2, self.blank_chain)
        self.perhaps(0.2, self.predicates_that_are_nodes)
        self.perhaps(0.3, self.statements, edges)
        # Before what only RDF 1.2 can say: no node exists by that alone.
        self.lonely_nodes()
        self.perhaps(0.5, self.annotations, edges)
        self.perhaps(0.2, self.statements_of_nothing)
        self.triples.extend(self.dice.sample(self.triples, k=len(self.triples) // 10))
        return RandomGraph(
            self.number,
            self.namespace,
            nodes=self.nodes,
            evidence=self.evidence,
            ghosts=self.ghosts,
            triples=self.triples,
        )

    def perhaps(self, chance: float, decorate: Callable[..., None], *given: Sequence[Triple]) -> None:
        """Do something, or not."""
        if self.dice.random() < chance:
            decorate(*given)

    def add(self, s: str | BNode, p: str, o: Loose) -> None:
        """Add a triple; a plain string is an IRI."""
        self.triples.append((_term(s), URIRef(p), _term(o)))

    def some(self, most: int) -> list[str]:
        """Pick one or more different nodes."""
        return self.dice.sample(self.nodes, k=self.dice.randint(1, min(most, len(self.nodes))))

    def blank(self) -> BNode:
        """Make a blank node that no other graph has."""
        self.blank_count += 1
        return BNode(f"g{self.number:03d}b{self.blank_count}")

    def skeleton(self) -> list[Triple]:
        """Join the nodes, some of them left out, some pairs several times over."""
        joined = self.nodes if self.dice.random() < 0.7 else self.nodes[: -(-len(self.nodes) * 2 // 3)]
        predicates = self.dice.sample(EDGE_PREDICATES, k=self.dice.randint(1, len(EDGE_PREDICATES)))
        parallel = self.dice.choice((0.0, 0.0, 0.3))
        for a, b in _SKELETONS[self.number % len(_SKELETONS)](len(joined), self.dice):
            self.add(joined[a], self.dice.choice(predicates), joined[b])
            if self.dice.random() < parallel:
                self.add(joined[a], self.dice.choice(EDGE_PREDICATES), joined[b])
            if self.dice.random() < parallel:
                self.add(joined[b], self.dice.choice(predicates), joined[a])
        return list(self.triples)

    def types(self) -> None:
        """Type the nodes: not at all, by one class each, or by several, generic and own ones too."""
        kind = self.kind
        if kind == 0:
            return
        own = self.namespace + "Own_Class"
        generic = (OWL + "Thing", OWL + "NamedIndividual", RDFS + "Resource")
        pool = {1: CLASSES[:3], 2: CLASSES, 3: (*CLASSES, own), 4: (*CLASSES, *generic)}[kind]
        for node in self.nodes:
            count = 1 if kind == 1 else self.dice.randint(0, 3)
            for one in self.dice.sample(pool, k=count):
                self.add(node, RDF_TYPE, one)
        if kind == 3:
            # A class that is a node as well: it has edges, and its instances are none of them.
            self.add(own, RDF_TYPE, RDFS + "Class")
            self.add(own, RDFS + "subClassOf", self.dice.choice(self.nodes))
            self.nodes.append(own)

    def literals(self) -> None:
        """Name some of the nodes, in several languages, and count their mentions."""
        for at, node in enumerate(self.nodes):
            if self.dice.random() < 0.7:
                self.add(node, RDFS + "label", Literal(f"Node {at} of {self.number}", lang="en"))
            if self.dice.random() < 0.3:
                self.add(node, RDFS + "label", Literal(f"Knoten „{at}“", lang="de"))
            if self.dice.random() < 0.2:
                self.add(node, SKOS + "altLabel", Literal(f'the \\ other\n"node"\t{at}', lang="en-GB"))
            if self.dice.random() < 0.2:
                self.add(node, SCHEMA[at % 2] + "description", Literal(f"節点 {at}", lang="ja"))
            if self.dice.random() < 0.4:
                self.add(node, MENTIONS, Literal(str(self.dice.randint(0, 9)), datatype=XSD.integer))
            if self.dice.random() < 0.2:
                self.add(node, VOCABULARY + "since", Literal("2020-02-29", datatype=XSD.date))

    def self_loops(self) -> None:
        """Join some nodes to themselves, some twice."""
        for node in self.some(3):
            for predicate in self.dice.sample(EDGE_PREDICATES, k=self.dice.randint(1, 2)):
                self.add(node, predicate, node)

    def traps(self) -> None:
        """Join nodes by predicates that are no edges, and by types that are nodes."""
        for node in self.some(6):
            self.add(node, self.dice.choice(TRAP_PREDICATES), self.dice.choice(self.nodes))
        self.add(self.dice.choice(self.nodes), RDF_TYPE, self.dice.choice(self.nodes))

    def blank_nodes(self) -> None:
        """Join nodes to blank nodes and blank nodes to nodes; some of these count, some do not."""
        for node in self.some(4):
            content = self.blank()
            self.add(node, self.dice.choice(EDGE_PREDICATES), content)
            self.add(content, RDFS + "label", Literal("a blank node", lang="en"))
            self.add(content, RDF_TYPE, self.dice.choice(CLASSES))
            if self.dice.random() < 0.5:
                self.add(content, self.dice.choice(EDGE_PREDICATES), self.dice.choice(self.nodes))
            if self.dice.random() < 0.5:
                self.add(self.dice.choice(self.nodes), RDF_TYPE, content)
            if self.dice.random() < 0.5:
                self.add(self.dice.choice(self.nodes), RDFS + "label", content)

    def blank_chain(self) -> None:
        """Join two nodes through blank nodes only, which is no way for a traversal."""
        links = [self.blank() for _ in range(self.dice.randint(1, 3))]
        chain: list[str | BNode] = [self.dice.choice(self.nodes), *links, self.dice.choice(self.nodes)]
        for a, b in itertools.pairwise(chain):
            self.add(a, self.dice.choice(EDGE_PREDICATES), b)

    def predicates_that_are_nodes(self) -> None:
        """Use a node as a predicate, and an IRI that is nothing but a predicate."""
        only_predicate = self.namespace + "relates"
        self.add(self.dice.choice(self.nodes), only_predicate, self.dice.choice(self.nodes))
        self.ghosts.append(only_predicate)
        self.add(self.dice.choice(self.nodes), self.dice.choice(self.nodes), self.dice.choice(self.nodes))

    def statements(self, edges: Sequence[Triple]) -> None:
        """Reify edges the classic way, blank or named, now and then a triple that is not there."""
        for _ in range(self.dice.randint(1, 5)):
            about = self.dice.choice(edges) if edges and self.dice.random() < 0.8 else self.unsaid(self.nodes)
            statement = self.evidence_node("statement")
            self.add(statement, RDF_TYPE, RDF + "Statement")
            for part, term in zip(("subject", "predicate", "object"), about, strict=True):
                self.add(statement, RDF + part, term)
            self.assertion(statement)

    def annotations(self, edges: Sequence[Triple]) -> None:
        """Annotate edges the RDF 1.2 way, blank or named, some with several reifiers."""
        for triple in self.dice.sample(edges, k=min(len(edges), self.dice.randint(1, 6))):
            for _ in range(self.dice.choice((1, 1, 2, 3))):
                reifier = self.evidence_node("reifier")
                self.add(reifier, RDF + "reifies", triple)
                self.assertion(reifier)

    def statements_of_nothing(self) -> None:
        """Reify triples that are not there, of IRIs that are nowhere else."""
        for _ in range(self.dice.randint(1, 3)):
            ghosts = [f"{self.namespace}ghost-{len(self.ghosts) + at}" for at in range(2)]
            self.ghosts.extend(ghosts)
            reifier = self.evidence_node("reifier")
            self.add(reifier, RDF + "reifies", self.unsaid([*ghosts, self.dice.choice(self.nodes)]))
            self.assertion(reifier)

    def unsaid(self, among: Sequence[str]) -> Triple:
        """Make a triple that is not an edge, as nothing else uses its predicate."""
        ends = among if len(among) == 1 else self.dice.sample(among, k=2)
        return URIRef(ends[0]), URIRef(VOCABULARY + "denies"), URIRef(ends[-1])

    def evidence_node(self, kind: str) -> str | BNode:
        """Make a blank or a named node to carry evidence."""
        if self.dice.random() < 0.5:
            return self.blank()
        name = f"{self.namespace}{kind}-{len(self.evidence) + 1}"
        self.evidence.append(name)
        return name

    def assertion(self, carrier: str | BNode) -> None:
        """Say how sure the evidence is and where it comes from; none of it is an edge."""
        if self.dice.random() < 0.8:
            lexical = self.dice.choice(("0.8", "0.95", "0.5", "1.0"))
            self.add(carrier, CONFIDENCE, Literal(lexical, datatype=XSD.decimal, normalize=False))
        for _ in range(self.dice.choice((0, 1, 1, 2))):
            if self.dice.random() < 0.5:
                self.add(carrier, SOURCE, Literal(f"PMC{self.dice.randint(100, 105)}"))
            else:
                self.add(carrier, SOURCE, self.dice.choice(self.nodes))
        if self.dice.random() < 0.3:
            self.add(self.dice.choice(self.nodes), SUPPORTS, carrier)

    def lonely_nodes(self) -> None:
        """Give a literal to every node that has no triple yet: it exists, without an edge."""
        there = {end for s, _, o in self.triples for end in (s, o)}
        for node in self.nodes:
            if URIRef(node) not in there:
                self.add(node, RDFS + "label", Literal("lonely"))


def _term(term: Loose) -> Term:
    if isinstance(term, (URIRef, BNode, Literal, tuple)):
        return term
    return URIRef(term)


# --- questions ---


@st.composite
def questions(draw: st.DrawFn) -> Question:
    """Draw a breadth-first search."""
    graph = draw(_graphs())
    seeds = draw(st.lists(st.sampled_from(_starts(graph)), min_size=1, max_size=4))
    if draw(_now_and_then()):
        seeds.insert(draw(st.integers(0, len(seeds))), draw(_nowhere(graph)))
    return Question(graph, tuple(seeds), draw(st.integers(1, 5)))


@st.composite
def intersections(draw: st.DrawFn) -> IntersectionQuestion:
    """Draw an intersection, in a graph of two nodes or more."""
    graph = draw(_graphs().filter(lambda graph: len(graph.nodes) > 1))
    seeds = draw(st.lists(st.sampled_from(_starts(graph)), min_size=2, max_size=4, unique=True))
    if draw(_now_and_then()):
        seeds = seeds[:1] * 2
    elif draw(_now_and_then()):
        seeds[draw(st.integers(0, len(seeds) - 1))] = draw(_nowhere(graph))
    return IntersectionQuestion(graph, tuple(seeds), draw(st.integers(1, 5)))


def _graphs() -> st.SearchStrategy[RandomGraph]:
    return st.sampled_from(corpus())


def _starts(graph: RandomGraph) -> tuple[str, ...]:
    """Say where a search may start: mostly at nodes, now and then at what exists without an edge."""
    return (*graph.nodes, *graph.evidence[:1])


def _nowhere(graph: RandomGraph) -> st.SearchStrategy[str]:
    return st.sampled_from((graph.namespace + "missing", *graph.ghosts))


def _now_and_then() -> st.SearchStrategy[bool]:
    return st.sampled_from((False, False, False, False, False, True))
