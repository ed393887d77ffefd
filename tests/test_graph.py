"""A call: what it may spend, and its turns on the event loop; and a store in front of another one."""

import asyncio
import threading
from collections.abc import Sequence

import pytest

from gateway.errors import BudgetSpent, DeadlinePassed
from gateway.graph.call import Call, Deadline
from gateway.graph.computing import Passes, Slices, in_thread
from gateway.graph.reading import compare_names
from gateway.graph.store import DelegatingStore, GraphStore
from gateway.graph.values import Hit, Hits
from tests.cache.fake_store import FakeStore, call
from tests.small import X

pytestmark = pytest.mark.anyio


def call_with(requests: int = 10, rows: int = 100) -> Call:
    return Call(Deadline.after(60), requests, rows, 1_000)


def test_a_part_spends_what_it_was_given_and_no_more() -> None:
    whole = call_with()
    with whole.part(requests=2, rows=30) as part:
        part.spend_request()
        part.spend_request()
        with pytest.raises(BudgetSpent):
            part.spend_request()
        part.spend_rows(50)
        with pytest.raises(BudgetSpent):
            part.spend_rows(1)
    assert (whole.requests, whole.rows, whole.sent) == (8, 50, 2)


def test_the_rest_of_a_call_cannot_spend_what_a_part_was_given_until_that_is_over() -> None:
    whole = call_with()
    with whole.part(requests=4, rows=40) as part:
        assert (whole.requests, whole.rows) == (6, 60)
        whole.spend_request()
        whole.spend_rows(10)
        part.spend_request()
    assert (whole.requests, whole.rows, whole.sent) == (8, 90, 2)


def test_what_a_failed_part_leaves_comes_back() -> None:
    whole = call_with()

    def fail() -> None:
        with whole.part(requests=4, rows=40) as part:
            part.spend_request()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert (whole.requests, whole.rows, whole.sent) == (9, 100, 1)


PATIENCE = 60.0


def call_within(seconds: float = PATIENCE) -> Call:
    return Call(Deadline.after(seconds), requests=1, rows=1, nodes=1)


class Work:
    """Work that looks at its deadline until it passes.

    Attributes:
        began: Set when it runs.
        ended: Set when it has ended.
    """

    def __init__(self) -> None:
        self.began = threading.Event()
        self.ended = threading.Event()

    def __call__(self, deadline: Deadline) -> None:
        """Work without an end."""
        self.began.set()
        try:
            while True:
                deadline.check()
                # Lets other threads run; nothing is measured.
                self.ended.wait(0.001)
        finally:
            self.ended.set()


async def waited(event: threading.Event) -> bool:
    return await asyncio.to_thread(event.wait, PATIENCE)


async def test_work_runs_in_another_thread_and_its_result_comes_back() -> None:
    assert await in_thread(call_within(), lambda _: threading.get_ident()) != threading.get_ident()


async def test_an_error_of_the_work_is_raised_as_it_is() -> None:
    def fail(_: Deadline) -> None:
        raise KeyError("x")

    with pytest.raises(KeyError, match="x"):
        await in_thread(call_within(), fail)


async def test_work_ends_when_the_time_of_the_call_is_up() -> None:
    work = Work()
    with pytest.raises(DeadlinePassed):
        await in_thread(call_within(0.01), work)
    assert await waited(work.ended)


async def test_work_of_a_call_that_was_given_up_stops() -> None:
    work = Work()
    task = asyncio.create_task(in_thread(call_within(), work))
    assert await waited(work.began)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await waited(work.ended)


async def test_work_that_waits_for_a_thread_when_its_call_is_given_up_never_runs() -> None:
    busy = Work()
    running = asyncio.create_task(in_thread(call_within(), busy))
    assert await waited(busy.began)
    waiting = Work()
    task = asyncio.create_task(in_thread(call_within(), waiting))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert await in_thread(call_within(), lambda _: True)
    assert not waiting.began.is_set()


async def test_a_call_whose_time_is_up_does_not_wait_for_the_work_of_another_that_looks_at_no_deadline() -> None:
    began, go_on = threading.Event(), threading.Event()

    def busy(_: Deadline) -> bool:
        began.set()
        return go_on.wait(PATIENCE)

    running = asyncio.create_task(in_thread(call_within(), busy))
    assert await waited(began)
    waiting = Work()
    with pytest.raises(DeadlinePassed):
        await in_thread(call_within(0.01), waiting)
    assert not running.done()
    go_on.set()
    assert await running
    assert not waiting.began.is_set()


class Numbered:
    """Counts the passes of the running loop."""

    def __init__(self) -> None:
        self.number = 0
        self._loop = asyncio.get_running_loop()
        self._loop.call_soon(self._count)

    def _count(self) -> None:
        self.number += 1
        self._loop.call_soon(self._count)


async def test_one_that_is_alone_goes_on_at_once() -> None:
    passes, numbered = Passes(), Numbered()
    await passes.own()
    assert numbered.number == 0


async def test_each_has_a_pass_of_its_own_in_the_order_in_which_they_asked() -> None:
    passes, numbered = Passes(), Numbered()
    went_on: list[tuple[int, int]] = []

    async def go_on(name: int) -> None:
        await passes.own()
        went_on.append((name, numbered.number))

    await asyncio.gather(*map(go_on, range(6)))
    assert [name for name, _ in went_on] == list(range(6))
    assert len({number for _, number in went_on}) == 6


async def test_one_that_is_cancelled_takes_no_pass_and_holds_up_nobody() -> None:
    passes = Passes()
    first, *waiting = [asyncio.create_task(passes.own()) for _ in range(4)]
    await asyncio.sleep(0)
    assert first.done()
    waiting[0].cancel()
    waiting[1].cancel()
    await asyncio.wait_for(waiting[2], 10)
    assert all(one.cancelled() for one in waiting[:2])


async def test_a_loop_has_the_same_passes_for_all() -> None:
    loop = asyncio.get_running_loop()
    assert Passes.of(loop) is Passes.of(loop)


async def test_others_have_a_turn_once_a_slice_has_taken_long_enough_and_not_before() -> None:
    now = 0.0
    slices = Slices(lambda: now)
    log: list[str] = []

    async def watch() -> None:
        log.append("turn")

    waiting = asyncio.create_task(watch())
    now = 0.009
    await slices.end_one()
    assert (slices.turns, log.count("turn")) == (0, 0)
    now = 0.011
    await slices.end_one()
    assert (slices.turns, log.count("turn")) == (1, 1)
    # The next slice begins after their turn.
    now = 0.02
    await slices.end_one()
    assert slices.turns == 1
    await waiting


async def test_a_long_loop_gives_others_a_turn_between_its_items() -> None:
    now = 0.0
    slices = Slices(lambda: now)
    seen: list[int] = []
    async for item in slices.over(range(10), at_once=3):
        seen.append(item)
        now += 0.006
    assert seen == [*range(10)]
    # After three items each, and not after the last.
    assert slices.turns == 3


async def test_slices_that_begin_at_the_same_time_have_a_pass_each() -> None:
    log: list[str] = []

    async def compute(name: str) -> None:
        await Slices().begin()
        log.append(name)
        asyncio.get_running_loop().call_soon(log.append, "next pass")

    await asyncio.gather(*(compute(name) for name in ("a", "b", "c")))
    assert [line for line in log if line != "next pass"] == ["a", "b", "c"]
    assert log.index("b") > log.index("next pass")
    assert "next pass" in log[log.index("b") : log.index("c")]


# A store in front of another one hands on every method that it does not define, and no other name


METHODS = [name for name in vars(GraphStore) if not name.startswith("_")]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_of_the_port_is_that_of_the_store_below(name: str) -> None:
    below = FakeStore()
    assert getattr(DelegatingStore(below), name) == getattr(below, name)


def test_a_method_of_a_subclass_goes_before_that_of_the_store_below() -> None:
    class Own(DelegatingStore):
        def forget(self) -> None:
            """Forget nothing below."""

    below = FakeStore()
    Own(below).forget()
    DelegatingStore(below).forget()
    assert below.forgotten == 1


# What the scans of names prove, each of which a store may read in part only


@pytest.mark.parametrize("lacking", ["truncated", "exhaustive"])
async def test_what_the_first_scan_could_not_read_is_not_claimed_to_be_absent(lacking: str) -> None:
    async def scan(words: Sequence[str], *, every: bool, whole: bool) -> Hits:
        del words
        # A name with every word is longer than what the store compares.
        is_part = every and not whole
        return Hits((), is_part and lacking == "truncated", "", exhaustive=not (is_part and lacking == "exhaustive"))

    found = await compare_names("ove art", scan, call())
    assert (found.truncated, found.exhaustive, found.absent) == (lacking == "truncated", lacking != "exhaustive", ())


async def test_a_word_that_no_scan_has_seen_is_absent() -> None:
    async def scan(words: Sequence[str], *, every: bool, whole: bool) -> Hits:
        del words, whole
        return Hits(() if every else (Hit(f"{X}a", "fine art", is_synonym=False),), truncated=False, how="")

    assert (await compare_names("ove art", scan, call())).absent == ("ove",)
