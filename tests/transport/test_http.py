import asyncio
import gzip
import socket
import sys
import tracemalloc
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from functools import partial

import pytest
from aiohttp import web
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.errors import (
    AnswerCut,
    BrokenAnswer,
    DeadlinePassed,
    EndpointFault,
    Fault,
    GaveUp,
    NetworkFault,
    NoQueryEndpoint,
    QueryRefused,
    QueryTooLong,
    ServerFailed,
    Throttled,
    WrongFormat,
)
from gateway.flow.control import FlowControl
from gateway.graph.call import Call, Deadline
from gateway.settings.endpoint import RequestSettings, SendingMethod
from gateway.transport.base import TimeoutPolicy
from gateway.transport.credentials import Access
from gateway.transport.http import Http
from tests.clocks import Clock
from tests.examples import examples
from tests.servers.loopback import HOST, free_port
from tests.transport.fake_endpoint import (
    EMPTY,
    JSON,
    Gated,
    Handler,
    Hanging,
    answering,
    fake_endpoint,
    in_turn,
    sending,
    time_runs_out,
)

pytestmark = pytest.mark.anyio

QUERY = "SELECT ?x { ?x ?p ?o }"
PATIENCE = 10
MAX_BYTES = 100_000
TRACE = b"java.lang.NullPointerException at org.example.Secret(Secret.java:17)"
ZIPPED = {"Content-Encoding": "gzip"}
OK_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/sparql-results+json\r\n"


ALICE = Access(headers={"User-Agent": "test", "Authorization": "Basic YWxpY2U6czNjcmV0", "X-Key": "s3cret"})


@asynccontextmanager
async def asking(
    url: str,
    *,
    concurrency: int = 4,
    timeout_parameter: str = "",
    graphs: tuple[str, ...] = (),
    max_bytes: int = MAX_BYTES,
    method: SendingMethod = "auto",
    access: Access | None = None,
) -> AsyncIterator[Http]:
    """Open a transport for one test, which must end before long."""
    transport = Http(
        url,
        max_bytes=max_bytes,
        method=method,
        timeout_policy=TimeoutPolicy(timeout_parameter),
        access=access,
        graphs=graphs,
        flow=FlowControl(RequestSettings(concurrency=concurrency)),
    )
    try:
        async with asyncio.timeout(PATIENCE):
            yield transport
    finally:
        await transport.close()


async def ask(transport: Http, query: str = QUERY) -> bytes:
    return await transport.select(query, Deadline.after(PATIENCE))


async def fault_of(handler: Handler) -> Fault:
    """Return the fault that a query ends in, its text checked for what must not be in it."""
    async with fake_endpoint(handler) as endpoint, asking(endpoint.url, access=ALICE) as transport:
        with pytest.raises(Fault) as caught:
            await ask(transport)
        assert_discreet(str(caught.value), endpoint.port)
        return caught.value


def assert_discreet(text: str, port: int) -> None:
    for told in ("http:", "://", HOST, str(port), "alice", "s3cret", "Basic", "java", "Secret", "tell-nobody"):
        assert told not in text, text


@contextmanager
def unanswering_port() -> Iterator[int]:
    """A port whose queue of connections is full, so that a further one is neither accepted nor refused."""
    with ExitStack() as held:
        listener = held.enter_context(socket.socket())
        listener.bind((HOST, 0))
        listener.listen(0)
        port: int = listener.getsockname()[1]
        for _ in range(8):
            filler = held.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex((HOST, port))
        yield port


needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="other systems answer when the queue is full")


# What is sent


async def test_a_query_is_posted_as_a_form_that_holds_nothing_else() -> None:
    async with fake_endpoint(answering()) as endpoint, asking(endpoint.url) as transport:
        assert await ask(transport) == EMPTY
    (request,) = endpoint.received
    assert (request.method, request.path) == ("POST", "/sparql")
    assert request.headers["Content-Type"].startswith("application/x-www-form-urlencoded")
    assert request.form == (("query", QUERY),)


async def test_only_sparql_json_packed_with_gzip_or_not_at_all_is_asked_for() -> None:
    async with fake_endpoint(answering()) as endpoint, asking(endpoint.url) as transport:
        await ask(transport)
    headers = endpoint.received[0].headers
    assert headers.getall("Accept") == [JSON]
    assert headers.getall("Accept-Encoding") == ["gzip"]


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    query=st.text(st.characters(exclude_categories=["Cs"]), max_size=200),
    graph=st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
)
async def test_any_text_reaches_the_endpoint_as_it_is(query: str, graph: str) -> None:
    async with fake_endpoint(answering()) as endpoint, asking(endpoint.url, graphs=(graph,)) as transport:
        await ask(transport, query)
    assert endpoint.received[0].form == (("query", query), ("default-graph-uri", graph))


async def test_a_query_of_200_000_characters_is_sent_whole() -> None:
    long = QUERY + " #" + "x" * 200_000
    async with fake_endpoint(answering()) as endpoint, asking(endpoint.url) as transport:
        await ask(transport, long)
    assert endpoint.queries == [long]


async def test_the_configured_graphs_are_sent_as_default_graphs_in_their_order() -> None:
    graphs = ("http://example.org/g?a=1&b=2", "http://example.org/a")
    async with fake_endpoint(answering()) as endpoint, asking(endpoint.url, graphs=graphs) as transport:
        await ask(transport)
    assert endpoint.received[0].form[1:] == tuple(("default-graph-uri", graph) for graph in graphs)


@pytest.mark.parametrize(("left", "told"), [(60.0, "60"), (59.2, "60"), (59.999, "60"), (60.001, "61")])
async def test_the_endpoint_gets_the_seconds_left_rounded_up(left: float, told: str) -> None:
    clock = Clock()
    async with fake_endpoint(answering()) as endpoint, asking(endpoint.url, timeout_parameter="timeout") as transport:
        await transport.select(QUERY, Deadline.after(left, clock))
    assert endpoint.received[0].form == (("query", QUERY), ("timeout", told))


async def test_the_endpoint_gets_what_is_left_after_waiting_for_a_free_slot() -> None:
    clock = Clock()
    handler = Gated()
    async with (
        fake_endpoint(handler) as endpoint,
        asking(endpoint.url, concurrency=1, timeout_parameter="t") as transport,
        asyncio.TaskGroup() as tasks,
    ):
        tasks.create_task(transport.select("first", Deadline.after(60, clock)))
        await handler.began.acquire()
        tasks.create_task(transport.select("second", Deadline.after(60, clock)))
        await asyncio.sleep(0)
        clock.now += 59.7
        handler.gate.release()
        handler.gate.release()
    assert [request.form for request in endpoint.received] == [
        (("query", "first"), ("t", "60")),
        (("query", "second"), ("t", "1")),
    ]


async def test_queries_in_turn_share_one_connection() -> None:
    async with fake_endpoint(answering()) as endpoint, asking(endpoint.url) as transport:
        for _ in range(3):
            await ask(transport)
    assert len(endpoint.received) == 3
    assert len({request.connection for request in endpoint.received}) == 1


async def test_a_cookie_that_an_endpoint_sets_is_not_sent_back() -> None:
    handler = answering(headers={"Set-Cookie": "id=17"})
    # By name, because a number for a host gets no cookie back from anyone.
    async with fake_endpoint(handler) as endpoint, asking(endpoint.url.replace(HOST, "localhost")) as transport:
        await ask(transport)
        await ask(transport)
    assert "Cookie" not in endpoint.received[1].headers


# What is believed


@pytest.mark.parametrize("content_type", [JSON, f"{JSON}; charset=utf-8", "application/json"])
async def test_json_is_believed_by_its_content_type(content_type: str) -> None:
    async with (
        fake_endpoint(answering(content_type=content_type)) as endpoint,
        asking(endpoint.url) as transport,
    ):
        assert await ask(transport) == EMPTY


@pytest.mark.parametrize(
    "packed",
    [gzip.compress(EMPTY * 500), gzip.compress(EMPTY * 200) + gzip.compress(EMPTY * 300)],
    ids=["one member", "two members"],
)
async def test_a_gzip_answer_is_unpacked(packed: bytes) -> None:
    async with fake_endpoint(answering(packed, headers=ZIPPED)) as endpoint, asking(endpoint.url) as transport:
        assert await ask(transport) == EMPTY * 500


async def test_a_gzip_answer_in_chunks_of_one_byte_is_unpacked() -> None:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": JSON, **ZIPPED})
        await response.prepare(request)
        for byte in gzip.compress(EMPTY):
            await response.write(bytes([byte]))
        await response.write_eof()
        return response

    async with fake_endpoint(handle) as endpoint, asking(endpoint.url) as transport:
        assert await ask(transport) == EMPTY


async def test_a_gzip_answer_cut_at_any_byte_is_refused() -> None:
    packed = gzip.compress(EMPTY)
    answers = [answering(packed[:length], headers=ZIPPED) for length in range(len(packed) + 1)]
    async with fake_endpoint(in_turn(answers)) as endpoint, asking(endpoint.url) as transport:
        for _ in range(len(packed)):
            with pytest.raises(BrokenAnswer, match="broke off"):
                await ask(transport)
        assert await ask(transport) == EMPTY


async def test_an_answer_may_be_as_large_as_the_limit_and_no_larger() -> None:
    for packed in (False, True):
        for size, fits in ((MAX_BYTES, True), (MAX_BYTES + 1, False)):
            body = b" " * size
            handler = answering(gzip.compress(body), headers=ZIPPED) if packed else answering(body)
            async with fake_endpoint(handler) as endpoint, asking(endpoint.url) as transport:
                if fits:
                    assert await ask(transport) == body
                else:
                    with pytest.raises(AnswerCut, match="larger than this gateway reads"):
                        await ask(transport)


async def test_a_small_body_that_unpacks_to_a_huge_one_is_not_unpacked() -> None:
    huge = 64_000_000
    handler = answering(gzip.compress(b" " * huge), headers=ZIPPED)
    async with fake_endpoint(handler) as endpoint, asking(endpoint.url) as transport:
        tracemalloc.start()
        try:
            with pytest.raises(AnswerCut, match="larger than this gateway reads"):
                await ask(transport)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < huge / 10


async def test_a_body_that_is_far_more_densely_packed_than_an_answer_is_refused_before_it_is_unpacked() -> None:
    rows = b'{"head":{"vars":["s"]},"results":{"bindings":[' + b"{}," * 20_000_000
    async with (
        fake_endpoint(answering(gzip.compress(rows), headers=ZIPPED)) as endpoint,
        asking(endpoint.url, max_bytes=64 << 20) as transport,
    ):
        tracemalloc.start()
        try:
            with pytest.raises(EndpointFault, match="unpacks to far more"):
                await ask(transport)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < len(rows) / 2


async def test_an_answer_of_many_like_rows_is_unpacked() -> None:
    rows = b"".join(b'{"s":{"type":"uri","value":"http://example.org/%d"}},' % number for number in range(150_000))
    async with (
        fake_endpoint(answering(gzip.compress(rows), headers=ZIPPED)) as endpoint,
        asking(endpoint.url, max_bytes=64 << 20) as transport,
    ):
        assert await ask(transport) == rows


async def test_a_body_of_http_1_0_ends_with_the_connection() -> None:
    head = b"HTTP/1.0 200 OK\r\nContent-Type: application/sparql-results+json\r\n\r\n"
    async with fake_endpoint(sending(head + EMPTY)) as endpoint, asking(endpoint.url) as transport:
        for _ in range(2):
            assert await ask(transport) == EMPTY


# What is refused


@pytest.mark.parametrize(
    ("status", "kind", "says"),
    [
        (301, NoQueryEndpoint, "redirects"),
        (302, NoQueryEndpoint, "redirects"),
        (307, NoQueryEndpoint, "redirects"),
        (308, NoQueryEndpoint, "redirects"),
        (400, QueryRefused, "refused a query"),
        (401, EndpointFault, "asks for credentials"),
        (403, EndpointFault, "refuses this gateway"),
        (404, NoQueryEndpoint, "no SPARQL query endpoint"),
        (405, NoQueryEndpoint, "no queries by POST"),
        (407, EndpointFault, "proxy before the endpoint asks for credentials"),
        (408, GaveUp, "gave up"),
        (413, QueryTooLong, "too long"),
        (414, QueryTooLong, "too long"),
        (415, NoQueryEndpoint, "takes no queries"),
        (418, EndpointFault, "HTTP status 418"),
        (422, QueryRefused, "does not allow"),
        (429, Throttled, "throttling"),
        (431, QueryTooLong, "too long"),
        (500, ServerFailed, "HTTP status 500"),
        (501, NoQueryEndpoint, "no queries by POST"),
        (502, BrokenAnswer, "proxy got no answer"),
        (503, Throttled, "overloaded"),
        (504, GaveUp, "proxy gave up"),
        (520, BrokenAnswer, "proxy got no answer"),
        (522, BrokenAnswer, "proxy got no answer"),
        (524, GaveUp, "proxy gave up"),
        (530, BrokenAnswer, "proxy got no answer"),
    ],
)
async def test_a_bad_status_is_typed_and_reported_without_the_endpoints_own_words(
    status: int, kind: type[Fault], says: str
) -> None:
    headers = {"WWW-Authenticate": 'Basic realm="tell-nobody"', "Location": "http://tell-nobody.example/"}
    error = await fault_of(answering(TRACE, status=status, headers=headers))
    assert type(error) is kind
    assert says in error.wrong
    assert error.next_step


async def test_no_status_but_200_is_believed_even_over_sparql_json() -> None:
    others = range(201, 600)
    # After a 406, JSON is asked for by its other name.
    answers = [answering(status=status) for status in sorted([*others, 406])] + [answering()]
    async with fake_endpoint(in_turn(answers)) as endpoint, asking(endpoint.url, method="post") as transport:
        for _ in others:
            with pytest.raises(Fault):
                await ask(transport)
        assert await ask(transport) == EMPTY
        assert len(endpoint.received) == len(answers)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_never_followed(status: int) -> None:
    async with fake_endpoint(answering()) as elsewhere:
        there = answering(status=status, headers={"Location": elsewhere.url})
        async with fake_endpoint(there) as endpoint, asking(endpoint.url) as transport:
            with pytest.raises(EndpointFault, match="redirects elsewhere"):
                await ask(transport)
        assert len(endpoint.received) == 1
        assert elsewhere.received == []


@pytest.mark.parametrize(
    "link",
    [
        '<https://example.org/next>; rel="describedby"',
        '</a>; rel="nextish"',
        '</a>; title="; rel=next-door"',
        "</a;rel=next>; rel=prev",
    ],
)
async def test_other_links_are_no_sign_of_a_part(link: str) -> None:
    async with fake_endpoint(answering(headers={"Link": link})) as endpoint, asking(endpoint.url) as transport:
        assert await ask(transport)


@pytest.mark.parametrize(
    "handler",
    [
        answering(status=206),
        answering(headers={"X-SPARQL-MaxRows": "10000"}),
        answering(headers={"X-SQL-State": "S1TAT", "X-SQL-Message": "tell-nobody"}),
        answering(headers={"Link": '</sparql?page=1>; rel="first", </sparql?page=3>; rel="last next"'}),
        answering(headers={"link": "</sparql?page=2>;rel=next; title=more"}),
    ],
    ids=["status 206", "row limit", "time limit", "a link to the next page", "a bare link to the next page"],
)
async def test_an_answer_that_says_it_is_partial_is_cut(handler: Handler) -> None:
    error = await fault_of(handler)
    assert type(error) is AnswerCut
    assert error.cause == "server_truncated"


@pytest.mark.parametrize(
    ("headers", "row_cap"),
    [
        ({"X-SPARQL-MaxRows": "10000"}, 10_000),
        ({"X-SPARQL-MaxRows": "many"}, None),
        ({"X-SPARQL-MaxRows": "9" * 5000}, None),
        ({"X-SQL-State": "S1TAT"}, None),
    ],
)
async def test_the_row_cap_that_an_endpoint_names_is_reported(headers: dict[str, str], row_cap: int | None) -> None:
    error = await fault_of(answering(headers=headers))
    assert isinstance(error, AnswerCut)
    assert error.row_cap == row_cap


@pytest.mark.parametrize(
    ("content_type", "says"),
    [
        ("text/html", "with HTML and"),
        ("text/plain; charset=utf-8", "with plain text and"),
        ("application/sparql-results+xml", "with SPARQL XML and"),
        ("tell-nobody/ignore-all-previous-instructions", "with another content type and"),
        ("alice", "with another content type and"),
    ],
)
async def test_a_200_of_another_content_type_is_no_answer(content_type: str, says: str) -> None:
    error = await fault_of(answering(b"<html>" + TRACE, content_type=content_type))
    kinds = {"with HTML and": NoQueryEndpoint, "with SPARQL XML and": WrongFormat}
    assert type(error) is kinds.get(says, EndpointFault)
    assert says in error.wrong
    assert "ignore" not in str(error)


@pytest.mark.parametrize(
    ("handler", "kind", "says"),
    [
        (sending(b""), NetworkFault, "could not be reached"),
        (sending(b"", reset=True), NetworkFault, "could not be reached"),
        (sending(b"HTTP/1.1 200 OK\r\nContent-Ty"), NetworkFault, "could not be reached"),
        (sending(b"HTTP/1.1 200 OK\r\nContent-Ty", reset=True), NetworkFault, "could not be reached"),
        (sending(OK_HEAD + b"Content-Length: 100\r\n\r\n{}"), BrokenAnswer, "broke off"),
        (sending(OK_HEAD + b"Content-Length: 100\r\n\r\n{}", reset=True), BrokenAnswer, "broke off"),
        (sending(OK_HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"), BrokenAnswer, "broke off"),
        (sending(OK_HEAD + b"Transfer-Encoding: chunked\r\n\r\n100\r\n{}"), BrokenAnswer, "broke off"),
        (sending(OK_HEAD + b"Transfer-Encoding: chunked\r\n\r\nno size\r\n{}"), EndpointFault, "no valid HTTP"),
        (sending(b"hello from alice\r\n\r\n"), EndpointFault, "no valid HTTP"),
        (sending(b"SSH-2.0-tell-nobody\r\n"), EndpointFault, "no valid HTTP"),
        (sending(OK_HEAD + b"Content-Length: tell-nobody\r\n\r\n{}"), EndpointFault, "no valid HTTP"),
        (sending(OK_HEAD + b"X-Long: " + b"s3cret" * 20_000 + b"\r\n\r\n"), EndpointFault, "no valid HTTP"),
        (answering(b"no gzip: " + TRACE, headers=ZIPPED), BrokenAnswer, "damaged gzip"),
        (answering(gzip.compress(EMPTY) + b"rest", headers=ZIPPED), BrokenAnswer, "damaged gzip"),
        (answering(headers={"Content-Encoding": "br"}), EndpointFault, "packed its answer"),
        (answering(b" " * (MAX_BYTES + 1)), AnswerCut, "larger than this gateway reads"),
    ],
    ids=[
        "closed at once",
        "reset at once",
        "closed in the head",
        "reset in the head",
        "body short of its length",
        "reset in the body",
        "no last chunk",
        "chunk short of its size",
        "chunk without a size",
        "no HTTP",
        "another protocol",
        "length that is no number",
        "head too long",
        "not gzip",
        "more than gzip",
        "unasked packing",
        "too large",
    ],
)
async def test_what_is_no_whole_answer_is_typed_and_reported(handler: Handler, kind: type[Fault], says: str) -> None:
    error = await fault_of(handler)
    assert type(error) is kind
    assert says in error.wrong
    assert error.next_step


async def test_a_port_where_nobody_listens_is_a_network_fault() -> None:
    port = free_port()
    async with asking(f"http://{HOST}:{port}/sparql", access=ALICE) as transport:
        with pytest.raises(NetworkFault) as caught:
            await ask(transport)
    assert_discreet(str(caught.value), port)


@needs_linux
async def test_a_host_that_accepts_no_connection_is_a_network_fault() -> None:
    hasty = Access(connect_seconds=0.05)
    with unanswering_port() as port:
        async with asking(f"http://{HOST}:{port}/sparql", access=hasty) as transport:
            with pytest.raises(NetworkFault, match="could not be reached"):
                await ask(transport)


@needs_linux
async def test_a_deadline_counts_while_the_connection_is_made() -> None:
    with unanswering_port() as port:
        async with asking(f"http://{HOST}:{port}/sparql") as transport:
            with pytest.raises(DeadlinePassed):
                await transport.select(QUERY, Deadline.after(0.05))


@pytest.mark.parametrize("url", ["http://", "alice", "http://[", "http://alice:s3cret@127.0.0.1:99999/"])
async def test_a_url_that_is_none_is_reported_without_it(url: str) -> None:
    async with asking(url) as transport:
        with pytest.raises(EndpointFault, match="no valid URL") as caught:
            await ask(transport)
    assert_discreet(str(caught.value), 99999)


async def test_a_fault_leaves_no_credentials_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    await fault_of(sending(b"", reset=True))
    await fault_of(answering(TRACE, status=500))
    assert "no answer from the endpoint" in caplog.text
    assert "s3cret" not in caplog.text


async def test_the_next_query_is_answered_after_any_fault() -> None:
    faulty = [
        sending(b"", reset=True),
        answering(TRACE, status=500),
        answering(b" " * (MAX_BYTES * 10)),
        sending(OK_HEAD + b"Content-Length: 100\r\n\r\n{}"),
    ]
    handler = in_turn([*faulty, answering()])
    async with fake_endpoint(handler) as endpoint, asking(endpoint.url, concurrency=1) as transport:
        for _ in faulty:
            with pytest.raises(Fault):
                await ask(transport)
        assert await ask(transport) == EMPTY


# Time, cancelling, concurrency


async def test_an_endpoint_that_hangs_is_given_up_at_the_deadline() -> None:
    handler = Hanging()
    async with fake_endpoint(handler) as endpoint, asking(endpoint.url, access=ALICE) as transport:
        with pytest.raises(DeadlinePassed) as caught:
            await transport.select(QUERY, Deadline.after(0.1))
        assert_discreet(str(caught.value), endpoint.port)


async def test_a_body_that_never_ends_is_given_up_at_the_deadline() -> None:
    handler = Hanging()

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": JSON})
        await response.prepare(request)
        await response.write(b"{")
        return await handler(request)

    async with fake_endpoint(handle) as endpoint, asking(endpoint.url) as transport:
        await time_runs_out(partial(transport.select, QUERY), handler.began.is_set)
        await handler.gone.wait()


async def test_nothing_is_sent_when_no_time_is_left() -> None:
    clock = Clock()
    async with fake_endpoint(answering()) as endpoint, asking(endpoint.url) as transport:
        with pytest.raises(DeadlinePassed):
            await transport.select(QUERY, Deadline.after(0, clock))
        assert endpoint.received == []


async def test_a_query_whose_time_ran_out_while_it_waited_for_a_slot_is_not_sent() -> None:
    clock = Clock()
    handler = Gated()
    async with fake_endpoint(handler) as endpoint, asking(endpoint.url, concurrency=1) as transport:
        first = asyncio.create_task(ask(transport, "first"))
        await handler.began.acquire()
        second = asyncio.create_task(transport.select("second", Deadline.after(60, clock)))
        await asyncio.sleep(0)
        clock.now += 60
        handler.gate.release()
        assert await first == EMPTY
        with pytest.raises(DeadlinePassed):
            await second
        assert endpoint.queries == ["first"]


async def test_cancelling_closes_the_connection_and_frees_the_slot() -> None:
    handler = Hanging()
    async with fake_endpoint(handler) as endpoint, asking(endpoint.url, concurrency=1) as transport:
        for _ in range(2):
            handler.began.clear()
            handler.gone.clear()
            task = asyncio.create_task(ask(transport))
            await handler.began.wait()
            assert not handler.gone.is_set()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await handler.gone.wait()


async def test_a_passed_deadline_closes_the_connection() -> None:
    handler = Hanging()
    async with fake_endpoint(handler) as endpoint, asking(endpoint.url) as transport:
        await time_runs_out(partial(transport.select, QUERY), handler.began.is_set)
        await handler.gone.wait()


async def test_as_many_queries_as_allowed_run_at_once_and_no_more() -> None:
    gated = Gated()

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        form = await request.post()
        return await (answering() if form["query"] == "later" else gated)(request)

    async with (
        fake_endpoint(handle) as endpoint,
        asking(endpoint.url, concurrency=2) as transport,
        asking(endpoint.url) as another,
    ):
        tasks = [asyncio.create_task(ask(transport, str(number))) for number in range(5)]
        await gated.began.acquire()
        await gated.began.acquire()
        # A later query over another transport is answered: had a third one been sent, it would be there as well.
        assert await ask(another, "later") == EMPTY
        assert endpoint.queries == ["0", "1", "later"]
        assert gated.active == 2
        for _ in tasks:
            gated.gate.release()
        assert await asyncio.gather(*tasks) == [EMPTY] * 5
    assert gated.peak == 2


async def test_a_query_cancelled_while_it_waits_for_a_slot_is_never_sent() -> None:
    handler = Gated()
    async with fake_endpoint(handler) as endpoint, asking(endpoint.url, concurrency=1) as transport:
        first = asyncio.create_task(ask(transport, "first"))
        await handler.began.acquire()
        waiting = asyncio.create_task(ask(transport, "waiting"))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        third = asyncio.create_task(ask(transport, "third"))
        handler.gate.release()
        handler.gate.release()
        await asyncio.gather(first, third)
        assert endpoint.queries == ["first", "third"]


# Closing


async def test_a_transport_can_be_closed_before_its_first_query_and_more_than_once() -> None:
    async with fake_endpoint(answering()) as endpoint:
        unused = Http(endpoint.url, max_bytes=MAX_BYTES)
        await unused.close()
        used = Http(endpoint.url, max_bytes=MAX_BYTES)
        await ask(used)
        await used.close()
        await used.close()


async def test_closing_closes_the_connections() -> None:
    closed = asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(OK_HEAD + b"Content-Length: 2\r\n\r\n{}")
        await reader.read()
        closed.set()
        writer.close()

    server = await asyncio.start_server(handle, HOST, 0)
    async with server, asking(f"http://{HOST}:{server.sockets[0].getsockname()[1]}/") as transport:
        assert await ask(transport) == b"{}"
        assert not closed.is_set()
        await transport.close()
        await closed.wait()


async def test_a_request_that_is_sent_once_more_is_paid_by_the_same_budget() -> None:
    served = 0

    async def hang_up_at_first(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal served
        served += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(hang_up_at_first, HOST, 0)
    url = f"http://{HOST}:{server.sockets[0].getsockname()[1]}/"
    async with server, asking(url) as transport:
        for left, sent in ((1, 2), (0, 1)):
            served = 0
            call = Call(Deadline.after(PATIENCE), left, 1, 1)
            with pytest.raises(Fault):
                await transport.select(QUERY, call.deadline, call.spend_request)
            assert (served, call.sent) == (sent, sent - 1)


async def test_an_endpoint_that_took_a_post_is_not_asked_by_get_after_a_passing_refusal() -> None:
    refusals = iter((False, True, False))

    async def refuse_the_second(request: web.BaseRequest) -> web.StreamResponse:
        if request.method == "POST" and next(refusals):
            return web.Response(status=405, text="SendingMethod Not Allowed")
        return web.Response(body=EMPTY, content_type=JSON)

    async with fake_endpoint(refuse_the_second) as endpoint, asking(endpoint.url) as transport:
        await ask(transport)
        with pytest.raises(NoQueryEndpoint):
            await ask(transport)
        await ask(transport)
    assert [request.method for request in endpoint.received] == ["POST", "POST", "POST"]
