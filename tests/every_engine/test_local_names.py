"""Nodes without a name are found by their local names: in a file, and on every engine by the query of all names."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pyoxigraph
import pytest

from gateway.api import open_gateway
from gateway.errors import DeadlinePassed, Fault, QueryRefused, QueryTooLong
from gateway.settings.profile import Profile
from gateway.terms.iri import LOCAL_NAME
from gateway.tools.gateway import Gateway
from tests.columns import BEHIND_HTTP, Asked, ColumnName
from tests.servers.unavailable import ServerUnavailable, skip_or_fail
from tests.shared_columns import shared_server
from tests.small import WatchedElsewhere, over

pytestmark = pytest.mark.anyio

GRAPH = """
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skosxl: <http://www.w3.org/2008/05/skos-xl#> .
@prefix b: <http://example.org/building#> .
@prefix p: <http://example.org/place/> .
b:ahu_A1 a b:AirHandler ; b:feeds b:vav_C180 .
b:vav_C180 a b:Box ; b:feeds b:room_C180 , b:roomPlan .
b:room_C180 a b:Room ; b:is b:Q42 .
b:hasSubSystem b:is b:room_C180 .
b:named rdfs:label "a name of its own" ; b:is b:room_C180 , b:by_label , b:pointed_at .
b:by_label skosxl:prefLabel b:l1 . b:l1 skosxl:literalForm "a label" .
p:K%C3%B6ln b:is b:room_C180 . p:Düsseldorf b:is b:room_C180 .
<http://example.org/building/> b:is b:room_C180 .
"""

FOUND = [
    ("room C180", ["building#room_C180"]),
    ("ROOM_c180", ["building#room_C180"]),
    ("hassubsystem", ["building#hasSubSystem"]),
    ("sub system", ["building#hasSubSystem"]),
    ("room", ["building#roomPlan", "building#room_C180"]),
    ("pointed", ["building#pointed_at"]),
    ("koln", ["place/K%C3%B6ln"]),
    ("dusseldorf", ["place/Düsseldorf"]),
    ("q42", ["building#Q42"]),
]
NOT_FOUND = ["named", "example", "q4", "org building room"]


async def _are_found(gateway: Gateway) -> None:
    await gateway.describe_schema()
    for query, expected in FOUND:
        answer = await gateway.search_entities(query)
        hits = [(gateway.prefixes.expand(hit.id), hit.match) for hit in answer.result]
        assert sorted(hits) == sorted((f"http://example.org/{node}", "id") for node in expected), query
        assert answer.complete
    for query in NOT_FOUND:
        assert (await gateway.search_entities(query)).result == [], query
    typed = await gateway.search_entities("room", ["Room"])
    assert [gateway.prefixes.expand(hit.id) for hit in typed.result] == ["http://example.org/building#room_C180"]
    assert (await gateway.describe_entity("room_C180")).warnings == ["'room_C180' is b:room_C180."]


async def test_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "graph.ttl"
    file.write_text(GRAPH, encoding="utf-8")
    async with open_gateway(str(file)) as gateway:
        await _are_found(gateway)


@pytest.fixture(scope="module", params=BEHIND_HTTP)
def asked(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, run_folder: Path
) -> Iterator[Mapping[str, Asked]]:
    """Return how the graph is asked for at an engine."""
    name: ColumnName = request.param
    file = tmp_path_factory.mktemp("local") / "graph.ttl"
    file.write_text(GRAPH, encoding="utf-8")
    try:
        with shared_server(name, run_folder / f"{name}-local-names", {"local": [file]}) as graphs:
            yield graphs
    except ServerUnavailable as error:
        skip_or_fail(error)


async def test_at_an_endpoint(asked: Mapping[str, Asked]) -> None:
    there = asked["local"]
    profile = there.settle(Profile(prefixes={"b": "http://example.org/building#"}))
    async with open_gateway(endpoint=there.endpoint, profile=profile) as gateway:
        await _are_found(gateway)


SMALL = "b:room_C180 b:is b:vav_C180 . b:named rdfs:label 'Room with a name' ; b:is b:room_C180 ."


def _small() -> pyoxigraph.Store:
    store = pyoxigraph.Store()
    prefixes = "PREFIX b: <http://example.org/building#> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> "
    store.load((prefixes + SMALL).encode(), pyoxigraph.RdfFormat.TURTLE)
    return store


async def test_a_search_without_hits_asks_an_endpoint_no_more_than_one_query_and_what_it_needs_once() -> None:
    sent = 0

    async def hook(_: str) -> None:
        nonlocal sent
        sent += 1

    async with over(WatchedElsewhere(_small(), hook)) as gateway:
        await gateway.describe_schema()
        await gateway.search_entities("qxzzyv")
        before = sent
        assert (await gateway.search_entities("another")).result == []
    assert sent - before == 1


@pytest.mark.parametrize("fault", [QueryRefused("No."), QueryTooLong("Too long."), DeadlinePassed("Late.")])
async def test_an_endpoint_that_cannot_compare_local_names_is_asked_for_names_alone(fault: Fault) -> None:
    refused = 0

    async def hook(query: str) -> None:
        nonlocal refused
        if LOCAL_NAME in query:
            refused += 1
            raise fault

    async with over(WatchedElsewhere(_small(), hook)) as gateway:
        for _ in range(4):
            (hit,) = (await gateway.search_entities("room")).result
            assert hit.name == "Room with a name"
            gateway.forget()
    assert refused <= len(("first", "second"))
