"""Blank nodes of an endpoint are no nodes: an answer that leaves out what is behind them is not complete."""

import pytest

from gateway.answers.models import SearchResult
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import ValueSettings
from tests.small import ROOM, ids, over

pytestmark = pytest.mark.anyio

RELATION = "x:aspirin x:interaction [ x:severity 'major' ; x:with x:warfarin ] ; x:treats x:pain ."
"""A relation of three, with a blank node between two nodes."""


async def test_a_traversal_beside_blank_nodes_is_not_complete_and_names_their_neighbours() -> None:
    async with over(RELATION) as gateway:
        answer = await gateway.bfs_query(["x:aspirin"], 2)
    assert ids(answer) == ["x:aspirin", "x:pain"]
    assert (answer.complete, answer.blank_node_edges) == (False, 1)
    assert [(gap.cause, gap.count, gap.ids) for gap in answer.incomplete or ()] == [("blank_nodes", 1, ["x:aspirin"])]


async def test_nothing_in_common_through_a_blank_node_is_no_fact() -> None:
    async with over(RELATION) as gateway:
        answer = await gateway.intersect_subgraphs(["x:aspirin", "x:warfarin"], 2)
    assert (answer.node_count, answer.complete) == (0, False)
    assert [(gap.cause, gap.ids) for gap in answer.incomplete or ()] == [("blank_nodes", ["x:aspirin", "x:warfarin"])]


@pytest.mark.parametrize(
    ("turtle", "node", "whole"),
    [
        (RELATION, "x:aspirin", True),
        (RELATION, "x:warfarin", False),
        ("x:week x:days ( x:mon x:tue x:wed ) .", "x:week", False),
        ("x:a x:p [ x:q [ x:r 1 ] ] .", "x:a", True),
        ("x:a x:p [ x:q [ x:r [ x:s 1 ] ] ] .", "x:a", False),
        ("x:a x:p x:b .", "x:a", True),
        ("x:a rdfs:label [ x:q 1 ] . [] x:p x:a .", "x:a", False),
    ],
    ids=["shown", "only pointed from", "list", "two levels", "three levels", "none", "shown, but no edge"],
)
async def test_a_description_is_complete_if_it_shows_all_that_the_blank_nodes_beside_a_node_say(
    turtle: str, node: str, whole: bool
) -> None:
    async with over(turtle) as gateway:
        one, many = await gateway.describe_entity(node), await gateway.describe_entities([node])
    assert (one.complete, many.complete) == (whole, whole)
    for answer in (one, many):
        assert any(f"beside {node} cannot be followed" in warning for warning in answer.warnings or ()) is not whole


async def test_an_unknown_value_of_a_wikibase_is_read_and_nothing_is_missing() -> None:
    wikibase = Profile(size=ROOM, values=ValueSettings(wikibase=True))
    async with over("x:q1 x:p19 [] , x:place .", wikibase) as gateway:
        around, described = await gateway.bfs_query(["x:q1"], 1), await gateway.describe_entity("x:q1")
    assert (around.complete, described.complete) == (True, True)


PEOPLE = """
x:ann a x:Person ; rdfs:label "Ann" ; x:knows [ a x:Person ; rdfs:label "Bob" ] .
[] a x:Assertion ; x:subject x:ann . x:ann x:likes x:tea .
"""


async def test_a_schema_says_what_it_does_not_count_and_denies_nothing_that_only_blank_nodes_have() -> None:
    async with over(PEOPLE) as gateway:
        schema = await gateway.describe_schema()
        along = await gateway.bfs_query(["x:ann"], 1, only_predicates=["x:subject"])
        among = await gateway.bfs_query(["x:ann"], 1, node_types=["Assertion"])
    assert (schema.comprehensive, schema.complete) == (False, False)
    assert schema.counts == {"x:Person": 1, "x:likes": 1}
    (warning,) = (text for text in schema.warnings or () if "blank nodes" in text)
    assert "2 edges to or from them, and 2 of them that have a type, are not counted" in warning
    assert schema.graph_description.startswith("An RDF graph of 1 edge, and 2 to or from blank nodes,")
    assert (along.complete, along.blank_node_edges) == (False, 1)
    assert not any("no edge of this graph" in text for text in (*(along.warnings or ()), *(among.warnings or ())))


@pytest.mark.parametrize(
    ("query", "types", "found", "complete"),
    [
        ("Bob", None, [], False),
        ("Ann", None, ["x:ann"], False),
        (None, ["x:Person"], ["x:ann"], False),
        (None, ["x:Assertion"], [], False),
        ("Ann", ["x:Person"], ["x:ann"], False),
        (None, ["x:Place"], ["x:rome"], True),
        ("Rome", ["x:Place"], ["x:rome"], True),
    ],
)
async def test_a_search_that_did_not_look_at_blank_nodes_which_may_fit_is_not_complete(
    query: str | None, types: list[str] | None, found: list[str], complete: bool
) -> None:
    async with over(PEOPLE + "x:rome a x:Place ; rdfs:label 'Rome' .") as gateway:
        given = {name: value for name, value in (("query", query), ("node_types", types)) if value is not None}
        answer = await gateway.call("search_entities", given)
    assert isinstance(answer, SearchResult)
    assert ([hit.id for hit in answer.result], answer.complete) == (found, complete)


async def test_names_of_named_nodes_alone_are_all_compared_though_there_are_blank_nodes() -> None:
    async with over("x:ann rdfs:label 'Ann' ; x:p [ x:q 1 ] .") as gateway:
        answer = await gateway.search_entities("Ann")
    assert answer.complete


async def test_evidence_that_blank_nodes_state_is_not_missing_in_a_schema() -> None:
    async with over("x:a x:p x:b {| x:by [ x:name 'Bob' ] |} .") as gateway:
        schema = await gateway.describe_schema()
    assert schema.comprehensive


async def test_an_unknown_value_of_a_wikibase_is_not_missing_in_a_schema() -> None:
    wikibase = Profile(size=ROOM, values=ValueSettings(wikibase=True))
    async with over("x:q1 x:p19 [] ; x:p2 x:q2 .", wikibase) as gateway:
        schema = await gateway.describe_schema()
    assert schema.comprehensive
