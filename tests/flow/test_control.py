from dataclasses import dataclass, field, replace

import anyio
import pytest

from gateway.errors import Throttled
from gateway.flow.control import BatchSize, FlowControl
from gateway.graph.call import Call, Deadline
from gateway.settings.endpoint import RequestSettings

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
