"""A small run of the drawn questions, and what its judgement promises."""

import asyncio
from dataclasses import replace

import pytest

from gateway.answers.models import BfsResult, EntitiesResult, IntersectionResult, Node, SearchResult
from gateway.errors import InputError
from tests.columns import Column
from tests.drawn.judging import Truth, judge
from tests.drawn.questions import Question, profile_for
from tests.drawn.run import ask, drawn, truth_of
from tests.harness.report import Report, Verdict

pytestmark = pytest.mark.anyio

GRAPHS = ("films", "names", "random")
SEED = 7


@pytest.mark.parametrize("graph", GRAPHS)
def test_no_answer_to_a_drawn_question_is_wrong(engine: Column, graph: str) -> None:
    truth = truth_of(graph, engine.files[graph])
    report = Report()
    asyncio.run(ask(engine, graph, drawn(graph, truth, SEED, 60), truth, report))
    assert report.verdicts.total() == 60
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

        both = replace(question, tool="intersect_subgraphs", hops=1, via=True)
        common = await gateway.call(both.tool, both.arguments)
        assert isinstance(common, IntersectionResult)
        assert judge(both, truth, [common], expand)[0] is Verdict.RIGHT
        nodes = [node.model_copy(update={"via": [path[:1] for path in node.via or ()]}) for node in common.nodes]
        assert judge(both, truth, [common.model_copy(update={"nodes": nodes})], expand)[0] is Verdict.WRONG

        search = Question("films", "search_entities", (seeds[0],), query="HARRISON FORD")
        found = await gateway.call(search.tool, search.arguments)
        assert isinstance(found, SearchResult)
        assert judge(search, truth, [found], expand)[0] is Verdict.RIGHT
        nobody = found.model_copy(update={"result": [], "found": None, "complete": True})
        assert judge(search, truth, [nobody], expand)[0] is Verdict.WRONG


async def test_a_filter_by_type_that_keeps_another_way_is_judged_wrong(embedded: Column) -> None:
    truth = truth_of("films", embedded.files["films"])
    seed = "https://example.org/films/person/Harrison_Ford"
    question = Question("films", "bfs_query", (seed,), hops=2, only_type="https://example.org/films/Person")
    async with embedded.open("films", profile_for("films")) as gateway:
        answer = await gateway.call(question.tool, question.arguments)
        assert isinstance(answer, BfsResult)
        prefixes = gateway.prefixes
        assert judge(question, truth, [answer], prefixes.expand, prefixes.declared_form)[0] is Verdict.RIGHT
        # The last of several films on the way in place of the first.
        assert judge(question, truth, [answer], prefixes.expand, lambda iri: iri[::-1])[0] is Verdict.WRONG


async def test_a_description_that_is_wrong_is_judged_wrong(embedded: Column) -> None:
    truth = truth_of("films", embedded.files["films"])
    seed = "https://example.org/films/person/Harrison_Ford"
    question = Question("films", "describe_entities", (seed, "https://example.org/films/missing"))
    async with embedded.open("films", profile_for("films")) as gateway:
        answer = await gateway.call(question.tool, question.arguments)
        assert isinstance(answer, EntitiesResult)
        expand = gateway.prefixes.expand
        (entity,) = answer.result
        assert entity.edges
        fewer = entity.model_copy(update={"edges": dict(list(entity.edges.items())[1:])})
        assert judge(question, truth, [answer], expand)[0] is Verdict.RIGHT
        updates: list[dict[str, object]] = [{"result": []}, {"not_found": []}, {"result": [fewer]}]
        for update in updates:
            assert judge(question, truth, [answer.model_copy(update=update)], expand)[0] is Verdict.WRONG


def test_a_name_that_was_taken_for_one_of_several_entities_is_judged_wrong(embedded: Column) -> None:
    truth = truth_of("films", embedded.files["films"])
    seed = "https://example.org/films/person/Harrison_Ford"
    question = Question("films", "describe_entities", (seed,), names=("Harrison Ford",))
    several = Truth(truth.oracle, {**truth.names, "https://example.org/films/other": {"harrison_FORD"}})
    refused = InputError("It is a name of 2 entities.")
    answer = EntitiesResult(result=[], complete=True, not_found=[])
    assert judge(question, several, refused, str)[0] is Verdict.RIGHT
    assert judge(question, several, [answer], str)[0] is Verdict.WRONG
    assert judge(question, truth, refused, str)[0] is Verdict.WRONG
