"""Questions about values while a part of what they rest on cannot be read: no answer claims to be complete."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from gateway.answers.models import CompactAnswer
from gateway.errors import DeadlinePassed, EndpointFault, InputError
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import TypeSettings
from gateway.sparql.table import UnexpectedRows
from gateway.tools.gateway import Gateway
from gateway.tools.member_names import values_unread
from tests.small import ROOM, Watched, engine, over

pytestmark = pytest.mark.anyio

GRAPH = """
y:Drill rdfs:subClassOf y:Tool .
x:a a y:Tool ; rdfs:label "Zange" ; x:weight 3 ; x:maker x:m .
x:b a y:Drill ; rdfs:label "Ahle" ; x:weight 1 ; x:maker x:n .
x:c a y:Tool ; rdfs:label "Meissel" ; x:weight 2 ; x:maker x:m .
x:m a y:Maker ; rdfs:label "Zulu" . x:n a y:Maker ; rdfs:label "Alpha" .
"""
SUBCLASSES = "?class ?p ?n"
NAMES = "?n ?p ?v"
"""Parts of the queries for subclasses, and for types and names."""

WALKS = " AS ?text)"


@asynccontextmanager
async def failing(*parts: str) -> AsyncIterator[Gateway]:
    """Open a gateway that has read the schema, and whose queries with some parts fail from now on."""
    failed: list[str] = []

    async def hook(query: str) -> None:
        if any(part in query for part in failed):
            raise EndpointFault("The endpoint's answer is no whole SPARQL JSON.")

    profile = Profile(size=ROOM, types=TypeSettings(subclass_of=("http://www.w3.org/2000/01/rdf-schema#subClassOf",)))
    async with over(Watched(engine(GRAPH), hook), profile) as gateway:
        await gateway.describe_schema()
        await gateway.wait_for_schema()
        gateway.forget()
        failed.extend(parts)
        yield gateway


async def asked(gateway: Gateway, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = await gateway.call(tool, arguments, shape="compact")
    assert isinstance(answer, CompactAnswer)
    return dict(answer.written)


async def test_a_set_of_a_type_whose_subclasses_are_unread_is_not_complete() -> None:
    async with failing(SUBCLASSES) as gateway:
        answer = await asked(gateway, "search_entities", node_types=["Tool"], values=["x:weight"])
    assert answer["found"] == 2
    assert not answer["complete"], answer
    assert "subclasses of y:Tool" in answer["warnings"][0]


async def test_a_condition_about_a_type_whose_subclasses_are_unread_is_the_fault() -> None:
    async with failing(SUBCLASSES) as gateway:
        with pytest.raises(EndpointFault):
            await asked(gateway, "search_entities", node_types=["Maker"], where=["type != Tool"])


@pytest.mark.parametrize("sort_by", ["name", "x:maker", "x:weight"])
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search_entities", {"node_types": ["Tool"]}),
        ("bfs_query", {"seeds": ["x:m", "x:n"], "max_hops": 1, "only_predicates": [["^x:maker"]], "edges": False}),
    ],
)
async def test_an_order_by_what_is_unread_is_not_complete(tool: str, arguments: dict[str, Any], sort_by: str) -> None:
    async with failing(WALKS if sort_by == "x:weight" else NAMES) as gateway:
        answer = await asked(gateway, tool, **arguments, sort_by=sort_by, limit=1, show="id")
    assert answer["found"] == 3
    assert not answer["complete"], answer
    assert "these may stand elsewhere" in str(answer)


@pytest.mark.parametrize("values", [["name"], ["x:maker"]])
async def test_cells_whose_names_are_unread_are_not_all_there(values: list[str]) -> None:
    async with failing(NAMES) as gateway:
        show = "id" if values == ["name"] else "name"
        answer = await asked(gateway, "search_entities", node_types=["Tool"], values=values, show=show)
    assert answer["complete"]
    assert answer["values_complete"] is False


async def test_seeds_of_an_intersection_that_may_qualify_make_it_incomplete() -> None:
    both = {"seeds": ["x:a", "x:c"], "k": 1, "only_predicates": [["x:maker/^x:maker"]] * 2, "edges": False}
    async with failing("<https://example.org/x/weight>") as gateway:
        answer = await asked(gateway, "intersect_subgraphs", **both, where=["x:weight > 0"])
    assert not answer["complete"], answer


async def test_a_name_of_a_predicate_is_not_unknown_while_predicates_are_unread() -> None:
    async with failing("SELECT") as gateway:
        with pytest.raises(EndpointFault):
            await asked(gateway, "search_entities", node_types=["Tool"], where=["nothing > 1"])


def test_any_fault_says_that_predicates_of_values_are_unread() -> None:
    assert isinstance(values_unread(UnexpectedRows()), EndpointFault)
    assert "could not all be read" in str(values_unread(DeadlinePassed("The time is used up.")))


async def test_a_name_that_no_predicate_has_is_an_error_of_the_caller() -> None:
    async with failing() as gateway:
        with pytest.raises(InputError, match="No predicate of this graph is called 'nothing'"):
            await asked(gateway, "search_entities", node_types=["Tool"], where=["nothing > 1"])
