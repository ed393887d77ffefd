"""Walks over blank nodes and lists of endpoints lead where those of files do, or the answer says that it is not all."""

from pathlib import Path
from typing import Any, Final

import pytest

from tests.blank_nodes.small_endpoint import answers, in_file, served
from tests.blank_nodes.test_values_at_endpoints import without_ids

pytestmark = pytest.mark.anyio

Question = tuple[str, dict[str, Any]]


def things(**further: Any) -> Question:
    return "search_entities", {"node_types": ["x:Thing"], "limit": 20, **further}


def where(*conditions: str) -> list[Question]:
    return [things(where=[condition]) for condition in conditions]


_LATE: Final = "x:a a x:Thing ; x:near {} . x:b a x:Thing ; x:tags 'green' . x:c a x:Thing ; x:near x:b ."
_OF_LATE: Final = [
    *where("x:near/x:tags = green", "^x:near exists", "x:near exists"),
    things(values=["x:near/x:tags", "^x:near"]),
    things(sort_by="x:near/x:tags"),
    things(group_by="x:near/x:tags"),
    ("bfs_query", {"seeds": ["x:a"], "max_hops": 1, "only_predicates": ["x:near/x:tags", "x:near/^x:near"]}),
]

GRAPHS: Final[dict[str, tuple[str, list[Question]]]] = {
    "a container that begins late": (_LATE.format("[ a rdf:Seq ; rdf:_11 x:b ]"), _OF_LATE),
    "a container that begins late and has no type": (_LATE.format("[ rdf:_11 x:b ]"), _OF_LATE),
    "a container that begins late alone": (
        "x:a a x:Thing ; x:near [ a rdf:Seq ; rdf:_11 x:b ] . x:b a x:Thing ; x:tags 'green' .",
        _OF_LATE,
    ),
    "types in parentheses": (
        "x:a a x:Thing ; x:dose [ x:value 1 ] . x:b a x:Thing ; x:dose x:z . x:z a x:Dose ; x:value 3 .",
        [
            *where(
                "x:dose/type = (x:dose)",
                "x:dose/type missing",
                "x:dose/type exists",
                "x:dose/type != x:Dose",
                "x:dose/type = x:Dose",
                "x:dose/rdf:type exists",
            ),
            things(group_by="x:dose/type"),
            things(values=["x:dose/type"]),
            things(sort_by="x:dose/type"),
        ],
    ),
    "values of blank nodes alone": (
        "x:a a x:Thing ; rdfs:label 'a' ; x:dose [ x:value 1 ] .",
        [
            *where("x:dose/x:value = 1", "x:dose/x:value = 2"),
            things(values=["x:dose/x:value"]),
            things(sort_by="x:dose/x:value"),
            ("search_entities", {"node_types": ["(x:dose)"], "where": ["x:value = 1"]}),
            ("search_entities", {"node_types": ["x:Thing"], "where": ["x:dose/x:valu = 1"]}),
        ],
    ),
    "lists in cells": (
        (
            "x:a a x:Thing ; rdfs:label 'a' ; x:l ( 'red' 'blue' ) ; x:m ( x:z x:b ) ; x:n ( x:z 'y' x:b 'a' ) . "
            "x:b a x:Thing ; x:l [ a rdf:Seq ; rdf:_1 'red' ; rdf:_2 'blue' ; rdf:_3 'green' ] ; x:m ( x:a x:z x:b ) . "
            "x:c a x:Thing ; x:m ( ( x:z ) ( x:b x:a ) ) ; x:l 'green', 'black' ."
        ),
        [
            things(values=["x:l"]),
            things(values=["x:m", "x:n"]),
            things(values=["x:m/x:l"]),
            things(values=["x:m/x:m"]),
            things(sort_by="x:l", values=["x:l"]),
        ],
    ),
}


@pytest.mark.parametrize("name", GRAPHS)
async def test_a_walk_leads_where_that_of_a_file_does(name: str, tmp_path: Path) -> None:
    turtle, questions = GRAPHS[name]
    expected = await in_file(tmp_path, turtle, questions)
    async with served(turtle) as (gateway, _):
        await gateway.wait_until_ready()
        found = await answers(gateway, questions)
    for question, one, other in zip(questions, found, expected, strict=True):
        assert without_ids(one) == without_ids(other), question


@pytest.mark.parametrize("lists", ["x:o x:other ( x:a ) .", ""], ids=["one more list", "the first list"])
@pytest.mark.parametrize("cache_megabytes", [0, 64])
async def test_a_list_that_is_new_is_followed_once_answers_are_forgotten(cache_megabytes: int, lists: str) -> None:
    turtle = f"x:a x:near x:b . x:b x:q x:e . {lists}"
    async with served(turtle, cache_megabytes=cache_megabytes) as (gateway, store):
        await gateway.wait_until_ready()
        before = await gateway.bfs_query(["x:a"], 1, only_predicates=["x:near/x:q"])
        store.update("PREFIX x: <http://e.org/> INSERT DATA { x:d x:near ( x:b ) }")
        if cache_megabytes:
            gateway.forget()
        after = await gateway.bfs_query(["x:d"], 1, only_predicates=["x:near/x:q"])
    assert (before.edge_count, after.edge_count) == (1, 1)


@pytest.mark.slow
async def test_a_walk_by_steps_with_very_many_ends_is_not_complete() -> None:
    nodes = "".join(f"x:n{number} a x:Thing ; x:to x:hub ; x:v {number} . " for number in range(800))
    turtle = f"{nodes} x:q x:to ( x:n1 ) ."
    question = things(where=["x:to/^x:to/x:v = 7"], limit=1)
    async with served(turtle) as (gateway, _):
        await gateway.wait_until_ready()
        (found,) = await answers(gateway, [question])
    assert not found["complete"]
    assert 0 < found["found"] < 800
