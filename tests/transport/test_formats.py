"""Answers asked for in a format: what is sent, and what an answer in another one means."""

import pytest
from aiohttp import web

from gateway.errors import AnswerCut, Fault, GaveUp, QueryRefused, Throttled, WrongFormat
from gateway.graph.call import Call, Deadline
from gateway.transport.base import Format
from gateway.transport.http import Http
from tests.transport.fake_endpoint import EMPTY, JSON, TSV, FakeEndpoint, Handler, answering, fake_endpoint

pytestmark = pytest.mark.anyio

QUERY = "SELECT ?x { ?x ?p ?o }"
LINES = b"?x\n<http://example.org/a>\n"


async def ask(endpoint: FakeEndpoint, wanted: Format = "tsv", *, by_get: bool = False) -> bytes:
    transport = Http(endpoint.url, max_bytes=100_000, method="get" if by_get else "auto")
    try:
        return await transport.select_in(wanted, QUERY, Deadline.after(20))
    finally:
        await transport.close()


async def fault_of(handler: Handler) -> Fault:
    async with fake_endpoint(handler) as endpoint:
        with pytest.raises(Fault) as caught:
            await ask(endpoint)
    return caught.value


@pytest.mark.parametrize("by_get", [False, True])
@pytest.mark.parametrize(("wanted", "accept", "body"), [("json", JSON, EMPTY), ("tsv", TSV, LINES)])
async def test_a_format_is_asked_for_alone(wanted: Format, accept: str, body: bytes, by_get: bool) -> None:
    async with fake_endpoint(answering(body, content_type=f"{accept}; charset=utf-8")) as endpoint:
        assert await ask(endpoint, wanted, by_get=by_get) == body
    (request,) = endpoint.received
    assert request.method == ("GET" if by_get else "POST")
    assert request.headers.getall("Accept") == [accept]
    assert request.form == (("query", QUERY),)


async def test_where_only_a_get_is_taken_the_format_is_asked_for_in_it() -> None:
    async def only_get(request: web.BaseRequest) -> web.StreamResponse:
        if request.method == "POST":
            return web.Response(status=405)
        return web.Response(body=LINES, headers={"Content-Type": request.headers["Accept"]})

    async with fake_endpoint(only_get) as endpoint:
        assert await ask(endpoint) == LINES
    assert [request.headers["Accept"] for request in endpoint.received] == [TSV, TSV, TSV]


@pytest.mark.parametrize(
    "content_type", [JSON, "application/json", "text/html", "text/csv", "application/xml", "text/plain"]
)
async def test_an_answer_in_another_format_is_asked_for_in_another_one(content_type: str) -> None:
    assert type(await fault_of(answering(LINES, content_type=content_type))) is WrongFormat
    assert type(await fault_of(answering(b"", status=406, content_type=content_type))) is WrongFormat


async def test_what_is_wrong_in_any_format_is_said_as_in_json() -> None:
    busy = answering(b"", status=503, content_type="text/plain")
    assert isinstance(await fault_of(busy), Throttled)
    assert isinstance(await fault_of(answering(b"syntax", status=400, content_type="text/plain")), QueryRefused)
    timed_out = answering(b"Query timed out\n", content_type="text/plain")
    assert isinstance(await fault_of(timed_out), GaveUp)
    capped = answering(LINES, content_type=TSV, headers={"X-SPARQL-MaxRows": "10000"})
    fault = await fault_of(capped)
    assert isinstance(fault, AnswerCut)
    assert fault.row_cap == 10_000


def only_as(accept: str, other: Handler) -> Handler:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        return await (answering(content_type=accept) if request.headers["Accept"] == accept else other)(request)

    return handle


OTHERS = {
    "SPARQL XML": answering(b"<sparql/>", content_type="application/sparql-results+xml"),
    "XML": answering(b"<sparql/>", content_type="text/xml"),
    "406": answering(b"", status=406, content_type="text/plain"),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
async def test_an_endpoint_that_does_not_know_sparql_json_by_name_is_asked_for_json_from_then_on(
    other: Handler,
) -> None:
    async with fake_endpoint(only_as("application/json", other)) as endpoint:
        transport = Http(endpoint.url, max_bytes=100_000)
        for _ in range(3):
            assert await transport.select(QUERY, Deadline.after(20)) == EMPTY
        await transport.close()
    asked_for = [request.headers["Accept"] for request in endpoint.received]
    assert asked_for == [JSON, "application/json", "application/json", "application/json"]


@pytest.mark.parametrize(("came", "other"), OTHERS.items(), ids=OTHERS)
async def test_what_comes_in_place_of_json_twice_is_named(came: str, other: Handler) -> None:
    async with fake_endpoint(other) as endpoint:
        for _ in range(2):
            with pytest.raises(WrongFormat, match=f"{came} and not with SPARQL JSON") as caught:
                await ask(endpoint, "json")
            assert caught.value.next_step
    asked_for = [request.headers["Accept"] for request in endpoint.received]
    assert asked_for == [JSON, "application/json"] * 2


async def test_json_by_another_name_is_paid_by_the_call() -> None:
    async with fake_endpoint(only_as("application/json", OTHERS["XML"])) as endpoint:
        transport = Http(endpoint.url, max_bytes=100_000)
        call = Call(Deadline.after(20), 1, 1, 1)
        assert await transport.select(QUERY, call.deadline, call.spend_request) == EMPTY
        assert call.sent == 1
        await transport.close()
