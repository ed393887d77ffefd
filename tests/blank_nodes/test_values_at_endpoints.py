"""Conditions, columns, orders, groups and walks over blank nodes and lists of endpoints give what those of files do."""

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Final, Literal, get_args

import pytest

from gateway.settings.endpoint import EngineName
from gateway.tools.gateway import Gateway
from tests.blank_nodes.served_graphs import VALUES
from tests.blank_nodes.small_endpoint import answers, in_file, profile_for, served
from tests.columns import Column
from tests.examples import some
from tests.servers.engines import ColumnName

pytestmark = pytest.mark.anyio

KeyedEngine = Literal["fuseki", "oxigraph", "virtuoso", "rdf4j"]

WITHOUT_LISTS: Final = """
    x:a a x:Thing ; rdfs:label 'a' ; x:tags 'red', 'blue' ; x:near x:b, x:c ;
        x:dose [ rdfs:label 'dose a' ; x:value 5 ; x:unit x:mg ; x:part [ rdfs:label 'part' ; x:value 2 ] ] .
    x:b a x:Thing ; rdfs:label 'b' ; x:tags 'green' ; x:near x:c ;
        x:dose [ rdfs:label 'dose b' ; x:value 7 ; x:unit x:g ] .
    x:c a x:Thing ; rdfs:label 'c' .
    x:mg rdfs:label 'mg' .
    x:g rdfs:label 'g' .
    [] a x:Thing ; rdfs:label 'blank thing' ; x:tags 'red', 'black' ; x:near x:a ; x:count 3 ;
        x:dose [ rdfs:label 'dose of blank' ; x:value 9 ] .
    [] a x:Thing ; rdfs:label 'other' ; x:near x:a, [ rdfs:label 'near' ; x:value 11 ] ; x:count 4 .
"""

_THINGS: Final = {"node_types": ["x:Thing"], "limit": 20}
_DOSES: Final = {"node_types": ["(x:dose)"], "limit": 20}
_NEAR: Final = {"node_types": ["(x:near)"], "limit": 20}


QUESTIONS: Final[list[tuple[str, dict[str, Any]]]] = [
    *(
        ("search_entities", {**_THINGS, "where": [condition]})
        for condition in (
            "x:tags = red",
            "x:dose/x:value > 4",
            "x:near/x:tags = green",
            "x:near = x:a",
            "x:near/x:value > 10",
            "^x:near/rdfs:label = a",
            "x:tags exists",
            "x:tags missing",
            "x:dose/x:part/x:value = 2",
        )
    ),
    *(
        ("search_entities", {**_DOSES, "where": [condition]})
        for condition in (
            "x:value > 5",
            "x:unit = x:mg",
            "^x:dose/rdfs:label = b",
            "x:part/x:value = 2",
            "any contains dose",
            "type = (x:dose)",
        )
    ),
    ("search_entities", {**_NEAR, "where": ["x:value > 10"]}),
    ("search_entities", {**_THINGS, "values": ["rdfs:label", "x:tags", "x:dose/x:value", "x:near", "^x:near"]}),
    ("search_entities", {**_DOSES, "values": ["rdfs:label", "x:value", "x:unit", "^x:dose", "type"]}),
    ("search_entities", {**_THINGS, "sort_by": "x:dose/x:value"}),
    ("search_entities", {**_THINGS, "sort_by": "-x:count"}),
    ("search_entities", {**_THINGS, "sort_by": "x:near/x:dose/x:value"}),
    ("search_entities", {**_DOSES, "sort_by": "x:value"}),
    *(("search_entities", {**_THINGS, "group_by": walk}) for walk in ("x:tags", "x:near/x:tags", "type")),
    ("search_entities", {**_THINGS, "group_by": "x:unit", "compute": ["sum x:count"]}),
    ("search_entities", {**_DOSES, "group_by": "x:unit"}),
    ("search_entities", {**_DOSES, "group_by": "x:unit", "compute": ["sum x:value"]}),
    *(
        ("bfs_query", {"seeds": [seed], "max_hops": 1, "only_predicates": [walk]})
        for seed in ("x:a", "x:b", "x:c")
        for walk in (
            "x:near/x:near",
            "^x:near/x:dose",
            "x:dose/x:unit",
            "x:dose/x:part",
            "^x:near/^x:near",
            "x:near/x:dose",
            "^x:unit/^x:dose",
        )
    ),
    ("intersect_subgraphs", {"seeds": ["x:a", "x:b"], "k": 1, "only_predicates": ["x:near/x:near"]}),
]

_ID: Final = re.compile(r'_:[^\s",\]}]+')


def without_ids(answer: dict[str, Any]) -> Any:
    """Return an answer without the IDs of blank nodes, which are others at an endpoint, and without their order."""
    # How a condition reads depends on what the schema says of its predicate.
    told = {key: value for key, value in answer.items() if key != "where"}
    without: dict[str, Any] = json.loads(_ID.sub("_:", json.dumps(told)))
    return {key: _in_any_order(value) if isinstance(value, list) else value for key, value in without.items()}


def _in_any_order(rows: list[Any]) -> list[Any]:
    """Return rows with those of blank nodes, which stand by their IDs, in one order behind the others."""
    blank = [row for row in rows if "_:" in json.dumps(row)]
    return [*(row for row in rows if row not in blank), *sorted(blank, key=json.dumps)]


def without_cells(answer: dict[str, Any]) -> dict[str, Any]:
    """Return an answer without the cells of its rows."""
    others = {key: value for key, value in answer.items() if key != "values_complete"}
    return others | {"rows": [row[:1] for row in answer["rows"]]}


def assert_are(found: list[dict[str, Any]], expected: list[dict[str, Any]], *, all_complete: bool) -> None:
    for question, one, other in zip(QUESTIONS, found, expected, strict=True):
        assert other["complete"], question
        if not all_complete and not one["complete"]:
            continue
        if not all_complete and one.get("values_complete") is False:
            # Cells that could not be read are told; which nodes have a row is not affected.
            one, other = without_cells(one), without_cells(other)  # noqa: PLW2901 - the same answers
        assert without_ids(one) == without_ids(other), question


@pytest.mark.slow
async def test_values_are_those_of_a_file_or_the_answer_is_not_complete(tmp_path: Path) -> None:
    expected = await in_file(tmp_path, VALUES, QUESTIONS)
    engines: Sequence[EngineName] = ("oxigraph", "blazegraph")
    for engine in engines:
        async with served(VALUES, engine=engine) as (gateway, _):
            await gateway.wait_until_ready()
            found = await answers(gateway, QUESTIONS)
        assert_are(found, expected, all_complete=engine == "oxigraph")


@pytest.mark.slow
async def test_values_of_a_graph_without_lists_are_those_of_a_file(tmp_path: Path) -> None:
    expected = await in_file(tmp_path, WITHOUT_LISTS, QUESTIONS)
    async with served(WITHOUT_LISTS) as (gateway, _):
        await gateway.wait_until_ready()
        found = await answers(gateway, QUESTIONS)
    assert_are(found, expected, all_complete=True)


async def test_a_condition_that_names_a_blank_node_is_compared_with_it() -> None:
    async with served(VALUES) as (gateway, _):
        await gateway.wait_until_ready()
        doses = await gateway.search_entities("dose a")
        answer = await gateway.search_entities(node_types=["x:Thing"], where=[f"x:dose = {doses.result[0].id}"])
    assert answer.complete
    assert [row[0] for row in answer.rows or ()] == ["x:a a"]


async def test_a_walk_is_not_complete_where_a_list_on_it_could_not_be_read() -> None:
    async with served(VALUES, refuses=lambda query: "BNODE(?label)" in query and "#rest" in query) as (gateway, _):
        await gateway.wait_until_ready()
        answer = await gateway.bfs_query(["x:a"], 1, only_predicates=["x:near/x:near"])
    assert not answer.complete


@pytest.mark.server
@pytest.mark.parametrize("engine", get_args(KeyedEngine))
def test_every_engine_with_keys_gives_the_values_of_a_file(
    engine: KeyedEngine, small_graphs: Callable[[ColumnName], Column], tmp_path: Path
) -> None:
    expected = asyncio.run(in_file(tmp_path, VALUES, QUESTIONS))
    prefixes = {"x": "http://e.org/", "rdfs": "http://www.w3.org/2000/01/rdf-schema#"}
    profile = profile_for(engine).model_copy(update={"prefixes": prefixes})

    async def asked(gateway: Gateway) -> list[dict[str, Any]]:
        async with gateway:
            await gateway.wait_until_ready()
            return await answers(gateway, QUESTIONS)

    found = asyncio.run(asked(small_graphs(engine).open("blank-values", profile)))
    assert_are(found, expected, all_complete=True)


_SURE: Final = "[ a rdf:Statement ; rdf:subject {} ; rdf:predicate x:near ; rdf:object {} ; x:sure 0.5 ; x:by x:a ] ."

STATED: Final = (
    "x:a x:near _:n . _:n rdfs:label 'n' ; x:near x:b ; x:near _:m . _:m x:near _:m ; rdfs:label 'm' .",
    "x:statement a rdf:Statement ; rdf:subject _:n ; rdf:predicate x:near ; rdf:object _:m ; x:sure 1 ; x:by x:b .",
    *(_SURE.format(*ends) for ends in (("x:a", "_:n"), ("_:n", "x:b"), ("_:m", "_:m"), ("_:n", "x:c"))),
)


async def test_what_is_stated_about_edges_of_blank_nodes_is_as_in_a_file(tmp_path: Path) -> None:
    turtle = " ".join(STATED)
    questions = [("bfs_query", {"seeds": [seed], "max_hops": 2}) for seed in ("x:a", "x:b")]
    expected = await in_file(tmp_path, turtle, questions)
    async with served(turtle) as (gateway, _):
        found = await answers(gateway, questions)
    assert list(map(without_ids, found)) == list(map(without_ids, expected))
    assert json.dumps(expected[0]).count("x:sure") == 3
    assert found[0]["complete"]


async def test_what_singleton_properties_state_about_edges_of_blank_nodes_is_not_read_and_told() -> None:
    turtle = " ".join(STATED) + " x:a x:near1 x:b . x:near1 rdf:singletonPropertyOf x:near ."
    async with served(turtle) as (gateway, _):
        answer = await gateway.bfs_query(["x:a"], 1)
    assert answer.degraded == {"metadata_failed": 1}


VALUES_STATED: Final = (
    "x:src [ x:name 'paper' ]",
    "x:by _:k",
    "x:src ( 'l1' 'l2' x:b )",
    "x:src ( x:b _:k )",
    "x:src ()",
    "x:src [ a rdf:Seq ; rdf:_1 'q' ; rdf:_2 x:b ]",
)
OBAN: Final = "http://purl.org/oban/association_has_"
BIOLINK: Final = "https://w3id.org/biolink/vocab/"
FORMS: Final = (
    "[] rdf:subject x:a ; rdf:predicate x:p ; rdf:object {} ; x:conf 0.5 ; {} .",
    "x:statement rdf:subject x:a ; rdf:predicate x:p ; rdf:object {} ; x:conf 0.5 ; {} .",
    f"[] <{OBAN}subject> x:a ; <{OBAN}predicate> x:p ; <{OBAN}object> {{}} ; x:conf 0.5 ; {{}} .",
    f"[] <{BIOLINK}subject> x:a ; <{BIOLINK}predicate> x:p ; <{BIOLINK}object> {{}} ; x:conf 0.5 ; {{}} .",
)


@pytest.mark.parametrize(
    ("form", "said", "end"), some([*product(FORMS, VALUES_STATED, ("_:k", "x:b"))], "what is stated about edges")
)
async def test_blank_nodes_and_lists_that_are_stated_about_edges_are_as_in_a_file(
    form: str, said: str, end: str, tmp_path: Path
) -> None:
    turtle = "x:a x:p _:k, x:b . _:k rdfs:label 'k' . x:b rdfs:label 'b' . " + form.format(end, said)
    questions = [("bfs_query", {"seeds": ["x:a"], "max_hops": 1, "only_predicates": ["x:p"]})]
    (expected,) = await in_file(tmp_path, turtle, questions)
    async with served(turtle) as (gateway, _):
        await gateway.wait_until_ready()
        (found,) = await answers(gateway, questions)
    assert found["complete"]
    assert "x:conf" in json.dumps(found)
    assert _in_any_order(without_ids(found)["edges"]) == _in_any_order(without_ids(expected)["edges"])


async def test_blank_nodes_that_annotations_state_about_edges_make_the_answer_incomplete() -> None:
    turtle = (
        "x:a x:p x:b . x:b rdfs:label 'b' . x:z x:q [ rdfs:label 'k' ] . "
        "x:r rdf:reifies <<( x:a x:p x:b )>> ; x:conf 0.5 ; x:src [ x:name 'paper' ] ."
    )
    async with served(turtle) as (gateway, _):
        await gateway.wait_until_ready()
        answer = await gateway.bfs_query(["x:a"], 1)
    assert answer.degraded == {"metadata_failed": 1}


_OUTSIDE_OF_THE_SAMPLE: Final = (
    "x:a a x:T ; x:by x:b ; x:title x:b . x:b rdfs:label 'Bob'@pt . x:c a x:T ; x:has 'text' . "
    "x:d a x:T ; x:has x:b . "
    + "".join(f"x:n{number} x:p x:m{number} ; x:title 'N {number}' . " for number in range(2_000))
)


@pytest.mark.parametrize("is_asked", [True, False])
@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("x:by = Bob", ["x:a"]),
        ("x:by = b", ["x:a"]),
        ("x:by != Bob", []),
        ("x:has = Bob", ["x:d"]),
        ("x:has = text", ["x:c"]),
        ("x:title = Bob", ["x:a"]),
    ],
)
async def test_a_name_is_looked_up_where_a_predicate_outside_of_a_sampled_schema_leads_to_nodes(
    where: str, found: list[str], *, is_asked: bool
) -> None:
    def refuses(query: str) -> bool:
        return not is_asked and "FILTER(isIRI(?o)||isBlank(?o))}LIMIT1}" in query

    async with served(_OUTSIDE_OF_THE_SAMPLE, sampled=True, refuses=refuses) as (gateway, _):
        schema = await gateway.describe_schema()
        answer = await gateway.search_entities(node_types=["x:T"], where=[where])
    assert {"x:by", "x:has", "x:title"}.isdisjoint(schema.predicates or ())
    assert ([row[0] for row in answer.rows or ()], answer.complete) == (found, True)


@pytest.mark.parametrize(
    ("where", "found"),
    [("x:of = Kay", []), ("x:of = Kai", ["x:f"]), ("x:of = 'Text'", ["x:g"]), ("x:of = x:h", ["x:f"])],
)
async def test_a_name_that_a_blank_node_outside_of_a_sampled_schema_may_have_makes_an_answer_incomplete(
    where: str, found: list[str]
) -> None:
    beside = (
        "x:e a x:T ; x:of [ rdfs:label 'Kay'@pt ], [ rdfs:label 'Kai' ] . x:f a x:T ; x:of x:h . "
        "x:g a x:T ; x:of 'Text' . x:h rdfs:label 'Kai' . "
    )
    async with served(beside + _OUTSIDE_OF_THE_SAMPLE, sampled=True) as (gateway, _):
        await gateway.describe_schema()
        answer = await gateway.search_entities(node_types=["x:T"], where=[where])
    assert [row[0].split(" ")[0] for row in answer.rows or ()] == found
    assert answer.complete is ("x:h" in where)


async def test_the_names_in_conditions_of_a_call_ask_once_where_a_predicate_leads() -> None:
    sent: list[str] = []

    def seen(query: str) -> bool:
        sent.append(query)
        return False

    async with served(_OUTSIDE_OF_THE_SAMPLE, sampled=True, refuses=seen) as (gateway, _):
        await gateway.describe_schema()
        await gateway.search_entities(node_types=["x:T"], where=["x:by in Bob, Kay, Zoe, Lee", "x:by != Sue"])
    assert sum("FILTER(isIRI(?o)||isBlank(?o))}LIMIT1}" in query for query in sent) == 1


async def test_what_a_local_name_means_does_not_depend_on_what_was_shown_before() -> None:
    food = "http://ontology.example.org/vocabulary/food/"
    graph = f"x:a a x:T; x:has <{food}Cheese>, 'text' . <{food}Cheese> rdfs:label 'Käse'@de ."

    async with served(graph) as (gateway, _):
        before = await gateway.search_entities(node_types=["x:T"], where=["x:has = Cheese"], show="id")
        await gateway.bfs_query(["x:a"], 1)
        after = await gateway.search_entities(node_types=["x:T"], where=["x:has = Cheese"], show="id")
    assert (before.rows, before.complete) == (after.rows, after.complete)


async def test_a_name_in_two_conditions_is_looked_up_as_one() -> None:
    names = [f"name {number}" for number in range(11)]
    graph = "x:a a x:T ; x:has x:t0, 'u' ; x:got x:t1, 'v' . " + " ".join(
        f"x:t{place} a x:N ; rdfs:label '{name}' ." for place, name in enumerate(names)
    )
    async with served(graph) as (gateway, _):
        where = [f"{predicate} in {', '.join(names)}" for predicate in ("x:has", "x:got")]
        assert (await gateway.search_entities(node_types=["x:T"], where=where)).found == 1


@pytest.mark.parametrize("engine", ["oxigraph", "unknown", "blazegraph", "graphdb"])
@pytest.mark.parametrize(
    ("turtle", "count"),
    [
        ("x:a x:p [ x:v 1 ; x:q x:b ] {| x:y 9 |} .", 2),
        ("x:a x:p [ x:v 1 ; x:q x:b {| x:y 9 |} ] .", 2),
        ("x:a x:p _:m . _:m x:v 1 . x:r rdf:reifies <<( x:a x:p _:m )>> ; x:y 9 .", 1),
        ("x:a x:p _:m . _:m x:v 1 . [] rdf:reifies <<( x:a x:p _:m )>> ; x:y 9 .", 1),
        ("x:a x:p ( x:b x:c ) {| x:y 9 |} .", 2),
        ("x:a x:p _:s {| x:y 9 |} . _:s a rdf:Seq ; rdf:_1 x:b ; rdf:_2 x:c .", 2),
    ],
    ids=["to a node", "from a node", "by a node with an IRI", "by a blank node", "to a list", "to a container"],
)
async def test_an_answer_says_of_which_edges_annotations_are_not_read(
    turtle: str, count: int, engine: EngineName
) -> None:
    async with served(turtle, engine=engine, renames=engine != "oxigraph") as (gateway, _):
        await gateway.wait_until_ready()
        answer = await gateway.bfs_query(["x:a"], 2)
    assert (answer.edge_count, answer.degraded) == (count, {"metadata_failed": count})


_CLASSES: Final = "@prefix owl: <http://www.w3.org/2002/07/owl#> . x:b a owl:Class . x:c a owl:Class . "


@pytest.mark.parametrize("engine", ["oxigraph", "unknown", "blazegraph", "graphdb"])
@pytest.mark.parametrize(
    ("expression", "count"),
    [
        ("x:a rdfs:subClassOf [ a owl:Restriction ; owl:onProperty x:p ; owl:someValuesFrom x:b ]", 1),
        ("x:a owl:equivalentClass [ owl:intersectionOf ( x:b x:c ) ]", 2),
        ("x:a rdfs:subClassOf [ owl:intersectionOf ( x:b x:c ) ]", 2),
        ("x:a owl:equivalentClass [ owl:unionOf ( x:b x:c ) ]", 2),
        ("x:a rdfs:domain [ owl:unionOf ( x:b x:c ) ]", 2),
    ],
    ids=["restriction", "intersection", "superclasses", "union", "domain"],
)
async def test_an_answer_says_of_which_edges_of_expressions_annotations_are_not_read(
    expression: str, count: int, engine: EngineName
) -> None:
    elsewhere = f"{expression} . x:c x:p x:b {{| x:y 9 |}} ."
    for annotated, unread in ((f"{expression} {{| x:y 9 |}} .", count), (elsewhere, 0)):
        async with served(_CLASSES + annotated, engine=engine, renames=engine != "oxigraph") as (gateway, _):
            await gateway.wait_until_ready()
            answer = await gateway.bfs_query(["x:a"], 1)
        failed = (answer.degraded or {}).get("metadata_failed", 0)
        assert (answer.edge_count, failed) == (count, unread)
