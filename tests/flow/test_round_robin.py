"""Slots that are handed out in turn among requesters, whatever they ask for, give back, or give up."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.flow.limiters import RoundRobinLimiter
from tests.examples import examples

pytestmark = pytest.mark.anyio


async def settled() -> None:
    """Let every task go as far as it can."""
    for _ in range(10):
        await asyncio.sleep(0)


@dataclass(eq=False)
class Request:
    """A request of a requester: it waits for a slot, and holds it until it may end."""

    requester: int
    task: "asyncio.Task[None] | None" = None
    granted: bool = False
    may_end: asyncio.Event = field(default_factory=asyncio.Event)
    passed_by: Counter[int] = field(default_factory=Counter)


class Room:
    """Requests under way in a limiter."""

    def __init__(self, limiter: RoundRobinLimiter) -> None:
        self.limiter = limiter
        self.requests: list[Request] = []
        self.order: list[int] = []

    def ask(self, requester: int) -> Request:
        """Begin a request of a requester."""
        request = Request(requester)
        request.task = asyncio.create_task(self._hold(request))
        self.requests.append(request)
        return request

    async def _hold(self, request: Request) -> None:
        try:
            async with self.limiter.slot(request.requester):
                request.granted = True
                self.order.append(request.requester)
                first = {other.requester: other for other in reversed(self.waiting)}
                for other in first.values():
                    other.passed_by[request.requester] += 1
                await request.may_end.wait()
        finally:
            self.requests.remove(request)

    @property
    def held(self) -> list[Request]:
        """The requests that hold a slot."""
        return [request for request in self.requests if request.granted]

    @property
    def waiting(self) -> list[Request]:
        """The requests that wait for one, the first to ask first."""
        return [request for request in self.requests if not request.granted]

    async def end(self) -> None:
        """End all requests, those that still wait in their turn."""
        while self.requests:
            for request in self.requests:
                request.may_end.set()
            await settled()


async def test_a_party_with_one_request_does_not_wait_behind_all_of_a_party_with_many() -> None:
    room = Room(RoundRobinLimiter(1))
    for _ in range(5):
        room.ask(1)
    await settled()
    room.ask(2)
    room.ask(3)
    await settled()
    await room.end()
    assert room.order == [1, 1, 2, 3, 1, 1, 1]


async def test_within_a_party_the_first_request_goes_first() -> None:
    room = Room(RoundRobinLimiter(1))
    requests = [room.ask(1) for _ in range(3)]
    await settled()
    for request in requests:
        assert [each for each in requests if each.granted][-1] is request
        request.may_end.set()
        await settled()


async def test_a_party_at_its_own_limit_leaves_slots_to_others_and_keeps_its_place() -> None:
    room = Room(RoundRobinLimiter(3, most_each=1))
    first, second = room.ask(1), room.ask(1)
    await settled()
    assert (first.granted, second.granted) == (True, False)
    others = [room.ask(2), room.ask(3), room.ask(4)]
    await settled()
    assert [other.granted for other in others] == [True, True, False]
    first.may_end.set()
    await settled()
    assert second.granted
    assert not others[2].granted
    await room.end()


async def test_a_slot_that_was_granted_to_a_task_cancelled_before_it_woke_goes_to_the_next() -> None:
    limiter = RoundRobinLimiter(1)
    await limiter.acquire(1)
    cancelled, next_one = asyncio.create_task(limiter.acquire(2)), asyncio.create_task(limiter.acquire(3))
    await settled()
    limiter.release(1)
    cancelled.cancel()
    await asyncio.wait_for(next_one, 10)
    assert cancelled.cancelled()
    assert (limiter.in_use, limiter.waiting) == (1, 0)
    limiter.release(3)
    assert limiter.in_use == 0


async def test_a_request_of_a_party_whose_only_other_was_just_cancelled_is_granted() -> None:
    limiter = RoundRobinLimiter(1)
    await limiter.acquire(1)
    waiting = asyncio.create_task(limiter.acquire(2))
    await settled()
    waiting.cancel()
    limiter.release(1)
    await asyncio.wait_for(limiter.acquire(2), 10)
    assert (limiter.in_use, limiter.waiting) == (1, 0)
    limiter.release(2)


async def test_a_party_may_be_any_value() -> None:
    limiter = RoundRobinLimiter(1)
    room = Room(limiter)
    async with limiter.slot(None):
        second = asyncio.create_task(limiter.acquire(None))
        await settled()
    await asyncio.wait_for(second, 10)
    assert not room.requests


Step = tuple[str, int]

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("ask"), st.integers(0, 3)),
        st.tuples(st.just("end"), st.integers(0, 9)),
        st.tuples(st.just("cancel"), st.integers(0, 9)),
        st.tuples(st.just("total"), st.integers(1, 4)),
        st.tuples(st.just("settle"), st.just(0)),
    ),
    max_size=60,
)


@given(STEPS, st.sampled_from([None, 1, 2]))
@settings(max_examples=examples(500))
def test_whatever_happens_no_slot_is_lost_none_is_free_in_vain_and_none_passes_another_twice(
    steps: Sequence[Step], most_each: int | None
) -> None:
    asyncio.run(_played(steps, most_each))


async def _played(steps: Sequence[Step], most_each: int | None) -> None:
    limiter = RoundRobinLimiter(2, most_each)
    room = Room(limiter)
    for what, number in steps:
        before = limiter.in_use
        if what == "ask":
            room.ask(number)
        elif what == "end" and room.held:
            room.held[number % len(room.held)].may_end.set()
        elif what == "cancel" and room.requests:
            task = room.requests[number % len(room.requests)].task
            assert task is not None
            task.cancel()
        elif what == "total":
            limiter.resize(number)
        elif what == "settle":
            await settled()
            _check(room, most_each)
        # Above the total are only slots that were granted before it was lowered.
        assert limiter.in_use <= max(limiter.total, before)
        await asyncio.sleep(0)
        assert limiter.in_use <= max(limiter.total, before)
    await settled()
    _check(room, most_each)
    await room.end()
    assert (limiter.in_use, limiter.waiting) == (0, 0)
    for requester in range(limiter.total):
        await asyncio.wait_for(limiter.acquire(("last", requester)), 10)


def _check(room: Room, most_each: int | None) -> None:
    limiter = room.limiter
    held = Counter(request.requester for request in room.held)
    assert limiter.in_use == held.total()
    assert limiter.waiting == len(room.waiting)
    if most_each is not None:
        assert all(count <= most_each for count in held.values())
    for request in room.waiting:
        may_have = most_each is None or held[request.requester] < most_each
        assert limiter.in_use >= limiter.total or not may_have
        if most_each is None:
            # At the head of its requester's queue, it sees each other requester pass once at most.
            assert all(count <= 1 for count in request.passed_by.values())
