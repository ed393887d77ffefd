"""What `describe_schema` says of lists that it cuts, and errors of prefixes that nobody declared."""

import pytest

from gateway.errors import InputError
from gateway.escaping import json_text
from gateway.settings.profile import Profile
from tests.small import ROOM, over

pytestmark = pytest.mark.anyio

MANY = "\n".join(f"x:a x:predicate_with_a_long_name_{number} x:b . x:b a x:T ." for number in range(238))


FILTERS = (
    "Filters take the others too, by ID, local name or label; "
    "schema_summary of bfs_query shows those of a neighborhood."
)
SEE_ALL = "all=true lists up to 200 of each."


async def test_a_list_that_is_cut_says_how_much_of_it_there_is_and_how_to_see_the_rest() -> None:
    async with over(MANY, Profile()) as gateway:
        schema = await gateway.describe_schema()
        rare = await gateway.bfs_query(["x:a"], 1, predicates=["x:predicate_with_a_long_name_99"])
    assert (len(schema.predicates), schema.predicates_total) == (40, 238)
    assert schema.warnings == [f"Listed: the 40 most frequent of 238 predicates. {SEE_ALL} {FILTERS}"]
    assert schema.comprehensive
    assert "the most frequent are listed" in schema.next_steps
    assert rare.warnings is None


async def test_all_lists_up_to_200_of_each_in_15000_bytes_and_does_not_advise_itself() -> None:
    async with over(MANY, Profile(size=ROOM)) as gateway:
        schema = await gateway.describe_schema(all=True)
    assert len(json_text(schema.as_json()).encode()) <= 15_000
    assert 100 < len(schema.predicates) < 200
    assert schema.warnings == [f"Listed: the {len(schema.predicates)} most frequent of 238 predicates. {FILTERS}"]
    assert schema.comprehensive


async def test_a_schema_that_is_listed_in_full_has_no_warning_and_the_same_list_with_all() -> None:
    turtle = "\n".join(f"x:a a x:T{number} ; x:p{number} x:b ." for number in range(40))
    async with over(turtle, Profile()) as gateway:
        schema = await gateway.describe_schema()
        same = await gateway.describe_schema(all=True)
    assert (len(schema.entity_types), len(schema.predicates), schema.warnings) == (40, 40, None)
    assert same == schema


@pytest.mark.parametrize(("asked", "nearest"), [("rdsf:label", "rdfs:"), ("quite-other:x", "dct:")])
async def test_a_prefix_that_nobody_declared_is_named_with_the_nearest_that_are_declared(
    asked: str, nearest: str
) -> None:
    async with over("x:a x:p x:b .") as gateway:
        with pytest.raises(InputError) as of_seeds:
            await gateway.bfs_query([asked], 1)
        with pytest.raises(InputError) as of_one:
            await gateway.describe_entity(asked)
        some = await gateway.bfs_query(["x:a", asked], 1)
        several = await gateway.describe_entities(["x:a", asked])
    prefix = asked.partition(":")[0]
    for text in (
        str(of_seeds.value),
        str(of_one.value),
        *(some.warnings or ["nothing"]),
        *(several.warnings or ["nothing"]),
    ):
        assert f"The prefix '{prefix}' is not declared." in text
        assert nearest in text


@pytest.mark.parametrize("asked", ["http://example.org/other", "urn:other", "mailto:a@example.org", "x:other"])
async def test_an_iri_that_is_not_there_says_nothing_of_prefixes(asked: str) -> None:
    async with over("x:a x:p x:b .") as gateway:
        answer = await gateway.bfs_query(["x:a", asked], 1)
    assert answer.missing_seeds == [asked]
    assert answer.warnings is None
