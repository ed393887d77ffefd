"""Draws small graphs with blank nodes and lists of every kind, each by its number, and writes them to files."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyoxigraph
from rdflib import BNode, Dataset, Graph, Literal, URIRef
from rdflib.namespace import XSD

from tests.blank_nodes.kinds import KINDS, Document, Fact
from tests.blank_nodes.lists import Triple
from tests.blank_nodes.oracle import triples_of

FORMATS: Final = ("turtle", "nt", "xml", "json-ld", "trig")
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
