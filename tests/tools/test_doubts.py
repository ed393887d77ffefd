"""What may be missing though everything that was asked was answered: it is listed, and the answer is not complete."""

import re

import pytest

from gateway.errors import EndpointFault, Fault, InputError, QueryRefused
from gateway.settings.profile import Profile
from tests.searches import is_exhaustive
from tests.small import ROOM, Watched, X, engine, over

pytestmark = pytest.mark.anyio

TITLES = "".join(f'x:n{number} x:title "Thing number {number} of a list" .\n' for number in range(30))
UNTRUSTED = {"endpoint": {"trusted": False}}


def profile(**tables: object) -> Profile:
    return Profile.model_validate({"size": ROOM, **tables})


async def test_a_search_before_the_names_were_found_out_is_not_complete() -> None:
    # That is too little time for seeing what names the nodes.
    found = await over(TITLES, profile(limits={"schema_seconds": 0.000_1})).search_entities("Thing number 7")
    assert (found.result, found.complete) == ([], False)
    assert "could not be found out" in (found.warnings or [""])[0]
    assert (await over(TITLES, profile()).search_entities("Thing number 7")).result[0].id == "x:n7"


async def test_names_that_the_profile_pins_need_not_be_found_out() -> None:
    pinned = profile(roles={"name": (f"{X}title",)}, limits={"schema_seconds": 0.000_1})
    found = await over(TITLES, pinned).search_entities("unheard")
    assert (found.result, found.complete) == ([], True)


async def test_nothing_about_an_endpoint_that_cuts_without_a_sign_is_complete() -> None:
    gateway = over(TITLES, profile(**UNTRUSTED))
    found = await gateway.search_entities("unheard")
    assert (found.result, found.complete, is_exhaustive(found)) == ([], False, False)
    with pytest.raises(InputError, match="so it may exist"):
        await gateway.describe_entity("x:absent")
    with pytest.raises(InputError, match="so they may exist"):
        await gateway.bfs_query(["x:absent"], 1)
    one, several = await gateway.describe_entity("x:n1"), await gateway.describe_entities(["x:n1", "x:absent"])
    assert (one.complete, several.complete, several.not_found) == (False, False, ["x:absent"])
    for answer in (found, one, several):
        assert any("known to cut answers" in warning for warning in answer.warnings or ())


async def test_a_node_whose_mentions_were_read_in_part_is_not_removed() -> None:
    many = ", ".join(str(number) for number in (1_000, *range(1, 20)))
    graph = f"x:a x:p x:b . x:b x:mentions {many} ."
    answer = await over(graph, profile(limits={"query_rows": 10})).bfs_query(["x:a"], 1, min_mentions=500)
    assert [node.id for node in answer.nodes] == ["x:a", "x:b"]
    assert "it was not removed" in (answer.warnings or [""])[0]
    assert (answer.node_count, answer.undecided) == (2, {"min_mentions": 1})


async def test_counts_say_that_they_may_be_too_large_where_mentions_could_not_be_read() -> None:
    async def failing(query: str) -> None:
        if "mentions" in query:
            raise EndpointFault("The endpoint failed.")

    graph = engine("x:a x:p x:b , x:c ; x:mentions 1 . x:b x:mentions 1 . x:c x:mentions 9 .")
    async with over(graph, profile(roles={"mentions": (f"{X}mentions",)})) as gateway:
        known = await gateway.bfs_query(["x:a"], 1, min_mentions=5)
        assert (known.node_count, known.undecided) == (2, None)
    async with over(Watched(graph, failing), profile(roles={"mentions": (f"{X}mentions",)})) as gateway:
        unknown = await gateway.bfs_query(["x:a"], 1, min_mentions=5, topology_only=True)
        # The seed stays in any case.
        assert (unknown.node_count, unknown.complete, unknown.undecided) == (3, True, {"min_mentions": 2})
        assert any("may be too large" in warning for warning in unknown.warnings or ())


async def test_a_node_whose_types_could_not_be_read_is_undecided_and_one_with_a_type_to_remove_is_not() -> None:
    async def failing(query: str) -> None:
        if f"{X}b>" in query and "22-rdf-syntax-ns#type" in query:
            raise EndpointFault("The endpoint failed.")

    graph = engine("x:a x:p x:b , x:c . x:b a x:T . x:c a x:T .")
    settings = profile(limits={"facts_batch": 1}, orientation={"vouched": False})
    async with over(Watched(graph, failing), settings) as gateway:
        answer = await gateway.bfs_query(["x:a"], 1, exclude_node_types=["x:T"], topology_only=True)
    assert [node.id for node in answer.nodes] == ["x:a", "x:b"]
    assert answer.undecided == {"exclude_node_types": 1}
    assert [gap.cause for gap in answer.incomplete or ()] == ["types_failed"]


async def test_a_type_whose_subclasses_could_not_be_read_leaves_typed_nodes_undecided() -> None:
    async def failing(query: str) -> None:
        if f"{X}below" in query and "VALUES" in query:
            raise EndpointFault("The endpoint failed.")

    graph = engine("x:a x:p x:b , x:c . x:b a x:T . x:c a x:U . x:U x:below x:T .")
    settings = profile(types={"subclass_of": (f"{X}below",)})
    async with over(Watched(graph, failing), settings) as gateway:
        answer = await gateway.bfs_query(["x:a"], 1, exclude_node_types=["x:T"], topology_only=True)
    assert [node.id for node in answer.nodes] == ["x:a", "x:c"]
    assert answer.undecided == {"exclude_node_types": 1}


@pytest.mark.parametrize("iri", ["http://e/a%2", "http://e/[b]", "http://e/a%zz"])
async def test_an_iri_that_the_engine_refuses_is_named(iri: str) -> None:
    async with over("x:a x:p x:b .") as gateway:
        for asked in (gateway.describe_entity(iri), gateway.bfs_query([iri, "http://e/c%2"], 1)):
            with pytest.raises(QueryRefused, match=re.escape(repr(iri))):
                await asked
        answer = await gateway.bfs_query(["x:a", iri], 1)
        assert [(gap.ids, repr(iri) in gap.detail) for gap in answer.incomplete or ()] == [([iri], True)]
        several = await gateway.describe_entities(["x:a", iri])
        assert (several.failed, several.complete) == ([iri], False)


async def test_one_entity_with_too_many_rows_gets_no_advice_to_ask_for_fewer() -> None:
    many = ", ".join(str(number) for number in range(40))
    async with over(f"x:a x:v {many} .", profile(limits={"query_rows": 10})) as gateway:
        with pytest.raises(Fault, match="One entity has more rows") as refused:
            await gateway.describe_entity("x:a")
    assert "fewer" not in str(refused.value)


async def test_a_seed_that_was_merged_more_often_than_is_followed_is_listed_though_it_has_edges() -> None:
    chain = "".join(f"x:r{number} x:went x:r{number + 1} ; x:p x:e{number} .\n" for number in range(9))
    answer = await over(chain, profile(edges={"redirects": (f"{X}went",)})).bfs_query(["x:r0"], 1)
    assert not answer.complete
    assert any("more steps than are followed" in gap.detail for gap in answer.incomplete or ())


async def test_words_that_were_not_looked_for_may_have_been_all_of_a_name() -> None:
    graph = 'x:c rdfs:label "C" . x:z rdfs:label "zebra" .'
    found = await over(graph).search_entities("a1 b2 c3 d4 e5 f6 g7 h8 i9 j10 k11 l12 zebra")
    assert (found.complete, is_exhaustive(found)) == (False, False)
    looked_for = await over(graph).search_entities("C alpha")
    assert [hit.id for hit in looked_for.guesses or ()] == ["x:c"]
    assert (looked_for.complete, is_exhaustive(looked_for)) == (True, True)
