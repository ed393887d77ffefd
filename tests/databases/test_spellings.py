"""A node whose ID a database writes in two ways is one node, of whose edges no count claims too much."""

from collections.abc import Sequence
from typing import Any

import pytest

from gateway.databases.client import Row
from gateway.graph.counts import EdgeCount
from gateway.graph.values import Degree
from tests.databases.fakes import IDS, TERMS, call, store

pytestmark = pytest.mark.anyio

MESH = "http://id.nlm.nih.gov/mesh/"
TWICE, ONCE = f"{MESH}1", f"{MESH}2"
EDGES = [
    ("MeSH:1", "p", "b"),
    (f"{MESH}1", "p", "b"),
    (f"{MESH}1", "p", "c"),
    (f"{MESH}1", "q", "b"),
    ("MeSH:2", "p", "b"),
    ("MeSH:2", "p", "c"),
]


def _answers(query: str, arguments: Sequence[Any]) -> Sequence[Row]:
    nodes, at_most = arguments[3], arguments[-2]
    if query == "edges":
        return [edge for edge in EDGES if edge[0] in nodes]
    if query == "degrees":
        found = {node: sum(edge[0] == node for edge in EDGES) for node in nodes}
        return [[node, min(count, at_most), count < at_most] for node, count in found.items()]
    groups: dict[tuple[str, str], list[str]] = {}
    for subject, predicate, target in EDGES:
        if subject in nodes:
            groups.setdefault((subject, predicate), []).append(target)
    return [[*of, False, len(targets), min(targets), max(targets)] for of, targets in groups.items()]


async def test_its_degree_is_a_lower_bound() -> None:
    opened = store(_answers, prefixes={"MeSH": MESH})
    around = await opened.edges([TWICE, ONCE], call())
    degrees = await opened.degrees([TWICE, ONCE], 10, call())
    assert [len(around[node].edges) for node in (TWICE, ONCE)] == [3, 2]
    assert (degrees[TWICE], degrees[ONCE]) == (Degree(3, exact=False), Degree(2))
    assert await opened.degrees([TWICE, ONCE], 1, call()) == dict.fromkeys((TWICE, ONCE), Degree(2, exact=False))


async def test_its_edges_have_one_count_for_each_predicate_and_direction() -> None:
    counts = await store(_answers, prefixes={"MeSH": MESH}).edge_counts([TWICE, ONCE], call())
    first, last = f"{IDS}b", f"{IDS}c"
    assert counts[TWICE].counts == (
        EdgeCount(f"{TERMS}p", False, 2, (first, last)),
        EdgeCount(f"{TERMS}q", False, 1, (first,)),
    )
    assert (counts[TWICE].mark.whole, counts[ONCE].mark.whole) == (False, True)
    assert counts[ONCE].counts == (EdgeCount(f"{TERMS}p", False, 2, (first, last)),)
