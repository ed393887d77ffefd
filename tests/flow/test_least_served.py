"""Slots go to the call that has been served least, long calls leave one to short ones, and nobody waits for ever."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.flow.limiters import EVERY, LONG_SECONDS, PRESENT_SECONDS, LeastServedLimiter
from gateway.graph.call import Requester
from tests.clocks import Clock
from tests.examples import examples
from tests.throttling.service import VirtualTimeLoop

pytestmark = pytest.mark.anyio


async def settled() -> None:
    """Let every task go as far as it can."""
    for _ in range(10):
        await asyncio.sleep(0)


@dataclass(eq=False)
class Request:
    """A request of a requester: it waits for a slot, and holds it until it may end."""

    requester: Requester
    may_end: asyncio.Event = field(default_factory=asyncio.Event)
    granted: bool = False
    task: "asyncio.Task[None] | None" = None


class Room:
    """Requests under way in a limiter."""

    def __init__(self, total: int) -> None:
        self.clock = Clock()
        self.limiter = LeastServedLimiter(total, self.clock)
        self.requests: list[Request] = []
        self.order: list[Requester] = []

    async def ask(self, requester: Requester) -> Request:
        """Begin a request, and let it go as far as it can."""
        request = Request(requester)
        request.task = asyncio.create_task(self._hold(request))
        self.requests.append(request)
        await settled()
        return request

    async def end(self, request: Request, seconds: float = 0.0) -> None:
        """End a request after some seconds more."""
        self.clock.now += seconds
        request.may_end.set()
        await settled()

    async def long_party(self) -> Requester:
        """Return a requester that has been served for long."""
        requester = Requester()
        await self.end(await self.ask(requester), LONG_SECONDS)
        self.clock.now += PRESENT_SECONDS
        return requester

    async def end_all(self) -> None:
        """End all requests, those that still wait in their turn."""
        while self.requests:
            for request in list(self.requests):
                request.may_end.set()
            await settled()

    async def _hold(self, request: Request) -> None:
        try:
            async with self.limiter.slot(request.requester):
                request.granted = True
                self.order.append(request.requester)
                await request.may_end.wait()
        finally:
            self.requests.remove(request)


async def test_the_party_that_was_served_least_goes_first() -> None:
    room = Room(1)
    much, little, none = Requester(), Requester(), Requester()
    await room.end(await room.ask(much), 0.2)
    await room.end(await room.ask(little), 0.1)
    holding = await room.ask(Requester())
    for requester in (much, little, none):
        await room.ask(requester)
    room.order.clear()
    await room.end(holding)
    await room.end_all()
    assert room.order in ([none, little, much], [much, none, little], [none, much, little])
    assert room.order.index(none) < room.order.index(little)


async def test_what_a_party_holds_now_counts_as_service() -> None:
    room = Room(2)
    much, other = Requester(), Requester()
    first = await room.ask(much)
    room.clock.now += 0.1
    second = await room.ask(other)
    waiting = [await room.ask(much), await room.ask(other)]
    await room.end(second)
    assert [request.granted for request in waiting] == [False, True]
    await room.end(first)
    await room.end_all()


async def test_parties_that_were_served_alike_take_turns() -> None:
    room = Room(1)
    many, few = Requester(), Requester()
    for _ in range(6):
        await room.ask(many)
    await room.ask(few)
    await room.end(next(request for request in room.requests if request.granted))
    assert room.order == [many, few]
    await room.end_all()


async def test_long_parties_leave_a_slot_free_while_there_are_short_ones() -> None:
    room = Room(3)
    long = await room.long_party()
    await room.end(await room.ask(Requester()))
    requests = [await room.ask(long) for _ in range(3)]
    assert [request.granted for request in requests] == [True, True, False]
    short = await room.ask(Requester())
    assert short.granted
    # Only a further request of a long requester waits for the last slot.
    room.clock.now += PRESENT_SECONDS
    await room.end(short)
    assert requests[2].granted
    await room.end_all()


async def test_a_long_party_that_is_alone_has_all_slots() -> None:
    room = Room(3)
    long = await room.long_party()
    assert all([(await room.ask(long)).granted for _ in range(3)])
    await room.end_all()


async def test_long_parties_have_the_only_slot_in_spite_of_short_ones() -> None:
    room = Room(1)
    long = await room.long_party()
    await room.end(await room.ask(Requester()))
    assert (await room.ask(long)).granted
    await room.end_all()


async def test_a_long_party_is_served_although_short_ones_never_cease_to_come() -> None:
    room = Room(1)
    long = await room.long_party()
    short = [await room.ask(Requester()) for _ in range(2)]
    waiting = await room.ask(long)
    for served in range(3 * EVERY):
        if waiting.granted:
            break
        short.append(await room.ask(Requester()))
        await room.end(short[served], 0.01)
    assert waiting.granted
    await room.end_all()


async def test_all_requests_of_a_long_party_end_beside_short_ones() -> None:
    room = Room(2)
    long = await room.long_party()
    of_long = [await room.ask(long) for _ in range(10)]
    for _ in range(200):
        await room.ask(Requester())
        for request in [request for request in room.requests if request.granted]:
            await room.end(request, 0.05)
        if not any(request in room.requests for request in of_long):
            break
    assert not any(request in room.requests for request in of_long)
    await room.end_all()


async def test_a_slot_granted_to_a_task_cancelled_before_it_woke_goes_to_the_next() -> None:
    limiter = LeastServedLimiter(1, Clock())
    first, second, third = Requester(), Requester(), Requester()
    await limiter.acquire(first)
    cancelled, next_one = asyncio.create_task(limiter.acquire(second)), asyncio.create_task(limiter.acquire(third))
    await settled()
    limiter.release(first)
    cancelled.cancel()
    await asyncio.wait_for(next_one, 10)
    assert (limiter.in_use, limiter.waiting) == (1, 0)
    limiter.release(third)


async def test_a_party_is_forgotten_with_its_call() -> None:
    limiter = LeastServedLimiter(2, Clock())
    for requester in [Requester() for _ in range(10)]:
        async with limiter.slot(requester):
            pass
    # The two latest short ones are remembered, to know that there are such; the loop above has the last.
    assert len(limiter._shares) <= 3  # noqa: SLF001 - what is forgotten cannot be seen otherwise


Step = tuple[str, int]

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("ask"), st.integers(0, 3)),
        st.tuples(st.just("end"), st.integers(0, 9)),
        st.tuples(st.just("cancel"), st.integers(0, 9)),
        st.tuples(st.just("total"), st.integers(1, 4)),
        st.tuples(st.just("wait"), st.integers(0, 20)),
    ),
    max_size=60,
)


@given(STEPS)
@settings(max_examples=examples(300))
def test_whatever_happens_no_slot_is_lost_and_one_at_most_is_kept_free(steps: Sequence[Step]) -> None:
    asyncio.run(_played(steps))


async def _played(steps: Sequence[Step]) -> None:
    room, requesters = Room(2), [Requester() for _ in range(4)]
    limiter = room.limiter
    for what, number in steps:
        before = limiter.in_use
        held = [request for request in room.requests if request.granted]
        if what == "ask":
            await room.ask(requesters[number])
        elif what == "end" and held:
            await room.end(held[number % len(held)])
        elif what == "cancel" and room.requests:
            task = room.requests[number % len(room.requests)].task
            assert task is not None
            task.cancel()
        elif what == "total":
            limiter.resize(number)
        elif what == "wait":
            room.clock.now += number / 10
        await settled()
        held = [request for request in room.requests if request.granted]
        assert limiter.in_use == len(held) <= max(limiter.total, before)
        assert limiter.waiting == len(room.requests) - len(held)
        if limiter.waiting:
            assert limiter.in_use >= max(1, limiter.total - 1)
    await room.end_all()
    assert (limiter.in_use, limiter.waiting) == (0, 0)
    for _ in range(limiter.total):
        await asyncio.wait_for(limiter.acquire(Requester()), 10)


def test_a_slot_kept_for_short_calls_is_given_away_when_none_comes_any_more() -> None:
    async def granted_after(seconds: Sequence[float]) -> list[bool]:
        limiter = LeastServedLimiter(2, asyncio.get_running_loop().time)
        long, other, short = Requester(), Requester(), Requester()
        for requester in (long, other):
            async with limiter.slot(requester):
                await asyncio.sleep(LONG_SECONDS)
        await limiter.acquire(long)
        async with limiter.slot(short):
            waiting = asyncio.create_task(limiter.acquire(other))
        seen = []
        for more in seconds:
            await asyncio.sleep(more)
            seen.append(waiting.done())
        return seen

    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        assert runner.run(granted_after([PRESENT_SECONDS * 0.9, PRESENT_SECONDS * 0.2])) == [False, True]


async def test_a_short_party_is_known_however_many_others_became_long() -> None:
    room = Room(3)
    short = Requester()
    await room.end(await room.ask(short))
    requesters = [Requester() for _ in range(3)]
    held = [await room.ask(requester) for requester in requesters[:2]]
    room.clock.now += LONG_SECONDS
    assert not (await room.ask(requesters[0])).granted
    assert [request.granted for request in held] == [True, True]
    await room.end_all()


async def test_what_a_call_waits_for_inside_its_slot_does_not_make_it_long() -> None:
    room = Room(2)
    requester, long = Requester(), await room.long_party()
    request = await room.ask(requester)
    room.clock.now += 10 * LONG_SECONDS
    room.limiter.forgive(requester, 10 * LONG_SECONDS)
    await room.end(request)
    held = [await room.ask(Requester()), await room.ask(Requester())]
    waiting = [await room.ask(long), await room.ask(requester)]
    await room.end(held[0])
    assert [each.granted for each in waiting] == [False, True]
    await room.end_all()
