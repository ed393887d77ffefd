"""A blank node stands within the edge that leads to it, unless it is needed as a node; no count depends on it."""

import json
from pathlib import Path
from typing import Any

import pytest

from gateway import expand
from gateway.api import open_gateway
from gateway.errors import EndpointFault
from gateway.files.loading import load_files
from gateway.settings.profile import Profile
from tests.small import ROOM, Watched, over

pytestmark = pytest.mark.anyio

Json = dict[str, Any]

HEADER = """
@prefix x: <https://example.org/x/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""


async def ask(turtle: str, folder: Path, tool: str = "bfs_query", **arguments: Any) -> Json:
    """Ask about x:a in the compact shape; what it says is what the reference shape says."""
    path = folder / "graph.ttl"
    path.write_text(HEADER + turtle, encoding="utf-8")
    question = {"seeds": ["x:a"], **({"max_hops": 1} if tool == "bfs_query" else {}), **arguments}
    async with open_gateway(path, profile=Profile(size=ROOM)) as gateway:
        compact, reference = [
            json.loads(json.dumps((await gateway.call(tool, question, shape=shape)).as_json()))
            for shape in ("compact", "reference")
        ]
    # The shapes differ in what has room.
    if "max_tokens" not in arguments:
        assert_same(expand(compact), reference)
    return compact  # type: ignore[no-any-return]


def assert_same(expanded: Json, reference: Json) -> None:
    for key in ("nodes", "edges"):
        facts = [
            sorted(json.dumps({k: v for k, v in one.items() if k != "name"}, sort_keys=True) for one in answer[key])
            for answer in (expanded, reference)
        ]
        assert facts[0] == facts[1]


def listed(answer: Json) -> set[str]:
    """Return the IDs of the nodes that stand among the nodes."""
    entries = [entry for alike in answer["nodes"].values() for entry in alike]
    return {text.partition(" ")[0] for entry in entries for text in ([entry] if isinstance(entry, str) else entry)}


def without_ids(value: Any) -> Any:
    """Return JSON with `_:` in the place of the IDs of blank nodes."""
    match value:
        case dict():
            return {key: without_ids(each) for key, each in value.items()}
        case list():
            return [without_ids(each) for each in value]
        case str() if value.startswith("_:"):
            return " ".join(["_:", *value.split(" ")[1:]])
        case _:
            return value


async def test_a_blank_node_stands_within_the_edge_that_leads_to_it_with_where_it_leads(tmp_path: Path) -> None:
    answer = await ask('x:a x:p [ x:v 5 ; x:in x:unit ] . x:unit rdfs:label "milligram" .', tmp_path)
    assert listed(answer) == {"x:a"}
    assert without_ids(answer["edges"]) == {
        "x:a": {"x:p": {"_": "_:", "x:v": 5, "beyond": {"x:in": "x:unit milligram"}}}
    }
    assert (answer["node_count"], answer["edge_count"]) == (2, 1)


async def test_a_name_beyond_the_answer_that_failed_is_counted(tmp_path: Path) -> None:
    async def fail(query: str) -> None:
        if "<https://example.org/x/unit>" in query:
            raise EndpointFault("It does not answer.")

    path = tmp_path / "graph.ttl"
    path.write_text(HEADER + 'x:a x:p [ x:in x:unit ] . x:unit rdfs:label "milligram" .', encoding="utf-8")
    async with over(Watched(load_files([path]).engine, fail)) as gateway:
        answer = (await gateway.call("bfs_query", {"seeds": ["x:a"], "max_hops": 1}, shape="compact")).as_json()
    assert without_ids(answer["edges"]) == {"x:a": {"x:p": {"_": "_:", "beyond": {"x:in": "x:unit"}}}}
    assert answer["degraded"] == {"labels_failed": 1}


async def test_edges_of_the_answer_stand_among_what_it_says(tmp_path: Path) -> None:
    answer = await ask("x:a x:p [ x:v 5 ; x:in x:unit ] .", tmp_path, max_hops=2)
    assert listed(answer) == {"x:a", "x:unit"}
    assert without_ids(answer["edges"]) == {"x:a": {"x:p": {"_": "_:", "x:v": 5, "x:in": "x:unit"}}}


async def test_from_a_value_its_owner_is_shown_too(tmp_path: Path) -> None:
    answer = await ask("x:b x:p [ x:v 5 ; x:in x:a ] .", tmp_path)
    folded = {"_": "_:", "type": "(x:p)", "x:v": 5, "beyond": {"^x:p": "x:b"}}
    assert without_ids(answer["edges"]) == {"x:a": {"^x:in": folded}}


async def test_edges_between_nodes_at_the_last_hop_are_beyond_the_answer(tmp_path: Path) -> None:
    answer = await ask("x:a x:p [ x:with x:b ] ; x:q x:b .", tmp_path)
    assert without_ids(answer["edges"]["x:a"]["x:p"]) == {"_": "_:", "beyond": {"x:with": "x:b"}}


async def test_an_edge_to_an_expression_that_is_not_read_is_told_beyond_the_answer(tmp_path: Path) -> None:
    owl = "http://www.w3.org/2002/07/owl#"
    answer = await ask(f"x:a x:p [ x:v 1 ; x:q [ a <{owl}Restriction> ; <{owl}onProperty> x:r ] ] .", tmp_path)
    assert without_ids(answer["edges"]["x:a"]["x:p"]) == {"_": "_:", "x:v": 1, "beyond": {"more": True}}


async def test_of_very_many_nodes_none_says_where_it_leads_and_they_are_counted(tmp_path: Path) -> None:
    for count, left_out in ((100, None), (101, {"beyond_left_out": 101})):
        many = " , ".join(f"[ x:v {number} ; x:with x:b{number} ]" for number in range(count))
        answer = await ask(f"x:a x:p {many} .", tmp_path)
        assert answer.get("degraded") == left_out
        assert ("beyond" in answer["node_columns"]) == (left_out is None)


async def test_where_nodes_lead_is_left_out_before_what_they_say(tmp_path: Path) -> None:
    many = " , ".join(f'[ x:v {number} ; x:with x:b{number} ; x:w "{"long " * 20}" ]' for number in range(40))
    whole, small = [await ask(f"x:a x:p {many} .", tmp_path, max_tokens=tokens) for tokens in (10_000, 1_600)]
    assert "degraded" not in whole
    assert small["degraded"] == {"beyond_left_out": 40}


async def test_a_long_value_beyond_the_answer_is_its_id(tmp_path: Path) -> None:
    inner = " ; ".join(f'x:w{number} "{"long " * 30}"' for number in range(10))
    answer = await ask(f"x:a x:p [ x:v 1 ; x:q [ {inner} ] ] .", tmp_path)
    folded = without_ids(answer["edges"]["x:a"]["x:p"])
    assert folded == {"_": "_:", "x:v": 1, "beyond": {"x:q": "_:", "more": True}}


async def test_types_names_and_positions_stand_beside_what_it_says(tmp_path: Path) -> None:
    answer = await ask('x:a x:p ( [ a x:T ; rdfs:label "one" ] x:b ) .', tmp_path)
    folded, stated = without_ids(answer["edges"])["x:a"]["x:p"]
    assert folded["_"] == "_: one"
    assert folded["type"] == "x:T"
    assert (answer["evidence_columns"], folded["evidence"], stated) == (["position"], [1], {"x:b": [2]})


async def test_blank_nodes_within_each_other_stand_so_three_deep(tmp_path: Path) -> None:
    turtle = "x:a x:p [ x:p [ x:p [ x:p [ x:v 4 ] ; x:v 3 ] ; x:v 2 ] ; x:v 1 ] ."
    answer = await ask(turtle, tmp_path, max_hops=4)
    first = without_ids(answer["edges"])["x:a"]["x:p"]
    assert first == {
        "_": "_:",
        "x:v": 1,
        "x:p": {"_": "_:", "x:v": 2, "x:p": {"_": "_:", "x:v": 3, "x:p": "_:"}},
    }
    assert len(listed(answer)) == 2


@pytest.mark.parametrize(
    ("turtle", "arguments"),
    [
        pytest.param("x:a x:p _:b ; x:q _:b . _:b x:v 1 .", {}, id="two edges lead to it"),
        pytest.param("x:a x:p _:b , x:c . x:c x:p _:b . _:b x:v 1 .", {"max_hops": 2}, id="two nodes lead to it"),
        pytest.param("x:a x:p [ a x:T ; x:v 1 ] .", {"only_node_types": ["x:T"]}, id="its type is asked for"),
        pytest.param("x:a x:p [ a x:T ; x:v 1 ] .", {"topology_only": True}, id="only the topology is asked for"),
        pytest.param(f'x:a x:p [ x:v "{"long " * 300}" ] .', {}, id="it says much"),
        pytest.param('x:a x:p [ x:v "x:a and more" ] .', {}, id="a value looks like the ID of a node"),
        pytest.param(
            "x:a " + " ; ".join(f"x:p [ x:v {number} ; x:w {number} ]" for number in range(11)) + " .",
            {},
            id="many alike fit in rows",
        ),
        pytest.param('x:a x:p [ x:q x:b , "c" ] .', {"max_hops": 2}, id="values stand beside edges"),
    ],
)
async def test_it_stays_a_node_where(turtle: str, arguments: Json, tmp_path: Path) -> None:
    answer = await ask(turtle, tmp_path, **arguments)
    assert any(name_id.startswith("_:") for name_id in listed(answer))
    assert '"_"' not in json.dumps(answer["edges"])


async def test_a_seed_stays_a_node(tmp_path: Path) -> None:
    turtle = "x:a x:p [ x:v 1 ; x:q [ x:v 2 ] ] ."
    first = await ask(turtle, tmp_path)
    blank = first["edges"]["x:a"]["x:p"]["_"]
    answer = await ask(turtle, tmp_path, seeds=[blank])
    assert blank in listed(answer)
    assert without_ids(answer["edges"][blank]["x:q"]) == {"_": "_:", "x:v": 2}


async def test_nodes_of_an_intersection_stay_nodes(tmp_path: Path) -> None:
    turtle = "x:a x:p [ x:v 1 ; x:q x:b ] ."
    answer = await ask(turtle, tmp_path, "intersect_subgraphs", seeds=["x:a", "x:b"], k=2)
    assert len(listed(answer)) == answer["node_count"] == 3


async def test_where_it_leads_is_cut_where_that_is_much_and_says_so(tmp_path: Path) -> None:
    few, many = (" , ".join(f"x:end{number:02}" for number in range(count)) for count in (10, 60))
    long = " , ".join(f"x:{'long' * 20}{number}" for number in range(15))
    answer = await ask(f"x:a x:few [ x:q {few} ] ; x:many [ x:q {many} ] ; x:long [ x:q {long} ] .", tmp_path)
    beyond = {key: folded["beyond"] for key, folded in answer["edges"]["x:a"].items()}
    assert {key: said.get("more", False) for key, said in beyond.items()} == {
        "x:few": False,
        "x:many": True,
        "x:long": True,
    }
    assert (len(beyond["x:few"]["x:q"]), len(beyond["x:long"]["x:q"])) == (10, 6)


async def test_a_node_within_an_edge_of_an_earlier_page_stands_within_it(tmp_path: Path) -> None:
    turtle = "x:a x:p x:b , [ x:v 1 ] , [ x:v 2 ] ."
    answer = await ask(turtle, tmp_path, offset=2, limit=2)
    other, folded = answer["edges"]["x:a"]["x:p"]
    assert (listed(answer), other, folded["_"][:2]) == ({"x:b"}, "x:b", "_:")
