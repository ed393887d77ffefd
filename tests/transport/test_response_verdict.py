"""An answer of an endpoint: its verdict, its format, errors of the network, and queries shortened for a URL."""

import asyncio
import errno
import gzip
import inspect
import ssl

import aiohttp
import pytest
from aiohttp import client_exceptions, web
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.errors import (
    AnswerCut,
    Banned,
    BrokenAnswer,
    EndpointFault,
    Fault,
    GaveUp,
    NetworkFault,
    QueryRefused,
    QueryTooLong,
    ServerFailed,
    Throttled,
    WrongFormat,
)
from gateway.graph.call import Call, Deadline
from gateway.sparql import template
from gateway.transport.base import Format
from gateway.transport.exchange import RAISED, fault_of
from gateway.transport.http import Http, collapsed
from gateway.transport.response_verdict import seconds_to_wait
from tests.examples import examples
from tests.transport.fake_endpoint import EMPTY, JSON, TSV, FakeEndpoint, Handler, answering, fake_endpoint

pytestmark = pytest.mark.anyio

QUERY = "SELECT ?x { ?x ?p ?o }"
NOW = "Sat, 21 Nov 2026 10:00:00 GMT"

# Real texts: Blazegraph 2.1.5, Fuseki 6.2.0, RDF4J 4.1.3 and Virtuoso 7.2.5.1 as run for this project; QLever and the
# Wikidata query service from their sources, Stardog from a test of one of its clients, Neptune from its manual
# (docs/notes/endpoints.md, "Statuses").
TRACE = b"\tat com.bigdata.rdf.sail.webapp.BigdataServlet.submitApiTask(BigdataServlet.java:292)\n" * 40
BLAZEGRAPH = b"SPARQL-QUERY: queryStr=" + QUERY.encode()
BLAZEGRAPH_TIME = BLAZEGRAPH + b"\njava.util.concurrent.TimeoutException\n" + TRACE
BLAZEGRAPH_SYNTAX = (
    BLAZEGRAPH + b"\njava.util.concurrent.ExecutionException: org.openrdf.query.MalformedQueryException\n"
)
STARDOG_TIME = (
    b"com.complexible.stardog.plan.eval.operator.OperatorException: "
    b"Query execution cancelled: Execution time exceeded query timeout"
)
RDF4J_TIME = b"Query evaluation took too long"
NEPTUNE = b'{"requestId": "0dbcded3-a9a1-4a25-b419-828c46342e47", "code": "%s", "detailedMessage": "%s"}'
NEPTUNE_TIME = NEPTUNE % (b"TimeLimitExceededException", b"Operation terminated (deadline exceeded)")
NEPTUNE_MEMORY = NEPTUNE % (b"MemoryLimitExceededException", b"Operation terminated (out of memory)")
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


async def fault_of_answer(handler: Handler, query: str = QUERY) -> Fault:
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
        (500, STARDOG_TIME, GaveUp),
        (500, b"com.complexible.stardog.plan.eval.operator.OperatorException: Unexpected", ServerFailed),
        (503, RDF4J_TIME, GaveUp),
        (500, NEPTUNE_TIME, GaveUp),
        (200, NEPTUNE_TIME, GaveUp),
        (500, NEPTUNE_MEMORY, GaveUp),
        (400, NEPTUNE % (b"QueryTooLargeException", b"The query was rejected because of its size."), QueryTooLong),
        (400, NEPTUNE % (b"QueryLimitException", b"Size of query exceeds system limit."), QueryTooLong),
        (400, NEPTUNE % (b"MalformedQueryException", b"Malformed query"), QueryRefused),
        (429, NEPTUNE % (b"TooManyRequestsException", b"Too many requests"), Throttled),
        (500, NEPTUNE % (b"ThrottlingException", b"Rate of requests exceeds the maximum throughput."), Throttled),
        (500, NEPTUNE % (b"QueryLimitExceededException", b"Not enough of a limited resource"), Throttled),
        (500, NEPTUNE % (b"InternalFailureException", b"The request processing has failed."), ServerFailed),
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
    error = await fault_of_answer(answering(text, status=status, content_type="text/plain"))
    assert type(error) is kind
    assert error.next_step
    assert not any(part in str(error) for part in ("java", "SELECT", "Virtuoso", "sec)", "SR3", "{"))


@pytest.mark.parametrize("status", [400, 422])
async def test_a_refusal_advises_neither_less_nor_later(status: int) -> None:
    error = await fault_of_answer(answering(VIRTUOSO_SYNTAX, status=status, content_type="text/plain"))
    assert type(error) is QueryRefused
    assert "fewer" not in error.next_step
    assert "later" not in error.next_step


async def test_a_query_that_virtuoso_dropped_for_a_deadlock_is_no_cut_answer_and_is_asked_again() -> None:
    headers = {"X-SQL-State": "00000", "X-SQL-Message": "SR172: Transaction deadlocked"}
    empty = b'{"head": {"vars": ["x"]}, "results": {"bindings": []}}'
    error = await fault_of_answer(answering(empty, headers=headers))
    assert type(error) is BrokenAnswer
    assert error.again


async def test_a_mark_is_found_behind_a_query_that_the_engine_repeats_and_in_a_packed_text() -> None:
    text = BLAZEGRAPH + b" <http://example.org/a>" * 20_000 + b"\njava.util.concurrent.TimeoutException\n" + TRACE
    headers = {"Content-Encoding": "gzip"}
    for handler in (answering(text, status=500), answering(gzip.compress(text), status=500, headers=headers)):
        assert type(await fault_of_answer(handler)) is GaveUp


async def test_a_refusal_without_a_word_is_put_down_to_the_length_of_a_long_query() -> None:
    error = await fault_of_answer(answering(b"", status=400), QUERY + " #" + "x" * 2_000_000)
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

    assert type(await fault_of_answer(never_ending)) is ServerFailed
    stalled = await fault_of_answer(stalling)
    assert isinstance(stalled, Throttled)
    assert stalled.retry_after == 3


async def test_a_ban_says_who_must_act() -> None:
    error = await fault_of_answer(answering(WDQS_BAN, status=403, content_type="text/plain"))
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
    error = await fault_of_answer(answering(text, status=403, content_type="text/plain", headers=headers))
    assert isinstance(error, Banned)
    assert error.retry_after == seconds


@pytest.mark.parametrize(("status", "text"), [(429, WDQS_BUSY), (503, b"busy"), (503, b"Service is overloaded")])
async def test_how_long_to_wait_is_reported_as_the_endpoint_says_it(status: int, text: bytes) -> None:
    for header, seconds in (({"Retry-After": "17"}, 17), ({}, None)):
        error = await fault_of_answer(answering(text, status=status, headers=header))
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


LINES = b"?x\n<http://example.org/a>\n"


async def ask(endpoint: FakeEndpoint, wanted: Format = "tsv", *, by_get: bool = False) -> bytes:
    transport = Http(endpoint.url, max_bytes=100_000, method="get" if by_get else "auto")
    try:
        return await transport.select_in(wanted, QUERY, Deadline.after(20))
    finally:
        await transport.close()


async def fault_of_format(handler: Handler) -> Fault:
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
    assert type(await fault_of_format(answering(LINES, content_type=content_type))) is WrongFormat
    assert type(await fault_of_format(answering(b"", status=406, content_type=content_type))) is WrongFormat


async def test_what_is_wrong_in_any_format_is_said_as_in_json() -> None:
    busy = answering(b"", status=503, content_type="text/plain")
    assert isinstance(await fault_of_format(busy), Throttled)
    assert isinstance(await fault_of_format(answering(b"syntax", status=400, content_type="text/plain")), QueryRefused)
    timed_out = answering(b"Query timed out\n", content_type="text/plain")
    assert isinstance(await fault_of_format(timed_out), GaveUp)
    capped = answering(LINES, content_type=TSV, headers={"X-SPARQL-MaxRows": "10000"})
    fault = await fault_of_format(capped)
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


RAISABLE: set[type[Exception]] = {
    kind
    for name in client_exceptions.__all__
    if inspect.isclass(kind := getattr(client_exceptions, name)) and issubclass(kind, Exception)
}
BY_THE_RESPONSE = {
    aiohttp.ClientSSLError,
    aiohttp.ClientConnectorSSLError,
    aiohttp.ClientConnectorCertificateError,
    aiohttp.ClientResponseError,
    aiohttp.ClientHttpProxyError,
    aiohttp.WSServerHandshakeError,
    aiohttp.ContentTypeError,
    *(kind for kind in RAISABLE if issubclass(kind, aiohttp.InvalidURL)),
}


@pytest.mark.parametrize("kind", sorted(RAISABLE, key=str))
def test_every_error_of_the_http_library_is_caught_and_is_a_fault(kind: type[Exception]) -> None:
    if kind is aiohttp.WSMessageTypeError:
        return  # only a websocket raises it
    assert issubclass(kind, RAISED)
    error = kind.__new__(kind)
    if isinstance(error, aiohttp.ClientResponseError):
        error.status = 403
    fault = fault_of(error)
    assert type(fault) is (EndpointFault if kind in BY_THE_RESPONSE else NetworkFault)
    assert fault.next_step


@pytest.mark.parametrize("kind", sorted(RAISABLE - {aiohttp.WSMessageTypeError}, key=str))
def test_a_fault_calls_the_server_as_its_transport_does(kind: type[Exception]) -> None:
    error = kind.__new__(kind)
    if isinstance(error, aiohttp.ClientResponseError):
        error.status = 502
    fault = fault_of(error, "the Wikibase API")
    said = f"{fault.wrong} {fault.next_step}".replace("`endpoint.access.ca_bundle`", "")
    assert "endpoint" not in said


@pytest.mark.parametrize("error", [ConnectionResetError(), BrokenPipeError(), ssl.SSLError(), OSError("no route")])
def test_every_error_of_a_socket_is_a_network_fault(error: OSError) -> None:
    assert type(fault_of(error)) is NetworkFault


@pytest.mark.parametrize(
    ("status", "kind", "says"),
    [(407, EndpointFault, "credentials"), (403, EndpointFault, "refuses"), (502, NetworkFault, "could not reach")],
)
def test_what_a_proxy_answers_to_a_connect_is_reported(status: int, kind: type[Fault], says: str) -> None:
    error = aiohttp.ClientHttpProxyError.__new__(aiohttp.ClientHttpProxyError)
    error.status = status
    fault = fault_of(error)
    assert type(fault) is kind
    assert says in fault.wrong


def connecting(number: int) -> OSError:
    key = aiohttp.client_reqrep.ConnectionKey("secret.example", 80, False, True, None, None, None, None)
    return aiohttp.ClientConnectorError(key, OSError(number, "Connect call failed ('10.0.0.7', 80)"))


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (connecting(errno.ECONNREFUSED), "the connection was refused"),
        (connecting(errno.EHOSTUNREACH), "its network is unreachable"),
        (aiohttp.ConnectionTimeoutError(), "no connection was made in time"),
        (aiohttp.ServerDisconnectedError(), "closed the connection"),
        (ConnectionResetError(), "closed the connection"),
        (aiohttp.ClientOSError(errno.EPERM, "not permitted"), "could not be reached."),
    ],
)
def test_why_an_endpoint_is_not_reached_is_reported_without_its_address(error: Exception, says: str) -> None:
    fault = fault_of(error)
    assert type(fault) is NetworkFault
    assert says in fault.wrong
    assert not any(part in str(fault) for part in ("secret", "10.0.0.7", "Connect call"))


KEPT = (
    '"a  b"',
    "'a \t b'",
    '"""a\n\n " "" b"""',
    "'''a\n\n ' '' b'''",
    r'"a \"  b"',
    r"'a \'  b'",
    r'"""a \"""  b"""',
    "<http://example.org/a#b>",
    "<urn:it's>",
    "#  it's a   comment\n",
    r"ex:it\'s",
    r"ex:a\#b",
    "'a # b  c'",
)
PLAIN = ("?a", "{", "}", ".", "<", ">", "<=", "&&", "1", "ex:p", "@en")
BLANKS = (" ", "\n", "\t", "\r\n", "  \n\t ")


@pytest.mark.parametrize("token", KEPT)
def test_a_token_is_kept_as_it_is(token: str) -> None:
    assert collapsed(f"  {token}\n\n {token}  ?x") == f" {token} {token} ?x"


@settings(max_examples=examples(300))
@given(
    tokens=st.lists(st.tuples(st.sampled_from((*KEPT, *PLAIN)), st.sampled_from(BLANKS)), max_size=20),
)
def test_only_what_stands_between_tokens_becomes_one_blank(tokens: list[tuple[str, str]]) -> None:
    written = "".join(token + blank for token, blank in tokens)
    assert collapsed(written) == "".join(f"{token} " for token, _ in tokens)


def test_a_less_than_sign_hides_no_string() -> None:
    assert collapsed("FILTER(?a <  ?b &&  ?c >  'a  >  b')") == "FILTER(?a < ?b && ?c > 'a  >  b')"


@pytest.mark.parametrize("name", template.names())
def test_a_template_says_the_same(name: str) -> None:
    query = template.load(name).sample()
    assert collapsed(query).split() == query.split()
    assert len(collapsed(query)) <= len(query)
