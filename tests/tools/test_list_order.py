"""Wherever an answer shows members of a list, they stand in its order; and what is not shown of blank nodes is told."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gateway.api import open_gateway
from gateway.expand_compact import expand

pytestmark = pytest.mark.anyio

HEADER = """
@prefix x: <https://example.org/x/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
NUMBERS = [4, 1, 6, 2, 5, 3]
BLANKS = " ".join(f"[ x:v {number} ]" for number in NUMBERS)
"""Members by whose IDs nobody would get this order."""
LETTERS = ["x:e", "x:b", "x:f", "x:a", "x:d", "x:c"]
NAMED = " ".join(LETTERS)

Json = dict[str, Any]


async def ask(turtle: str, tmp_path: Path, tool: str, arguments: Json, shape: Any = "compact") -> Json:
    """Return the answer about a file."""
    path = tmp_path / "graph.ttl"
    path.write_text(HEADER + turtle, encoding="utf-8")
    async with open_gateway(path) as gateway:
        answer: Json = (await gateway.call(tool, arguments, shape=shape)).as_json()
    return answer


def numbers(values: Sequence[Any]) -> list[Any]:
    """Return what blank nodes among values say, and the other values as they are."""
    return [value.get("x:v") if isinstance(value, dict) else value for value in values]


@pytest.mark.parametrize("shape", ["compact", "reference"])
@pytest.mark.parametrize(
    "container",
    [f"( {BLANKS} )", f"[ a rdf:Seq ; rdf:_1 {BLANKS.replace('] [', '] ; rdf:_N [')} ]"],
    ids=["list", "seq"],
)
async def test_a_description_shows_blank_nodes_in_the_order_of_their_list(
    container: str, shape: str, tmp_path: Path
) -> None:
    for number in range(2, 7):
        container = container.replace("rdf:_N", f"rdf:_{number}", 1)
    answer = await ask(f"x:s x:p {container} .", tmp_path, "describe_entity", {"id": "x:s"}, shape)
    several = await ask(f"x:s x:p {container} .", tmp_path, "describe_entities", {"ids": ["x:s"]}, shape)
    said = answer["x:p"]
    assert numbers(said) == NUMBERS
    assert expand(answer)["edges"]["x:p"] == [6, *(value["_"] for value in said)]
    (entity,) = expand(several)["result"]
    assert numbers(entity["metadata"]["x:p"]) == NUMBERS


async def test_lists_in_blank_nodes_keep_their_order(tmp_path: Path) -> None:
    turtle = f"x:s x:p [ x:ids ( {NAMED} ) , x:_ ; x:blanks ( {BLANKS} ) ] ."
    described = await ask(turtle, tmp_path, "describe_entity", {"id": "x:s"})
    traversed = await ask(turtle, tmp_path, "bfs_query", {"seeds": ["x:s"], "max_hops": 1})
    for said in (described["x:p"], traversed["edges"]["x:s"]["x:p"]["beyond"]):
        assert said["x:ids"] == [*LETTERS, "x:_"]
        assert numbers(said["x:blanks"]) == NUMBERS


async def test_of_a_long_list_in_a_blank_node_its_first_members_are_shown(tmp_path: Path) -> None:
    members = [f"x:m{number}" for number in range(40, 10, -1)]
    turtle = f"x:s x:p [ x:q ( {' '.join(members)} ) ] ."
    described = await ask(turtle, tmp_path, "describe_entity", {"id": "x:s"})
    traversed = await ask(turtle, tmp_path, "bfs_query", {"seeds": ["x:s"], "max_hops": 1})
    for said in (described["x:p"], traversed["edges"]["x:s"]["x:p"]["beyond"]):
        assert said["x:q"] == members[:20]
        assert said["more"] is True


@pytest.mark.parametrize("shape", ["compact", "reference"])
async def test_a_list_in_evidence_keeps_its_order(shape: str, tmp_path: Path) -> None:
    turtle = f"x:s x:p x:o {{| x:steps ( {NAMED} ) |}} ."
    answer = await ask(turtle, tmp_path, "bfs_query", {"seeds": ["x:s"], "max_hops": 1}, shape)
    (edge,) = expand(answer)["edges"]
    assert edge["metadata"]["x:steps"] == LETTERS


async def test_members_at_the_ends_of_edges_stand_in_the_order_of_the_list(tmp_path: Path) -> None:
    turtle = f"x:s x:p ( {NAMED} ) , x:_ ; x:q ( {BLANKS} ) ; x:r ( x:b [ x:v 1 ] x:a [ x:v 2 ] ) ."
    answer = await ask(turtle, tmp_path, "bfs_query", {"seeds": ["x:s"], "max_hops": 1})
    edges = answer["edges"]["x:s"]
    stated, alone = edges["x:p"]
    assert (list(stated), alone) == (LETTERS, "x:_")
    assert numbers(edges["x:q"]) == NUMBERS
    assert [value.get("x:v", list(value)) for value in edges["x:r"]] == [["x:b"], 1, ["x:a"], 2]
    reference = await ask(turtle, tmp_path, "bfs_query", {"seeds": ["x:s"], "max_hops": 1}, "reference")
    assert sorted(map(str, expand(answer)["edges"])) == sorted(map(str, reference["edges"]))


async def test_positions_stand_in_the_order_of_the_list(tmp_path: Path) -> None:
    members = " ".join(["x:b"] * 8 + ["( x:a )"] + ["x:a"] + ["( x:b x:a )"])
    answer = await ask(
        f"x:s x:p ( {members} ) .", tmp_path, "bfs_query", {"seeds": ["x:s"], "max_hops": 1}, "reference"
    )
    positions = {edge["object"]: edge["metadata"]["position"] for edge in answer["edges"]}
    assert positions == {"x:a": ["9.1", 10, "11.2"], "x:b": [1, 2, 3, 4, 5, 6, 7, 8, "11.1"]}


async def test_a_blank_node_whose_content_is_left_out_says_that_there_is_more(tmp_path: Path) -> None:
    turtle = "x:s x:p [ x:v 1 ; x:p [ x:v 2 ; x:p [ x:v 3 ] ] ] ."
    answer = await ask(turtle, tmp_path, "describe_entity", {"id": "x:s"})
    deepest = answer["x:p"]["x:p"]["x:p"]
    assert deepest == {"_": deepest["_"], "more": True}
    inner = await ask(turtle, tmp_path, "describe_entity", {"id": deepest["_"]})
    assert inner["x:v"] == 3
    assert answer["complete"]


async def test_a_blank_node_whose_content_stands_around_it_is_its_id(tmp_path: Path) -> None:
    turtle = "x:s x:p _:b . _:b x:v 1 ; x:q [ x:v 2 ; x:back _:b ] ."
    answer = await ask(turtle, tmp_path, "describe_entity", {"id": "x:s"})
    assert answer["x:p"]["x:q"]["x:back"] == answer["x:p"]["_"]


async def test_a_blank_node_that_leads_to_another_from_outside_of_the_answer_says_that_there_is_more(
    tmp_path: Path,
) -> None:
    turtle = "x:s x:p _:b . _:b x:v 1 . _:c x:q _:b ; x:v 2 ."
    answer = await ask(turtle, tmp_path, "bfs_query", {"seeds": ["x:s"], "max_hops": 1})
    owner = answer["edges"]["x:s"]["x:p"]["beyond"]["^x:q"]
    assert owner == {"_": owner["_"], "more": True}


async def test_a_blank_node_that_a_filter_removes_is_shown_where_another_leads_to_it(tmp_path: Path) -> None:
    turtle = "x:s x:p [ x:q _:gone ] ; x:r _:gone . _:gone a x:Gone ; x:v 1 . x:o a x:Gone ."
    arguments = {"seeds": ["x:s"], "max_hops": 1, "exclude_node_types": ["x:Gone"]}
    answer = await ask(turtle, tmp_path, "bfs_query", arguments)
    gone = answer["edges"]["x:s"]["x:p"]["beyond"]["x:q"]
    assert gone == {"_": gone["_"], "rdf:type": "x:Gone", "x:v": 1}


async def cells(turtle: str, tmp_path: Path, *columns: str) -> list[Any]:
    """Return the cells of x:s."""
    arguments = {"node_types": ["x:S"], "values": list(columns), "show": "id"}
    answer = await ask(f"x:s a x:S . {turtle}", tmp_path, "search_entities", arguments)
    ((_, *row),) = answer["rows"]
    return list(row)


async def test_a_cell_has_the_members_of_the_list_at_which_its_walk_ends_in_their_order(tmp_path: Path) -> None:
    turtle = f"x:s x:p ( {NAMED} ) , x:_ ; x:q ( 3 1 2 ) ; x:r ( 3 x:b 1 x:a ) ; x:to [ x:p ( {NAMED} ) ] ."
    assert await cells(turtle, tmp_path, "p", "q", "r", "to/p") == [
        [*LETTERS, "x:_"],
        [3, 1, 2],
        [3, "x:b", 1, "x:a"],
        LETTERS,
    ]


@pytest.mark.parametrize("container", ["( {} )", "[ a rdf:Seq ; rdf:_1 {} ]", "x:list"], ids=["list", "seq", "named"])
async def test_a_cell_is_in_the_order_of_the_one_list_through_which_its_walk_leads(
    container: str, tmp_path: Path
) -> None:
    members = [f"[ x:v {number} ; x:w {number} , 0 ; x:to [ x:v {number} ] ]" for number in NUMBERS]
    if "rdf:_1" in container:
        members = [members[0], *(f"; rdf:_{number} {member}" for number, member in enumerate(members[1:], 2))]
    if container == "x:list":
        cons = "".join(f"[ rdf:first {member} ; rdf:rest " for member in members[1:])
        turtle = f"x:s x:p x:list . x:list rdf:first {members[0]} ; rdf:rest {cons} () {' ]' * 5} ."
        walk = "p/rdfs:member"
    else:
        turtle, walk = f"x:s x:p {container.format(' '.join(members))} .", "p"
    first = [0, NUMBERS[0], *NUMBERS[1:]]
    assert await cells(turtle, tmp_path, f"{walk}/v", f"{walk}/w", f"{walk}/to/v") == [NUMBERS, first, NUMBERS]


async def test_a_cell_of_several_lists_is_sorted(tmp_path: Path) -> None:
    turtle = f"x:s x:p ( 3 1 ) , ( 2 0 ) ; x:q ( [ x:p ( 3 1 ) ] [ x:p ( 2 ) ] ) ; x:r ( {BLANKS} ) , ( [ x:v 0 ] ) ."
    assert await cells(turtle, tmp_path, "p", "q/p", "r/v") == [[0, 1, 2, 3], [1, 2, 3], [0, 1, 2, 3, 4, 5, 6]]


async def test_rows_of_a_traversal_have_cells_in_the_order_of_lists(tmp_path: Path) -> None:
    turtle = f"x:o x:to x:s . x:s x:p ( {BLANKS} ) ."
    arguments = {"seeds": ["x:o"], "max_hops": 1, "values": ["p/v"]}
    answer = await ask(turtle, tmp_path, "bfs_query", arguments)
    assert answer["rows"] == [["x:s", NUMBERS]]


async def test_a_list_of_sources_is_shown_as_the_list_that_it_is(tmp_path: Path) -> None:
    turtle = 'x:s x:source ( "b" "a" x:doc ) ; x:p x:o {| x:source ( "2" "1" ) |} .'
    answer = await ask(turtle, tmp_path, "bfs_query", {"seeds": ["x:s"], "max_hops": 1}, "reference")
    assert answer["nodes"][0]["metadata"] == {"x:source": [["b", "a", "x:doc"]]}
    assert [edge["metadata"] for edge in answer["edges"] if edge["predicate"] == "x:p"] == [{"x:source": [["2", "1"]]}]
