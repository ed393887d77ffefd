"""An IRI that an engine reads as another one is never taken for absent."""

import pytest

from tests.columns import Column
from tests.oracle import OracleGraph, bfs, intersect, read_triples

pytestmark = pytest.mark.anyio

A, C, REPORT = "http://ex.org/a", "http://ex.org/c", "http://ex.org/docs/../report"


@pytest.fixture
def oracle(engine: Column) -> OracleGraph:
    (file,) = engine.files["odd"]
    return OracleGraph(read_triples(file))


async def test_a_traversal_through_such_iris_is_whole_or_says_what_is_missing(
    engine: Column, oracle: OracleGraph
) -> None:
    expected = bfs(oracle, [A], 3)
    async with engine.open("odd") as gateway:
        answer = await gateway.bfs_query([A], 3)
    found = {node.id for node in answer.nodes}
    assert found <= expected.distance.keys()
    assert answer.complete is (found == expected.distance.keys())
    if not answer.complete:
        assert REPORT in {iri for gap in answer.incomplete or () for iri in gap.ids}


async def test_an_intersection_through_such_iris_is_whole_or_says_what_is_missing(
    engine: Column, oracle: OracleGraph
) -> None:
    expected = intersect(oracle, [A, C], 2)
    async with engine.open("odd") as gateway:
        answer = await gateway.intersect_subgraphs([A, C], 2)
    found = {node.id for node in answer.nodes}
    assert found <= expected.nodes
    if answer.complete:
        assert found == expected.nodes
    else:
        # All nodes may be found over the edges of their other ends: what cannot be asked for may still have more.
        assert REPORT in {iri for gap in answer.incomplete or () for iri in gap.ids}


@pytest.mark.parametrize("iri", [REPORT, "urn:a/../b", "http://EX.org/upper"])
async def test_such_an_iri_is_described_or_failed_but_exists(engine: Column, iri: str) -> None:
    async with engine.open("odd") as gateway:
        answer = await gateway.describe_entities([iri, A])
    assert answer.not_found == []
    assert [*(node.iri for node in answer.result), *(answer.failed or ())] in ([iri, A], [A, iri])
    assert answer.complete is (answer.failed is None)


async def test_no_whole_traversal_begins_at_an_iri_in_another_unicode_form_than_that_of_the_graph(
    engine: Column,
) -> None:
    other_form = "http://ex.org/cafe\u0301"
    async with engine.open("odd") as gateway:
        around = await gateway.bfs_query([other_form, A], 2)
        described = await gateway.describe_entities([other_form, A])
    assert "http://ex.org/caf\u00e9" in {node.id for node in around.nodes}
    assert [node.iri for node in described.result] == [A]
    if engine.name == "blazegraph":
        # The two are one term to it, so it cannot say that there is no such node.
        assert described.failed == [other_form]
        assert not around.complete
    else:
        assert described.not_found == [other_form]
        assert around.missing_seeds == [other_form]


async def test_its_type_is_known_or_unknown_and_never_none(engine: Column) -> None:
    async with engine.open("odd") as gateway:
        answer = await gateway.bfs_query([A], 1)
    (node,) = [node for node in answer.nodes if node.id == REPORT]
    assert node.entity_type in {"http://ex.org/Report", "unknown"}
