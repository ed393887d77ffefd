"""GET where POST is refused, what is left of the deadline, and cancelling by ID."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from urllib.parse import urlsplit

import pytest
from aiohttp import web
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.errors import AnswerCut, Fault, NoQueryEndpoint, QueryTooLong, Throttled
from gateway.flow.control import FlowControl
from gateway.graph.call import Deadline
from gateway.settings.endpoint import RequestSettings, SendingMethod
from gateway.transport.base import TimeoutPolicy
from gateway.transport.http import Http
from tests.examples import examples
from tests.transport.fake_endpoint import (
    EMPTY,
    FakeEndpoint,
    Handler,
    Hanging,
    answering,
    fake_endpoint,
    in_turn,
    time_runs_out,
)

pytestmark = pytest.mark.anyio

QUERY = "SELECT ?x { ?x ?p ?o }"
PATIENCE = 20
BLAZEGRAPH = TimeoutPolicy(timeout_header="X-BIGDATA-MAX-QUERY-MILLIS", timeout_unit="milliseconds", cancel_by_id=True)


@asynccontextmanager
async def asking(
    handler: Handler,
    *,
    method: SendingMethod = "auto",
    timeout_policy: TimeoutPolicy | None = None,
    graphs: tuple[str, ...] = (),
    query_string: str = "",
) -> AsyncIterator[tuple[Http, FakeEndpoint]]:
    async with asyncio.timeout(PATIENCE), fake_endpoint(handler) as endpoint:
        transport = Http(
            endpoint.url + query_string,
            max_bytes=100_000,
            method=method,
            timeout_policy=timeout_policy,
            graphs=graphs,
            flow=FlowControl(RequestSettings(concurrency=2)),
        )
        try:
            yield transport, endpoint
        finally:
            await transport.close()


async def ask(transport: Http, query: str = QUERY) -> bytes:
    return await transport.select(query, Deadline.after(PATIENCE))


def only_by_get(refusal: Handler) -> Handler:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        return await (answering() if request.method == "GET" else refusal)(request)

    return handle


REFUSALS = {
    "405": answering(b"", status=405),
    "501": answering(b"", status=501),
    "an HTML form": answering(b"<html>", content_type="text/html"),
}


def ways(endpoint: FakeEndpoint) -> list[str]:
    return [request.way for request in endpoint.received]


@pytest.mark.parametrize(
    ("refusal", "tried"),
    [
        (answering(b"", status=404), ["post", "direct"]),
        (answering(b"", status=405), ["post", "direct"]),
        (answering(b"", status=415), ["post", "direct"]),
        (answering(b"", status=501), ["post"]),
        (answering(b"<html>", content_type="text/html"), ["post"]),
    ],
    ids=["404", "405", "415", "501", "an HTML form"],
)
async def test_an_endpoint_that_refuses_post_is_asked_by_get_from_then_on(refusal: Handler, tried: list[str]) -> None:
    async with asking(only_by_get(refusal)) as (transport, endpoint):
        for _ in range(3):
            assert await ask(transport) == EMPTY
        assert transport.method == "get"
    assert ways(endpoint) == [*tried, "get", "get", "get"]
    assert endpoint.queries == [QUERY] * len(endpoint.received)


def only_directly(refusal: Handler) -> Handler:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        is_direct = request.content_type == "application/sparql-query"
        return await (answering() if is_direct else refusal)(request)

    return handle


@pytest.mark.parametrize("status", [404, 405, 415])
async def test_an_endpoint_that_refuses_forms_is_sent_the_query_itself_from_then_on(status: int) -> None:
    graphs = ("http://example.org/g?a=1&b=2", "http://example.org/a")
    async with asking(
        only_directly(answering(b"", status=status)), timeout_policy=TimeoutPolicy("timeout"), graphs=graphs
    ) as (transport, endpoint):
        for _ in range(3):
            assert await ask(transport) == EMPTY
        assert transport.method == "direct"
        assert await transport.over_all_graphs().select(QUERY, Deadline.after(PATIENCE)) == EMPTY
    assert ways(endpoint) == ["post", "direct", "direct", "direct", "direct"]
    beside = (*(("default-graph-uri", graph) for graph in graphs), ("timeout", "20"))
    assert [request.form for request in endpoint.received] == [(("query", QUERY), *beside)] * 4 + [
        (("query", QUERY), ("timeout", "20"))
    ]


async def test_a_long_query_is_sent_whole_as_the_body_of_a_post() -> None:
    long = QUERY + " #  x" + "x" * 200_000
    async with asking(answering(), method="direct") as (transport, endpoint):
        assert await ask(transport, long) == EMPTY
    assert endpoint.queries == [long]
    assert ways(endpoint) == ["direct"]


async def test_queries_at_once_find_the_way_together() -> None:
    async with asking(only_by_get(REFUSALS["405"])) as (transport, endpoint):
        answers = await asyncio.gather(*(ask(transport) for _ in range(4)))
    assert answers == [EMPTY] * 4
    assert ways(endpoint).count("direct") == 1
    assert ways(endpoint).count("get") == 4


async def test_a_query_that_is_refused_in_another_way_settles_no_way() -> None:
    syntax = answering(b"syntax", status=400)
    handlers = [REFUSALS["405"], syntax, REFUSALS["405"], REFUSALS["405"], answering()]
    async with asking(in_turn(handlers)) as (transport, endpoint):
        with pytest.raises(NoQueryEndpoint):
            await ask(transport)
        assert await ask(transport) == EMPTY
        assert transport.method == "direct"
    assert ways(endpoint) == ["post", "direct", "get", "post", "direct"]


@pytest.mark.parametrize("method", ["post", "direct", "get"])
async def test_a_method_that_the_profile_names_is_the_only_one(method: SendingMethod) -> None:
    refusing = answering(b"", status=405)
    async with asking(refusing, method=method) as (transport, endpoint):
        with pytest.raises(NoQueryEndpoint):
            await ask(transport)
    assert ways(endpoint) == [method]


async def test_a_url_that_takes_no_query_in_any_way_is_asked_in_all_ways_once_a_minute() -> None:
    now = 0.0
    async with fake_endpoint(answering(b"", status=404)) as endpoint:
        transport = Http(
            endpoint.url, max_bytes=100_000, flow=FlowControl(RequestSettings(concurrency=2), clock=lambda: now)
        )
        for now in (0.0, 59.0, 60.0):  # noqa: B007 - it is the clock
            with pytest.raises(NoQueryEndpoint, match="no SPARQL query endpoint"):
                await ask(transport)
        await transport.close()
    assert ways(endpoint) == ["post", "direct", "get", "post", "post", "direct", "get"]


async def test_a_fault_of_the_get_is_reported_and_settles_nothing() -> None:
    refusal = answering(b"", status=405)
    handlers = [refusal, refusal, answering(b"", status=429), refusal, refusal, answering()]
    async with asking(in_turn(handlers)) as (transport, _):
        with pytest.raises(Throttled):
            await ask(transport)
        methods = [transport.method]
        assert await ask(transport) == EMPTY
        methods.append(transport.method)
    assert methods == ["auto", "get"]


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" \t\r\n"), max_size=200))
async def test_any_text_reaches_the_endpoint_by_get_as_it_is(query: str) -> None:
    timeout_policy = TimeoutPolicy("timeout")
    async with asking(
        answering(), method="get", timeout_policy=timeout_policy, graphs=("urn:g?&=",), query_string="?a=%26b#c"
    ) as (
        transport,
        endpoint,
    ):
        await ask(transport, query)
    (request,) = endpoint.received
    assert request.form == (("a", "&b"), ("query", query), ("default-graph-uri", "urn:g?&="), ("timeout", "20"))


async def test_no_get_is_ever_sent_that_an_engine_may_cut() -> None:
    async with asking(answering(), method="get") as (transport, endpoint):
        for length in range(6800, 7200):
            try:
                await ask(transport, "x" * length)
            except QueryTooLong as error:
                assert error.smaller  # noqa: PT017 - what was sent until then is what counts
                break
        else:
            pytest.fail("no query was too long")
        await ask(transport, QUERY)
    longest = max(len(f"http://{request.headers['Host']}{request.path}") for request in endpoint.received)
    assert 6950 < longest < 7000
    assert max(len(query) for query in endpoint.queries) == length - 1


async def test_in_a_url_white_space_is_collapsed_and_only_what_has_to_be_is_escaped() -> None:
    query = 'SELECT ?x\n\tWHERE {\n    ?x (<urn:a>|^<urn:b>)/:c*  "a  b"@en ;\n}\nLIMIT 10'
    async with asking(answering(), method="get") as (transport, endpoint):
        await ask(transport, query)
    (request,) = endpoint.received
    assert request.form == (("query", 'SELECT ?x WHERE { ?x (<urn:a>|^<urn:b>)/:c* "a  b"@en ; } LIMIT 10'),)
    assert request.path == (
        "/sparql?query=SELECT+?x+WHERE+%7B+?x+(%3Curn:a%3E%7C%5E%3Curn:b%3E)/:c*+%22a++b%22@en+%3B+%7D+LIMIT+10"
    )


async def test_percent_signs_count_in_the_length_of_a_get() -> None:
    async with asking(answering(), method="get") as (transport, endpoint):
        with pytest.raises(QueryTooLong):
            await ask(transport, "\U0001f600" * 600)
        assert endpoint.received == []


async def test_a_long_first_query_does_not_hide_that_post_is_refused() -> None:
    async with asking(only_by_get(REFUSALS["405"])) as (transport, _):
        with pytest.raises(NoQueryEndpoint):
            await ask(transport, "x" * 10_000)
        assert await ask(transport) == EMPTY
        with pytest.raises(QueryTooLong):
            await ask(transport, "x" * 10_000)


async def test_what_is_left_of_the_deadline_is_sent_in_the_engines_own_way() -> None:
    async with asking(answering(), timeout_policy=BLAZEGRAPH) as (transport, endpoint):
        await transport.select(QUERY, Deadline.after(1.2344, lambda: 0.0))
        transport.timeout_policy = TimeoutPolicy("timeout", timeout_unit="milliseconds")
        await transport.select(QUERY, Deadline.after(1.2344, lambda: 0.0))
        transport.timeout_policy = TimeoutPolicy()
        await transport.select(QUERY, Deadline.after(1.2344, lambda: 0.0))
    first, second, third = endpoint.received
    assert first.headers["X-BIGDATA-MAX-QUERY-MILLIS"] == "1235"
    assert "X-BIGDATA-MAX-QUERY-MILLIS" not in second.headers
    assert second.form == (("query", QUERY), ("timeout", "1235"))
    assert third.form == (("query", QUERY),)


def cancelled_ids(endpoint: FakeEndpoint) -> list[str]:
    return [dict(request.form)["queryId"] for request in endpoint.received if ("cancelQuery", "") in request.form]


class HangingUnlessCancelled(Hanging):
    """Hangs on a query, and answers a request to cancel one."""

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        """Do so."""
        if "cancelQuery" in await request.post():
            return web.Response()
        return await super().__call__(request)


async def test_a_query_that_its_caller_gave_up_is_cancelled_by_its_id() -> None:
    handler = HangingUnlessCancelled()
    async with asking(handler, timeout_policy=BLAZEGRAPH) as (transport, endpoint):
        task = asyncio.create_task(ask(transport))
        await handler.began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await handler.gone.wait()
        await transport.close()
        sent = dict(endpoint.received[0].form)["queryId"]
        assert cancelled_ids(endpoint) == [sent]


async def test_a_query_whose_time_is_up_is_cancelled_by_its_id() -> None:
    handler = HangingUnlessCancelled()
    async with asking(handler, timeout_policy=BLAZEGRAPH) as (transport, endpoint):
        await time_runs_out(partial(transport.select, QUERY), handler.began.is_set)
        await transport.close()
        sent = {dict(request.form)["queryId"] for request in endpoint.received if "query" in dict(request.form)}
        # One whose query never arrived is cancelled as well.
        assert set() < sent <= set(cancelled_ids(endpoint))


async def test_a_query_with_an_answer_too_large_is_cancelled_by_its_id() -> None:
    async with asking(answering(b" " * 200_000), timeout_policy=BLAZEGRAPH) as (transport, endpoint):
        with pytest.raises(AnswerCut):
            await ask(transport)
        await transport.close()
        assert len(cancelled_ids(endpoint)) == 1


@pytest.mark.parametrize("handler", [answering(), answering(b"", status=500)], ids=["answer", "error"])
async def test_a_query_that_has_ended_is_not_cancelled_and_each_has_its_own_id(handler: Handler) -> None:
    async with asking(handler, timeout_policy=BLAZEGRAPH) as (transport, endpoint):
        for _ in range(2):
            with suppress(Fault):
                await ask(transport)
        await transport.close()
    assert cancelled_ids(endpoint) == []
    assert len({dict(request.form)["queryId"] for request in endpoint.received}) == 2


async def test_closing_waits_for_a_cancel_no_longer_than_it_may_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.transport.http._CANCEL_SECONDS", 0.05)
    handler = Hanging()
    async with asking(handler, timeout_policy=BLAZEGRAPH) as (transport, _):
        await time_runs_out(partial(transport.select, QUERY), handler.began.is_set)
        await transport.close()


async def test_another_url_of_the_same_server_is_asked_in_the_same_way_and_no_other_server_is() -> None:
    async with asking(answering(), graphs=("urn:g",), timeout_policy=TimeoutPolicy("timeout")) as (transport, endpoint):
        parts = urlsplit(endpoint.url)
        other = transport.at(parts._replace(path="/other").geturl())
        try:
            await ask(other)
        finally:
            await other.close()
        (request,) = endpoint.received
        assert (request.path, request.form[1:]) == ("/other", (("default-graph-uri", "urn:g"), ("timeout", "20")))
        for elsewhere in ("http://127.0.0.1:1/sparql", f"https://{parts.netloc}/", f"http://localhost:{parts.port}/"):
            with pytest.raises(ValueError, match="another server"):
                transport.at(elsewhere)
