"""A small run of the drawn questions, and what its judgement promises."""

import asyncio
from dataclasses import replace

import pytest

from gateway.engine.answers import BfsResult, IntersectionResult, Node, SearchResult
from gateway.errors import InputError
from tests.columns import Column
from tests.drawn.judging import judge
from tests.drawn.questions import Question, profile_for
from tests.drawn.run import Report, ask_all, drawn, truth_of
from tests.soak.verdict import Verdict

pytestmark = pytest.mark.anyio

GRAPHS = ("films", "names", "random")
SEED = 7


@pytest.mark.parametrize("graph", GRAPHS)
def test_no_answer_to_a_drawn_question_is_wrong(engine: Column, graph: str) -> None:
    truth = truth_of(graph, engine.files[graph])
    report = Report(engine.name)
    questions = {graph: drawn(graph, truth, SEED, 60)}
    asyncio.run(ask_all(lambda one: engine.open(one, profile_for(one)), questions, {graph: truth}, report))
    assert sum(report.verdicts.values()) == 60
    assert report.findings == []


def test_the_same_questions_are_drawn_in_each_run(embedded: Column) -> None:
    truth = truth_of("films", embedded.files["films"])
    assert drawn("films", truth, SEED, 50) == drawn("films", truth, SEED, 50) != drawn("films", truth, SEED + 1, 50)


async def test_an_answer_that_lacks_something_and_says_complete_is_judged_wrong(embedded: Column) -> None:
    truth = truth_of("films", embedded.files["films"])
    async with embedded.open("films", profile_for("films")) as gateway:
        seeds = ("https://example.org/films/person/Harrison_Ford", "https://example.org/films/person/George_Lucas")
        question = Question("films", "bfs_query", seeds, hops=2)
        answer = await gateway.call(question.tool, question.arguments)
        assert isinstance(answer, BfsResult)
        expand = gateway.prefixes.expand
        assert judge(question, truth, [answer], expand)[0] is Verdict.RIGHT
        without_an_edge = answer.model_copy(update={"edges": answer.edges[1:]})
        assert judge(question, truth, [without_an_edge], expand)[0] is Verdict.WRONG
        stranger = Node(id="film:Unheard_Of", entity_type=":Film")
        with_a_stranger = answer.model_copy(update={"nodes": [*answer.nodes, stranger], "complete": False})
        assert judge(question, truth, [with_a_stranger], expand)[0] is Verdict.UNTRUE
        assert judge(question, truth, InputError("None of the seeds exists."), expand)[0] is Verdict.WRONG

        both = replace(question, tool="intersect_subgraphs", hops=1)
        common = await gateway.call(both.tool, both.arguments)
        assert isinstance(common, IntersectionResult)
        assert judge(both, truth, [common], expand)[0] is Verdict.RIGHT
        nodes = [node.model_copy(update={"via": [path[:1] for path in node.via or ()]}) for node in common.nodes]
        assert judge(both, truth, [common.model_copy(update={"nodes": nodes})], expand)[0] is Verdict.UNTRUE

        search = Question("films", "search_entities", (seeds[0],), query="HARRISON FORD")
        found = await gateway.call(search.tool, search.arguments)
        assert isinstance(found, SearchResult)
        assert judge(search, truth, [found], expand)[0] is Verdict.RIGHT
        nobody = found.model_copy(update={"result": [], "found": None, "complete": True})
        assert judge(search, truth, [nobody], expand)[0] is Verdict.WRONG
