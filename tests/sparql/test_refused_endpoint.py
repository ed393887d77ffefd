"""A URL that refuses a query: it may be no endpoint, the refusal may pass, or only a short query may be sent."""

import asyncio

import pytest
from aiohttp import web

from gateway.api import open_gateway
from gateway.errors import Fault, NoQueryEndpoint, QueryRefused, QueryTooLong, ServerFailed
from gateway.flow.control import FlowControl
from gateway.graph.call import Call, Deadline
from gateway.settings.endpoint import EndpointSettings, RequestSettings
from gateway.settings.profile import Profile
from gateway.sparql.client import SparqlClient
from gateway.sparql.probes import LateralProbe
from gateway.transport.http import Http
from tests.transport.fake_endpoint import ALIVE, PAGES, FakeEndpoint, Handler, answering, fake_endpoint

pytestmark = pytest.mark.anyio

NOBODY = b'{"head":{"vars":["n"]},"results":{"bindings":[]}}'


async def answer(request: web.BaseRequest) -> web.StreamResponse:
    """Answer as an endpoint over an empty graph does."""
    query = str((await request.post()).get("query", "")) or request.query.get("query", "")
    return await answering(ALIVE if "?alive" in query else NOBODY)(request)


async def failing(_: web.BaseRequest) -> web.StreamResponse:
    """Answer as a server does that has broken down."""
    return web.Response(status=500)


def client(endpoint: FakeEndpoint) -> tuple[SparqlClient, Http]:
    http = Http(endpoint.url, max_bytes=100_000, flow=FlowControl(RequestSettings(retries=0)))
    return SparqlClient(http, Profile(endpoint=EndpointSettings(sentinel="none")), http.flow), http


async def existing(client: SparqlClient, nodes: int = 1, requests: int = 10) -> int:
    """Ask which nodes exist; return how many requests the call paid for."""
    call = Call(Deadline.after(20), requests, 1_000, 1_000)
    await client.rows("existing", call, {"nodes": [f"http://example.org/{n}" for n in range(nodes)]})
    return call.sent


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
async def test_a_page_is_no_endpoint_and_a_model_reads_no_address(page: Handler) -> None:
    async with fake_endpoint(page) as there, open_gateway(endpoint=there.url) as gateway:
        with pytest.raises(NoQueryEndpoint) as caught:
            await gateway.bfs_query(["http://example.org/a"], 1)
    assert str(caught.value).endswith("find the query endpoint with `bfsql-gateway check`.")
    assert "127.0.0.1" not in str(caught.value)


async def test_queries_at_once_are_sent_in_all_ways_once_with_one_short_query_more_and_later_ones_in_one() -> None:
    async with fake_endpoint(PAGES["404"]) as there:
        asking, http = client(there)
        asked = [existing(asking) for _ in range(4)]
        faults = await asyncio.gather(*asked, return_exceptions=True)
        with pytest.raises(NoQueryEndpoint):
            await existing(asking)
        await http.close()
    assert all(isinstance(fault, NoQueryEndpoint) for fault in faults)
    ways = [request.way for request in there.received]
    assert (ways.count("post"), ways.count("direct"), ways.count("get")) == (4 + 1 + 1, 1, 1)


async def test_a_long_query_finds_out_that_only_get_works_and_is_too_long_for_it() -> None:
    async def by_get(request: web.BaseRequest) -> web.StreamResponse:
        return await (answer if request.method == "GET" else PAGES["405"])(request)

    async with fake_endpoint(by_get) as there:
        asking, http = client(there)
        with pytest.raises(QueryTooLong):
            await existing(asking, nodes=2_000)
        assert await existing(asking) == 1
        await http.close()


async def test_a_refusal_that_passes_is_met_by_asking_again_and_paid() -> None:
    refusals = [True, True, True, False, False, True, False]

    async def refusing(request: web.BaseRequest) -> web.StreamResponse:
        return await (PAGES["404"] if refusals.pop(0) else answer)(request)

    async with fake_endpoint(refusing) as there:
        asking, http = client(there)
        # In all three ways, and once more after a short query.
        assert await existing(asking) == 4
        # It is known to be an endpoint, so no short query is sent before.
        assert await existing(asking) == 2
        await http.close()
    assert len(there.received) == 7


async def test_a_short_query_that_fails_for_a_while_is_sent_again_after_the_next_refusal() -> None:
    refusal = PAGES["404"]
    answers = [refusal, refusal, refusal, failing, refusal, answer, answer]

    async def recovering(request: web.BaseRequest) -> web.StreamResponse:
        return await answers.pop(0)(request)

    async with fake_endpoint(recovering) as there:
        asking, http = client(there)
        with pytest.raises(NoQueryEndpoint):
            await existing(asking)
        assert await existing(asking) == 2
        await http.close()
    assert not answers


async def test_a_call_that_pays_for_one_request_sends_no_second() -> None:
    async def refusing(request: web.BaseRequest) -> web.StreamResponse:
        return await (PAGES["404"] if len(there.received) == 1 else answer)(request)

    async with fake_endpoint(refusing) as there:
        asking, http = client(there)
        with pytest.raises(Fault, match="requests"):
            await existing(asking, requests=1)
        await http.close()


def failing_at(text: str, body: str) -> Handler:
    """Return an endpoint that answers queries with a text by an error of its own, as engines do that parse badly."""

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        query = str((await request.post()).get("query", ""))
        return web.Response(status=500, text=body) if text in query else await answer(request)

    return handle


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("Parse error at LATERAL\n\tat fr.inria.Parser.parse(Parser.java:1)", "'Parse error at LATERAL'"),
        ("\u202e" + "x" * 500, "characters)"),
        ("<html>Internal Server Error</html>", "refuses this query."),
        ("cannot connect to http://db.internal/", "refuses this query."),
        ("SPARQL-QUERY: queryStr=SELECT ?n WHERE { VALUES ?n }", "refuses this query."),
        ("java.lang.NullPointerException", "refuses this query."),
        ("", "refuses this query."),
    ],
)
async def test_an_error_of_an_endpoint_that_answers_others_is_a_refusal_in_its_words(body: str, said: str) -> None:
    async with fake_endpoint(failing_at("?n", body)) as there:
        asking, http = client(there)
        with pytest.raises(QueryRefused) as caught:
            await existing(asking)
        await http.close()
    assert said in caught.value.wrong
    assert "seeds" not in str(caught.value)
    assert not {"\u202e", "internal", "java"} & {*caught.value.wrong.split("."), *caught.value.wrong}


async def test_refusals_close_nothing_and_are_not_probed_again_and_again() -> None:
    async with fake_endpoint(failing_at("?n", "Parse error")) as there:
        asking, http = client(there)
        for _ in range(12):
            with pytest.raises(QueryRefused):
                await existing(asking)
        await http.close()
    assert len(there.received) == 12 + 1


async def test_lateral_is_probed_once_where_an_engine_answers_it_by_an_error() -> None:
    async with fake_endpoint(failing_at("LATERAL", "Parse error")) as there:
        asking, http = client(there)
        probe = LateralProbe(asking, Profile().endpoint)
        for _ in range(5):
            assert not await probe.is_supported(Call(Deadline.after(20), 10, 1_000, 1_000))
        await http.close()
    assert len(there.received) == 1 + 1


async def test_an_endpoint_that_answers_nothing_has_failed_and_refused_nothing() -> None:
    async with fake_endpoint(failing) as there:
        asking, http = client(there)
        with pytest.raises(ServerFailed):
            await existing(asking)
        await http.close()
