"""Each fault does on the wire what its entry in the catalogue says, and nothing happens that is not planned."""

import asyncio
import gzip
import json
import re
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import parse_qs

import aiohttp
import pytest

from tests.faults.catalogue import (
    BLAZEGRAPH_TEXT,
    CATALOGUE,
    DETECTABLE,
    FUSEKI_TEXT,
    OF_DATABASES,
    OXIGRAPH_TEXT,
    QLEVER_TEXT,
    UNDETECTABLE,
    InjectedFault,
)
from tests.faults.proxy import FaultProxy, Plan, at, each, fault_proxy
from tests.faults.small_server import NODES, TRIPLES, X, small_server
from tests.servers.cache import CHECKOUT
from tests.transport.fake_endpoint import EMPTY, JSON, answering, fake_endpoint

pytestmark = pytest.mark.anyio

PATIENCE = 10
EVERYTHING = "SELECT ?s ?p ?o WHERE { ?s ?p ?o } ORDER BY ?s ?p ?o"
NOTHING = f"SELECT ?s ?p ?o WHERE {{ ?s ?p ?o . FILTER(?s = <{X}none>) }}"
COUNTED = "SELECT (COUNT(*) AS ?count) WHERE { ?s ?p ?o }"
ALL = len(TRIPLES)
HALF = ALL // 2


@dataclass(frozen=True)
class Seen:
    """What a client saw: as much of an answer as came, and whether that was an end."""

    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    ended: bool = False

    @property
    def parsed(self) -> Any:
        """The body as JSON; None where it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    @property
    def rows(self) -> list[dict[str, dict[str, str]]]:
        """The rows of a body that is whole JSON."""
        found: list[dict[str, dict[str, str]]] = self.parsed["results"]["bindings"]
        return found


async def ask(proxy: FaultProxy, query: str = EVERYTHING, *, silence: float = PATIENCE) -> Seen:
    """Send a query by a client that unpacks nothing and follows nothing; give up after a silence."""
    status, headers, body = 0, {}, bytearray()
    async with aiohttp.ClientSession(auto_decompress=False) as session:
        try:
            async with (
                asyncio.timeout(silence),
                session.post(
                    proxy.url(), data={"query": query}, headers={"Accept": JSON}, allow_redirects=False
                ) as response,
            ):
                status, headers = response.status, dict(response.headers)
                async for chunk in response.content.iter_any():
                    body += chunk
        except (aiohttp.ClientError, ConnectionError, TimeoutError):
            return Seen(status, headers, bytes(body))
    return Seen(status, headers, bytes(body), ended=True)


async def seen(name: str, query: str = EVERYTHING, *, silence: float = PATIENCE) -> Seen:
    """Ask once through a proxy that injects a fault into everything."""
    async with small_server() as server, fault_proxy(server.url, each(CATALOGUE[name])) as proxy:
        return await ask(proxy, query, silence=silence)


# Row caps


async def test_a_cap_by_header_sends_fewer_rows_and_names_the_servers_cap() -> None:
    answer = await seen("row-cap-by-header")
    assert (answer.status, answer.headers["X-SPARQL-MaxRows"], len(answer.rows)) == (200, "10000", HALF)


async def test_a_cap_by_status_is_a_206() -> None:
    answer = await seen("row-cap-by-206")
    assert (answer.status, len(answer.rows)) == (206, HALF)


async def test_a_cap_by_total_is_reported_in_the_body_alone() -> None:
    answer = await seen("row-cap-by-total")
    assert (answer.status, len(answer.rows)) == (200, HALF)
    assert answer.parsed["meta"]["result-size-total"] == ALL
    assert not [name for name in answer.headers if name.startswith("X-")]


async def test_a_cap_may_leave_no_row_at_all() -> None:
    one = f"{EVERYTHING} LIMIT 1"
    assert (await seen("row-cap-by-total", one)).rows == []
    assert (await seen("row-cap-by-total", one)).parsed["meta"]["result-size-total"] == 1


async def test_an_anytime_answer_is_partial_and_says_so_in_its_headers() -> None:
    answer = await seen("anytime-partial")
    assert (answer.status, answer.headers["X-SQL-State"], len(answer.rows)) == (200, "S1TAT", HALF)


# Bodies


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cancelled-after-rows", FUSEKI_TEXT),
        ("trace-in-a-token", BLAZEGRAPH_TEXT),
        ("cancelled-in-the-rows", OXIGRAPH_TEXT),
        ("export-error-after-rows", QLEVER_TEXT),
        ("no-end-after-a-row", b"}"),
        ("no-end-of-a-token", b""),
    ],
)
@pytest.mark.parametrize("query", [EVERYTHING, NOTHING])
async def test_a_body_that_stops_is_an_ended_200_of_sparql_json_that_does_not_parse(
    name: str, text: bytes, query: str
) -> None:
    answer = await seen(name, query)
    assert (answer.status, answer.headers["Content-Type"], answer.ended) == (200, JSON, True)
    assert answer.parsed is None
    if query == EVERYTHING:
        assert answer.body.endswith(text)
        assert answer.body.startswith(b'{"head":{"vars":["s","p","o"]},"results":{"bindings":[{"s":')


async def test_a_body_that_stops_after_a_row_lacks_nothing_but_its_end() -> None:
    answer = await seen("no-end-after-a-row")
    assert len(json.loads(answer.body + b"]}}")["results"]["bindings"]) == HALF


async def test_a_trace_stands_in_the_middle_of_a_token() -> None:
    answer = await seen("trace-in-a-token")
    begun = answer.body.removesuffix(BLAZEGRAPH_TEXT)
    assert begun.count(b'"') % 2 == 1


async def test_a_missing_variable_is_in_no_row_and_not_in_the_head() -> None:
    answer = await seen("variable-missing")
    assert answer.parsed["head"]["vars"] == ["s", "p"]
    assert [set(row) for row in answer.rows] == [{"s", "p"}] * ALL


async def test_an_unbound_variable_is_missing_from_one_row_alone() -> None:
    answer = await seen("variable-unbound")
    assert answer.parsed["head"]["vars"] == ["s", "p", "o"]
    assert [set(row) for row in answer.rows] == [{"s", "p", "o"}] * (ALL - 1) + [{"p", "o"}]


async def test_an_error_stands_where_the_rows_should_be() -> None:
    answer = await seen("error-for-rows")
    assert answer.parsed["head"]["vars"] == ["s", "p", "o"]
    assert set(answer.parsed["results"]) == {"error", "status"}


# Connections and packing


@pytest.mark.parametrize("name", ["broken-off-in-chunks", "broken-off-short-of-length", "reset-in-the-body"])
async def test_a_connection_that_breaks_in_the_body_leaves_no_end(name: str) -> None:
    answer = await seen(name)
    assert not answer.ended
    # What a reset leaves of the bytes before it is up to the network.
    if name != "reset-in-the-body":
        assert answer.status == 200
        assert answer.body.startswith(b'{"head"')


async def test_a_body_in_chunks_has_no_length_and_one_short_of_its_length_has() -> None:
    assert "Content-Length" not in (await seen("broken-off-in-chunks")).headers
    answer = await seen("broken-off-short-of-length")
    assert int(answer.headers["Content-Length"]) > len(answer.body) > 0


@pytest.mark.parametrize("name", ["gzip-cut", "gzip-without-trailer"])
async def test_a_gzip_body_is_cut_though_http_says_it_is_whole(name: str) -> None:
    answer = await seen(name)
    assert (answer.status, answer.headers["Content-Encoding"], answer.ended) == (200, "gzip", True)
    with pytest.raises(EOFError):
        gzip.decompress(answer.body)
    unpacked = zlib.decompressobj(31).decompress(answer.body)
    assert len(unpacked) > 0


async def test_a_gzip_body_with_a_false_sum_unpacks_to_whole_json_that_lacks_a_row() -> None:
    answer = await seen("gzip-with-false-sum")
    with pytest.raises(gzip.BadGzipFile):
        gzip.decompress(answer.body)
    unpacked = zlib.decompress(answer.body[10:-8], -zlib.MAX_WBITS)
    assert len(json.loads(unpacked)["results"]["bindings"]) == ALL - 1


@pytest.mark.parametrize("name", ["closed-before-an-answer", "reset-before-an-answer", "refused"])
async def test_a_connection_may_end_before_any_answer(name: str) -> None:
    answer = await seen(name)
    assert (answer.status, answer.body, answer.ended) == (0, b"", False)


async def test_a_refused_port_listens_again_under_the_next_plan() -> None:
    async with small_server() as server, fault_proxy(server.url, at((0, CATALOGUE["refused"]))) as proxy:
        port = proxy.port
        assert not (await ask(proxy)).ended
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", port)
        await proxy.begin(Plan())
        assert len((await ask(proxy)).rows) == ALL
        assert proxy.port == port


async def test_a_stall_before_the_head_sends_nothing_and_one_in_the_body_sends_half() -> None:
    assert await seen("stall-before-the-head", silence=0.1) == Seen()
    answer = await seen("stall-in-the-body", silence=0.5)
    assert (answer.status, answer.ended) == (200, False)
    assert 0 < len(answer.body) < int(answer.headers["Content-Length"])


# Statuses and pages


@pytest.mark.parametrize(
    ("name", "status", "says"),
    [
        ("page-502", 502, b"<h1>502 Bad Gateway"),
        ("page-504", 504, b"<h1>504 Gateway Time-out"),
        ("timed-out-503", 503, b"Query timed out"),
        ("timed-out-500", 500, b"java.util.concurrent.TimeoutException"),
        ("transaction-timed-out-500", 500, b"S1T00 Error SR171: Transaction timed out"),
        ("too-many-terms-400", 400, b"SP030"),
        ("rate-limit-in-seconds", 429, b"retry in 1 seconds"),
        ("rate-limit-until-a-date", 429, b"Too Many Requests"),
        ("timed-out-429", 429, b'"exception": "Operation timed out.'),
        ("overloaded-503", 503, b"overloaded"),
        ("unavailable-503", 503, b"Unavailable"),
        ("banned-403", 403, b"You have been banned until"),
        ("redirect", 307, b""),
        ("too-large-413", 413, b"too large"),
        ("uri-too-long-414", 414, b"Too Long"),
        ("page-200", 200, b"<h1>Welcome"),
        ("page-200-as-json", 200, b"<h1>Welcome"),
        ("empty-200", 200, b""),
        ("other-json-200", 200, b'"exception"'),
        ("service-json-200", 200, b'{"status":"ok"'),
    ],
)
async def test_an_answer_that_is_none_has_its_status_and_text(name: str, status: int, says: bytes) -> None:
    answer = await seen(name)
    assert (answer.status, answer.ended) == (status, True)
    assert says in answer.body
    assert (answer.body == b"") == (says == b"")


async def test_pages_are_html_by_their_type_unless_the_type_is_the_lie() -> None:
    types = {name: (await seen(name)).headers["Content-Type"] for name in ("page-200", "page-502", "page-200-as-json")}
    assert types == {"page-200": "text/html", "page-502": "text/html", "page-200-as-json": JSON}


async def test_a_rate_limit_says_when_to_come_again_and_an_engines_own_limit_does_not() -> None:
    assert (await seen("rate-limit-in-seconds")).headers["Retry-After"] == "1"
    assert (await seen("unavailable-503")).headers["Retry-After"] == "1"
    until = parsedate_to_datetime((await seen("rate-limit-until-a-date")).headers["Retry-After"])
    assert abs(until.timestamp() - time.time()) < PATIENCE
    for name in ("timed-out-429", "overloaded-503", "timed-out-503"):
        assert "Retry-After" not in (await seen(name)).headers


async def test_a_redirect_leads_to_where_an_answer_would_be() -> None:
    async with small_server() as server, fault_proxy(server.url, at((0, CATALOGUE["redirect"]))) as proxy:
        answer = await ask(proxy)
        assert answer.headers["Location"] == "?moved"
        assert len((await ask(proxy)).rows) == ALL


# What cannot be known


@pytest.mark.parametrize("fault", UNDETECTABLE, ids=repr)
async def test_what_cannot_be_known_is_an_answer_like_any_other_and_wrong(fault: InjectedFault) -> None:
    query = COUNTED if fault.name == "partial-count" else EVERYTHING
    async with small_server() as server, fault_proxy(server.url) as proxy:
        right = await ask(proxy, query)
        await proxy.begin(each(fault))
        wrong = await ask(proxy, query)
    length = "Content-Length"
    assert {**wrong.headers, length: ""} == {**right.headers, length: "", "Date": wrong.headers["Date"]}
    assert (wrong.status, wrong.ended, wrong.parsed["head"]) == (200, True, right.parsed["head"])
    assert wrong.rows != right.rows


# The plan


@pytest.mark.parametrize("query", [EVERYTHING, NOTHING, COUNTED])
async def test_an_answer_without_a_fault_is_the_servers(query: str) -> None:
    async with small_server() as server, fault_proxy(server.url) as proxy, fault_proxy(proxy.url()) as second:
        direct, through = await ask(proxy, query), await ask(second, query)
        assert (direct.status, direct.body) == (through.status, through.body)
        assert server.queries == [query, query]


async def test_a_fault_happens_to_the_request_it_is_planned_for_and_no_other() -> None:
    plan = at((3, CATALOGUE["page-502"]), (1, CATALOGUE["empty-200"]))
    async with small_server() as server, fault_proxy(server.url, plan) as proxy:
        answers = [await ask(proxy) for _ in range(5)]
    assert [answer.status for answer in answers] == [200, 200, 200, 502, 200]
    assert [bool(answer.body) for answer in answers] == [True, False, True, True, True]
    assert plan.injected == ["empty-200", "page-502"]
    assert plan.asked == 5
    # What a fault answers in the server's place, the server is not asked.
    assert len(server.received) == 3


async def test_a_fault_that_cannot_be_done_to_an_answer_waits_for_the_next() -> None:
    plan = at((0, CATALOGUE["row-cap-by-total"]))
    async with small_server() as server, fault_proxy(server.url, plan) as proxy:
        assert (await ask(proxy, NOTHING)).rows == []
        assert plan.injected == []
        assert len((await ask(proxy)).rows) == HALF
        assert plan.injected == ["row-cap-by-total"]


async def test_one_plan_never_reaches_into_the_next() -> None:
    first, second = at((0, CATALOGUE["stall-before-the-head"])), Plan()
    async with small_server() as server, fault_proxy(server.url, first) as proxy:
        stalled = asyncio.create_task(ask(proxy))
        await proxy.busy.wait()
        await proxy.begin(second)
        assert len((await ask(proxy)).rows) == ALL
        stalled.cancel()
        with pytest.raises(asyncio.CancelledError):
            await stalled
        async with asyncio.timeout(PATIENCE):
            await proxy.idle.wait()
    assert (first.asked, first.injected, second.asked, second.injected) == (1, ["stall-before-the-head"], 1, [])


async def test_each_path_leads_to_its_own_server() -> None:
    async with small_server() as one, small_server() as other:
        async with fault_proxy({"a": one.url, "b": other.url}) as proxy, aiohttp.ClientSession() as session:
            for route in ("a", "b", "b"):
                async with session.post(proxy.url(route), data={"query": NOTHING}) as response:
                    assert response.status == 200
        assert (len(one.received), len(other.received)) == (1, 2)


async def test_a_query_in_the_url_is_passed_on_as_one() -> None:
    async with (
        fake_endpoint(answering()) as server,
        fault_proxy(server.url) as proxy,
        aiohttp.ClientSession() as session,
        session.get(proxy.url(), params={"query": NOTHING}) as response,
    ):
        assert await response.read() == EMPTY
    (request,) = server.received
    assert (request.method, "Content-Type" in request.headers) == ("GET", False)
    assert parse_qs(request.path.partition("?")[2]) == {"query": [NOTHING]}


async def test_a_path_that_leads_nowhere_is_no_request_of_the_plan() -> None:
    plan = at((0, CATALOGUE["page-502"]))
    async with small_server() as server, fault_proxy(server.url, plan) as proxy, aiohttp.ClientSession() as session:
        async with session.post(proxy.url("elsewhere"), data={"query": NOTHING}) as response:
            assert response.status == 404
        assert (plan.asked, server.received) == (0, [])
        assert (await ask(proxy)).status == 502


async def test_the_end_of_a_query_that_was_given_up_is_no_request_of_the_plan() -> None:
    plan = at((0, CATALOGUE["stall-before-the-head"]))
    async with fake_endpoint(answering()) as server, fault_proxy(server.url, plan) as proxy:
        async with (
            aiohttp.ClientSession() as session,
            session.post(proxy.url(), data={"cancelQuery": "", "queryId": "1"}) as response,
        ):
            assert response.status == 200
        assert (plan.asked, len(server.received)) == (0, 1)


async def test_a_server_that_is_gone_is_a_failure_that_no_plan_made() -> None:
    async with small_server() as server:
        url = server.url
    async with fault_proxy(url) as proxy:
        assert (await ask(proxy)).status == 502
        assert proxy.upstream_failures == 1


async def test_a_proxy_leaves_no_task_behind() -> None:
    before = asyncio.all_tasks()
    async with small_server() as server, fault_proxy(server.url, each(CATALOGUE["stall-in-the-body"])) as proxy:
        await ask(proxy, silence=0.1)
        await proxy.begin(Plan())
        await ask(proxy)
    assert asyncio.all_tasks() == before


def test_every_fault_says_what_it_imitates() -> None:
    assert len(DETECTABLE) + len(UNDETECTABLE) == len(CATALOGUE)
    for fault in CATALOGUE.values():
        assert "docs/notes/" in fault.imitates or "RFC" in fault.imitates


def test_what_cannot_be_known_is_reported_in_the_page_of_limits() -> None:
    page = (CHECKOUT / "docs" / "limits.md").read_text(encoding="utf-8")
    known = [*(fault.name for fault in UNDETECTABLE if not fault.by_sentinel), *OF_DATABASES]
    assert re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE) == known


def test_the_nodes_of_the_small_server_are_all_joined() -> None:
    assert len(NODES) * (len(NODES) - 1) == ALL
