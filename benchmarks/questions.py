"""What is asked: the same questions of every contender, each with its right answer where that is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from benchmarks import graphs

WD: Final = graphs.WD
WDT: Final = graphs.WDT


@dataclass(frozen=True, slots=True)
class Question:
    """A traversal or an intersection.

    Attributes:
        name: How the table calls it.
        graph: The graph it is about.
        profile: The profile it is asked under.
        seeds: Whole IRIs.
        hops: How far from any seed, or from every seed.
        kind: Which of the two.
        nodes: How many nodes are in the answer; 0 where that is not known beforehand.
        edges: How many edges are.
    """

    name: str
    graph: str
    profile: str
    seeds: tuple[str, ...]
    hops: int
    kind: Literal["traversal", "intersection"] = "traversal"
    nodes: int = 0
    edges: int = 0


TWO_HOPS: Final = Question(
    "2 hops from wd:Q286525 in codex-m", "codex-m", "wikidata-local", (f"{WD}Q286525",), 2, nodes=7_389, edges=16_855
)
"""The traversal of the issue's acceptance lines 4 and 6, hub rule off; its size is in field note and issue."""

DESMOPRESSIN: Final = "http://purl.bioontology.org/ontology/RXNORM/3251"
CUSHING: Final = "http://id.nlm.nih.gov/mesh/D003480"
MEDLIT: Final = Question("2 hops from RxNorm:3251 in medlit", "medlit", "local", (DESMOPRESSIN,), 2, nodes=84, edges=99)
MEDLIT_BOTH: Final = Question(
    "k=2 of RxNorm:3251 and MeSH:D003480 in medlit",
    "medlit",
    "local",
    (DESMOPRESSIN, CUSHING),
    2,
    "intersection",
    nodes=70,
    edges=97,
)


def planted(triples: int) -> Question:
    """Return the question that has one answer in generated graphs of every size."""
    return Question(
        f"2 hops from the planted seed in {triples:,} triples",
        str(triples),
        "local",
        (graphs.PLANTED_SEED,),
        2,
        nodes=graphs.PLANTED_NODES,
        edges=graphs.PLANTED_EDGES,
    )


BOTH: Final = Question(
    "k=2 of wd:Q286525 and wd:Q216896 in codex-m",
    "codex-m",
    "wikidata-local",
    (f"{WD}Q286525", f"{WD}Q216896"),
    2,
    "intersection",
    nodes=6_503,
    edges=20_300,
)
"""Counted by `tests/oracle.py`, as every answer here without another source is."""
