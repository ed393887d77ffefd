"""A row that cannot be read is missing in the answer about its node or edge, and in no other."""

from collections.abc import Sequence
from typing import Any

import pytest

from gateway.databases.client import Row
from gateway.graph.values import Edge
from gateway.terms.literals import Literal
from tests.databases.fakes import IDS, TERMS, call, store

pytestmark = pytest.mark.anyio

A, B, C = (f"{IDS}{one}" for one in "abc")
UNREADABLE = ['{"x": oops', "7", '"a text"', '["a list"]', "[" * 100_000, 7, ["a list"]]


@pytest.mark.parametrize("sent", UNREADABLE)
async def test_properties_that_cannot_be_read_are_missing_of_their_node_alone(sent: Any) -> None:
    rows = [["a", '["T"]', "A", False, '{"x": "y"}', None, None], ["b", '["T"]', "B", False, sent, None, None]]
    found = await store(lambda *_: rows).node_metadata([A, B, C], call(), blank_nodes=True)
    assert [found[node].mark.whole for node in (A, B, C)] == [True, False, True]
    assert found[A].properties[f"{TERMS}x"] == (Literal("y"),)


@pytest.mark.parametrize("names", [True, False])
async def test_types_that_cannot_be_read_are_missing_of_their_node_alone(names: bool) -> None:
    rows = [["a", '["T"]', "A", False, None, None, None], ["b", "[" * 100_000, "B", False, None, None, None]]
    found = await store(lambda *_: rows).nodes([A, B], call(), names=names)
    assert [found[node].mark.whole for node in (A, B)] == [True, False]
    assert found[A].types == (f"{TERMS}T",)


@pytest.mark.parametrize("depth", [1, 800, 2_000, 9_000])
async def test_lists_that_are_nested_deeply_are_read_or_missing_of_their_node_alone(depth: int) -> None:
    deep = "[" * depth + '"T"' + "]" * depth
    rows = [
        ["a", '["T"]', "A", False, f'{{"x": {deep}}}', None, None],
        ["b", deep, "B", False, None, deep, None],
        ["c", '["T"]', "C", False, '{"x": "T"}', None, None],
    ]
    found = await store(lambda *_: rows).node_metadata([A, B, C], call(), blank_nodes=True)
    facts = await store(lambda *_: rows).nodes([A, B, C], call(), names=True)
    # How deep lists may be is a matter of Python's version.
    for node in (A, C):
        assert not found[node].mark.whole or found[node].properties[f"{TERMS}x"] == (Literal("T"),)
    assert not facts[B].mark.whole or facts[B].types == (f"{TERMS}T",)
    assert found[C].mark.whole
    assert depth > 800 or all(found[node].mark.whole and facts[node].mark.whole for node in (A, B, C))


@pytest.mark.parametrize("empty", [None, "null", "{}", "[]", {}])
async def test_properties_that_are_empty_are_none(empty: Any) -> None:
    rows = [["a", '["T"]', None, False, empty, None, None]]
    found = (await store(lambda *_: rows).node_metadata([A], call(), blank_nodes=True))[A]
    assert (found.mark.whole, found.properties) == (True, {})


@pytest.mark.parametrize("sent", UNREADABLE)
async def test_a_statement_that_cannot_be_read_is_missing_of_its_edge_alone(sent: Any) -> None:
    def answers(_: str, __: Sequence[Any]) -> Sequence[Row]:
        return [
            ["a", "p", "b", None, False, '{"x": "y"}', None],
            ["a", "p", "c", None, False, sent, None],
            ["a", "p", "c", None, False, '{"x": "z"}', None],
        ]

    first, second = Edge(A, f"{TERMS}p", B), Edge(A, f"{TERMS}p", C)
    found = await store(answers).edge_metadata([first, second], call())
    assert [found[edge].mark.whole for edge in (first, second)] == [True, False]
    assert [len(found[edge].assertions) for edge in (first, second)] == [1, 1]
