"""The nodes within some hops are read a part of a frontier at a time."""

from collections.abc import Sequence
from typing import Any

import pytest

from gateway.databases.client import Row
from gateway.errors import NetworkFault
from tests.databases.fakes import IDS, call, store

pytestmark = pytest.mark.anyio


class Tree:
    """Nodes with `width` nodes below each, so many levels deep; `0.1` is the second node below the first one."""

    def __init__(self, *width: int) -> None:
        self.width = width
        self.sizes: list[int] = []

    def __call__(self, query: str, arguments: Sequence[Any]) -> Sequence[Row]:
        """Return neighbours, as many as are asked for."""
        assert query == "neighbours"
        nodes, most = arguments[-2:]
        self.sizes.append(len(nodes))
        found: dict[str, None] = {}
        for node in nodes:
            level = node.count(".")
            below = self.width[level] if level < len(self.width) else 0
            found |= dict.fromkeys(f"{node}.{number}" for number in range(below))
            if level:
                found[node.rpartition(".")[0]] = None
        return [[node] for node in list(found)[:most]]


async def test_a_large_frontier_is_asked_about_in_parts() -> None:
    tree = Tree(100, 50, 5)
    reach = (await store(tree).reach([f"{IDS}0"], 3, call()))[f"{IDS}0"]
    assert reach.mark.whole
    distances = list(reach.distances.values())
    assert [distances.count(hop) for hop in range(4)] == [1, 100, 5_000, 25_000]
    assert tree.sizes == [1, 100, 2_000, 2_000, 1_000]


@pytest.mark.slow
async def test_a_part_with_more_neighbours_than_a_query_returns_is_asked_about_in_smaller_ones() -> None:
    tree = Tree(1_500, 100)
    reach = (await store(tree).reach([f"{IDS}0"], 2, call()))[f"{IDS}0"]
    assert reach.mark.whole
    assert len(reach.distances) == 1 + 1_500 + 150_000
    assert max(tree.sizes[2:]) <= 750


async def test_a_part_that_fails_leaves_a_set_that_is_not_whole() -> None:
    tree = Tree(2_500, 1)

    def answers(query: str, arguments: Sequence[Any]) -> Sequence[Row]:
        if len(arguments[-2]) == 500:
            raise NetworkFault("The database could not be reached.")
        return tree(query, arguments)

    asking = call()
    asking.retries = False
    reach = (await store(answers).reach([f"{IDS}0"], 2, asking))[f"{IDS}0"]
    assert isinstance(reach.mark.fault, NetworkFault)
    assert len(reach.distances) == 1 + 2_500 + 2_000
