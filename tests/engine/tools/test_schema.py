"""What `describe_schema` says of lists that it cuts, and errors of prefixes that nobody declared."""

import pytest

from gateway.errors import InputError
from gateway.settings.profile import Profile
from tests.engine.small import over

pytestmark = pytest.mark.anyio

MANY = "\n".join(f"x:a x:predicate_with_a_long_name_{number} x:b . x:b a x:T ." for number in range(238))


async def test_a_list_that_is_cut_for_room_says_how_much_of_it_there_is_and_how_to_see_the_rest() -> None:
    async with over(MANY, Profile()) as gateway:
        schema = await gateway.describe_schema()
        rare = await gateway.bfs_query(["x:a"], 1, predicates=["x:predicate_with_a_long_name_99"])
    assert (len(schema.predicates), schema.predicates_total) == (200, 238)
    assert schema.warnings == [
        (
            "predicates lists the 200 most frequent of 238. Filters take the others too, by ID, local name or label; "
            "schema_summary of bfs_query shows those of a neighborhood."
        )
    ]
    assert rare.warnings is None


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
