"""What all seeds share (docs/contract.md, "Traversal"), by cases that were worked out by hand."""

import asyncio

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gateway.answers.models import IntersectionResult
from gateway.errors import InputError
from gateway.traversal import intersections
from tests.examples import examples
from tests.small import X, ids, over, triples

CHAIN = " ".join(f"x:n{number} x:next x:n{number + 1} ." for number in range(1, 10))
"""n1 - n2 - ... - n10"""

pytestmark = pytest.mark.anyio


async def shared(turtle: str, seeds: list[str], k: int) -> IntersectionResult:
    """Ask for an intersection in a small graph."""
    async with over(turtle) as gateway:
        return await gateway.intersect_subgraphs(seeds, k)


@pytest.mark.parametrize(
    ("k", "expected"),
    [
        (1, []),
        (2, ["x:n3"]),
        (3, ["x:n3", "x:n2", "x:n4"]),
        (4, ["x:n1", "x:n5", "x:n3", "x:n2", "x:n4"]),
        (5, ["x:n1", "x:n5", "x:n3", "x:n2", "x:n4", "x:n6"]),
    ],
)
async def test_a_chain_is_shared_by_its_distance_from_both_ends(k: int, expected: list[str]) -> None:
    answer = await shared(CHAIN, ["x:n1", "x:n5"], k)
    assert ids(answer) == expected
    assert answer.node_count == len(expected)
    assert answer.complete is True
    assert answer.k == k
    inside = {int(name.removeprefix("x:n")) for name in expected}
    assert triples(answer) == [
        (f"x:n{number}", "x:next", f"x:n{number + 1}") for number in sorted(inside) if number + 1 in inside
    ]


async def test_a_seed_is_in_the_result_where_it_is_near_enough_to_every_other() -> None:
    answer = await shared("x:a x:p x:b . x:b x:p x:c .", ["x:a", "x:b", "x:c"], 1)
    assert ids(answer) == ["x:b"]
    assert ids(await shared("x:a x:p x:b .", ["x:b", "x:a"], 1)) == ["x:b", "x:a"]


async def test_edges_run_against_their_direction_too() -> None:
    answer = await shared("x:m x:p x:a, x:b .", ["x:a", "x:b"], 1)
    assert ids(answer) == ["x:m"]
    assert answer.edge_count == 0


async def test_an_edge_between_two_nodes_that_were_not_expanded_is_there() -> None:
    turtle = "x:a x:p x:m1, x:m2 . x:b x:p x:m1, x:m2 . x:m1 x:q x:m2, x:far ; x:s x:m1 . x:m2 x:r x:m1 ."
    answer = await shared(turtle, ["x:a", "x:b"], 1)
    assert ids(answer) == ["x:m1", "x:m2"]
    assert triples(answer) == [("x:m1", "x:q", "x:m2"), ("x:m1", "x:s", "x:m1"), ("x:m2", "x:r", "x:m1")]
    assert answer.schema_summary.predicates_found == ["x:q", "x:r", "x:s"]


async def test_an_edge_to_a_node_outside_is_not_there() -> None:
    answer = await shared("x:a x:p x:m . x:b x:p x:m . x:m x:p x:out .", ["x:a", "x:b"], 1)
    assert triples(answer) == []


async def test_the_order_is_seeds_then_the_farthest_distance_then_the_id() -> None:
    turtle = (
        "x:a x:p x:z . x:b x:p x:z . "  # 1 and 1
        "x:a x:p x:y . x:y x:p x:w . x:w x:p x:b . "  # y: 1 and 2, w: 2 and 1
        "x:z x:p x:c ."  # 2 and 2
    )
    answer = await shared(turtle, ["x:b", "x:a"], 2)
    assert ids(answer) == ["x:b", "x:a", "x:z", "x:c", "x:w", "x:y"]


async def test_three_seeds_share_what_each_of_them_reaches() -> None:
    turtle = "x:a x:p x:m, x:ab . x:b x:p x:m, x:ab . x:c x:p x:m ."
    assert ids(await shared(turtle, ["x:a", "x:b", "x:c"], 1)) == ["x:m"]
    assert ids(await shared(turtle, ["x:a", "x:b"], 1)) == ["x:ab", "x:m"]


async def test_a_missing_seed_makes_it_empty_named_and_complete() -> None:
    answer = await shared("x:a x:p x:m . x:b x:p x:m .", ["x:a", "x:nowhere", "x:b"], 2)
    assert (answer.node_count, answer.edge_count, answer.nodes, answer.edges) == (0, 0, [], [])
    assert answer.missing_seeds == ["x:nowhere"]
    assert answer.complete is True
    assert answer.seeds == ["x:a", "x:nowhere", "x:b"]
    assert answer.schema_summary.entity_types_found == []


async def test_all_seeds_missing_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(InputError, match="search_entities"):
        await shared("x:a x:p x:m .", ["x:no", "x:none"], 1)


async def test_a_seed_without_edges_shares_nothing_with_another() -> None:
    answer = await shared("x:a x:note 'alone' . x:b x:p x:m .", ["x:a", "x:b"], 3)
    assert ids(answer) == []
    assert answer.missing_seeds is None
    assert answer.complete is True


async def test_two_components_share_nothing() -> None:
    answer = await shared("x:a x:p x:a2 . x:b x:p x:b2 .", ["x:a", "x:b"], 5)
    assert ids(answer) == []
    assert answer.complete is True


async def test_nodes_that_share_only_a_type_a_literal_or_a_blank_node_share_nothing() -> None:
    turtle = "x:a a x:T ; x:code 'X1' ; x:via _:b . x:b a x:T ; x:code 'X1' . _:b x:to x:b ."
    assert ids(await shared(turtle, ["x:a", "x:b"], 5)) == []


async def test_duplicate_seeds_are_folded() -> None:
    turtle = "x:a x:p x:m . x:b x:p x:m ."
    answer = await shared(turtle, ["x:a", "x:b", f"{X}a", f"<{X}b>"], 1)
    assert answer.seeds == ["x:a", "x:b"]
    assert ids(answer) == ["x:m"]


@pytest.mark.parametrize("seeds", [["x:a", f"{X}a"], ["x:a", "x:a"], [f"<{X}a>", "Ann", f"{X}a"]])
@pytest.mark.parametrize("k", [1, 2])
async def test_seeds_that_are_one_entity_share_what_lies_near_it_and_a_warning_says_so(
    seeds: list[str], k: int
) -> None:
    answer = await shared("x:a x:p x:m ; rdfs:label 'Ann' . x:m x:p x:n . x:n x:p x:o . x:l x:q x:m .", seeds, k)
    assert answer.seeds == ["x:a"]
    assert ids(answer) == [["x:a", "x:m"], ["x:a", "x:m", "x:l", "x:n"]][k - 1]
    assert triples(answer) == [triple for triple in NEAR_ANN if {triple[0], triple[2]} <= {*ids(answer)}]
    (warning,) = [one for one in answer.warnings or () if one.startswith("seeds:")]
    assert warning == f"seeds: all of them are x:a, so this is what lies within {k} hop{'s' * (k > 1)} of it alone."
    assert answer.complete


NEAR_ANN = [("x:a", "x:p", "x:m"), ("x:l", "x:q", "x:m"), ("x:m", "x:p", "x:n")]


async def test_one_seed_that_is_given_twice_and_does_not_exist_is_an_error() -> None:
    with pytest.raises(InputError, match="None of the seeds exists in this graph: 'x:gone'"):
        await shared("x:a x:p x:m .", ["x:gone", "x:gone"], 1)


async def test_duplicates_beside_another_seed_say_nothing() -> None:
    answer = await shared("x:a x:p x:m . x:b x:p x:m .", ["x:a", "x:b", "x:a"], 1)
    assert answer.warnings is None


EMPLOYERS = "x:ann x:owns x:firm ; x:works x:firm . x:bob x:works x:firm . x:cid x:owns x:firm ."


async def test_one_seed_in_two_relations_finds_what_stands_in_both() -> None:
    async with over(EMPLOYERS) as gateway:
        both = await gateway.intersect_subgraphs(
            ["x:firm", "x:firm"], 1, only_predicates=[["^owns"], ["^works"]], via=True
        )
        one = await gateway.intersect_subgraphs(["x:firm", "x:firm"], 1, only_predicates=[["^owns"], ["^owns"]])
        with pytest.raises(InputError, match="has 2 lists, but there are 3 seeds"):
            await gateway.intersect_subgraphs(["x:firm"] * 3, 1, only_predicates=[["^owns"], ["^works"]])
    assert (both.seeds, both.only_predicates) == (["x:firm", "x:firm"], [["^x:owns"], ["^x:works"]])
    assert ids(both) == ["x:firm", "x:ann"]
    assert both.nodes[1].via == [["x:ann", "x:owns", "x:firm"], ["x:ann", "x:works", "x:firm"]]
    assert both.warnings is None
    assert (one.seeds, one.only_predicates, ids(one)) == (["x:firm"], ["^x:owns"], ["x:firm", "x:ann", "x:cid"])
    assert one.warnings is not None
    assert one.warnings[0].startswith("seeds: all of them are x:firm")


_ends = st.sampled_from(["x:a", "x:b", "x:c", "x:d", "x:e"])
_names = st.lists(st.builds(str.__add__, st.sampled_from(["", "^"]), st.sampled_from(["x:p", "x:q"])), max_size=2)


@settings(max_examples=examples(150))
@given(
    st.lists(st.tuples(_ends, st.sampled_from(["x:p", "x:q"]), _ends), min_size=1, max_size=12, unique=True),
    st.lists(st.tuples(st.sampled_from(["x:a", "x:b"]), _names), min_size=2, max_size=4),
    st.integers(1, 3),
    st.sampled_from([0, 1, 5_000]),
)
def test_seeds_in_any_relations_share_what_a_naive_search_finds(
    edges: list[tuple[str, str, str]], sources: list[tuple[str, list[str]]], k: int, large: int
) -> None:
    assume({seed for seed, _ in sources} <= {end for subject, _, target in edges for end in (subject, target)})

    def near(seed: str, names: list[str]) -> set[str]:
        found = {seed}
        for _ in range(k):
            out = {o for s, p, o in edges if s in found and (not names or p in names)}
            into = {s for s, p, o in edges if o in found and (not names or p in names or f"^{p}" in names)}
            found |= out | into
        return found

    async def ask() -> IntersectionResult:
        async with over(" ".join(f"{s} {p} {o} ." for s, p, o in edges)) as gateway:
            seeds, lists = [seed for seed, _ in sources], [names for _, names in sources]
            return await gateway.intersect_subgraphs(seeds, k, only_predicates=lists, topology_only=True)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intersections, "_LARGE", large)
        answer = asyncio.run(ask())
    assert answer.complete
    assert {*ids(answer)} == set.intersection(*(near(seed, names) for seed, names in sources))
    assert len(answer.seeds) == len({(seed, frozenset(names)) for seed, names in sources})


@pytest.mark.parametrize("k", [0, 6, -1])
async def test_a_radius_out_of_range_is_an_error(k: int) -> None:
    with pytest.raises(InputError, match="k "):
        await shared("x:a x:p x:b .", ["x:a", "x:b"], k)


async def test_its_pages_put_together_are_the_whole() -> None:
    turtle = " ".join(f"x:a x:p x:m{number} . x:b x:p x:m{number} ." for number in range(9))
    async with over(turtle) as gateway:
        whole = await gateway.intersect_subgraphs(["x:a", "x:b"], 2)
        found: list[str] = []
        offset: int | None = 0
        while offset is not None:
            page = await gateway.intersect_subgraphs(["x:a", "x:b"], 2, limit=4, offset=offset)
            assert (page.node_count, page.edge_count) == (11, 18)
            found += ids(page)
            offset = page.next_offset
    assert found == ids(whole)
