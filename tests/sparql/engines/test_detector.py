"""What getting to know an engine costs ordinary calls, and what it brings them."""

import asyncio
import contextlib
from collections.abc import Mapping

import pytest
from aiohttp import web

from gateway.answers.models import Subgraph
from gateway.api import open_gateway
from gateway.errors import Fault
from gateway.graph.call import Call, Deadline
from gateway.settings.endpoint import EndpointSettings, EngineName, QuotaSettings, TimeoutSettings
from gateway.settings.limits import LimitSettings, OrientationSettings
from gateway.settings.profile import Profile
from gateway.sparql.engines import EngineDetector
from gateway.sparql.store import SparqlStore
from gateway.stores.endpoints import connect
from tests.check.pretender import EX, Page, Pretender
from tests.servers.loopback import HOST
from tests.transport.fake_endpoint import FakeEndpoint, Handler, Received, answering, fake_endpoint

pytestmark = pytest.mark.anyio

PREFIXES = {"": EX}
FUSEKI = {"Fuseki-Request-Id": "1"}
VIRTUOSO = {"Server": "Virtuoso/07.20.3229 (Linux)"}
BLAZEGRAPH = {
    "/sparql": {
        "text": "<http://www.w3.org/ns/sparql-service-description#feature> <http://www.bigdata.com/rdf#/features/a>"
    }
}


def profile(
    engine: EngineName | None = None, *, limits: Mapping[str, object] | None = None, timeout: str = ""
) -> Profile:
    endpoint = (
        EndpointSettings(timeout=TimeoutSettings(parameter=timeout))
        if engine is None
        else EndpointSettings(engine=engine)
    )
    return Profile(prefixes=PREFIXES, endpoint=endpoint, limits=LimitSettings.model_validate(limits or {}))


async def explored(handler: Handler, settings: Profile, calls: int = 1) -> tuple[FakeEndpoint, list[Subgraph]]:
    """Explore through one gateway; return what the endpoint was asked, and the answers."""
    async with fake_endpoint(handler) as endpoint, open_gateway(endpoint=endpoint.url, profile=settings) as gateway:
        return endpoint, [await gateway.bfs_query([":a"], 1 + call % 2, topology_only=True) for call in range(calls)]


def looks(endpoint: FakeEndpoint) -> list[Received]:
    return [request for request in endpoint.received if request.method == "GET"]


def sent(endpoint: FakeEndpoint) -> list[dict[str, str]]:
    return [dict(request.form) for request in endpoint.received if request.method == "POST"]


async def test_a_process_looks_once_and_first() -> None:
    endpoint, answers = await explored(Pretender(FUSEKI), profile(), calls=3)
    assert looks(endpoint) == endpoint.received[:1]
    assert (looks(endpoint)[0].path, looks(endpoint)[0].headers["Accept"]) == ("/sparql", "text/turtle")
    assert all(answer.complete for answer in answers)


async def test_calls_at_the_same_time_look_once() -> None:
    async with (
        fake_endpoint(Pretender(FUSEKI)) as endpoint,
        open_gateway(endpoint=endpoint.url, profile=profile()) as gateway,
    ):
        await asyncio.gather(*(gateway.bfs_query([seed], 1) for seed in (":a", ":b", ":c")))
    assert len(looks(endpoint)) == 1


async def test_fuseki_gets_the_seconds_that_are_left_without_a_setting() -> None:
    endpoint, _ = await explored(Pretender(FUSEKI), profile())
    assert {1 <= int(form["timeout"]) <= 30 for form in sent(endpoint)} == {True}


async def test_blazegraph_gets_the_milliseconds_and_an_id_to_cancel_by() -> None:
    endpoint, _ = await explored(Pretender(pages=BLAZEGRAPH), profile())
    assert all("queryId" in form and "timeout" not in form for form in sent(endpoint))
    milliseconds = [
        request.headers["X-BIGDATA-MAX-QUERY-MILLIS"] for request in endpoint.received if request.method == "POST"
    ]
    assert all(1 <= int(text) <= 30_000 for text in milliseconds)


async def test_virtuoso_is_asked_below_the_row_cap_that_it_comes_with_and_gets_no_time_out() -> None:
    endpoint, _ = await explored(Pretender(VIRTUOSO), profile(timeout="timeout"))
    assert any("LIMIT 9001" in query for query in endpoint.queries)
    assert not any("LIMIT 50001" in query for query in endpoint.queries)
    assert all("timeout" not in form for form in sent(endpoint))


async def test_the_rows_that_a_profile_names_hold_on_virtuoso_too() -> None:
    endpoint, _ = await explored(Pretender(VIRTUOSO), profile(limits={"query_rows": 20_000}))
    assert any("LIMIT 20001" in query for query in endpoint.queries)


QLEVER = {"/sparql?cmd=stats": {"text": '{"name-index": "wikidata", "num-triples-normal": 10}'}}


async def test_qlever_is_recognised_by_its_statistics_where_nothing_else_names_an_engine() -> None:
    async with (
        fake_endpoint(Pretender(pages=QLEVER)) as endpoint,
        open_gateway(endpoint=endpoint.url, profile=Profile(prefixes=PREFIXES)) as gateway,
    ):
        await gateway.bfs_query([":a"], 1)
        # QLever knows how many triples it has, so it is asked even of a graph that is too large to count.
        sampled = Profile(prefixes=PREFIXES, orientation=OrientationSettings(glance_triples=1, enumeration_seconds=0))
        async with open_gateway(endpoint=endpoint.url, profile=sampled) as other:
            schema = await other.describe_schema()
    assert [request.path for request in looks(endpoint)] == ["/sparql", "/sparql?cmd=stats"] * 2
    assert schema.basis.share is not None


REPOSITORY = "/rdf4j-server/repositories/ds"
REPOSITORIES = "/rdf4j-server/rest/repositories"
LACKS_QUERY = {REPOSITORY: {"status": 400, "text": "Missing parameter: query"}}
OF_GRAPHDB = {REPOSITORIES: {"text": '[{"id": "ds", "type": "graphdb", "sesameType": "graphdb:SailRepository"}]'}}
COUNTED = EndpointSettings(quota=QuotaSettings(query_seconds_per_minute=60, query_seconds_burst=120))


async def recognised(pages: Mapping[str, Page], path: str, settings: EndpointSettings) -> tuple[EngineName, list[str]]:
    """Return the engine that is recognised before the first query, and the paths that were looked at for it."""
    async with fake_endpoint(Pretender(pages=pages)) as endpoint:
        http = connect(f"http://{HOST}:{endpoint.port}{path}", Profile(endpoint=settings))
        detector = EngineDetector(http, Profile(endpoint=settings), http.flow)
        await detector.detect(Call(Deadline.after(20), 2, 1, 1))
        await http.close()
    return detector.recognised.engine, [request.path for request in endpoint.received]


@pytest.mark.parametrize(
    ("pages", "path", "engine", "second"),
    [
        (LACKS_QUERY, REPOSITORY, "rdf4j", REPOSITORIES),
        (LACKS_QUERY | OF_GRAPHDB, REPOSITORY, "graphdb", REPOSITORIES),
        (LACKS_QUERY | {REPOSITORIES: {"status": 401}}, REPOSITORY, "unknown", REPOSITORIES),
        (LACKS_QUERY | {REPOSITORIES: {"text": "[]"}}, REPOSITORY, "unknown", REPOSITORIES),
        # A proxy may show a repository under a path of its own, and nothing beside it.
        ({"/sparql": LACKS_QUERY[REPOSITORY]}, "/sparql", "unknown", "/sparql?cmd=stats"),
        ({}, REPOSITORY, "unknown", f"{REPOSITORY}?cmd=stats"),
    ],
    ids=["RDF4J", "GraphDB", "one that shows it to nobody", "one of no repositories", "a proxy", "another engine"],
)
async def test_rdf4j_outside_of_jetty_and_graphdb_without_its_header_are_told_apart_by_the_second_look(
    pages: Mapping[str, Page], path: str, engine: EngineName, second: str
) -> None:
    assert await recognised(pages, path, EndpointSettings()) == (engine, [path, second])


@pytest.mark.parametrize(("pages", "path"), [(QLEVER, "/sparql"), (LACKS_QUERY, REPOSITORY)], ids=["QLever", "RDF4J"])
async def test_an_endpoint_whose_requests_are_counted_is_looked_at_once(pages: Mapping[str, Page], path: str) -> None:
    assert await recognised(pages, path, COUNTED) == ("unknown", [path])


async def test_a_second_look_that_fails_settles_that_the_engine_is_not_recognised() -> None:
    moved = {REPOSITORIES: {"status": 503, "headers": {"Retry-After": "0"}}}
    assert (await recognised(LACKS_QUERY | moved, REPOSITORY, EndpointSettings()))[0] == "unknown"


async def test_an_endpoint_that_is_not_recognised_is_asked_as_any() -> None:
    endpoint, (answer,) = await explored(Pretender(), profile())
    assert all(form.keys() == {"query"} for form in sent(endpoint))
    assert any("LIMIT 50001" in query for query in endpoint.queries)
    assert answer.complete


@pytest.mark.parametrize("engine", ["fuseki", "unknown"])
async def test_a_pinned_engine_is_not_looked_for(engine: EngineName) -> None:
    endpoint, _ = await explored(Pretender(VIRTUOSO), profile(engine))
    assert looks(endpoint) == []
    assert all(("timeout" in form) == (engine == "fuseki") for form in sent(endpoint))


@pytest.mark.parametrize(
    ("page", "times"),
    [({"status": 500}, 2), ({"status": 401}, 1), ({"status": 302, "headers": {"Location": "http://127.0.0.1:9/"}}, 1)],
)
async def test_an_endpoint_that_shows_nothing_still_answers(page: Mapping[str, object], times: int) -> None:
    endpoint, (answer,) = await explored(Pretender(pages={"/sparql": page}), profile())
    assert answer.complete
    assert len(looks(endpoint)) == times


async def test_an_endpoint_that_failed_when_looked_at_is_looked_at_again_later() -> None:
    pretender, now, is_starting = Pretender(FUSEKI), 0.0, True

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=500) if is_starting and request.method == "GET" else await pretender(request)

    async with (
        fake_endpoint(handle) as endpoint,
        open_gateway(endpoint=endpoint.url, profile=profile(), clock=lambda: now) as gateway,
    ):
        await gateway.bfs_query([":a"], 1)
        is_starting = False
        await gateway.bfs_query([":b"], 1)
        assert (len(looks(endpoint)), any("timeout" in form for form in sent(endpoint))) == (2, False)
        now = 31.0
        await gateway.bfs_query([":c"], 1)
        assert (len(looks(endpoint)), "timeout" in sent(endpoint)[-1]) == (3, True)


async def test_an_endpoint_that_hangs_when_looked_at_is_looked_at_twice_at_most_and_answers() -> None:
    pretender = Pretender()

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if request.method == "GET":
            await asyncio.Event().wait()
        return await pretender(request)

    settings = profile(limits={"deadline_seconds": 0.8, "schema_seconds": 0.8})
    endpoint, answers = await explored(handle, settings, calls=4)
    assert len(looks(endpoint)) <= 2
    assert answers[-1].complete


async def test_a_connection_that_breaks_when_looked_at_is_no_fault_of_a_call() -> None:
    pretender = Pretender()

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if request.method == "GET":
            assert request.transport is not None
            request.transport.abort()
        return await pretender(request)

    _, (answer,) = await explored(handle, profile())
    assert answer.complete


@pytest.mark.parametrize("pinned", [True, False])
async def test_a_pinned_lateral_is_not_asked_for(pinned: bool) -> None:
    settings = Profile(prefixes=PREFIXES, endpoint=EndpointSettings(engine="unknown", lateral=pinned))
    async with (
        fake_endpoint(Pretender()) as endpoint,
        open_gateway(endpoint=endpoint.url, profile=settings) as gateway,
    ):
        answer = await gateway.bfs_query([":a"], 1, max_edges_per_node=1)
    assert answer.edge_count == 1
    assert any("LATERAL" in query for query in endpoint.queries) == pinned
    assert not any("VALUES ?n { 1 2 }" in query for query in endpoint.queries)


async def test_a_call_never_sends_more_requests_than_its_budget_has_the_look_and_a_change_of_method_included() -> None:
    only_get = answering(b"", status=405)
    pretender = Pretender(FUSEKI)

    async def by_get_alone(request: web.BaseRequest) -> web.StreamResponse:
        return await (pretender if "query" in request.query or request.method == "GET" else only_get)(request)

    for handler in (pretender, by_get_alone):
        for requests in (1, 2, 3, 4):
            async with fake_endpoint(handler) as endpoint:
                store = SparqlStore(connect(endpoint.url, profile()), profile())
                call = Call(Deadline.after(10), requests, 1_000, 1_000)
                with contextlib.suppress(Fault):
                    await store.existing([f"{EX}a"], call)
                await store.close()
            assert len(endpoint.received) <= requests
            assert call.sent == len(endpoint.received)
