"""What one question does about faults: again, smaller limits, or not at all while the endpoint is down."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import anyio
import pytest

from gateway.errors import (
    AnswerCut,
    BrokenAnswer,
    DeadlinePassed,
    EndpointFault,
    Fault,
    GaveUp,
    NetworkFault,
    QueryRefused,
    Resting,
    Throttled,
)
from gateway.flow.breaker import FAILURES_BEFORE_REST
from gateway.flow.control import FlowControl
from gateway.graph.call import Call, Deadline, Spend, unpaid
from gateway.settings.endpoint import EndpointSettings, RequestSettings
from gateway.settings.limits import LimitSettings
from gateway.settings.profile import Profile
from gateway.sparql.client import SparqlClient
from gateway.sparql.table import Overflow

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


def client(transport: Scripted, endpoint: EndpointSettings | None = None, **limits: int) -> SparqlClient:
    profile = Profile(endpoint=endpoint or EndpointSettings(), limits=LimitSettings.model_validate(limits))
    return SparqlClient(transport, profile, FlowControl(profile.endpoint.requests, sleep=no_sleep))


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
