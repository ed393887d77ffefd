"""The first nodes of a type by a number, and those under a condition, at an endpoint that selects them."""

from typing import Any

import pytest

from gateway.settings.profile import Profile
from tests.small import ROOM, WatchedElsewhere, engine, over

pytestmark = pytest.mark.anyio

YEARS = "\n".join(f'x:y{n:03} a y:Thing ; x:age "{1000 + n}"^^xsd:gYear .' for n in range(300))


async def first(graph: str, sort_by: str, limit: int) -> tuple[list[str], list[str]]:
    """Return the first things, and the queries that were sent for them."""
    sent: list[str] = []

    async def hook(query: str) -> None:
        sent.append(query)

    async with over(WatchedElsewhere(engine(graph), hook), Profile(size=ROOM)) as gateway:
        await gateway.describe_schema()
        await gateway.wait_for_schema()
        sent.clear()
        answer = await gateway.search_entities(node_types=["Thing"], sort_by=sort_by, limit=limit)
    assert answer.complete
    return [row[0] for row in answer.rows or ()], [query for query in sent if "ORDER BY ?number" in query]


async def test_a_year_is_no_number_although_it_reads_as_one() -> None:
    numbers = 'x:a a y:Thing ; x:age 5000 . x:b a y:Thing ; x:age "6000" . x:c a y:Thing ; x:age 7 .'
    found, ordered = await first(YEARS + numbers, "x:age", 3)
    assert found == ["x:c", "x:a", "x:b"]
    assert ordered


@pytest.mark.parametrize(("sort_by", "expected"), [("x:age", "x:y000"), ("-x:age", "x:y299")])
async def test_years_alone_are_in_order(sort_by: str, expected: str) -> None:
    found, ordered = await first(YEARS, sort_by, 1)
    assert found == [expected]
    assert len(ordered) == 1


BLANK = "x:a a y:Thing ; x:age 1 . x:b a y:Thing ; x:age 3 . [ a y:Thing ; x:age 5 ] . [ a y:Other ; x:age 0 ] ."


@pytest.mark.parametrize(
    ("asked", "found", "is_complete"),
    [
        ({"sort_by": "x:age", "limit": 2}, ["x:a", "x:b"], True),
        ({"sort_by": "-x:age", "limit": 1}, ["x:b"], False),
        ({"where": ["x:age < 4"]}, ["x:a", "x:b"], True),
        ({"where": ["x:age > 2"]}, ["x:b"], False),
        ({"where": ["x:age < 1"]}, [], True),
    ],
)
async def test_only_a_blank_node_that_may_belong_to_a_set_is_missing_from_it(
    asked: dict[str, Any], found: list[str], is_complete: bool
) -> None:
    async def hook(_: str) -> None: ...

    async with over(WatchedElsewhere(engine(BLANK), hook), Profile(size=ROOM)) as gateway:
        answer = await gateway.search_entities(node_types=["y:Thing"], **asked)
    assert [row[0] for row in answer.rows or ()] == found
    assert answer.complete is is_complete
    left_out = ["Not listed: blank nodes of these types, which cannot be followed."]
    assert [one for one in answer.warnings or () if "blank" in one] == ([] if is_complete else left_out)


@pytest.mark.parametrize(
    ("condition", "is_pushed"),
    [("x:span contains P1D", True), ("x:span starts P1D", True), ("x:span = P1D", False), ('x:span = "P1D"', True)],
)
async def test_only_what_is_compared_by_length_is_not_looked_for_as_it_is_written(
    condition: str, *, is_pushed: bool
) -> None:
    sent: list[str] = []

    async def hook(query: str) -> None:
        sent.append(query)

    graph = 'x:a a y:Thing ; x:span "P1D" . x:b a y:Thing ; x:span "PT1H" .'
    async with over(WatchedElsewhere(engine(graph), hook), Profile(size=ROOM)) as gateway:
        answer = await gateway.search_entities(node_types=["y:Thing"], where=[condition])
    assert [row[0] for row in answer.rows or ()] == ["x:a"]
    assert any('REGEX(?v, "(?:[Pp' in query for query in sent) is is_pushed
