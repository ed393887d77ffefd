import asyncio
import gzip

import pytest
from aiohttp import web

from gateway.errors import (
    Banned,
    BrokenAnswer,
    Fault,
    GaveUp,
    QueryRefused,
    QueryTooLong,
    ServerFailed,
    Throttled,
)
from gateway.graph.call import Deadline
from gateway.transport.http import Http
from gateway.transport.response_verdict import seconds_to_wait
from tests.transport.fake_endpoint import Handler, answering, fake_endpoint

pytestmark = pytest.mark.anyio

QUERY = "SELECT ?x { ?x ?p ?o }"
NOW = "Sat, 21 Nov 2026 10:00:00 GMT"

# Real texts: Blazegraph 2.1.5, Fuseki 6.2.0 and Virtuoso 7.2.5.1 as run for this project; QLever and the Wikidata query
# service from their sources.
TRACE = b"\tat com.bigdata.rdf.sail.webapp.BigdataServlet.submitApiTask(BigdataServlet.java:292)\n" * 40
BLAZEGRAPH = b"SPARQL-QUERY: queryStr=" + QUERY.encode()
BLAZEGRAPH_TIME = BLAZEGRAPH + b"\njava.util.concurrent.TimeoutException\n" + TRACE
BLAZEGRAPH_SYNTAX = (
    BLAZEGRAPH + b"\njava.util.concurrent.ExecutionException: org.openrdf.query.MalformedQueryException\n"
)
FUSEKI_TIME = b"Query timed out\n"
VIRTUOSO = b"Virtuoso %s Error %s: %s\n\nSPARQL query:\n" + QUERY.encode()
VIRTUOSO_TIME = VIRTUOSO % (b"S1T00", b"SR171", b"Transaction timed out")
VIRTUOSO_DEADLOCK = VIRTUOSO % (b"40001", b"SR172", b"Transaction deadlocked")
VIRTUOSO_ANYTIME = VIRTUOSO % (b"S1TAT", b"RC...", b"Returning incomplete results")
VIRTUOSO_GUESS = VIRTUOSO % (b"42000", b"The", b"estimated execution time 2000 (sec) exceeds the limit of 1500 (sec).")
VIRTUOSO_TERMS = VIRTUOSO % (b"37000", b"SP030", b"Too many arguments for standard built-in function in operator()")
VIRTUOSO_LENGTH = VIRTUOSO % (b"37000", b"SP031", b"length of generated SQL text has exceeded 10000 lines")
VIRTUOSO_SORT = VIRTUOSO % (b"22023", b"SR353", b"Sorted TOP clause specifies more then 20000 rows to sort.")
VIRTUOSO_SYNTAX = VIRTUOSO % (b"37000", b"SP030", b"SPARQL compiler, line 1: syntax error at 'x'")
QLEVER_TIME = b'{"exception": "Operation timed out.", "query": "SELECT", "status": "ERROR", "time": {}}'
QLEVER_MEMORY = b'{"exception": "Tried to allocate 2 GB, but only 1 GB were available.", "status": "ERROR"}'
WDQS_BUSY = b"Too Many Requests - Please retry in 17 seconds."
WDQS_BAN = b"You have been banned until 2026-11-22T10:00:00Z, please respect throttling and retry-after headers."
OXIGRAPH_LONG = b"The headers size must fit in 8kb"


async def fault_of(handler: Handler, query: str = QUERY) -> Fault:
    async with fake_endpoint(handler) as endpoint:
        transport = Http(endpoint.url, max_bytes=100_000)
        try:
            with pytest.raises(Fault) as caught:
                await transport.select(query, Deadline.after(20))
        finally:
            await transport.close()
    return caught.value


@pytest.mark.parametrize(
    ("status", "text", "kind"),
    [
        (429, QLEVER_TIME, GaveUp),
        (429, WDQS_BUSY, Throttled),
        (429, b'{"message": "slow down"}', Throttled),
        (500, QLEVER_MEMORY, GaveUp),
        (503, FUSEKI_TIME, GaveUp),
        (503, b"Service is overloaded", Throttled),
        (503, b"<html>Service Unavailable</html>", Throttled),
        (500, BLAZEGRAPH_TIME, GaveUp),
        (500, BLAZEGRAPH + b"\ncom.bigdata.bop.engine.QueryTimeoutException: Query deadline is expired.\n", GaveUp),
        (500, BLAZEGRAPH + b"\njava.lang.NullPointerException\n" + TRACE, ServerFailed),
        (400, BLAZEGRAPH_SYNTAX, QueryRefused),
        (500, VIRTUOSO_TIME, GaveUp),
        (500, VIRTUOSO_ANYTIME, GaveUp),
        (500, VIRTUOSO_GUESS, GaveUp),
        (400, VIRTUOSO_GUESS, GaveUp),
        (500, VIRTUOSO_DEADLOCK, BrokenAnswer),
        (500, VIRTUOSO_TERMS, QueryTooLong),
        (400, VIRTUOSO_TERMS, QueryTooLong),
        (500, VIRTUOSO_LENGTH, QueryTooLong),
        (500, VIRTUOSO_SORT, QueryTooLong),
        (400, VIRTUOSO_SYNTAX, QueryRefused),
        (400, OXIGRAPH_LONG, QueryTooLong),
        (502, b"<html>Bad Gateway</html>", BrokenAnswer),
        (400, b"", QueryRefused),
        (200, BLAZEGRAPH_TIME, GaveUp),
    ],
)
async def test_one_status_means_what_the_engines_own_text_says(status: int, text: bytes, kind: type[Fault]) -> None:
    error = await fault_of(answering(text, status=status, content_type="text/plain"))
    assert type(error) is kind
    assert error.next_step
    assert not any(part in str(error) for part in ("java", "SELECT", "Virtuoso", "sec)", "SR3", "{"))


@pytest.mark.parametrize("status", [400, 422])
async def test_a_refusal_advises_neither_less_nor_later(status: int) -> None:
    error = await fault_of(answering(VIRTUOSO_SYNTAX, status=status, content_type="text/plain"))
    assert type(error) is QueryRefused
    assert "fewer" not in error.next_step
    assert "later" not in error.next_step


async def test_a_query_that_virtuoso_dropped_for_a_deadlock_is_no_cut_answer_and_is_asked_again() -> None:
    headers = {"X-SQL-State": "00000", "X-SQL-Message": "SR172: Transaction deadlocked"}
    empty = b'{"head": {"vars": ["x"]}, "results": {"bindings": []}}'
    error = await fault_of(answering(empty, headers=headers))
    assert type(error) is BrokenAnswer
    assert error.again


async def test_a_mark_is_found_behind_a_query_that_the_engine_repeats_and_in_a_packed_text() -> None:
    text = BLAZEGRAPH + b" <http://example.org/a>" * 20_000 + b"\njava.util.concurrent.TimeoutException\n" + TRACE
    headers = {"Content-Encoding": "gzip"}
    for handler in (answering(text, status=500), answering(gzip.compress(text), status=500, headers=headers)):
        assert type(await fault_of(handler)) is GaveUp


async def test_a_refusal_without_a_word_is_put_down_to_the_length_of_a_long_query() -> None:
    error = await fault_of(answering(b"", status=400), QUERY + " #" + "x" * 2_000_000)
    assert type(error) is QueryTooLong


async def test_the_text_of_an_error_is_not_read_without_end_nor_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.transport.exchange._ERROR_SECONDS", 0.05)

    async def never_ending(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse(status=500)
        await response.prepare(request)
        while True:
            await response.write(b"x" * 65_536)

    async def stalling(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse(status=503, headers={"Retry-After": "3"})
        await response.prepare(request)
        await request.content.read()
        await asyncio.Event().wait()
        return response

    assert type(await fault_of(never_ending)) is ServerFailed
    stalled = await fault_of(stalling)
    assert isinstance(stalled, Throttled)
    assert stalled.retry_after == 3


async def test_a_ban_says_who_must_act() -> None:
    error = await fault_of(answering(WDQS_BAN, status=403, content_type="text/plain"))
    assert isinstance(error, Banned)
    assert not error.again
    assert "banned" in error.wrong
    assert "The operator of this gateway" in error.next_step
    assert "respect throttling" not in str(error)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (b"You have been banned until 2026-11-22T10:00:00Z, please respect throttling", 3601),
        (b"You have been banned until 2026-11-22T10:00:00.123456Z, please", 3601),
        (b"You have been banned until 9999-12-31T23:59:59Z, please", 86_400),
        (b"You have been banned until 2026-11-24T08:00:00Z, please", 86_400),
        (b"You have been banned until 2026-11-22T08:00:00Z, please", 1),
        (b"You have been banned until +1000000000-12-31T23:59:59Z, please", 86_400),
        (b"You have been banned until 2026-13-99T10:00:00Z, please", 86_400),
        (b"You have been banned.", 86_400),
    ],
)
async def test_a_ban_lasts_until_the_instant_that_it_names_by_the_servers_clock(text: bytes, seconds: float) -> None:
    headers = {"Date": "Sun, 22 Nov 2026 09:00:00 GMT"}
    error = await fault_of(answering(text, status=403, content_type="text/plain", headers=headers))
    assert isinstance(error, Banned)
    assert error.retry_after == seconds


@pytest.mark.parametrize(("status", "text"), [(429, WDQS_BUSY), (503, b"busy"), (503, b"Service is overloaded")])
async def test_how_long_to_wait_is_reported_as_the_endpoint_says_it(status: int, text: bytes) -> None:
    for header, seconds in (({"Retry-After": "17"}, 17), ({}, None)):
        error = await fault_of(answering(text, status=status, headers=header))
        assert isinstance(error, Throttled)
        assert error.retry_after == seconds


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("17", 17),
        (" 17 ", 17),
        ("1.5", 1.5),
        ("0", 0),
        ("999999999", 3600),
        ("Sat, 21 Nov 2026 10:00:30 GMT", 30),
        ("Saturday, 21-Nov-26 10:00:30 GMT", 30),
        ("Sat, 21 Nov 2026 11:00:30 +0100", 30),
        ("Sat, 21 Nov 2026 10:00:30 -0000", 30),
        ("Sat, 21 Nov 2026 09:00:00 GMT", 0),
        ("Sat, 21 Nov 2099 10:00:00 GMT", 3600),
        ("", None),
        ("-5", None),
        ("soon", None),
        ("NaN", None),
        ("9" * 5000, None),
        ("\u0661\u0667", None),
        ("Sat, 99 Nov 2026 10:00:00 GMT", None),
    ],
)
def test_a_wait_is_read_in_seconds_or_as_a_date_and_never_absurd(header: str, seconds: float | None) -> None:
    assert seconds_to_wait(header, NOW) == seconds


def test_a_date_counts_from_our_own_clock_where_the_server_tells_no_time() -> None:
    assert seconds_to_wait("Sat, 21 Nov 1998 10:00:00 GMT") == 0
    assert seconds_to_wait("Sat, 21 Nov 2999 10:00:00 GMT", "no date") == 3600
