"""Types are asked for while edges still come, and the answer is the same as if they had been asked for afterwards."""

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from gateway.errors import BudgetSpent, EndpointFault
from gateway.graph.values import Edge, Mark, Neighbourhood, NodeFacts
from gateway.traversal.builder import FactsPrefetch

pytestmark = pytest.mark.anyio


class Graph:
    """Answers about nodes, and keeps what it was asked."""

    def __init__(self, *marks: Mark) -> None:
        self.asked: list[list[str]] = []
        self._marks = list(marks)

    async def __call__(self, nodes: Sequence[str]) -> Mapping[str, NodeFacts]:
        """Return the facts of some nodes, under the next mark."""
        self.asked.append(list(nodes))
        mark = self._marks.pop(0) if self._marks else Mark()
        return {node: NodeFacts((f"{node}-type",), mark=mark) for node in nodes}


def part(*edges: tuple[str, str]) -> Mapping[str, Neighbourhood]:
    return {"urn:a": Neighbourhood(tuple(Edge(start, "urn:p", end) for start, end in edges))}


async def test_nodes_are_asked_about_once_there_are_enough_and_the_rest_at_the_end() -> None:
    graph = Graph()
    ahead = FactsPrefetch(graph, 3)
    ahead.add(part(("urn:a", "urn:b")))
    assert graph.asked == []
    ahead.add(part(("urn:a", "urn:c"), ("urn:c", "urn:b")))
    ahead.add(part(("urn:a", "urn:d")))
    nodes = ["urn:seed", "urn:a", "urn:b", "urn:c", "urn:d"]
    facts = await ahead.facts(nodes)
    assert graph.asked == [["urn:a", "urn:b", "urn:c"], ["urn:seed", "urn:d"]]
    assert facts == {node: NodeFacts((f"{node}-type",)) for node in nodes}


async def test_nobody_is_asked_where_nothing_is_wanted() -> None:
    graph = Graph()
    assert await FactsPrefetch(graph, 3).facts([]) == {}
    assert graph.asked == []


async def test_what_the_allowance_of_expansion_did_not_pay_for_is_asked_again() -> None:
    graph = Graph(Mark(BudgetSpent("Too many queries.")))
    ahead = FactsPrefetch(graph, 1)
    ahead.add(part(("urn:a", "urn:b")))
    facts = await ahead.facts(["urn:a", "urn:b"])
    assert graph.asked == [["urn:a", "urn:b"]] * 2
    assert all(one.mark.whole for one in facts.values())


async def test_any_other_fault_stays_with_its_nodes() -> None:
    fault = EndpointFault("The endpoint failed.")
    graph = Graph(Mark(fault))
    ahead = FactsPrefetch(graph, 1)
    ahead.add(part(("urn:a", "urn:b")))
    facts = await ahead.facts(["urn:a", "urn:b", "urn:c"])
    assert [one.mark.fault for one in facts.values()] == [fault, fault, None]
    assert graph.asked == [["urn:a", "urn:b"], ["urn:c"]]


async def test_nothing_is_under_way_after_the_block() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def never(nodes: Sequence[str]) -> Mapping[str, NodeFacts]:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return {node: NodeFacts() for node in nodes}

    async with FactsPrefetch(never, 1) as ahead:
        ahead.add(part(("urn:a", "urn:b")))
        await begun.wait()
    assert ended.is_set()


async def test_edges_that_come_after_the_block_ask_for_nothing() -> None:
    graph = Graph()
    async with FactsPrefetch(graph, 1) as ahead:
        pass
    ahead.add(part(("urn:a", "urn:b")))
    await asyncio.sleep(0)
    assert graph.asked == []
