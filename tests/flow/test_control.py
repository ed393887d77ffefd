"""Which requests go to an endpoint, and when: limits, breakers, retries, and a quota that machines share."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import anyio
import pytest
import redis
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import (
    BrokenAnswer,
    DeadlinePassed,
    EndpointFault,
    Fault,
    GaveUp,
    NetworkFault,
    QueryRefused,
    QuotaSpent,
    Resting,
    Throttled,
)
from gateway.flow.control import BatchSize, Breaker, FlowControl, RetryPolicy
from gateway.flow.quota import Quota
from gateway.flow.quota_state import MemoryStorage, QuotaState, QuotaStorage, read_state, strictest, written
from gateway.flow.shared_quota import SharedQuota
from gateway.graph.call import Call, Deadline
from gateway.settings.endpoint import QuotaSettings, RequestSettings
from gateway.settings.limits import SharedCacheServer
from tests.servers.loopback import free_port
from tests.servers.unavailable import ServerUnavailable, skip_or_fail
from tests.servers.valkey import ValkeyServer, running_valkey

pytestmark = pytest.mark.anyio


@dataclass
class Time:
    """A clock that only moves when somebody sleeps."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        """Return the time."""
        return self.now

    async def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.slept.append(seconds)
        self.now += seconds
        await anyio.lowlevel.checkpoint()


def controlled(time: Time, **settings: float) -> FlowControl:
    return FlowControl(RequestSettings.model_validate(settings), clock=time, sleep=time.sleep)


def test_a_batch_grows_while_answers_are_quick_and_whole() -> None:
    size = BatchSize.starting_at(100)
    sizes = []
    for _ in range(4):
        size.worked(size.now, 0, 0.2)
        sizes.append(size.now)
    assert sizes == [200, 400, 400, 400]


def test_a_slow_answer_a_long_one_and_one_about_half_a_batch_are_no_reason_to_grow() -> None:
    size = BatchSize.starting_at(100)
    size.worked(100, 5_000, 0.1)
    size.worked(100, 0, 5.0)
    size.worked(50, 0, 0.1)
    assert size.now == 100


def test_a_batch_grows_to_twice_what_was_answered_though_it_was_not_full() -> None:
    size = BatchSize.starting_at(500)
    size.worked(493, 0, 0.1)
    assert size.now == 986


def test_no_batch_ever_has_more_than_two_thousand_ids() -> None:
    size = BatchSize.starting_at(500)
    for _ in range(10):
        size.worked(size.now, 0, 0.1)
    assert size.now == 2_000


def test_a_batch_that_was_too_much_is_halved_for_those_that_follow_and_recovers() -> None:
    size = BatchSize.starting_at(100)
    size.failed(100)
    assert size.now == 50
    size.failed(50)
    size.failed(25)
    size.failed(12)
    assert size.now == 10
    size.worked(10, 0, 0.1)
    assert size.now == 20


def test_a_small_part_that_fails_does_not_shrink_below_what_is_remembered() -> None:
    size = BatchSize.starting_at(5)
    size.failed(1)
    assert size.now == 5


def test_a_long_answer_is_asked_for_in_parts_that_go_at_once_and_a_short_one_is_not() -> None:
    size = BatchSize(100, 100)
    assert [size.part(ids, at_once=4) for ids in (0, 1, 100, 500)] == [0, 1, 100, 500]
    size.worked(10, 10_000, 0.1)
    assert size.rows_for_an_id == 1_000
    assert [size.part(ids, at_once=4) for ids in (1, 4, 5, 8, 12, 16, 500)] == [1, 4, 3, 4, 4, 4, 125]


def test_the_latest_answer_counts_most_for_what_is_expected() -> None:
    size = BatchSize(100, 100)
    size.worked(10, 10_000, 0.1)
    size.worked(10, 0, 0.1)
    assert 300 < size.rows_for_an_id < 400
    size.worked(100, 0, 0.1)
    assert size.rows_for_an_id < 100


def test_what_was_learnt_about_a_kind_of_query_is_kept() -> None:
    flow = controlled(Time())
    flow.batch_size("edges", 100).failed(100)
    assert flow.batch_size("edges", 100).now == 50
    assert flow.batch_size("facts", 100).now == 100


async def test_a_pause_that_the_endpoint_asks_for_holds_for_every_query() -> None:
    time = Time()
    flow = controlled(time)
    flow.quota.obey(Throttled("Too many.", retry_after=7.0))
    for _ in range(2):
        async with flow.turn(Deadline(30.0, time)):
            assert time.now == 7.0
    assert time.slept == [7.0]


async def test_a_pause_longer_than_the_call_may_take_is_reported_at_once() -> None:
    time = Time()
    flow = controlled(time)
    flow.quota.obey(Throttled("Too many.", retry_after=120.0))
    with pytest.raises(Throttled) as caught:
        async with flow.turn(Deadline(30.0, time)):
            pytest.fail("the query was sent")
    assert caught.value.retry_after == 120.0
    assert time.slept == []


async def test_an_endpoint_that_wants_fewer_requests_gets_half_as_many_at_once_and_slowly_more() -> None:
    time = Time()
    flow = controlled(time, concurrency=8)
    flow.failed(Throttled("Too many."))
    assert flow.at_once == 4
    for _ in range(4):
        flow.answered()
    assert flow.at_once == 5
    for _ in range(100):
        flow.answered()
    assert flow.at_once == 8


async def test_no_more_queries_than_allowed_are_under_way() -> None:
    time = Time()
    flow = controlled(time, concurrency=2)
    under_way = 0
    most = 0

    async def ask() -> None:
        nonlocal under_way, most
        async with flow.turn(Deadline(30.0, time)):
            under_way += 1
            most = max(most, under_way)
            await anyio.lowlevel.checkpoint()
            under_way -= 1

    async with anyio.create_task_group() as tasks:
        for _ in range(10):
            tasks.start_soon(ask)
    assert most == 2


async def test_a_call_with_one_request_does_not_wait_behind_all_requests_of_another() -> None:
    time = Time()
    flow = controlled(time, concurrency=2)
    sent: list[str] = []

    async def ask(call: Call, name: str) -> None:
        async def send() -> None:
            sent.append(name)
            await anyio.lowlevel.checkpoint()

        await flow.run(call, send, no_probe)

    heavy, light = (Call(Deadline(30.0, time), 100, 100, 100) for _ in range(2))
    async with anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(ask, heavy, "heavy")
        # A copy for a part of the work stands in line with the rest of its call.
        tasks.start_soon(ask, replace(heavy), "heavy")
        tasks.start_soon(ask, light, "light")
    assert sent.count("heavy") == 21
    assert sent.index("light") <= 3


async def no_probe(_: Deadline) -> None:
    pytest.fail("a probe was sent")


async def test_requests_start_no_closer_together_than_the_operator_wants() -> None:
    time = Time()
    flow = controlled(time, delay_seconds=0.5)
    starts = []
    for _ in range(3):
        async with flow.turn(Deadline(30.0, time)):
            starts.append(time.now)
    assert starts == [0.0, 0.5, 1.0]


DOWN = NetworkFault("The endpoint could not be reached.")
SOON = Deadline(60.0, lambda: 0.0)
"""It never comes: its clock stands still."""


class Endpoint:
    """An endpoint that is down or not, and counts probes."""

    def __init__(self) -> None:
        self.down = True
        self.probes = 0

    async def probe(self, _deadline: Deadline) -> None:
        """Answer, or not."""
        self.probes += 1
        if self.down:
            raise DOWN


async def test_it_asks_again_after_the_rest_and_only_then() -> None:
    now = 0.0
    endpoint = Endpoint()
    breaker = Breaker(2, 15.0, lambda: now)
    for _ in range(2):
        await breaker.admit(endpoint.probe, SOON)
        breaker.failed(DOWN)
    for _ in range(3):
        with pytest.raises(Resting, match=r"could not be reached.*2 times.*15 s"):
            await breaker.admit(endpoint.probe, SOON)
    assert endpoint.probes == 1
    now = 15.0
    endpoint.down = False
    await breaker.admit(endpoint.probe, SOON)
    await breaker.admit(endpoint.probe, SOON)
    assert endpoint.probes == 2


async def test_an_answer_forgives_the_failures_before_it() -> None:
    endpoint = Endpoint()
    breaker = Breaker(2, 15.0)
    for _ in range(5):
        breaker.failed(EndpointFault("Odd."))
        breaker.answered()
        await breaker.admit(endpoint.probe, SOON)
    assert endpoint.probes == 0


async def test_a_hanging_endpoint_counts_as_one_that_fails_and_a_refused_query_does_not() -> None:
    endpoint = Endpoint()
    breaker = Breaker(2, 15.0)
    breaker.failed(DeadlinePassed("Over."))
    breaker.failed(QueryRefused("No."))
    await breaker.admit(endpoint.probe, SOON)
    breaker.failed(DeadlinePassed("Over."))
    with pytest.raises(Resting):
        await breaker.admit(endpoint.probe, SOON)


class Now:
    """A clock that goes on when it is told to."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        """Return the seconds that have passed."""
        return self.seconds


@pytest.mark.parametrize("server", ["the endpoint", "the Wikibase API"])
async def test_a_probe_that_is_not_answered_in_its_time_is_reported_as_silence_and_not_as_the_end_of_the_call(
    server: str,
) -> None:
    now = Now()

    async def hang(deadline: Deadline) -> None:
        now.seconds = deadline.at
        deadline.check()

    breaker = Breaker(1, 15.0, now, server=server)
    breaker.failed(DOWN)
    with pytest.raises(DeadlinePassed):
        await breaker.admit(hang, Deadline(now.seconds + 1.0, now))
    with pytest.raises(Resting) as caught:
        await breaker.admit(hang, Deadline(now.seconds + 30.0, now))
    assert caught.value.wrong.startswith(f"The{server[3:]} did not answer a harmless request within 3 s. It failed")


POLICY = RetryPolicy(retries=10, first_pause=0.2)


def deadline(seconds: float = 60.0) -> Deadline:
    return Deadline(seconds, lambda: 0.0)


@pytest.mark.parametrize(("attempt", "longest"), [(1, 0.2), (2, 0.4), (3, 0.8), (6, 5.0), (9, 5.0)])
def test_pauses_grow_to_five_seconds_with_full_jitter(attempt: int, longest: float) -> None:
    pauses = [POLICY.pause_after(NetworkFault("Reset."), attempt, deadline()) for _ in range(300)]
    assert all(pause is not None and 0 <= pause <= longest for pause in pauses)
    assert min(pause or 0.0 for pause in pauses) < longest / 4
    assert max(pause or 0.0 for pause in pauses) > longest * 3 / 4


def test_a_retry_after_is_taken_as_it_is() -> None:
    assert POLICY.pause_after(Throttled("Fewer.", retry_after=17.5), 1, deadline()) == 17.5
    assert POLICY.pause_after(Throttled("Fewer.", retry_after=0.0), 1, deadline()) == 0.0


@pytest.mark.parametrize("left", [0.0, 17.0, 17.5])
def test_a_pause_as_long_as_the_call_is_not_worth_waiting_for(left: float) -> None:
    assert POLICY.pause_after(Throttled("Fewer.", retry_after=17.5), 1, deadline(left)) is None


def test_a_request_is_sent_again_as_often_as_the_profile_says() -> None:
    policy = RetryPolicy(retries=2, first_pause=0.2)
    fault = BrokenAnswer("Broke off.")
    assert [policy.pause_after(fault, attempt, deadline()) is None for attempt in (1, 2, 3)] == [False, False, True]
    assert RetryPolicy(retries=0, first_pause=0.2).pause_after(fault, 1, deadline()) is None


@pytest.mark.parametrize("fault", [QueryRefused("No."), GaveUp("Too slow.")])
def test_a_fault_that_stays_is_no_reason_to_send_again(fault: Fault) -> None:
    assert POLICY.pause_after(fault, 1, deadline()) is None


SETTINGS: Final = QuotaSettings(
    query_seconds_per_minute=60, query_seconds_burst=120, errors_per_minute=3, errors_burst=6, time_limit_seconds=60
)
CLIENT: Final = "quota-0123456789abcdef"
NOW: Final = 1_000_000.0


@pytest.fixture(scope="module")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ValkeyServer]:
    try:
        with running_valkey(tmp_path_factory.mktemp("quota")) as server:
            yield server
    except ServerUnavailable as error:
        skip_or_fail(error)


@dataclass
class Machine:
    """One machine that counts; its clock of rests after failures goes on when it is told to."""

    url: str
    client: str = CLIENT
    now: float = 0.0

    def __post_init__(self) -> None:
        self.quota = Quota(SETTINGS, storage=self._storage, clock=lambda: NOW)

    def _storage(self, state: QuotaState) -> QuotaStorage:
        return SharedQuota(SharedCacheServer(self.url), self.client, MemoryStorage(state), lambda: self.now)

    @property
    def wait(self) -> float:
        """Seconds until it may send a request."""
        return self.quota.seconds_to_wait()

    def use_up(self) -> None:
        """Count as many errors as a client may save up."""
        for _ in range(6):
            self.quota.charge_error()


@pytest.mark.server
async def test_what_one_machine_used_up_the_other_waits_for(valkey: ValkeyServer) -> None:
    one, other = Machine(valkey.url, "a"), Machine(valkey.url, "a")
    assert other.wait == 0
    one.use_up()
    assert one.wait == other.wait > 0
    with pytest.raises(QuotaSpent):
        other.quota.check(Deadline.after(1))


@pytest.mark.server
async def test_a_machine_counts_alone_while_the_server_is_away_and_as_strictly_as_both_when_it_is_back(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    port = free_port()
    try:
        with running_valkey(tmp_path, port) as server:
            one, other = Machine(server.url), Machine(server.url)
            one.quota.charge_error()
            assert other.wait == 0
    except ServerUnavailable as error:
        skip_or_fail(error)
    one.use_up()
    assert one.wait > 0
    assert other.wait == 0
    with running_valkey(tmp_path, port) as server:
        Machine(server.url).quota.charge_error()
        one.now = 60
        one.quota.charge_error()
        assert Machine(server.url).wait == one.wait > 0
    alone = "this machine counts alone what it asks of the endpoint"
    assert [record.message.partition(":")[0] for record in caplog.records] == [
        alone,
        alone,
        "the quota of the endpoint is shared between machines again",
    ]


@pytest.mark.server
async def test_a_lock_of_a_process_that_died_blocks_nobody(valkey: ValkeyServer) -> None:
    with redis.Redis.from_url(valkey.url) as client:
        client.set("bfsql:b:lock", "of a process that died", px=60_000)
    one = Machine(valkey.url, "b")
    one.use_up()
    assert one.wait > 0


@pytest.mark.server
@pytest.mark.parametrize("content", ["", "{}", "[]", "null", '{"at": "now"}', "9" * 5_000, "[" * 5_000])
async def test_what_is_no_state_is_as_if_nothing_were_there(valkey: ValkeyServer, content: str) -> None:
    with redis.Redis.from_url(valkey.url) as client:
        client.set("bfsql:c", content)
    one = Machine(valkey.url, "c")
    assert one.wait == 0
    one.use_up()
    assert Machine(valkey.url, "c").wait > 0


figures = st.floats(-1e9, 1e9, allow_nan=False)
states = st.builds(
    QuotaState,
    at=figures,
    query_seconds=figures,
    errors=figures,
    closed_until=figures,
    banned=st.booleans(),
    overloads=st.integers(0, 10),
    given_up=st.lists(figures, max_size=4).map(sorted),
)


@given(states)
def test_a_state_is_read_as_it_was_written(state: QuotaState) -> None:
    assert read_state(written(state)) == state


@given(states, states)
def test_of_two_states_the_strictest_grants_no_more_than_either(one: QuotaState, other: QuotaState) -> None:
    both = strictest(one, other)
    for each in (one, other):
        assert both.query_seconds <= each.query_seconds
        assert both.errors <= each.errors
        assert both.closed_until >= each.closed_until
        assert set(both.given_up) >= set(each.given_up)
    assert strictest(other, one) == both
