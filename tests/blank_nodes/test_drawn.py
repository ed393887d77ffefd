import asyncio
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rdflib import BNode

from gateway.api import open_gateway
from gateway.export.subgraph import Subgraph
from tests.blank_nodes.graphs import KIND_COUNT, DrawnGraph, drawn
from tests.blank_nodes.judge import Judge, Report, judged, room
from tests.blank_nodes.oracle import bfs, expected_of

_QUESTIONS = 3
"""About each graph; `python -m tests.blank_nodes` asks more."""

Change = Callable[[Subgraph], Subgraph]


@pytest.mark.parametrize("kind", range(KIND_COUNT), ids=lambda number: drawn(number).kind)
def test_answers_about_drawn_graphs_are_those_of_the_oracle(kind: int, tmp_path: Path) -> None:
    found: dict[tuple[int, str], str] = {}
    for number in range(kind, 3 * KIND_COUNT, KIND_COUNT):
        graph = drawn(number)
        report = asyncio.run(_report(graph, tmp_path, number, reopens=number < KIND_COUNT))
        found |= {(number, finding.question): finding.what for finding in report.findings}
    assert not found


def test_equal_labels_of_two_files_are_two_nodes() -> None:
    graph = next(graph for graph in map(drawn, range(KIND_COUNT)) if graph.kind == "documents")
    of_files = [expected_of(DrawnGraph(0, "", [document]).triples) for document in graph.documents]
    together = expected_of(graph.triples)
    blank = [sum(isinstance(node, BNode) for node in each.nodes) for each in (*of_files, together)]
    assert sum(blank[:-1]) == blank[-1]


def _without_an_edge(answer: Subgraph) -> Subgraph:
    return replace(answer, edges=answer.edges[1:])


def _with_an_edge_turned(answer: Subgraph) -> Subgraph:
    first, *others = answer.edges
    return replace(answer, edges=[replace(first, subject=first.object, object=first.subject), *others])


def _with_a_wrong_position(answer: Subgraph) -> Subgraph:
    edges = [replace(edge, evidence={"position": 99}) if edge.evidence else edge for edge in answer.edges]
    return replace(answer, edges=edges)


def _with_other_ends(answer: Subgraph) -> Subgraph:
    blank = [node.id for node in answer.nodes if node.id.startswith("_:")]
    other = dict(zip(blank, [*blank[1:], blank[0]], strict=True))
    edges = [replace(edge, object=other.get(edge.object, edge.object)) for edge in answer.edges]
    return replace(answer, edges=edges)


def _without_a_node(answer: Subgraph) -> Subgraph:
    return replace(answer, nodes=answer.nodes[:-1])


def _not_complete(answer: Subgraph) -> Subgraph:
    return replace(answer, complete=False)


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (_without_an_edge, "wrong and complete"),
        (_with_an_edge_turned, "wrong and complete"),
        (_with_a_wrong_position, "wrong and complete"),
        (_with_other_ends, "wrong and complete"),
        (_without_a_node, "wrong and complete"),
        (_not_complete, "untrue warning"),
    ],
)
def test_the_judge_notices_a_wrong_answer(change: Change, kind: str, tmp_path: Path) -> None:
    assert _kinds("lists", change, tmp_path) == [kind]


def test_the_judge_notices_an_answer_that_hides_class_expressions(tmp_path: Path) -> None:
    def silent(answer: Subgraph) -> Subgraph:
        return replace(answer, complete=True)

    assert _kinds("expressions", silent, tmp_path) == ["wrong and complete"]


def test_the_judge_accepts_the_answers_that_it_is_tried_with(tmp_path: Path) -> None:
    for kind in ("lists", "expressions"):
        assert _kinds(kind, lambda answer: answer, tmp_path) == []


def _kinds(kind: str, change: Change, folder: Path) -> list[str]:
    """Return the kinds of findings about an answer that is changed before it is judged."""
    graph = next(graph for graph in map(drawn, range(KIND_COUNT)) if graph.kind == kind)
    report = asyncio.run(_changed(graph, change, folder))
    return [finding.kind for finding in report.findings]


async def _changed(graph: DrawnGraph, change: Change, folder: Path) -> Report:
    expected = expected_of(graph.triples)
    async with open_gateway(graph.write(folder), profile=room()) as gateway:
        await gateway.wait_until_ready()
        judge = Judge(gateway, expected)
        await judge.learn()
        seeds = sorted({end for edge, at in expected.edges.items() for end in edge[::2] if at} or expected.left_out)[:3]
        answer = await gateway.bfs_subgraph([judge.id_of(seed) for seed in seeds], 2)
        judge.judge_traversal("changed", bfs(expected, seeds, 2), change(answer))
        return judge.report


async def _report(graph: DrawnGraph, folder: Path, number: int, *, reopens: bool) -> Report:
    dice = random.Random(number)  # noqa: S311 - not for security
    paths = graph.write(folder)
    return await judged(paths, expected_of(graph.triples), dice, _QUESTIONS, reopens=reopens)
