"""The first nodes of a type by a number, at an endpoint that orders them."""

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
    return [row[0] for row in answer.rows or ()], [query for query in sent if "ORDER BY (" in query]


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
