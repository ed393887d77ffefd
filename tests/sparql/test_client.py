"""What one question does about faults, in which format it is asked, and what it does where the URL refuses it."""

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest
from aiohttp import web

from gateway.api import open_gateway
from gateway.cache.on_disk import StoredFacts
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
    Resting,
    ServerFailed,
    Throttled,
    WrongFormat,
)
from gateway.flow.control import FAILURES_BEFORE_REST, FlowControl
from gateway.graph.call import Call, Deadline, Spend, unpaid
from gateway.graph.kept import KeptFacts
from gateway.settings.endpoint import EndpointSettings, EngineName, RequestSettings
from gateway.settings.limits import CacheSettings, LimitSettings
from gateway.settings.profile import Profile
from gateway.sparql import template
from gateway.sparql.client import SparqlClient
from gateway.sparql.engines import EngineDetector
from gateway.sparql.learned import FormatChoice, LateralProbe
from gateway.sparql.table import Overflow
from gateway.transport.base import Format
from gateway.transport.http import Http
from tests.clocks import Clock
from tests.transport.fake_endpoint import ALIVE, PAGES, FakeEndpoint, Handler, answering, fake_endpoint

pytestmark = pytest.mark.anyio

NODES = {"nodes": ["http://example.org/a"]}


@dataclass
class Scripted:
    """A transport that raises these faults in this order, and answers every query after them."""

    faults: Sequence[Fault | None] = ()
    rows: int = 1
    sent: list[str] = field(default_factory=list)
    probes: int = 0
    dead: bool = False

    async def select(self, query: str, _deadline: Deadline, _spend: Spend = unpaid, /) -> bytes:
        """Answer a query, or not."""
        await anyio.lowlevel.checkpoint()
        if "?alive" in query:
            self.probes += 1
            if self.dead:
                raise NetworkFault("No answer.")
            return body("alive", 1)
        fault = self.faults[len(self.sent)] if len(self.sent) < len(self.faults) else None
        self.sent.append(query)
        if fault is not None or self.dead:
            raise fault or NetworkFault("No answer.")
        limit = int(query.rsplit("LIMIT", 1)[1])
        return body("n", min(limit, self.rows))

    async def close(self) -> None:
        """Let go of nothing."""


def body(variable: str, rows: int) -> bytes:
    bindings = [{variable: {"type": "uri", "value": f"http://example.org/{n}"}} for n in range(rows)]
    return json.dumps({"head": {"vars": [variable]}, "results": {"bindings": bindings}}).encode()


def call(requests: int = 100) -> Call:
    return Call(Deadline.after(60), requests, 100_000, 1_000)


async def no_sleep(_seconds: float) -> None:
    await anyio.lowlevel.checkpoint()


def client(
    transport: Scripted, endpoint: EndpointSettings | None = None, kept: KeptFacts | None = None, **limits: int
) -> SparqlClient:
    profile = Profile(endpoint=endpoint or EndpointSettings(), limits=LimitSettings.model_validate(limits))
    return SparqlClient(transport, profile, FlowControl(profile.endpoint.requests, sleep=no_sleep), kept=kept)


@pytest.mark.parametrize("fault", [NetworkFault("Reset."), BrokenAnswer("Broke off."), Throttled("Fewer.")])
async def test_a_fault_that_may_pass_is_met_by_asking_again(fault: Fault) -> None:
    transport = Scripted([fault, fault])
    spent = call()
    assert len((await client(transport).rows("existing", spent, NODES)).whole()) == 1
    assert len(set(transport.sent)) == 1
    assert spent.sent == len(transport.sent) == 3


@pytest.mark.parametrize(
    "fault",
    [QueryRefused("No."), EndpointFault("Odd."), GaveUp("Too slow."), AnswerCut("Cut."), DeadlinePassed("Over.")],
)
async def test_a_fault_that_stays_is_reported_at_once(fault: Fault) -> None:
    transport = Scripted([fault] * 5)
    with pytest.raises(type(fault)):
        await client(transport).rows("existing", call(), NODES)
    assert len(transport.sent) == 1


async def test_after_the_last_retry_the_fault_itself_is_reported() -> None:
    transport = Scripted([NetworkFault("First."), NetworkFault("Second."), NetworkFault("Third.")])
    with pytest.raises(NetworkFault, match="Second"):
        await client(transport, EndpointSettings(requests=RequestSettings(retries=1))).rows("existing", call(), NODES)
    assert len(transport.sent) == 2


async def test_every_retry_is_paid_from_the_budget_of_the_call() -> None:
    transport = Scripted([NetworkFault("Reset.")] * 10)
    with pytest.raises(Fault, match="requests"):
        await client(transport, EndpointSettings(requests=RequestSettings(retries=9))).rows("existing", call(3), NODES)
    assert len(transport.sent) == 3


async def test_the_endpoints_own_pause_is_obeyed_before_the_next_attempt() -> None:
    slept = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        await anyio.lowlevel.checkpoint()

    transport = Scripted([Throttled("Fewer.", retry_after=4.0)])
    patient = SparqlClient(transport, Profile(), FlowControl(RequestSettings(), clock=lambda: 0.0, sleep=sleep))
    await patient.rows("existing", call(), NODES)
    assert slept[0] == 4.0


async def test_a_pause_longer_than_the_call_is_not_waited_for() -> None:
    transport = Scripted([Throttled("Fewer.", retry_after=500.0)])
    with pytest.raises(Throttled, match="Fewer"):
        await client(transport).rows("existing", call(), NODES)
    assert len(transport.sent) == 1


async def test_a_row_cap_that_the_endpoint_tells_twice_is_kept_below_from_then_on() -> None:
    transport = Scripted([AnswerCut("Cut.", row_cap=1_000)] * 2, rows=5_000)
    learning = client(transport, query_rows=50_000)
    answer = await learning.rows("existing", call(), NODES)
    rows, is_cut = answer.part()
    assert is_cut
    assert len(rows) == learning.query_rows == 900
    with pytest.raises(Overflow):
        answer.whole()
    assert [query.rsplit(None, 1)[1] for query in transport.sent] == ["50001", "50001", "901"]


async def test_a_row_cap_is_known_to_the_next_process_until_one_forgets(tmp_path: Path) -> None:
    def next_one(transport: Scripted) -> SparqlClient:
        kept = KeptFacts(StoredFacts(tmp_path, "p"), CacheSettings(), Clock())
        return client(transport, kept=kept, query_rows=50_000)

    first = next_one(Scripted([AnswerCut("Cut.", row_cap=1_000)] * 2, rows=5_000))
    await first.rows("existing", call(), NODES)
    later = next_one(Scripted())
    assert later.query_rows == 900
    later.forget()
    assert later.query_rows == 50_000
    assert next_one(Scripted()).query_rows == 50_000
    # What a process saw itself holds in it.
    first.forget()
    assert first.query_rows == 900


@pytest.mark.parametrize("caps", [[400], [400, 240]])
async def test_a_row_cap_that_the_endpoint_tells_once_is_none(caps: list[int]) -> None:
    transport = Scripted([AnswerCut("Cut.", row_cap=cap) for cap in caps], rows=5_000)
    learning = client(transport, query_rows=9_000)
    assert len((await learning.rows("existing", call(), NODES)).whole()) == 5_000
    assert learning.query_rows == 9_000
    assert len(transport.sent) == len(caps) + 1


async def test_a_query_that_waited_while_a_row_cap_was_learnt_is_asked_below_it() -> None:
    transport = Scripted([AnswerCut("Cut.", row_cap=1_000)] * 4, rows=500)
    learning = client(transport, query_rows=9_000)
    both = await asyncio.gather(*(learning.rows("existing", call(), NODES) for _ in range(2)))
    assert [len(answer.whole()) for answer in both] == [500, 500]
    assert learning.query_rows == 900


async def test_a_row_cap_that_was_kept_below_already_is_a_cut_answer() -> None:
    transport = Scripted([AnswerCut("Cut.", row_cap=100_000)])
    with pytest.raises(AnswerCut):
        await client(transport, query_rows=50_000).rows("existing", call(), NODES)


async def test_an_endpoint_that_is_down_is_left_alone_after_some_failures() -> None:
    transport = Scripted(dead=True)
    tired = client(transport, EndpointSettings(requests=RequestSettings(retries=0)))
    for _ in range(FAILURES_BEFORE_REST):
        with pytest.raises(NetworkFault):
            await tired.rows("existing", call(), NODES)
    for _ in range(4):
        with pytest.raises(Resting, match="5 times in a row"):
            await tired.rows("existing", call(), NODES)
    assert (len(transport.sent), transport.probes) == (5, 1)


async def test_an_endpoint_that_answers_the_probe_is_not_left_alone() -> None:
    transport = Scripted([EndpointFault("Odd.")] * FAILURES_BEFORE_REST)
    asking = client(transport, EndpointSettings(requests=RequestSettings(retries=0)))
    for _ in range(FAILURES_BEFORE_REST):
        with pytest.raises(EndpointFault):
            await asking.rows("existing", call(), NODES)
    assert len((await asking.rows("existing", call(), NODES)).whole()) == 1
    assert transport.probes == 1


@pytest.mark.parametrize("fault", [GaveUp("Too slow."), AnswerCut("Cut."), QueryRefused("No.")])
async def test_queries_that_are_too_much_say_nothing_against_the_endpoint(fault: Fault) -> None:
    transport = Scripted([fault] * (FAILURES_BEFORE_REST + 1))
    asking = client(transport, EndpointSettings(requests=RequestSettings(retries=0)))
    for _ in range(FAILURES_BEFORE_REST + 1):
        with pytest.raises(type(fault)):
            await asking.rows("existing", call(), NODES)
    assert transport.probes == 0


async def test_a_call_waits_for_its_turn_no_longer_than_it_may_take() -> None:
    entered = anyio.Event()

    class Hanging(Scripted):
        async def select(self, query: str, _deadline: Deadline, _spend: Spend = unpaid, /) -> bytes:
            self.sent.append(query)
            entered.set()
            await anyio.sleep_forever()
            raise AssertionError

    transport = Hanging()
    busy = client(transport, EndpointSettings(requests=RequestSettings(concurrency=1)))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(busy.rows, "existing", call(), NODES)
        await entered.wait()
        late = Call(Deadline.after(0.01), 10, 1_000, 1_000)
        with pytest.raises(DeadlinePassed):
            await busy.rows("existing", late, NODES)
        tasks.cancel_scope.cancel()
    assert len(transport.sent) == 1


async def test_a_call_that_ends_during_the_probe_says_nothing_about_the_endpoint() -> None:
    now = 0.0

    class Slow(Scripted):
        async def select(self, query: str, deadline: Deadline, spend: Spend = unpaid, /) -> bytes:
            nonlocal now
            if "?alive" in query and not self.probes:
                now += deadline.seconds_left
                self.probes += 1
                raise DeadlinePassed("Over.")
            return await super().select(query, deadline, spend)

    transport = Slow([EndpointFault("Odd.")] * FAILURES_BEFORE_REST)
    asking = client(transport, EndpointSettings(requests=RequestSettings(retries=0)))
    for _ in range(FAILURES_BEFORE_REST):
        with pytest.raises(EndpointFault):
            await asking.rows("existing", call(), NODES)
    with pytest.raises(DeadlinePassed):
        await asking.rows("existing", Call(Deadline.after(1.0, lambda: now), 10, 1_000, 1_000), NODES)
    assert len((await asking.rows("existing", call(), NODES)).whole()) == 1


NOBODY = b'{"head":{"vars":["n"]},"results":{"bindings":[]}}'


async def answer(request: web.BaseRequest) -> web.StreamResponse:
    """Answer as an endpoint over an empty graph does."""
    query = str((await request.post()).get("query", "")) or request.query.get("query", "")
    return await answering(ALIVE if "?alive" in query else NOBODY)(request)


async def failing(_: web.BaseRequest) -> web.StreamResponse:
    """Answer as a server does that has broken down."""
    return web.Response(status=500)


def client_of(endpoint: FakeEndpoint) -> tuple[SparqlClient, Http]:
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
        asking, http = client_of(there)
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
        asking, http = client_of(there)
        with pytest.raises(QueryTooLong):
            await existing(asking, nodes=2_000)
        assert await existing(asking) == 1
        await http.close()


async def test_a_refusal_that_passes_is_met_by_asking_again_and_paid() -> None:
    refusals = [True, True, True, False, False, True, False]

    async def refusing(request: web.BaseRequest) -> web.StreamResponse:
        return await (PAGES["404"] if refusals.pop(0) else answer)(request)

    async with fake_endpoint(refusing) as there:
        asking, http = client_of(there)
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
        asking, http = client_of(there)
        with pytest.raises(NoQueryEndpoint):
            await existing(asking)
        assert await existing(asking) == 2
        await http.close()
    assert not answers


async def test_a_call_that_pays_for_one_request_sends_no_second() -> None:
    async def refusing(request: web.BaseRequest) -> web.StreamResponse:
        return await (PAGES["404"] if len(there.received) == 1 else answer)(request)

    async with fake_endpoint(refusing) as there:
        asking, http = client_of(there)
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
        asking, http = client_of(there)
        with pytest.raises(QueryRefused) as caught:
            await existing(asking)
        await http.close()
    assert said in caught.value.wrong
    assert "seeds" not in str(caught.value)
    assert not {"\u202e", "internal", "java"} & {*caught.value.wrong.split("."), *caught.value.wrong}


async def test_refusals_close_nothing_and_are_not_probed_again_and_again() -> None:
    async with fake_endpoint(failing_at("?n", "Parse error")) as there:
        asking, http = client_of(there)
        for _ in range(12):
            with pytest.raises(QueryRefused):
                await existing(asking)
        await http.close()
    assert len(there.received) == 12 + 1


async def test_lateral_is_probed_once_where_an_engine_answers_it_by_an_error() -> None:
    async with fake_endpoint(failing_at("LATERAL", "Parse error")) as there:
        asking, http = client_of(there)
        probe = LateralProbe(asking, Profile().endpoint)
        for _ in range(5):
            assert not await probe.is_supported(Call(Deadline.after(20), 10, 1_000, 1_000))
        await http.close()
    assert len(there.received) == 1 + 1


async def test_an_endpoint_that_answers_nothing_has_failed_and_refused_nothing() -> None:
    async with fake_endpoint(failing) as there:
        asking, http = client_of(there)
        with pytest.raises(ServerFailed):
            await existing(asking)
        await http.close()


MARKER = b"the marker"
"""Stands for that of the query that is answered."""

LINES = b'?n\t?end\n<http://example.org/a>\t\n\t"' + MARKER + b'"\n'
IRI = {"type": "uri", "value": "http://example.org/a"}
END = {"end": {"type": "literal", "value": MARKER.decode()}}
IN_JSON = json.dumps({"head": {"vars": ["n", "end"]}, "results": {"bindings": [{"n": IRI}, END]}}).encode()


@dataclass
class InTwoFormats:
    """A transport that gives one answer in TSV and one in JSON, and remembers what it was asked for."""

    lines: bytes | Exception = LINES
    in_json: bytes | Exception = IN_JSON
    asked: list[Format] = field(default_factory=list)

    async def select(self, query: str, deadline: Deadline, spend: Spend = unpaid, /) -> bytes:
        """Answer a query in JSON."""
        return await self.select_in("json", query, deadline, spend)

    async def select_in(self, wanted: Format, query: str, _deadline: Deadline, _spend: Spend = unpaid, /) -> bytes:
        """Answer a query in a format."""
        await anyio.lowlevel.checkpoint()
        self.asked.append(wanted)
        answer = self.lines if wanted == "tsv" else self.in_json
        if isinstance(answer, Exception):
            raise answer
        return answer.replace(MARKER, "".join(re.findall(r'BIND\("(.+?)" AS \?end\)', query)).encode())

    async def close(self) -> None:
        """Let go of nothing."""


def client_in(transport: InTwoFormats, engine: EngineName = "fuseki", wanted: str = "auto") -> SparqlClient:
    endpoint = EndpointSettings.model_validate({
        "engine": engine, "format": wanted, "sentinel": "united", "requests": RequestSettings(retries=0)
    })  # fmt: skip
    profile = Profile(endpoint=endpoint)
    flow = FlowControl(endpoint.requests)
    return SparqlClient(transport, profile, flow, EngineDetector(transport, profile, flow))


async def test_an_answer_in_tsv_is_read_as_the_one_in_json() -> None:
    transport = InTwoFormats()
    for wanted in ("tsv", "json"):
        rows = (await client_in(transport, wanted=wanted).rows("existing", call(), NODES)).whole()
        assert rows.iris("n") == ["http://example.org/a"]
    assert transport.asked == ["tsv", "json"]


async def test_where_no_last_row_proves_the_end_of_an_answer_it_is_asked_for_in_json() -> None:
    body = json.dumps({"head": {"vars": ["alive"]}, "results": {"bindings": []}}).encode()
    transport = InTwoFormats(in_json=body)
    await client_in(transport, wanted="tsv").rows("alive", call(), {})
    assert transport.asked == ["json"]


async def test_what_ends_behind_a_line_is_a_cut_without_the_row_that_proves_the_end() -> None:
    _, is_cut = (
        await client_in(InTwoFormats(LINES.removesuffix(b'\t"' + MARKER + b'"\n'))).rows("existing", call(), NODES)
    ).part()
    assert is_cut


ODD = b"?n\t?end\n<http://example.org/a>\tNaN\n"


@pytest.mark.parametrize("lines", [ODD, IN_JSON + b"\n", WrongFormat("HTML.")], ids=["a line", "JSON", "another type"])
async def test_a_query_whose_tsv_cannot_be_read_is_asked_in_json_at_once_and_from_then_on(
    lines: bytes | Exception,
) -> None:
    transport = InTwoFormats(lines)
    asking, paid = client_in(transport), call()
    assert len((await asking.rows("existing", paid, NODES)).whole()) == 1
    assert paid.sent == 2
    await asking.rows("existing", call(), NODES)
    assert transport.asked == ["tsv", "json", "json"]
    await asking.rows("subjects", call(), NODES)
    assert transport.asked[3:] == ["tsv", "json"]


async def test_json_is_asked_for_from_then_on_only_if_it_could_be_read() -> None:
    transport = InTwoFormats(WrongFormat("A page."), NetworkFault("Down."))
    asking = client_in(transport)
    with pytest.raises(NetworkFault):
        await asking.rows("existing", call(), NODES)
    transport.lines = LINES
    assert len((await asking.rows("existing", call(), NODES)).whole()) == 1
    assert transport.asked == ["tsv", "json", "tsv"]


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        (LINES[:-3], BrokenAnswer),
        (LINES + b"##  Query cancelled due to timeout during execution   ##\n", GaveUp),
        (EndpointFault("Odd."), EndpointFault),
    ],
)
async def test_no_other_fault_is_a_reason_to_ask_in_json(lines: bytes | Exception, fault: type[Exception]) -> None:
    transport = InTwoFormats(lines)
    with pytest.raises(fault):
        await client_in(transport).rows("existing", call(), NODES)
    assert transport.asked == ["tsv"]


async def test_a_call_pays_for_the_question_in_json() -> None:
    transport = InTwoFormats(ODD)
    with pytest.raises(Exception, match="requests"):
        await client_in(transport).rows("existing", call(1), NODES)
    assert transport.asked == ["tsv"]


CHOSEN: list[tuple[str, EngineName, str, bool, Format]] = [
    ("auto", "fuseki", "facts", True, "tsv"),
    ("auto", "fuseki", "facts", False, "json"),
    ("auto", "virtuoso", "edges", True, "tsv"),
    ("auto", "virtuoso", "facts", True, "json"),
    ("auto", "oxigraph", "edges", True, "json"),
    ("auto", "unknown", "edges", True, "json"),
    ("tsv", "oxigraph", "facts", True, "tsv"),
    ("tsv", "oxigraph", "facts", False, "json"),
    ("tsv", "virtuoso", "facts", True, "json"),
    ("json", "fuseki", "facts", True, "json"),
]


@pytest.mark.parametrize(("pinned", "engine", "name", "is_proven", "chosen"), CHOSEN)
def test_tsv_is_asked_for_where_it_is_fast_and_can_be_read_and_its_end_is_proven(
    pinned: str, engine: EngineName, name: str, is_proven: bool, chosen: Format
) -> None:
    assert FormatChoice(pinned).of(template.load(name), engine, is_proven=is_proven) == chosen
