"""Blank nodes of an endpoint are no nodes: an answer that leaves out what is behind them is not complete."""

import pytest

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
