"""What is found out about an engine: which it is, how it reads IRIs, its ways of evidence, and what that costs."""

import asyncio
import contextlib
import json
import re
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import ClassVar, cast
from urllib.parse import unquote

import pyoxigraph
import pytest
from aiohttp import web

from gateway.answers.models import Subgraph
from gateway.api import open_gateway
from gateway.errors import EndpointFault, Fault, QueryRefused
from gateway.flow.control import FlowControl
from gateway.graph.call import Call, Deadline, Spend, unpaid
from gateway.graph.values import Edge
from gateway.settings.endpoint import EndpointSettings, EngineName, QuotaSettings, RequestSettings, TimeoutSettings
from gateway.settings.limits import LimitSettings, OrientationSettings
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import EdgeSettings, EvidenceSettings
from gateway.sparql.client import SparqlClient
from gateway.sparql.engines import TRAITS, EngineDetector, Recognised, recognise, timeout_policy
from gateway.sparql.evidence import FRESH_SECONDS
from gateway.sparql.store import SparqlStore
from gateway.stores.endpoints import connect
from gateway.transport.base import ProbeResponse, TimeoutPolicy
from tests.check.pretender import EX, Page, Pretender
from tests.servers.loopback import HOST
from tests.small import Watched, WatchedElsewhere, X, engine
from tests.transport.fake_endpoint import JSON, FakeEndpoint, Handler, Received, answering, fake_endpoint

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


@pytest.mark.slow
async def test_an_endpoint_that_hangs_when_looked_at_is_looked_at_twice_at_most_and_answers() -> None:
    pretender = Pretender()

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if request.method == "GET":
            await asyncio.Event().wait()
        return await pretender(request)

    # A quarter of it is the most that a look takes; the rest is enough for a query on a busy machine.
    settings = profile(limits={"deadline_seconds": 4, "schema_seconds": 4})
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


BLAZEGRAPH_TURTLE = """
_:service a <http://www.w3.org/ns/sparql-service-description#Service> ;
  <http://www.w3.org/ns/sparql-service-description#feature> <http://www.bigdata.com/rdf#/features/KB/Mode/Triples> .
"""
STATISTICS = json.dumps({"name-index": "wikidata", "num-triples-normal": 7, "num-triples-internal": 0})


def seen(text: str = "", status: int = 200, **headers: str) -> ProbeResponse:
    return ProbeResponse(status, {name.replace("_", "-"): value for name, value in headers.items()}, text)


@pytest.mark.parametrize(
    ("response", "engine", "version"),
    [
        (seen("Service Description: /ds", 404, fuseki_request_id="1"), "fuseki", ""),
        (seen(server="Virtuoso/07.20.3229 (Linux) x86_64-pc-linux-gnu  "), "virtuoso", "07.20.3229"),
        (seen(server="Oxigraph/0.5.13"), "oxigraph", "0.5.13"),
        (seen(BLAZEGRAPH_TURTLE, server="Jetty(9.4.z-SNAPSHOT)"), "blazegraph", ""),
        (seen('Build Version=<span id="buildVersion">2.1.5</span\n>'), "blazegraph", "2.1.5"),
        (seen(STATISTICS), "qlever", ""),
        (seen(server="GraphDB 6.0.7835, Forest 2.1.3, Sesame 2.7.8"), "graphdb", "6.0.7835"),
        (seen(server="GraphDB-Free/9.11.2 RDF4J/3.7.7"), "graphdb", "9.11.2"),
        (seen("Missing parameter: query", 400, server="GraphDB/10.8.4"), "graphdb", "10.8.4"),
        (seen("Missing parameter: query\n", 400, server="Jetty(9.4.58.v20250814)"), "rdf4j", ""),
        (seen("Missing parameter: query", 200, server="Jetty(9.4.58.v20250814)"), "unknown", ""),
        (seen("Missing parameter: query", 400), "unknown", ""),
        (seen('[{"id":"a","sesameType":"graphdb:FreeSailRepository"}]'), "graphdb", ""),
        (seen(server="Stardog/7.6.0"), "stardog", "7.6.0"),
        (seen("{}", 400, sd_error_code="000012"), "stardog", ""),
    ],
)
def test_an_engine_is_recognised_by_what_it_shows(response: ProbeResponse, engine: EngineName, version: str) -> None:
    recognised = recognise([response])
    assert (recognised.engine, recognised.version) == (engine, version)
    assert recognised.evidence


@pytest.mark.parametrize(
    "response",
    [
        seen(),
        seen("<html>Powered by Virtuoso, Fuseki, Blazegraph and GraphDB</html>", server="nginx/1.25"),
        seen("http://www.bigdata.com/rdf#/features/ is mentioned, in no service description"),
        seen(server="NotVirtuoso/7"),
        seen(server="Jetty(9.4.z-SNAPSHOT)"),
        seen("[" * 100_000),
        seen('[{"id":"a","sesameType":"openrdf:SailRepository"}]'),
        seen('<html>"sesameType":"graphdb:SailRepository"</html>'),
        seen('"name-index, num-triples-normal"'),
        seen('["name-index", "num-triples-normal"]'),
        seen('{"name-index": "only one of the two"}'),
    ],
)
def test_what_names_no_engine_is_no_evidence(response: ProbeResponse) -> None:
    assert recognise([response]).engine == "unknown"
    assert recognise([response]).evidence


def test_nothing_seen_is_no_evidence() -> None:
    assert recognise([]) == Recognised("unknown", evidence="nothing that it shows names an engine")


def test_evidence_that_contradicts_itself_is_none() -> None:
    recognised = recognise([seen(fuseki_request_id="1", server="Virtuoso/07.20.3229")])
    assert recognised.engine == "unknown"
    assert "fuseki and of virtuoso" in recognised.evidence


def test_what_is_seen_in_several_places_is_put_together() -> None:
    recognised = recognise([seen(BLAZEGRAPH_TURTLE), seen('<span id="buildVersion">2.1.5</span>')])
    assert (recognised.engine, recognised.version) == ("blazegraph", "2.1.5")
    assert recognised.evidence == "features in its service description; its status page"
    assert recognised.version_evidence == "its status page"


def test_a_version_is_short_and_plain_whatever_the_header_holds() -> None:
    recognised = recognise([seen(server="Virtuoso/7\x1b[31m" + "9" * 1000)])
    assert recognised.version == "7"


def test_the_traits_of_every_engine_that_a_profile_can_pin_are_known() -> None:
    assert all(timeout_policy(TimeoutSettings(), engine) == TRAITS[engine].timeout_policy for engine in TRAITS)


def test_fuseki_and_blazegraph_receive_the_time_that_is_left_each_in_its_way() -> None:
    assert timeout_policy(TimeoutSettings(), "fuseki") == TimeoutPolicy(timeout_parameter="timeout")
    assert timeout_policy(TimeoutSettings(), "blazegraph") == TimeoutPolicy(
        timeout_header="X-BIGDATA-MAX-QUERY-MILLIS", timeout_unit="milliseconds", cancel_by_id=True
    )


def test_the_profile_wins_over_what_is_known_of_an_engine() -> None:
    given = TimeoutSettings(parameter="maxQueryTimeMillis", unit="milliseconds")
    assert timeout_policy(given, "blazegraph") == TimeoutPolicy(
        timeout_parameter="maxQueryTimeMillis", timeout_unit="milliseconds", cancel_by_id=True
    )


def test_virtuoso_never_receives_a_time_out_because_it_would_answer_in_part() -> None:
    assert timeout_policy(TimeoutSettings(parameter="timeout"), "virtuoso") == TimeoutPolicy()


KEPT, REWRITTEN, REFUSED = "http://EX.org/kept", "http://e.org/a/../b", "http://E.org/%zz"


class Rewriting:
    """An engine that resolves dot segments, and refuses a bad percent sign."""

    async def select(self, query: str, _deadline: Deadline, _spend: Spend = unpaid, /) -> bytes:
        """Say how the IRIs of a query are read."""
        if "%zz" in query:
            raise QueryRefused("No IRI.")
        read = [iri.replace("/a/../", "/") for iri in re.findall("<(.*?)>", query)]
        rows = [{"n": {"type": "uri", "value": iri}} for iri in read]
        return json.dumps({"head": {"vars": ["n"]}, "results": {"bindings": rows}}).encode()

    async def close(self) -> None:
        """Let go of nothing."""


@pytest.mark.parametrize("query_rows", [1, 2, 1_000])
async def test_a_refused_iri_does_not_hide_one_that_is_rewritten(query_rows: int) -> None:
    client = SparqlClient(Rewriting(), Profile(), FlowControl(RequestSettings()))
    client.query_rows = query_rows
    call = Call(Deadline.after(60), 100, 1_000, 1_000)
    faults = await client.rewritten(["http://e.org/plain", KEPT, REFUSED, REWRITTEN], call)
    assert faults.keys() == {REFUSED, REWRITTEN}
    sent = call.sent
    assert (await client.rewritten([KEPT, REWRITTEN], call)).keys() == {REWRITTEN}
    assert call.sent == sent


class Noting(str):
    """An IRI that notes which threads look at its characters."""

    __slots__ = ()
    threads: ClassVar[set[threading.Thread]] = set()

    def isascii(self) -> bool:
        """Note the thread."""
        self.threads.add(threading.current_thread())
        return super().isascii()


async def test_many_iris_are_looked_at_beside_the_event_loop() -> None:
    Noting.threads.clear()
    client = SparqlClient(Rewriting(), Profile(), FlowControl(RequestSettings()))
    call = Call(Deadline.after(60), 100, 1_000, 1_000)
    many = [Noting(f"urn:x:{number}") for number in range(5_000)]
    assert (await client.rewritten([*many, KEPT, REWRITTEN], call)).keys() == {REWRITTEN}
    assert call.sent == 1
    assert Noting.threads
    assert threading.current_thread() not in Noting.threads


ESCAPED = ["http://ex.org/odd/a%3Ab", "http://ex.org/plain"]
GRAPH = "<http://ex.org/odd/a%3Ab> <http://ex.org/p> <http://ex.org/plain> ."


@asynccontextmanager
async def decoding_twice(*, takes_body: bool) -> AsyncIterator[FakeEndpoint]:
    """Serve a graph by an engine that nothing names, and that decodes a form twice."""
    store = pyoxigraph.Store()
    store.load(GRAPH.encode(), pyoxigraph.RdfFormat.N_TRIPLES)

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if request.content_type == "application/sparql-query":
            if not takes_body:
                return web.Response(status=415)
            query = await request.text()
        else:
            query = unquote(str((await request.post()).get("query", "")))
        if not query:
            return web.Response(status=404)
        found = cast("pyoxigraph.QuerySolutions", store.query(query))
        return web.Response(body=found.serialize(format=pyoxigraph.QueryResultsFormat.JSON), content_type=JSON)

    async with fake_endpoint(handle) as endpoint:
        yield endpoint


async def test_where_a_form_is_decoded_twice_queries_are_sent_as_they_are() -> None:
    async with decoding_twice(takes_body=True) as there, open_gateway(endpoint=there.url) as gateway:
        found = await gateway.bfs_query([ESCAPED[1]], 2)
        described = await gateway.describe_entity(ESCAPED[0])
    assert found.complete
    assert {gateway.prefixes.expand(node.id) for node in found.nodes} == {*ESCAPED}
    assert described.complete
    assert there.received[-1].headers["Content-Type"].startswith("application/sparql-query")


async def test_where_it_takes_nothing_else_no_answer_about_an_escaped_iri_is_complete() -> None:
    async with decoding_twice(takes_body=False) as there, open_gateway(endpoint=there.url) as gateway:
        found = await gateway.bfs_query([ESCAPED[1]], 2)
        with pytest.raises(Fault):
            await gateway.describe_entity(ESCAPED[0])
    assert not found.complete
    types = [request.headers.get("Content-Type", "").partition(";")[0] for request in there.received]
    assert types[-1] == "application/x-www-form-urlencoded"
    # A query and a harmless one.
    assert types.count("application/sparql-query") == 2


USUAL = "x:a x:p x:b {| x:confidence 0.5 |} ."
EDGE = Edge(f"{X}a", f"{X}p", f"{X}b")
SINGLETON = "singletonPropertyOf> ?general"
ASSOCIATION = "w3id.org/biolink/vocab/subject> ?as"


class Asked:
    """Notes the queries of a store, and fails those that it is told to."""

    def __init__(self, turtle: str, profile: Profile | None = None) -> None:
        self.queries: list[str] = []
        self.failing: Callable[[str], bool] = lambda _: False
        self.now = 0.0
        self.transport = Watched(engine(turtle), self._note)
        self.store = SparqlStore(self.transport, profile or Profile())

    async def _note(self, query: str) -> None:
        self.queries.append(query)
        if self.failing(query):
            raise EndpointFault("Not now.")

    def call(self) -> Call:
        """Return a budget on a clock that stands still."""
        return Call(Deadline.after(30, lambda: self.now), requests=50, rows=1_000, nodes=1_000)

    async def hop(self) -> str:
        """Ask for the edges of a node and return the query about them."""
        await self.store.edges([EDGE.subject], self.call())
        return self.queries[-1]

    @property
    def probes(self) -> int:
        """How often the ways in use were detected."""
        return sum("?way" in query for query in self.queries)


async def test_a_usual_graph_is_asked_for_edges_without_a_word_of_singleton_properties_and_associations() -> None:
    query = await Asked(USUAL).hop()
    assert SINGLETON not in query
    assert ASSOCIATION not in query
    assert "rdf-syntax-ns#reifies>" in query


@pytest.mark.parametrize(
    ("turtle", "expected"),
    [
        ("x:p1 rdf:singletonPropertyOf x:p .", SINGLETON),
        ("x:a1 <https://w3id.org/biolink/vocab/subject> x:a .", ASSOCIATION),
    ],
)
async def test_a_graph_with_such_evidence_has_it_excluded(turtle: str, expected: str) -> None:
    assert expected in await Asked(USUAL + turtle).hop()


async def test_it_is_looked_once_and_again_when_the_answer_has_grown_old() -> None:
    asked = Asked(USUAL)
    for _ in range(3):
        await asked.hop()
    assert asked.probes == 1
    asked.now = FRESH_SECONDS + 1
    await asked.hop()
    assert asked.probes == 2


async def test_where_it_cannot_be_detected_everything_is_excluded_and_edges_still_come() -> None:
    asked = Asked(USUAL)
    asked.failing = lambda query: "?way" in query
    query = await asked.hop()
    assert SINGLETON in query
    assert ASSOCIATION in query
    await asked.hop()
    assert asked.probes == 1


async def test_evidence_that_could_not_be_looked_for_is_a_fault_of_the_edge_and_is_looked_for_again() -> None:
    asked = Asked(USUAL)
    asked.failing = lambda query: "?way" in query
    evidence = await asked.store.edge_metadata([EDGE], asked.call())
    assert not evidence[EDGE].mark.answered
    asked.failing = lambda _: False
    evidence = await asked.store.edge_metadata([EDGE], asked.call())
    assert evidence[EDGE].mark.whole
    assert len(evidence[EDGE].assertions) == 1


async def test_ways_that_the_profile_names_are_believed_and_not_looked_for() -> None:
    asked = Asked(USUAL, Profile(evidence=EvidenceSettings(ways=("statements", "singleton_properties"))))
    query = await asked.hop()
    assert SINGLETON in query
    assert ASSOCIATION not in query
    assert (await asked.store.edge_metadata([EDGE], asked.call()))[EDGE].assertions == ()
    assert asked.probes == 0


async def test_a_profile_without_evidence_nodes_pays_nothing_for_edges() -> None:
    asked = Asked(USUAL, Profile(edges=EdgeSettings(evidence_nodes=False)))
    assert "NOT EXISTS" not in await asked.hop()
    assert asked.probes == 0


async def test_an_engine_that_refuses_named_graphs_loses_no_other_evidence() -> None:
    refused = []

    async def hook(query: str) -> None:
        if "GRAPH" in query:
            refused.append(query)
            raise QueryRefused("No named graphs here.")

    store = SparqlStore(WatchedElsewhere(engine(USUAL), hook), Profile(endpoint=EndpointSettings(graphs="union")))
    call = Call(Deadline.after(30), requests=50, rows=1_000, nodes=1_000)
    evidence = await store.edge_metadata([EDGE], call)
    assert len(refused) == 1
    assert evidence[EDGE].mark.whole
    assert len(evidence[EDGE].assertions) == 1
