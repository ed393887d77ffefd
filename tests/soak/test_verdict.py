"""A soak is worth as much as its verdicts: each kind of answer gets the one that it deserves."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from rdflib import URIRef

from gateway.answers.models import Answer, BfsResult, EntitiesResult, Entity, IntersectionResult
from gateway.errors import EndpointFault, GatewayError, InputError
from gateway.messages import NAME_KEYS_UNKNOWN
from tests.drawn.judging import Truth
from tests.drawn.questions import Question
from tests.harness.report import Verdict
from tests.oracle import OracleGraph
from tests.soak.verdict import judge

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
    return judge(question, TRUTH, answer, clean=clean)[0]


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
