"""A small run of the drawn questions; and each kind of answer gets the verdict that it deserves."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from rdflib import URIRef

from gateway.answers.models import Answer, BfsResult, EntitiesResult, Entity, IntersectionResult, Node, SearchResult
from gateway.errors import EndpointFault, GatewayError, InputError
from gateway.messages import NAME_KEYS_UNKNOWN, subclasses_unread, undecided
from gateway.tools.readers import EDGES_NOT_COUNTED, NOT_ALL_COMPARED
from tests.columns import Column
from tests.drawn.judging import Truth, judge, judge_under_faults
from tests.drawn.questions import Question, profile_for
from tests.drawn.run import ask, drawn, truth_of
from tests.harness.report import Report, Verdict
from tests.oracle import OracleGraph

GRAPHS = ("films", "names", "random")
SEED = 7


@pytest.mark.slow
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


@pytest.mark.anyio
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


@pytest.mark.anyio
async def test_each_of_several_queries_is_judged_as_one_alone(embedded: Column) -> None:
    truth = truth_of("films", embedded.files["films"])
    seed = "https://example.org/films/person/Harrison_Ford"
    question = Question("films", "search_entities", (seed,), query="HARRISON FORD", more=("george lucas", " ", "star"))
    async with embedded.open("films", profile_for("films")) as gateway:
        answer = await gateway.call(question.tool, question.arguments)
        expand = gateway.prefixes.expand
    assert isinstance(answer, SearchResult)
    assert judge(question, truth, [answer], expand)[0] is Verdict.RIGHT
    assert answer.queries is not None
    first, second, third = answer.queries
    nobody = second.model_copy(update={"result": [], "found": None, "complete": True})
    doubtful = second.model_copy(update={"complete": False})
    stranger = second.model_copy(
        update={"result": [hit.model_copy(update={"id": ":Unheard"}) for hit in second.result]}
    )
    for queries, verdict in (
        ([first, nobody, third], Verdict.WRONG),
        ([first, third], Verdict.WRONG),
        ([second, first, third], Verdict.WRONG),
        ([first, doubtful, third], Verdict.WRONG),
        ([first, stranger, third], Verdict.UNTRUE),
    ):
        assert judge(question, truth, [answer.model_copy(update={"queries": queries})], expand)[0] is verdict


@pytest.mark.anyio
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


@pytest.mark.anyio
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
    few = replace(several, labels={"https://example.org/films/other": {"harrison_FORD"}})
    assert judge(question, few, [answer], str)[1] == "others of a name not told"


# Answers that are written here

X = "https://example.org/x/"
A, B, C, D, P, NOWHERE = (f"{X}{name}" for name in ("a", "b", "c", "d", "p", "nowhere"))
TRUTH = Truth(OracleGraph([(URIRef(s), URIRef(P), URIRef(o)) for s, o in ((A, B), (B, C), (B, D))]))
EDGES: Mapping[str, Mapping[str, Sequence[int | str]]] = {A: {P: [1, B]}, B: {P: [2, C, D], f"^{P}": [1, A]}}
AB, BC, BD = ((A, P, B), (B, P, C), (B, P, D))

AROUND = Question("x", "bfs_query", (A,), 2)
WITHOUT_HUBS = Question("x", "bfs_query", (A,), 2, max_degree=2)
COMMON = Question("x", "intersect_subgraphs", (A, C), 1)
ONE = Question("x", "describe_entity", (A,))
SEVERAL = Question("x", "describe_entities", (A, NOWHERE))
ABSENT = InputError("None of the seeds exists in this graph.")

Edges = tuple[tuple[str, str, str], ...]


@pytest.mark.parametrize(
    ("warning", "verdict"),
    [
        ("is not an ID, and 2 entities have this name. They are: x:a; x:b. It was left out.", Verdict.WRONG),
        (f"is not an ID, and 2 entities have this name. {EDGES_NOT_COUNTED} It was left out.", Verdict.RIGHT),
        (f"is not an ID, and no entity of this name was found. {NOT_ALL_COMPARED} It was left out.", Verdict.RIGHT),
        ("is not an ID, and no entity of this name was found. Names are slow. It was left out.", Verdict.RIGHT),
        ("is not an ID, and no entity has this name. It was left out.", Verdict.WRONG),
    ],
)
def test_a_name_that_stands_out_may_be_left_out_where_the_answer_says_what_could_not_be_read(
    warning: str, verdict: Verdict
) -> None:
    names = {A: {"Ann"}, B: {"Ann"}, C: {"Cy"}}
    several = replace(TRUTH, names=names, labels=names, others={B: {"Ann"}})
    assert several.standing_out("Ann") == A
    question = Question("x", "describe_entities", (A, NOWHERE), names=("Ann", ""))
    answer = EntitiesResult(result=[], complete=True, not_found=[NOWHERE], warnings=[f"ids[0]: 'Ann' {warning}"])
    assert judge(question, several, [answer])[0] is verdict


@pytest.mark.parametrize("more", ["1 more name like these", "1,020 more names like these"])
def test_of_names_that_are_only_counted_nothing_is_judged(more: str) -> None:
    several = replace(TRUTH, names={A: {"Ann"}})
    question = Question("x", "describe_entities", (A, NOWHERE), names=("Ann", ""))
    answer = EntitiesResult(result=[], complete=True, not_found=[NOWHERE], warnings=[f"ids: {more}."])
    assert judge(question, several, [answer])[0] is Verdict.MARKED


def subgraph(nodes: tuple[str, ...], edges: Edges, *causes: str, **further: Any) -> dict[str, Any]:
    """Write the fields of an answer, incomplete where it has causes."""
    return {
        "seeds": [A],
        "node_count": len(nodes),
        "edge_count": len(edges),
        "complete": not causes,
        "incomplete": [{"cause": cause, "count": 1, "ids": [B], "detail": ""} for cause in causes] or None,
        "nodes": [{"id": node, "entity_type": "untyped"} for node in nodes],
        "edges": [{"subject": s, "predicate": p, "object": o} for s, p, o in edges],
        "schema_summary": {"entity_types_found": [], "predicates_found": []},
        **further,
    }


def around(
    nodes: tuple[str, ...] = (A, B, C, D),
    edges: Edges = (AB, BC, BD),
    *causes: str,
    levels: tuple[int, ...] = (1, 1, 2),
    **further: Any,
) -> BfsResult:
    fields = subgraph(nodes, edges, *causes, max_hops=2, levels=list(levels), **further)
    return BfsResult.model_validate(fields)


def common(nodes: tuple[str, ...], edges: Edges, *causes: str, **further: Any) -> IntersectionResult:
    return IntersectionResult.model_validate(subgraph(nodes, edges, *causes, k=1, **further))


def several(
    found: tuple[str, ...],
    not_found: tuple[str, ...],
    failed: tuple[str, ...] = (),
    metadata: Mapping[str, str] | None = None,
) -> EntitiesResult:
    result = [
        {"id": iri, "iri": iri, "entity_type": "untyped", "metadata": dict(metadata or {}), "edges": EDGES.get(iri)}
        for iri in found
    ]
    told = {"not_found": list(not_found), "failed": list(failed) or None, "complete": not failed}
    return EntitiesResult.model_validate({"result": result, **told})


def one(iri: str, **further: Any) -> Entity:
    described = {"id": iri, "iri": iri, "entity_type": "untyped", "complete": True, "edges": EDGES[iri]}
    return Entity.model_validate({**described, **further})


def verdict(question: Question, answer: Answer | GatewayError, clean: Answer | None = None) -> Verdict:
    return judge_under_faults(question, TRUTH, answer, clean=clean)[0]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (AROUND, around()),
        (WITHOUT_HUBS, around((A, B), (AB,), "hub_not_expanded", levels=(1, 1))),
        (COMMON, common((B,), ())),
        (ONE, one(A)),
        (SEVERAL, several((A,), (NOWHERE,))),
        (Question("x", "bfs_query", (NOWHERE,), 2), ABSENT),
        (Question("x", "describe_entity", (NOWHERE,)), ABSENT),
    ],
    ids=["traversal", "hub rule", "intersection", "entity", "entities", "no seed exists", "no such entity"],
)
def test_what_equals_the_oracle_is_right(question: Question, answer: Answer | GatewayError) -> None:
    assert verdict(question, answer) is Verdict.RIGHT


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (AROUND, around((A, B, C), (AB, BC), levels=(1, 1, 1))),
        (AROUND, around((A, B, C, D), (AB, BC))),
        (AROUND, around((A, B, C, D, NOWHERE), levels=(1, 1, 3))),
        (AROUND, around(levels=(1, 2, 1))),
        (AROUND, around(missing_seeds=[C])),
        (AROUND, around(blank_node_edges=1)),
        (AROUND, around((A, B), (AB,), "hub_not_expanded", levels=(1, 1))),
        (WITHOUT_HUBS, around()),
        (COMMON, common((B, A), (AB,))),
        (COMMON, common((), (), missing_seeds=[C])),
        (ONE, one(B)),
        (SEVERAL, several((A, NOWHERE), ())),
        (SEVERAL, several((), (A, NOWHERE))),
        (AROUND, ABSENT),
        (ONE, ABSENT),
        (SEVERAL, ABSENT),
    ],
    ids=[
        "fewer nodes",
        "fewer edges",
        "more nodes",
        "other levels",
        "a seed that exists is missing",
        "other blank edges",
        "a hub without a rule",
        "no hub under a rule",
        "more in common",
        "a missing seed of two that exist",
        "another entity",
        "an entity from nowhere",
        "an absence that is none",
        "no seed exists",
        "no such entity",
        "none of the entities",
    ],
)
def test_what_differs_and_says_that_it_is_whole_is_wrong(question: Question, answer: Answer | GatewayError) -> None:
    assert verdict(question, answer) is Verdict.WRONG


def test_an_unknown_type_in_an_answer_that_says_it_is_whole_is_wrong() -> None:
    answer = around()
    answer.nodes[1].entity_type = "unknown"
    assert verdict(AROUND, answer) is Verdict.WRONG


@pytest.mark.parametrize(
    ("warnings", "deserved"),
    [
        ([], Verdict.WRONG),
        ([subclasses_unread("only_node_types", "x:T")], Verdict.MARKED),
        ([undecided("only_node_types", 2)], Verdict.MARKED),
    ],
)
def test_a_filter_that_was_not_decided_may_keep_too_much_where_that_is_said(
    warnings: Sequence[str], deserved: Verdict
) -> None:
    assert verdict(replace(AROUND, only_type=f"{X}T"), around(warnings=warnings)) is deserved


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (AROUND, around((A, B), (AB,), "endpoint_failed", levels=(1, 1))),
        (AROUND, around((A, B), (AB,), "hub_not_expanded", "deadline", levels=(1, 1))),
        (COMMON, common((), (), "server_truncated")),
        (SEVERAL, several((), (NOWHERE,), (A,))),
    ],
)
def test_what_lacks_something_and_says_so_is_marked(question: Question, answer: Answer) -> None:
    assert verdict(question, answer) is Verdict.MARKED


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (AROUND, around((A, NOWHERE), (), "endpoint_failed", levels=(1, 1))),
        (AROUND, around((A, B), ((B, P, A),), "endpoint_failed", levels=(1, 1))),
        (AROUND, around((A, B), (AB,), "endpoint_failed", levels=(1, 1), missing_seeds=[C])),
        (COMMON, common((A,), (), "endpoint_failed")),
        (SEVERAL, several((), (A,), (NOWHERE,))),
    ],
)
def test_what_tells_something_that_is_not_so_is_untrue_even_where_it_lacks_something(
    question: Question, answer: Answer
) -> None:
    assert verdict(question, answer) is Verdict.UNTRUE


def test_a_fault_is_an_honest_error() -> None:
    assert verdict(AROUND, EndpointFault("The endpoint failed.")) is Verdict.ERROR


@pytest.mark.parametrize(
    ("metadata", "deserved"), [({"name": "Ann"}, Verdict.RIGHT), ({"name": "Bob"}, Verdict.WRONG), ({}, Verdict.WRONG)]
)
def test_values_are_compared_with_those_of_an_answer_without_faults(
    metadata: Mapping[str, str], deserved: Verdict
) -> None:
    clean = several((A,), (NOWHERE,), metadata={"name": "Ann"})
    assert verdict(SEVERAL, several((A,), (NOWHERE,), metadata=metadata), clean) is deserved


@pytest.mark.parametrize(
    ("further", "deserved"),
    [
        ({"x:title": "Ann", "x:age": 7, "complete": False, "warnings": [NAME_KEYS_UNKNOWN]}, Verdict.MARKED),
        ({"x:age": 7, "complete": False, "warnings": [NAME_KEYS_UNKNOWN]}, Verdict.MARKED),
        ({"x:title": "Bob", "x:age": 7, "complete": False, "warnings": [NAME_KEYS_UNKNOWN]}, Verdict.UNTRUE),
        ({"x:title": "Ann", "x:age": 7, "complete": False}, Verdict.UNTRUE),
        ({"x:title": "Ann", "x:age": 7}, Verdict.WRONG),
    ],
)
def test_a_name_may_stand_under_another_key_only_where_that_is_said(further: dict[str, Any], deserved: Verdict) -> None:
    clean = one(A, entity_type="x:T", **{"name": "Ann", "x:age": 7})
    assert verdict(ONE, one(A, entity_type="x:T", **further), clean) is deserved


@pytest.mark.parametrize(
    ("further", "deserved"),
    [
        ({"labels": {"x:T": "a type"}}, Verdict.RIGHT),
        ({"degraded": {"labels_failed": 1}}, Verdict.RIGHT),
        ({}, Verdict.WRONG),
    ],
    ids=["as without faults", "reported as failed", "missing"],
)
def test_a_label_may_be_missing_only_where_that_is_reported(further: dict[str, Any], deserved: Verdict) -> None:
    clean = one(A, entity_type="x:T", labels={"x:T": "a type"})
    assert verdict(ONE, one(A, entity_type="x:T", **further), clean) is deserved


@pytest.mark.parametrize(
    ("further", "deserved"),
    [
        ({"edges": {"x:p": [2, "x:b"], "^x:p": [1]}}, Verdict.RIGHT),
        ({"edges": {"x:p parent": [2, "x:c"], "^x:p parent": [1]}}, Verdict.RIGHT),
        ({"edges": {"x:p": [2, "x:b"]}, "edge_rows_total": 2}, Verdict.RIGHT),
        ({"edges": {"x:p": ["at least 1"]}, "edges_failed": "deadline", "complete": False}, Verdict.MARKED),
        ({"edges_failed": "deadline", "complete": False}, Verdict.MARKED),
        ({"edges": {}}, Verdict.WRONG),
        ({}, Verdict.WRONG),
        ({"edges": {"x:p": [2, "x:b"]}}, Verdict.WRONG),
        ({"edges": {"x:p": [1, "x:b"], "^x:p": [1]}}, Verdict.WRONG),
        ({"edges": {"x:p": ["at least 2"], "^x:p": ["at least 1"]}}, Verdict.WRONG),
        ({"edges": {"x:p": ["at least 3"]}, "edges_failed": "deadline", "complete": False}, Verdict.UNTRUE),
    ],
)
def test_what_could_be_followed_is_counted_or_reported_as_failed(further: dict[str, Any], deserved: Verdict) -> None:
    answer = one(B, edges={key.replace("x:p", P): row for key, row in further.pop("edges", {}).items()}, **further)
    assert verdict(Question("x", "describe_entity", (B,)), answer) is deserved
