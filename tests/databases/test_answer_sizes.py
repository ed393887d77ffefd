"""How much one query may return: rows with properties are asked for in parts that fit into an answer."""

from collections.abc import Sequence
from typing import Any

import pytest

from gateway.databases.client import Row
from gateway.databases.store import DatabaseStore
from gateway.graph.values import Edge
from gateway.settings.load import load_profile
from tests.databases.fakes import IDS, TERMS, Answers, call, store

pytestmark = pytest.mark.anyio


def _small(answers: Answers) -> DatabaseStore:
    """Return a store whose answers have a megabyte at most: 4 nodes with properties, or 16 statements."""
    profile = load_profile("bfsql-postgres")
    limits = profile.limits.model_copy(update={"body_megabytes": 1})
    return store(answers, profile=profile.model_copy(update={"limits": limits}))


async def test_nodes_with_properties_are_asked_for_in_parts() -> None:
    asked: list[tuple[int, bool]] = []

    def answers(_: str, arguments: Sequence[Any]) -> Sequence[Row]:
        nodes, with_properties = arguments[:2]
        asked.append((len(nodes), with_properties))
        return [[node, '["T"]', "N", False, '{"x": "y"}', None, None] for node in nodes]

    iris = [f"{IDS}{number}" for number in range(10)]
    described = await _small(answers).node_metadata(iris, call(), blank_nodes=True)
    facts = await _small(answers).nodes(iris, call(), names=True)
    assert all(described[iri].properties and facts[iri].types for iri in iris)
    assert asked == [(4, True), (4, True), (2, True), (10, False)]


async def test_statements_are_asked_for_in_parts_and_too_many_of_one_edge_are_told() -> None:
    limits: list[int] = []

    def answers(_: str, arguments: Sequence[Any]) -> Sequence[Row]:
        *columns, _bytes, most = arguments
        limits.append(most)
        rows = [
            [subject, predicate, target, None, False, f'{{"x": "{number}"}}', None]
            for subject, predicate, target in zip(*columns, strict=True)
            for number in range(30 if target == "many" else 3)
        ]
        return rows[:most]

    edges = [Edge(f"{IDS}a", f"{TERMS}p", f"{IDS}{target}") for target in [*range(20), "many"]]
    found = await _small(answers).edge_metadata(edges, call())
    assert [len(found[edge].assertions) for edge in edges] == [*[3] * 20, 0]
    assert [found[edge].mark.whole for edge in edges] == [*[True] * 20, False]
    fault = found[edges[-1]].mark.fault
    assert fault is not None
    assert "more than 16 rows" in fault.wrong
    assert "limits.body_megabytes" in fault.next_step
    assert set(limits) == {17}
