"""Nodes without a name are found by their local names: in a file, and on every engine by the query of all names."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyoxigraph
import pytest

from gateway.api import open_gateway
from gateway.errors import DeadlinePassed, EndpointFault, Fault, QueryRefused, QueryTooLong
from gateway.settings.profile import Profile
from gateway.sparql.store import SparqlStore
from gateway.terms.iri import LOCAL_NAME
from gateway.terms.prefixes import PrefixMap
from gateway.tools.entity_finder import LOCAL_NAMES_NOT_COMPARED
from gateway.tools.gateway import Gateway
from gateway.transport.base import Transport
from tests.clocks import Clock
from tests.columns import BEHIND_HTTP
from tests.servers.engines import Asked, ColumnName, shared_server
from tests.servers.unavailable import ServerUnavailable, skip_or_fail
from tests.small import PREFIXES, WatchedElsewhere, over

pytestmark = pytest.mark.anyio

GRAPH = """
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skosxl: <http://www.w3.org/2008/05/skos-xl#> .
@prefix b: <http://example.org/building#> .
@prefix p: <http://example.org/place/> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
b:ahu_A1 a b:AirHandler ; b:feeds b:vav_C180 .
b:vav_C180 a b:Box ; b:feeds b:room_C180 , b:roomPlan .
b:room_C180 a b:Room ; b:is b:Q42 .
b:hasSubSystem b:is b:room_C180 .
b:named rdfs:label "a name of its own" ; b:is b:room_C180 , b:by_label , b:pointed_at .
b:by_label skosxl:prefLabel b:l1 . b:l1 skosxl:literalForm "a label" .
p:K%C3%B6ln b:is b:room_C180 . p:Düsseldorf b:is b:room_C180 .
<http://example.org/building/> b:is b:room_C180 .
b:old_city b:is b:room_C180 . <http://example.org/shelf?at=a/b#> b:is b:room_C180 .
b:with_parts foaf:givenName "Ada" ; foaf:familyName "Lovelace" ; b:is b:room_C180 .
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
    ("cities", ["building#old_city"]),
    ("shelves", ["shelf?at=a/b#"]),
]
NOT_FOUND = ["named", "example", "q4", "org building room"]


async def are_found(
    gateway: Gateway, found: Sequence[tuple[str, list[str]]] = FOUND, type_of_room: str = "Room"
) -> None:
    await gateway.describe_schema()
    for query, expected in found:
        answer = await gateway.search_entities(query)
        hits = [(gateway.prefixes.expand(hit.id), hit.match) for hit in answer.result]
        assert sorted(hits) == sorted((f"http://example.org/{node}", "id") for node in expected), query
        assert answer.complete
    for query in NOT_FOUND:
        assert (await gateway.search_entities(query)).result == [], query
    typed = await gateway.search_entities("room", [type_of_room])
    assert [gateway.prefixes.expand(hit.id) for hit in typed.result] == ["http://example.org/building#room_C180"]


async def test_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "graph.ttl"
    file.write_text(GRAPH, encoding="utf-8")
    async with open_gateway(str(file)) as gateway:
        await are_found(gateway)
        assert (await gateway.describe_entity("room_C180")).warnings == ["'room_C180' is b:room_C180."]


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
        await are_found(gateway)
        assert (await gateway.describe_entity("room_C180")).warnings == ["'room_C180' is b:room_C180."]


SMALL = "b:room_C180 b:is b:vav_C180 . b:named rdfs:label 'Room with a name' ; b:is b:room_C180 ."


def _small(turtle: str = SMALL) -> pyoxigraph.Store:
    store = pyoxigraph.Store()
    prefixes = (
        "PREFIX b: <http://example.org/building#> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> "
        "PREFIX foaf: <http://xmlns.com/foaf/0.1/> "
    )
    store.load((prefixes + turtle).encode(), pyoxigraph.RdfFormat.TURTLE)
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
            answer = await gateway.search_entities("room")
            assert [hit.name for hit in answer.result] == ["Room with a name"]
            assert not answer.complete
            assert answer.searched is not None
            assert LOCAL_NAMES_NOT_COMPARED in answer.searched.how
            gateway.forget()
    assert refused == 1


def _with_clock(transport: Transport, clock: Clock) -> Gateway:
    profile = Profile()
    return Gateway(SparqlStore(transport, profile, clock=clock), profile, PrefixMap(PREFIXES))


NAMED = "b:a rdfs:label 'Room A' ; b:is b:c . b:c rdfs:label 'Room C' ."


async def test_where_every_node_has_a_name_no_local_name_is_missing() -> None:
    async def hook(query: str) -> None:
        if LOCAL_NAME in query:
            raise QueryRefused("No.")

    async with over(WatchedElsewhere(_small(NAMED), hook)) as gateway:
        answer = await gateway.search_entities("room")
    assert (len(answer.result), answer.complete, answer.searched) == (2, True, None)


@pytest.mark.parametrize("mark", [LOCAL_NAME, "urn:bfs-ql:all"])
async def test_what_fails_for_another_reason_or_was_long_ago_is_tried_again(mark: str) -> None:
    clock, is_failing = Clock(), True

    async def hook(query: str) -> None:
        if is_failing and mark in query:
            raise EndpointFault("Busy.")

    async with _with_clock(WatchedElsewhere(_small(), hook), clock) as gateway:
        for _ in range(3):
            assert not (await gateway.search_entities("room")).complete
        is_failing = False
        clock.now += 301.0
        gateway.forget()
        answer = await gateway.search_entities("room")
    assert (len(answer.result), answer.complete) == (2, True)


async def test_one_fault_that_passes_costs_one_search_its_local_names() -> None:
    sent = 0

    async def hook(query: str) -> None:
        nonlocal sent
        if LOCAL_NAME in query:
            sent += 1
            if sent % 2:
                raise EndpointFault("Busy.")

    async with over(WatchedElsewhere(_small(), hook)) as gateway:
        found = []
        for _ in range(6):
            answer = await gateway.search_entities("room")
            found.append((len(answer.result), answer.complete))
            gateway.forget()
    assert found == [(1, False), (2, True)] * 3


async def test_a_graph_of_more_triples_has_its_names_compared_alone_and_says_so() -> None:
    more = "\n".join(f"b:k{number} b:p {number} ." for number in range(50_001))
    async with over(WatchedElsewhere(_small(SMALL + more), _nothing)) as gateway:
        answer = await gateway.search_entities("room")
        described = await gateway.describe_entity("Room with a name")
    assert (len(answer.result), answer.complete) == (1, False)
    # An entity of this name comes before those of this local name.
    assert described.id.endswith("named")


async def _nothing(_: str) -> None:
    pass


async def test_no_local_name_is_compared_where_no_names_are_to_be() -> None:
    async def hook(query: str) -> None:
        assert LOCAL_NAME not in query

    profile = Profile()
    profile = profile.model_copy(update={"search": profile.search.model_copy(update={"scan_triples": 0})})
    async with over(WatchedElsewhere(_small("b:room_1 b:is b:x2 ."), hook), profile) as gateway:
        answer = await gateway.search_entities("room")
    assert (answer.result, answer.complete) == ([], False)


PEOPLE = """
b:p1 foaf:givenName "Ada" ; foaf:familyName "Lovelace" ; b:is b:q . b:q rdfs:label "Ada room" .
b:p2 foaf:givenName "Bob" ; foaf:familyName "Ross" ; b:is b:q .
"""


async def test_a_query_that_is_too_long_loses_local_names_before_given_and_family_names() -> None:
    async def hook(query: str) -> None:
        if LOCAL_NAME in query:
            raise QueryTooLong("Too long.")

    async with over(WatchedElsewhere(_small(PEOPLE), hook)) as gateway:
        for _ in range(2):
            assert [hit.name for hit in (await gateway.search_entities("ada lovelace")).result] == ["Ada Lovelace"]
            gateway.forget()


async def test_a_node_with_a_given_and_a_family_name_has_a_name() -> None:
    async with over(WatchedElsewhere(_small(PEOPLE), _nothing)) as gateway:
        assert [hit.name for hit in (await gateway.search_entities("lovelace")).result] == ["Ada Lovelace"]
        assert (await gateway.search_entities("p1")).result == []
