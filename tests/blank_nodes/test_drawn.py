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
from tests.blank_nodes.judge import Judge, ask_files, room
from tests.blank_nodes.oracle import bfs, expected_of
from tests.examples import are_all_tried
from tests.harness.report import Report, Verdict

_GRAPHS = 3
_QUESTIONS = 3
"""Graphs of each kind, of which `make quick` takes one, and questions about each; `make blanknodes` asks more."""

Change = Callable[[Subgraph], Subgraph]


@pytest.mark.slow
@pytest.mark.parametrize("kind", range(KIND_COUNT), ids=lambda number: drawn(number).kind)
def test_answers_about_drawn_graphs_are_those_of_the_oracle(kind: int, tmp_path: Path) -> None:
    report = Report()
    for number in range(kind, (_GRAPHS if are_all_tried() else 1) * KIND_COUNT, KIND_COUNT):
        dice, graph = random.Random(number), drawn(number)  # noqa: S311 - not for security
        asking = ask_files(
            graph.write(tmp_path),
            expected_of(graph.triples),
            dice,
            _QUESTIONS,
            report,
            graph=str(number),
            reopens=number < KIND_COUNT,
        )
        asyncio.run(asking)
    assert report.findings == []


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
    ("change", "verdict"),
    [
        (_without_an_edge, Verdict.WRONG),
        (_with_an_edge_turned, Verdict.WRONG),
        (_with_a_wrong_position, Verdict.WRONG),
        (_with_other_ends, Verdict.WRONG),
        (_without_a_node, Verdict.WRONG),
        (_not_complete, Verdict.UNTRUE),
    ],
)
def test_the_judge_notices_a_wrong_answer(change: Change, verdict: Verdict, tmp_path: Path) -> None:
    assert _verdict("lists", change, tmp_path) is verdict


def test_the_judge_notices_an_answer_that_hides_class_expressions(tmp_path: Path) -> None:
    def silent(answer: Subgraph) -> Subgraph:
        return replace(answer, complete=True)

    assert _verdict("expressions", silent, tmp_path) is Verdict.WRONG


def test_the_judge_accepts_the_answers_that_it_is_tried_with(tmp_path: Path) -> None:
    assert _verdict("lists", lambda answer: answer, tmp_path) is Verdict.RIGHT
    assert _verdict("expressions", lambda answer: answer, tmp_path) is Verdict.MARKED


def _verdict(kind: str, change: Change, folder: Path) -> Verdict:
    """Return what an answer is worth that is changed before it is judged."""
    graph = next(graph for graph in map(drawn, range(KIND_COUNT)) if graph.kind == kind)
    return asyncio.run(_changed(graph, change, folder))


async def _changed(graph: DrawnGraph, change: Change, folder: Path) -> Verdict:
    expected, report = expected_of(graph.triples), Report()
    async with open_gateway(graph.write(folder), profile=room()) as gateway:
        await gateway.wait_until_ready()
        judge = Judge(gateway, expected, report)
        await judge.learn()
        assert report.findings == []
        seeds = sorted({end for edge, at in expected.edges.items() for end in edge[::2] if at} or expected.left_out)[:3]
        answer = await gateway.bfs_subgraph([judge.id_of(seed) for seed in seeds], 2)
        return judge.of_traversal(bfs(expected, seeds, 2), change(answer))[0]
