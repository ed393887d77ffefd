"""Lists and containers of endpoints read as those of files do, whether their heads are blank or have an IRI."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from gateway.errors import QueryRefused
from gateway.settings.endpoint import EngineName
from tests.blank_nodes.small_endpoint import answers, in_file, served
from tests.examples import some

pytestmark = pytest.mark.anyio

GRAPHS: Final = {
    "container": "x:bag a rdf:Bag ; rdf:_1 x:a ; rdf:_2 'two' ; rdf:_10 x:b ; rdf:_3 x:a . x:o x:p x:bag .",
    "late container": "x:o x:p [ a rdf:Bag ; rdf:_12 x:a ; rdf:_13 x:b ] .",
    "list": "x:l rdf:first x:a ; rdf:rest ( x:b 'c' x:a ) . x:o x:p x:l .",
    "list of one": "x:l rdf:first x:a ; rdf:rest () . x:o x:p x:l .",
    "list of one literal": "x:l a rdf:List ; rdf:first 'a' ; rdf:rest () ; x:says 'more' . x:o x:p x:l .",
    "blank container": "x:o x:p [ a rdf:Seq ; rdf:_1 x:a ; rdf:_2 x:b ; rdf:_3 1 ] .",
    "shared": "x:o x:p _:l . x:q x:p _:l . _:l rdf:first x:a ; rdf:rest ( x:b ) .",
    "empty": "x:o x:p () ; x:q x:a .",
    "empty in a container": "x:bag rdf:_1 () ; rdf:_2 x:a .",
    "list in a container": "x:bag rdf:_1 ( x:a x:b ) ; rdf:_2 ( 1 2 ) . x:o x:p x:bag .",
    "container in itself": "x:bag rdf:_1 x:bag ; rdf:_2 x:a . x:o x:p x:bag .",
    "containers in each other": "x:bag rdf:_1 x:other . x:other rdf:_1 x:bag ; rdf:_2 x:a . x:o x:p x:bag .",
    "container in a container": "x:bag rdf:_1 x:other . x:other rdf:_1 x:b ; rdf:_2 x:a . x:o x:p x:bag .",
    "without an end": "x:l rdf:first x:a ; rdf:rest x:b . x:o x:p x:l .",
    "no number": "x:bag rdf:_1 x:a ; rdf:_one x:b .",
    "list and container": "x:l rdf:first x:a ; rdf:rest () ; rdf:_1 x:b . x:o x:p x:l .",
}
"""Of these no blank node is a node, so that answers are the same to the letter."""

ENGINES: Final[Sequence[EngineName]] = ("oxigraph", "blazegraph")
"""With keys of blank nodes, and without."""

SEEDS: Final = ("x:o", "x:a", "x:b", "x:bag", "x:l")

QUESTIONS: Final[list[tuple[str, dict[str, Any]]]] = [
    *(
        ("bfs_query", {"seeds": [seed], "max_hops": 2, **further})
        for seed in SEEDS
        for further in (
            {},
            {"only_predicates": ["rdfs:member"]},
            {"only_predicates": ["x:p"]},
            {"only_predicates": ["x:p", "rdfs:member"], "direction": "out"},
            {"only_predicates": ["^rdfs:member"]},
            {"only_predicates": ["rdf:_1", "rdf:first"]},
        )
    ),
    *(("describe_entity", {"id": seed}) for seed in SEEDS),
    ("intersect_subgraphs", {"seeds": ["x:o", "x:a"], "k": 2}),
    ("intersect_subgraphs", {"seeds": ["x:bag", "x:a"], "k": 1}),
]


@pytest.mark.parametrize("name", GRAPHS)
async def test_an_answer_is_that_about_a_file_or_is_not_complete(name: str, tmp_path: Path) -> None:
    questions = some(QUESTIONS, name)
    expected = await in_file(tmp_path, GRAPHS[name], questions)
    for engine in ENGINES:
        async with served(GRAPHS[name], engine=engine) as (gateway, _):
            found = await answers(gateway, questions)
        for question, one, other in zip(questions, found, expected, strict=True):
            if engine == "oxigraph" or (one.get("complete", True) and "blank_node_edges" not in one):
                assert one == other, (engine, question)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("graph", "count"),
    [
        ("x:o a x:T ; x:p () ; x:q x:a .", 1),
        ("x:o a x:T ; x:p () , x:a ; x:q () .", 1),
        ("x:o a x:T ; rdf:first x:a ; rdf:rest () .", 1),
        ("x:o a x:T ; rdf:_1 x:a ; rdf:_2 x:b ; rdf:_3 x:a .", 2),
        ("x:o a x:T . x:l rdf:first x:o ; rdf:rest () . x:r x:p x:l .", 1),
    ],
)
async def test_a_hit_has_as_many_edges_as_its_node(engine: EngineName, graph: str, count: int) -> None:
    async with served(f"{graph} x:other a x:T .", engine=engine) as (gateway, _):
        hits = (await gateway.search_entities(node_types=["x:T"])).result
        answer = await gateway.bfs_query(["x:o"], 1, max_degree=count)
    assert {hit.id: hit.edges for hit in hits} == {"x:o": count, "x:other": 0}
    assert (answer.edge_count, answer.complete) == (count, True)


async def test_a_blank_node_with_an_empty_list_has_no_edge_to_that() -> None:
    nodes = "x:a x:not [ x:none () ; x:q x:b ] , [ x:q x:b ]"
    async with served(f"{nodes} .") as (gateway, _):
        hits = (await gateway.search_entities(node_types=["(x:not)"])).result
    assert [hit.edges for hit in hits] == [2, 2]


async def test_a_schema_with_lists_says_that_it_does_not_count_their_members() -> None:
    async with served(GRAPHS["container"]) as (gateway, _):
        schema = await gateway.describe_schema(all=True)
    assert not schema.comprehensive
    assert not [name for name in schema.predicates if name.startswith("rdf:_")]


async def test_a_description_is_not_complete_where_it_could_not_be_read_which_lists_a_node_has() -> None:
    refused: list[str] = []

    def are_values(query: str) -> bool:
        """Tell whether it is the query of the lists that nodes have as values."""
        is_it = "FILTER(isBlank(?v)||?v=<http://www.w3.org/1999/02/22-rdf-syntax-ns#nil>)" in query
        refused.extend([query] if is_it else [])
        return is_it

    async with served("x:week x:days ( x:mon x:tue 'rest' ) .", refuses=are_values) as (gateway, _):
        answer = await gateway.bfs_query(["x:week"], 1)
        with pytest.raises(QueryRefused):
            await gateway.describe_entity("x:week")
    assert refused
    assert answer.node_count == 3
    assert answer.degraded == {"metadata_failed": 5}
