"""Generated graphs of any size, with one neighbourhood that is the same in all of them.

The shape is that of a real knowledge graph: few nodes are in most of the edges, most nodes are in few. Everything
follows from the number of triples, and nothing is kept while it is written, so ten million take no more memory than
ten.

The planted neighbourhood answers one question identically at every size, so that what grows with the graph can be
told from what grows with the answer. Its outermost nodes are tied to the largest hubs of the graph around it.

`items` is another one: instances of one type with a price, for questions about values. `statements` has the shape of a
Wikibase's direct statements, for what is asked under `wikidata-local`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import accumulate
from typing import Final

BASE: Final = "http://bench.example/"
SIZES: Final = (100_000, 1_000_000, 10_000_000)
PLANTED_SEED: Final = f"{BASE}planted/seed"
ITEM: Final = f"{BASE}class/Item"
PRICE: Final = f"{BASE}property/price"
CATEGORY: Final = f"{BASE}property/category"
WD: Final = "http://www.wikidata.org/entity/"
WDT: Final = "http://www.wikidata.org/prop/direct/"
PLANTED_NODES: Final = 197
PLANTED_EDGES: Final = 210
"""Edges within two hops of the planted seed."""

_TYPE: Final = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_LABEL: Final = "<http://www.w3.org/2000/01/rdf-schema#label>"
_WIKIBASE: Final = "http://wikiba.se/ontology#"
_PROPERTY: Final = 1_000
"""The number of the first property."""
_TRIPLES_PER_NODE: Final = 10
_PREDICATES: Final = 60
_TYPES: Final = 40
_LARGEST_OUT: Final = 300
_OUT_SHAPE, _OUT_SCALE = 1.7, 3.3
"""Of the Pareto distribution of out-degrees: most nodes have 3 to 8, some have hundreds, the mean is about 8."""
_SKEW: Final = 3.2
"""Exponent of a uniform number that picks an object; at a million triples the largest hub has 2 % of all edges."""
_BRANCHES, _LEAVES = 14, 13
_HUBS: Final = 5
"""Hubs that the planted leaves are tied to."""


def triples(count: int) -> Iterator[str]:
    """Generate so many distinct triples, each a line of N-Triples; the first ones are the planted neighbourhood."""
    planted = list(_planted())
    if count < len(planted):
        raise ValueError(f"a graph of {count} triples has no room for the planted {len(planted)}")
    yield from planted
    left = count - len(planted)
    for line in _unbounded(max(1, left // _TRIPLES_PER_NODE)):
        if not left:
            return
        left -= 1
        yield line


def items(count: int) -> Iterator[str]:
    """Generate so many items, each with a type, a name, and but for one in twenty a price in steps of 0.50.

    Some ten have the same price, and none has one above 50,000. Each is of one of 50 categories.
    """
    # As above: the same every time.
    uniform = random.Random(count).random  # noqa: S311
    steps = max(1, count // 10)
    for index in range(count):
        item = f"<{BASE}item/{index}>"
        yield f"{item} {_TYPE} <{ITEM}> .\n"
        yield f'{item} {_LABEL} "Item {index}"@en .\n'
        yield f"{item} <{CATEGORY}> <{BASE}category/{index * 7 % 50}> .\n"
        if index % 20:
            price = f"{int(uniform() * steps) / 2:.2f}"
            yield f'{item} <{PRICE}> "{price}"^^<http://www.w3.org/2001/XMLSchema#decimal> .\n'


def statements(count: int) -> Iterator[str]:
    """Generate about so many triples of items of a Wikibase: types, names, descriptions and direct statements."""
    nodes = max(_TYPES + 1, count // _TRIPLES_PER_NODE)
    # As above: the same every time.
    draw = random.Random(count)  # noqa: S311
    weights = list(accumulate(1 / (rank + 1) for rank in range(_PREDICATES)))
    for number in range(_PREDICATES):
        told = f"<{WD}P{_PROPERTY + number}>"
        yield f"{told} <{_WIKIBASE}directClaim> <{WDT}P{_PROPERTY + number}> .\n"
        yield f"{told} <{_WIKIBASE}propertyType> <{_WIKIBASE}WikibaseItem> .\n"
        yield f'{told} {_LABEL} "property {number}"@en .\n'
    for index in range(nodes):
        item = f"<{wikibase_item(index)}>"
        yield f'{item} {_LABEL} "Thing {index}"@en .\n'
        yield f'{item} <http://schema.org/description> "one of {nodes}"@en .\n'
        yield f"{item} <{WDT}P31> <{wikibase_item(int(_TYPES * draw.random() ** 2))}> .\n"
        degree = min(_LARGEST_OUT, int(_OUT_SCALE * draw.paretovariate(_OUT_SHAPE)))
        drawn = draw.choices(range(_PREDICATES), cum_weights=weights, k=degree)
        pointed = {(predicate, int(nodes * draw.random() ** _SKEW)) for predicate in drawn}
        for predicate, target in sorted(pointed):
            yield f"{item} <{WDT}P{_PROPERTY + predicate}> <{wikibase_item(target)}> .\n"


def wikibase_item(index: int) -> str:
    """Return the IRI of an item; the first ones are classes, and the lower the index, the larger the hub."""
    return f"{WD}Q{index + 1}"


def readings(count: int, *, blank: bool) -> Iterator[str]:
    """Generate about so many triples, half of them about nodes that are blank nodes, or IRIs in their place."""
    for index in range(count // 6):
        item = f"<{BASE}item/{index}>"
        reading = f"_:r{index}" if blank else f"<{BASE}reading/{index}>"
        yield f"{item} {_TYPE} <{ITEM}> .\n"
        yield f'{item} {_LABEL} "Item {index}"@en .\n'
        yield f"{item} <{BASE}property/next> <{BASE}item/{index * 7 % (count // 6)}> .\n"
        yield f"{item} <{BASE}property/reading> {reading} .\n"
        yield f'{reading} <{BASE}property/value> "{index * 31 % 9973}" .\n'
        yield f"{reading} <{BASE}property/unit> <{BASE}unit/{index % 50}> .\n"


def node(index: int) -> str:
    """Return the IRI of a generated node; the lower the index, the larger the hub."""
    return f"{BASE}entity/{index}"


def _unbounded(nodes: int) -> Iterator[str]:
    """Generate the triples of node after node without an end; only the first so many nodes are pointed to."""
    # The graph is a benchmark's; it must be the same every time, and nobody must be kept from guessing it.
    draw = random.Random(nodes)  # noqa: S311
    uniform = draw.random
    predicates = [f"<{BASE}property/{index}>" for index in range(_PREDICATES)]
    types = [f"<{BASE}class/{index}>" for index in range(_TYPES)]
    weights = list(accumulate(1 / (rank + 1) for rank in range(_PREDICATES)))
    index = 0
    while True:
        subject = f"<{node(index)}>"
        yield f"{subject} {_TYPE} {types[int(_TYPES * uniform() ** 2)]} .\n"
        yield f'{subject} {_LABEL} "Entity {index}"@en .\n'
        degree = min(_LARGEST_OUT, int(_OUT_SCALE * draw.paretovariate(_OUT_SHAPE)))
        drawn = draw.choices(predicates, cum_weights=weights, k=degree)
        pointed = {(predicate, int(nodes * uniform() ** _SKEW)) for predicate in drawn}
        for predicate, target in sorted(pointed):
            yield f"{subject} {predicate} <{node(target)}> .\n"
        index += 1


def _planted() -> Iterator[str]:
    """Generate a seed with a ring of branches, each with leaves; every third edge points inward."""
    nodes: list[str] = [PLANTED_SEED]
    edges: list[tuple[str, str]] = []
    for branch in range(_BRANCHES):
        middle = f"{BASE}planted/{branch}"
        nodes.append(middle)
        edges.append((PLANTED_SEED, middle))
        for leaf in range(_LEAVES):
            outer = f"{BASE}planted/{branch}/{leaf}"
            nodes.append(outer)
            edges.append((middle, outer))
        edges.append((middle, f"{BASE}planted/{(branch + 1) % _BRANCHES}"))
    for place, one in enumerate(nodes):
        yield f"<{one}> {_TYPE} <{BASE}class/{place % _TYPES}> .\n"
        yield f'<{one}> {_LABEL} "Planted {place}"@en .\n'
    for place, (one, other) in enumerate(edges):
        subject, target = (one, other) if place % 3 else (other, one)
        yield f"<{subject}> <{BASE}property/{place % _PREDICATES}> <{target}> .\n"
    for place, one in enumerate(nodes):
        if one.count("/") > PLANTED_SEED.count("/"):
            yield f"<{one}> <{BASE}property/0> <{node(place % _HUBS)}> .\n"
