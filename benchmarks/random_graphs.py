"""Random graphs by seed: with hubs or without, as sparse or as dense as wanted, each node with a type and a name."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

BASE: Final = "http://random.example/"

_TYPE: Final = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_LABEL: Final = "<http://www.w3.org/2000/01/rdf-schema#label>"
_TYPES: Final = 11
_PREDICATES: Final = 24


@dataclass(frozen=True, slots=True)
class RandomGraph:
    """A random graph, the same every time.

    Attributes:
        nodes: How many there are.
        edges: How many are drawn; a few are drawn twice.
        skew: Exponent of the uniform number that picks a subject: 1 prefers none, 3 makes hubs of the first nodes.
    """

    nodes: int
    edges: int
    skew: int

    def triples(self) -> Iterator[str]:
        """Generate the lines of the graph as N-Triples."""
        # Nobody must be kept from guessing a benchmark's graph.
        draw = random.Random(self.edges)  # noqa: S311
        for index in range(self.nodes):
            yield f"<{node(index)}> {_TYPE} <{BASE}class/{index % _TYPES}> .\n"
            yield f'<{node(index)}> {_LABEL} "{name(index)}" .\n'
        for _ in range(self.edges):
            subject = int(self.nodes * draw.random() ** self.skew)
            predicate = draw.randrange(_PREDICATES)
            yield f"<{node(subject)}> <{BASE}property/{predicate}> <{node(draw.randrange(self.nodes))}> .\n"

    def write(self, file: Path) -> Path:
        """Write the graph to a file, and return the file."""
        with file.open("w", encoding="ascii") as written:
            written.writelines(self.triples())
        return file


HUBS: Final = RandomGraph(12_000, 115_000, 3)
"""As large as Hetionet's most used part; the first tenth of the nodes is in half of the edges."""

DENSE: Final = RandomGraph(3_000, 450_000, 1)
"""Each node has some 300 edges, so two hops are the whole graph."""


def node(index: int) -> str:
    """Return the IRI of a node; in a skewed graph, the lower the index, the larger the hub."""
    return f"{BASE}node/{index}"


def name(index: int) -> str:
    """Return the name of a node."""
    return f"node {index}"
