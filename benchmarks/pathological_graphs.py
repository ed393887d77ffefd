"""Graphs that are small for a file and hard for a gateway: what is seldom more than a few is very many in each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from pathlib import Path
from typing import Final

BASE: Final = "http://odd.example/"
SEED: Final = f"{BASE}seed"
OTHER: Final = f"{BASE}other"

_RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
_TYPE: Final = f"{_RDF}type"
_LABEL: Final = f"{_RDFS}label"
_SUBCLASS: Final = f"{_RDFS}subClassOf"
_SYNONYM: Final = "http://www.w3.org/2004/02/skos/core#altLabel"
_LINK: Final = f"{BASE}link"

Triples = Iterator[tuple[str, str, str]]
"""Subject, predicate and object; what begins with `"` or `_:` is a literal or a blank node, all else an IRI."""


@dataclass(frozen=True, slots=True)
class OddGraph:
    """A graph, and where to begin in it.

    Attributes:
        triples: Generates it.
        seeds: Two nodes.
        name: What is searched for.
        profile: Settings of its profile.
    """

    triples: Callable[[], Triples]
    seeds: tuple[str, str] = (SEED, OTHER)
    name: str = "seed"
    profile: Mapping[str, object] = field(default_factory=dict)

    def write(self, file: Path) -> Path:
        """Write the graph to a file as N-Triples, and return the file."""
        with file.open("w", encoding="ascii") as written:
            written.writelines(f"{_term(s)} {_term(p)} {_term(o)} .\n" for s, p, o in self._all())
        return file

    def _all(self) -> Triples:
        yield from self.triples()
        yield SEED, _LABEL, '"seed"'
        yield SEED, _LINK, OTHER
        yield OTHER, _LABEL, '"other"'


def _term(text: str) -> str:
    return text if text.startswith(('"', "_:")) else f"<{text}>"


def _node(number: int) -> str:
    return f"{BASE}n{number}"


def _kind(number: int) -> str:
    return f"{BASE}Kind{number}"


def _types(count: int) -> Triples:
    for number in range(count):
        yield SEED, _TYPE, _kind(number)


def _typed_neighbours(nodes: int, types: int) -> Triples:
    for number in range(nodes):
        yield SEED, _LINK, _node(number)
        for kind in range(types):
            # Each has other types, so that no two are alike.
            yield _node(number), _TYPE, _kind((number * 7 + kind) % (2 * types))


def _star(count: int, *, inward: bool = False) -> Triples:
    for number in range(count):
        yield (_node(number), _LINK, SEED) if inward else (SEED, _LINK, _node(number))


def _clique(nodes: int) -> Triples:
    for one, other in combinations(range(nodes), 2):
        yield _node(one), _LINK, _node(other)
    yield SEED, _LINK, _node(0)


def _chain(count: int) -> Triples:
    yield SEED, _LINK, _node(0)
    for one, other in pairwise(range(count)):
        yield _node(one), _LINK, _node(other)


def _tree(nodes: int) -> Triples:
    yield SEED, _LINK, _node(1)
    for number in range(1, nodes // 2):
        yield _node(number), _LINK, _node(2 * number)
        yield _node(number), _LINK, _node(2 * number + 1)


def _one_long_literal(characters: int) -> Triples:
    yield SEED, f"{BASE}text", f'"{"long " * (characters // 5)}"'


def _literals(count: int, predicate: str = f"{BASE}value") -> Triples:
    for number in range(count):
        yield SEED, predicate, f'"value {number}"'


def _labels(count: int, text: str = "name {}") -> Triples:
    for number in range(count):
        yield _node(number), _LABEL, f'"{text.format(number)}"'


def _predicates(count: int, *, parallel: bool) -> Triples:
    for number in range(count):
        yield SEED, f"{BASE}p{number}", OTHER if parallel else _node(number)


def _namespaces(count: int) -> Triples:
    for number in range(count):
        yield SEED, _LINK, f"http://host{number}.example/path/to/a/node/{number}"


def _class_chain(count: int) -> Triples:
    for one, other in pairwise(range(count)):
        yield _kind(one), _SUBCLASS, _kind(other)
    yield from _types(count)


def _class_cycle(count: int) -> Triples:
    yield from _class_chain(count)
    yield _kind(count - 1), _SUBCLASS, _kind(0)


def _statements(count: int) -> Triples:
    for number in range(count):
        statement = f"{BASE}s{number}"
        yield statement, _TYPE, f"{_RDF}Statement"
        yield statement, f"{_RDF}subject", SEED
        yield statement, f"{_RDF}predicate", _LINK
        yield statement, f"{_RDF}object", OTHER
        yield statement, f"{BASE}says", f'"for the {number}th time"'


def _blank_neighbours(count: int) -> Triples:
    for number in range(count):
        yield SEED, _LINK, f"_:b{number}"
        yield f"_:b{number}", f"{BASE}value", f'"{number}"'


def _blank_chain(count: int) -> Triples:
    yield SEED, _LINK, "_:b0"
    for one, other in pairwise(range(count)):
        yield f"_:b{one}", _LINK, f"_:b{other}"


def _long_iris(count: int) -> Triples:
    for number in range(count):
        yield SEED, _LINK, f"{BASE}{'x' * 900}{number}"


def _bipartite(each: int) -> Triples:
    for left in range(each):
        yield SEED, _LINK, f"{BASE}left{left}"
        for right in range(each):
            yield f"{BASE}left{left}", _LINK, f"{BASE}right{right}"


_BY_SUPERCLASS: Final = {"types": {"subclass_of": [_SUBCLASS]}}

GRAPHS: Final[Mapping[str, OddGraph]] = {
    "a node of 20,000 types": OddGraph(lambda: _types(20_000)),
    "3,000 nodes of 200 types each": OddGraph(lambda: _typed_neighbours(3_000, 200)),
    "a million edges outward": OddGraph(lambda: _star(1_000_000)),
    "a million edges inward": OddGraph(lambda: _star(1_000_000, inward=True)),
    "a clique of 700": OddGraph(lambda: _clique(700), (SEED, _node(5))),
    "a chain of 300,000": OddGraph(lambda: _chain(300_000), (SEED, _node(2))),
    "a binary tree of 260,000": OddGraph(lambda: _tree(260_000), (SEED, _node(9))),
    "two sides of 600, all joined": OddGraph(lambda: _bipartite(600), (f"{BASE}left1", f"{BASE}right1")),
    # A term of a file has 16 MiB at most.
    "one literal of 50 MB": OddGraph(lambda: _one_long_literal(50_000_000)),
    "one literal of 15 MB": OddGraph(lambda: _one_long_literal(15_000_000)),
    "100,000 literals of one predicate": OddGraph(lambda: _literals(100_000)),
    "100,000 names of one node": OddGraph(lambda: _literals(100_000, _LABEL)),
    "100,000 synonyms of one node": OddGraph(lambda: _literals(100_000, _SYNONYM)),
    "a million labels": OddGraph(lambda: _labels(1_000_000), name="name 77"),
    "one name of 200,000 nodes": OddGraph(lambda: _labels(200_000, "same"), name="same"),
    "20,000 predicates to as many nodes": OddGraph(lambda: _predicates(20_000, parallel=False)),
    "50,000 predicates between two nodes": OddGraph(lambda: _predicates(50_000, parallel=True)),
    "100,000 namespaces": OddGraph(lambda: _namespaces(100_000)),
    "IRIs of 900 characters": OddGraph(lambda: _long_iris(30_000)),
    "a chain of 3,000 classes": OddGraph(lambda: _class_chain(3_000), profile=_BY_SUPERCLASS),
    "a cycle of 3,000 classes": OddGraph(lambda: _class_cycle(3_000), profile=_BY_SUPERCLASS),
    "50,000 statements about one edge": OddGraph(lambda: _statements(50_000)),
    "200,000 blank neighbours": OddGraph(lambda: _blank_neighbours(200_000)),
    "a chain of 100,000 blank nodes": OddGraph(lambda: _blank_chain(100_000)),
}
