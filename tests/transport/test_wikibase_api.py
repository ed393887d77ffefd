"""Requests to the API of a Wikibase, and what its answers mean."""

import gzip
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest

from gateway.errors import (
    AnswerCut,
    BrokenAnswer,
    ConfigurationError,
    DeadlinePassed,
    EndpointFault,
    Fault,
    GaveUp,
    NetworkFault,
    QueryRefused,
    Throttled,
)
from gateway.graph.call import Deadline
from gateway.settings.endpoint import AccessSettings, EndpointSettings
from gateway.transport.credentials import access_without_credentials
from gateway.wikibase.api import ValueRefused, WikibaseApi
from tests.servers.loopback import HOST, free_port
from tests.transport.fake_endpoint import Handler, Hanging, answering, fake_endpoint, in_turn, sending, time_runs_out
from tests.transport.loopback_proxy import loopback_proxy
from tests.wikibase.api_double import answer_of, error, maxlag

pytestmark = pytest.mark.anyio

MAX_BYTES = 10_000
FIELDS = [("action", "wbsearchentities"), ("search", "a b&c")]
WHOLE = {"searchinfo": {"search": "a"}, "search": [], "success": 1}
JSON_TYPE = "application/json"
SECRET = "Internal host db1.example.org, token s3cret"  # noqa: S105 - what no text may repeat


@asynccontextmanager
async def api_at(url: str) -> AsyncIterator[WikibaseApi]:
    """Open a way to an API."""
    api = WikibaseApi(url, max_bytes=MAX_BYTES)
    try:
        yield api
    finally:
        await api.close()


async def outcome(handler: Handler, seconds: float = 10) -> object:
    """Ask an API that does this; return what came, or the fault."""
    async with fake_endpoint(handler) as server, api_at(server.url) as api:
        try:
            return (await api.get(FIELDS, Deadline.after(seconds))).content
        except Fault as fault:
            return fault


async def fault_of(handler: Handler) -> Fault:
    """Ask an API that fails, and return how."""
    came = await outcome(handler)
    assert isinstance(came, Fault)
    assert "s3cret" not in str(came)
    assert "example.org" not in str(came)
    return came


async def test_an_answer_comes_as_it_is_with_its_size() -> None:
    body = json.dumps(WHOLE).encode()
    async with fake_endpoint(answering(body, content_type=JSON_TYPE)) as server, api_at(server.url) as api:
        answer = await api.get(FIELDS, Deadline.after(10))
    assert answer.content == WHOLE
    assert answer.size == len(body)
    assert server.received[0].path == "/sparql?action=wbsearchentities&search=a%20b%26c"
    assert server.received[0].headers["Accept"] == JSON_TYPE


async def test_a_zipped_answer_is_unpacked() -> None:
    zipped = gzip.compress(json.dumps(WHOLE).encode())
    assert await outcome(answering(zipped, content_type=JSON_TYPE, headers={"Content-Encoding": "gzip"})) == WHOLE


@pytest.mark.parametrize(
    ("status", "kind", "again"),
    [
        (204, EndpointFault, False),
        (206, EndpointFault, False),
        (301, EndpointFault, False),
        (302, EndpointFault, False),
        (400, EndpointFault, False),
        (401, EndpointFault, False),
        (403, EndpointFault, False),
        (404, EndpointFault, False),
        (408, GaveUp, False),
        (414, QueryRefused, False),
        (429, Throttled, True),
        (500, BrokenAnswer, True),
        (502, BrokenAnswer, True),
        (503, Throttled, True),
        (504, GaveUp, False),
        (599, EndpointFault, False),
    ],
)
async def test_a_status_means_a_fault(status: int, kind: type[Fault], again: bool) -> None:
    headers = {"Location": "http://127.0.0.1:9/"} if status in {301, 302} else {}
    fault = await fault_of(answering(SECRET.encode(), status=status, content_type=JSON_TYPE, headers=headers))
    assert type(fault) is kind
    assert fault.again is again


@pytest.mark.parametrize("status", [429, 503])
async def test_the_pause_that_it_asks_for_is_read(status: int) -> None:
    fault = await fault_of(answering(b"", status=status, content_type="text/html", headers={"Retry-After": "17"}))
    assert isinstance(fault, Throttled)
    assert fault.retry_after == 17


async def test_a_lag_is_reported_inside_an_answer_and_means_later() -> None:
    fault = await fault_of(maxlag(7))
    assert isinstance(fault, Throttled)
    assert fault.retry_after == 7


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("maxlag", Throttled),
        ("ratelimited", Throttled),
        ("cirrussearch-too-busy-error", Throttled),
        ("cirrussearch-backend-error", BrokenAnswer),
        ("cirrussearch-query-too-long", QueryRefused),
        ("badvalue", ValueRefused),
        ("readapidenied", QueryRefused),
    ],
)
async def test_an_error_inside_an_answer_is_a_fault(code: str, kind: type[Fault]) -> None:
    assert type(await fault_of(answer_of(error(code, SECRET)))) is kind


@pytest.mark.parametrize("told", [None, "bad", [], {}, {"code": None}, {"code": ["maxlag"]}, {"code": {"a": 1}}])
async def test_an_error_of_another_shape_is_one_too(told: object) -> None:
    assert type(await fault_of(answer_of({"error": told}))) is QueryRefused


@pytest.mark.parametrize("body", [b"", b'{"search": [', b"\xff\xfe", b"[" * 5000, b"{}x"])
async def test_json_that_is_cut_is_a_broken_answer(body: bytes) -> None:
    assert type(await fault_of(answering(body, content_type=JSON_TYPE))) is BrokenAnswer


async def test_an_answer_that_has_a_name_twice_is_a_broken_answer() -> None:
    body = b'{"search": [{"id": "Q1"}], "search": []}'
    assert type(await fault_of(answering(body, content_type=JSON_TYPE))) is BrokenAnswer


async def test_an_answer_of_far_more_objects_than_were_asked_for_is_not_read() -> None:
    body = b'{"search": [' + b"{}," * 300_000 + b"{}]}"
    async with fake_endpoint(answering(body, content_type=JSON_TYPE)) as server:
        api = WikibaseApi(server.url, max_bytes=1 << 26)
        with pytest.raises(EndpointFault, match="more than was asked for"):
            await api.get(FIELDS, Deadline.after(10))
        await api.close()


@pytest.mark.parametrize("body", [b"[]", b"1", b"null", b'"text"'])
async def test_json_that_is_no_object_is_a_fault(body: bytes) -> None:
    assert type(await fault_of(answering(body, content_type=JSON_TYPE))) is EndpointFault


async def test_html_with_status_200_is_a_fault() -> None:
    assert type(await fault_of(answering(b"<html>Wikimedia Error</html>", content_type="text/html"))) is EndpointFault


async def test_an_answer_that_breaks_off_is_a_broken_answer() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
    assert type(await fault_of(sending(head + b'{"search"'))) is BrokenAnswer


@pytest.mark.parametrize("zipped", [False, True])
async def test_no_more_is_read_than_may_be(zipped: bool) -> None:
    body = json.dumps({"search": ["x" * MAX_BYTES * 100]}).encode()
    handler = (
        answering(gzip.compress(body), content_type=JSON_TYPE, headers={"Content-Encoding": "gzip"})
        if zipped
        else answering(body, content_type=JSON_TYPE)
    )
    assert type(await fault_of(handler)) is AnswerCut


async def test_nobody_there_is_a_fault_of_the_network() -> None:
    async with api_at(f"http://{HOST}:{free_port()}/w/api.php") as api:
        with pytest.raises(NetworkFault):
            await api.get(FIELDS, Deadline.after(10))


async def test_who_does_not_answer_is_waited_for_no_longer_than_the_deadline() -> None:
    hanging = Hanging()
    async with fake_endpoint(hanging) as server, api_at(server.url) as api:
        await time_runs_out(partial(api.get, FIELDS), hanging.began.is_set)
        await hanging.gone.wait()


async def test_nothing_is_sent_when_no_time_is_left() -> None:
    async with fake_endpoint(answer_of(WHOLE)) as server, api_at(server.url) as api:
        with pytest.raises(DeadlinePassed):
            await api.get(FIELDS, Deadline.after(0))
    assert server.received == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_followed_nowhere(status: int) -> None:
    async with fake_endpoint(answer_of(WHOLE)) as elsewhere:
        await fault_of(answering(b"", status=status, headers={"Location": elsewhere.url}))
    assert elsewhere.received == []


async def test_a_connection_that_was_closed_meanwhile_is_opened_again() -> None:
    closed = sending(b"")
    assert await outcome(in_turn([closed, answer_of(WHOLE)])) == WHOLE


async def test_no_cookie_is_stored() -> None:
    baking = answering(json.dumps(WHOLE).encode(), content_type=JSON_TYPE, headers={"Set-Cookie": "who=me"})
    async with fake_endpoint(baking) as server, api_at(server.url) as api:
        await api.get(FIELDS, Deadline.after(10))
        await api.get(FIELDS, Deadline.after(10))
    assert "Cookie" not in server.received[1].headers


SETTINGS = EndpointSettings(
    contact="ops@example.org",
    access=AccessSettings(
        token="env:NOT_EVEN_READ",  # noqa: S106 - a reference
        headers={"X-Of-The-Endpoint": "yes"},
    ),
)


def test_what_is_for_the_endpoint_is_not_even_read() -> None:
    access = access_without_credentials("https://www.wikidata.org/w/api.php", SETTINGS, "search.api")
    assert list(access.headers) == ["User-Agent"]
    assert "(ops@example.org) aiohttp/" in access.headers["User-Agent"]
    assert access.login is None


def test_wikimedia_is_not_asked_without_a_contact() -> None:
    with pytest.raises(ConfigurationError, match="contact"):
        access_without_credentials("https://www.wikidata.org/w/api.php", EndpointSettings(), "search.api")


def test_a_url_with_a_secret_is_refused_by_the_name_of_its_setting() -> None:
    with pytest.raises(ConfigurationError, match=r"search\.api") as caught:
        access_without_credentials("https://me:s3cret@wiki.example.org/api.php", EndpointSettings(), "search.api")
    assert "s3cret" not in str(caught.value)


async def test_the_proxy_of_the_endpoint_is_the_way_out_for_it_too() -> None:
    async with fake_endpoint(answer_of(WHOLE)) as server, loopback_proxy() as proxy:
        access = access_without_credentials(
            server.url, EndpointSettings(access=AccessSettings(proxy=proxy.url())), "search.api"
        )
        api = WikibaseApi(server.url, max_bytes=MAX_BYTES, access=access)
        try:
            assert (await api.get(FIELDS, Deadline.after(10))).content == WHOLE
        finally:
            await api.close()
    assert len(proxy.heads) == 1
