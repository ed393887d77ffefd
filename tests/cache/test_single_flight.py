"""Two callers never ask about the same thing at once, and neither pays for the other's haste."""

import asyncio
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from gateway.cache.store import CachedStore
from gateway.errors import BudgetSpent, DeadlinePassed, EdgesCapped, EndpointFault, Fault
from gateway.graph.call import Call, Deadline
from gateway.graph.values import Mark, Neighbourhood, SearchTerms
from tests.cache.fake_store import FakeStore, Fetch, call, capped
from tests.examples import examples

pytestmark = pytest.mark.anyio

A, B, C = "urn:a", "urn:b", "urn:c"
TTL = 60.0

Answers = Mapping[str, Neighbourhood]


async def settle() -> None:
    """Let every task go on until none can."""
    for _ in range(25):
        await asyncio.sleep(0)


def caching() -> tuple[FakeStore, CachedStore]:
    inner = FakeStore(waits=True)
    return inner, CachedStore(inner, megabytes=1, ttl_seconds=TTL, clock=lambda: 0.0)


def asking(store: CachedStore, ids: Sequence[str], allowance: Call | None = None) -> asyncio.Task[Answers]:
    async def ask() -> Answers:
        return await store.edges(ids, allowance or call())

    return asyncio.create_task(ask())


async def test_the_second_waits_for_the_firsts_answer_and_asks_only_for_the_rest() -> None:
    inner, store = caching()
    mine, other = call(), call()
    first = asking(store, [A, B], mine)
    await settle()
    second = asking(store, [C, B], other)
    await settle()
    assert [keys for _, keys in inner.asked] == [(A, B), (C,)]
    for fetch in inner.under_way:
        fetch.answer()
    assert (await second)[B] is (await first)[B]
    assert [(one.tally.cache_hits, one.tally.cache_misses) for one in (mine, other)] == [(0, 2), (1, 1)]
    assert store.statistics().shared == 1


async def test_a_fetch_outlives_a_caller_who_leaves_while_another_waits() -> None:
    inner, store = caching()
    first = asking(store, [A])
    await settle()
    second = asking(store, [A])
    await settle()
    first.cancel()
    await settle()
    assert first.cancelled()
    (fetch,) = inner.under_way
    fetch.answer()
    assert (await second)[A].mark.whole
    await store.edges([A], call())
    assert len(inner.fetches) == 1


async def test_a_fetch_that_nobody_waits_for_any_more_is_cancelled() -> None:
    inner, store = caching()
    callers = [asking(store, [A]) for _ in range(3)]
    await settle()
    for caller in callers[:2]:
        caller.cancel()
    await settle()
    assert len(inner.under_way) == 1
    callers[2].cancel()
    await settle()
    assert all(caller.cancelled() for caller in callers)
    assert [fetch.ended for fetch in inner.fetches] == ["cancelled"]


async def test_one_who_comes_while_a_fetch_is_being_cancelled_asks_anew() -> None:
    inner, store = caching()
    first = asking(store, [A])
    await settle()
    first.cancel()
    second = asking(store, [A])
    await settle()
    assert [fetch.ended for fetch in inner.fetches] == ["cancelled", ""]
    inner.fetches[1].answer()
    assert (await second)[A].mark.whole


async def test_a_caller_who_leaves_before_the_fetch_has_begun_leaves_nothing_behind() -> None:
    inner, store = caching()

    async def leave() -> None:
        async with asyncio.timeout(0):
            await store.edges([A], call())

    first = asking(store, [A])
    await asyncio.sleep(0)
    first.cancel()
    await settle()
    second = asking(store, [A])
    await settle()
    for fetch in inner.under_way:
        fetch.answer()
    assert (await second)[A].mark.whole
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(store.edges([B], call()), 0)
    assert inner.under_way == []


async def test_one_who_waits_waits_no_longer_than_its_own_deadline() -> None:
    inner, store = caching()
    patient = asking(store, [A])
    await settle()
    hasty = await store.edges([A], call(seconds=0.01))
    assert isinstance(hasty[A].mark.fault, DeadlinePassed)
    (fetch,) = inner.under_way
    fetch.answer()
    assert (await patient)[A].mark.whole


@pytest.mark.parametrize("theirs", [DeadlinePassed("Late."), BudgetSpent("Spent.")], ids=["deadline", "budget"])
async def test_anothers_spent_allowance_is_not_inherited(theirs: Fault) -> None:
    inner, store = caching()
    first = asking(store, [A, B])
    await settle()
    mine = call()
    second, third = asking(store, [A, B], mine), asking(store, [A])
    await settle()
    inner.fetches[0].answer({A: Mark(theirs)})
    assert (await first)[A].mark.fault is theirs
    await settle()
    assert [keys for _, keys in inner.asked] == [(A, B), (A,)]
    assert inner.fetches[1].call is mine
    inner.fetches[1].answer()
    assert (await second)[A].mark.whole
    assert (await third)[A] is (await second)[A]


async def test_another_fault_is_shared_by_those_who_wait_and_by_nobody_after() -> None:
    inner, store = caching()
    waiting = [asking(store, [A]) for _ in range(3)]
    await settle()
    fault = EndpointFault("Down.")
    inner.fetches[0].answer({A: Mark(fault)})
    assert [answer[A].mark.fault for answer in await asyncio.gather(*waiting)] == [fault] * 3
    assert len(inner.fetches) == 1
    after = asking(store, [A])
    await settle()
    inner.fetches[1].answer()
    assert (await after)[A].mark.whole


async def test_an_error_that_is_no_answer_is_raised_to_the_one_who_asked_and_the_others_ask_themselves() -> None:
    inner, store = caching()
    first = asking(store, [A])
    await settle()
    second = asking(store, [A])
    await settle()
    inner.fetches[0].fail(RuntimeError("a defect"))
    with pytest.raises(RuntimeError, match="a defect"):
        await first
    await settle()
    inner.fetches[1].answer()
    assert (await second)[A].mark.whole


async def test_one_who_asks_after_everything_was_forgotten_gets_no_answer_from_before() -> None:
    inner, store = caching()
    first = asking(store, [A])
    await settle()
    store.forget()
    second = asking(store, [A])
    await settle()
    assert len(inner.under_way) == 2
    inner.fetches[0].answer()
    assert (await first)[A].edges[0].object == "urn:seen:0:0"
    inner.fetches[1].answer()
    assert (await second)[A].edges[0].object == "urn:seen:1:0"
    assert (await store.edges([A], call()))[A].edges[0].object == "urn:seen:1:0"


async def test_what_was_being_fetched_when_the_answers_were_forgotten_is_not_stored() -> None:
    inner, store = caching()
    first = asking(store, [A])
    await settle()
    store.forget_answers()
    inner.fetches[0].answer()
    assert (await first)[A].edges[0].object == "urn:seen:0:0"
    second = asking(store, [A])
    await settle()
    inner.fetches[1].answer()
    assert (await second)[A].edges[0].object == "urn:seen:1:0"
    assert inner.forgotten == 0


async def test_a_search_that_two_ask_for_is_sent_once() -> None:
    inner, store = caching()

    async def search() -> object:
        return await store.search(SearchTerms("x", ("x",)), [], call())

    searches = [asyncio.create_task(search()) for _ in range(2)]
    await settle()
    (fetch,) = inner.fetches
    fetch.answer()
    one, other = await asyncio.gather(*searches)
    assert one is other


# --- any order of events ---


@dataclass(frozen=True)
class Asks:
    """A caller comes."""

    ids: tuple[str, ...]
    per_id: int | None
    late: bool


@dataclass(frozen=True)
class Answered:
    """A fetch is answered, each key in its own way."""

    which: int
    ways: tuple[str, ...]


@dataclass(frozen=True)
class Leaves:
    """A caller is cancelled."""

    which: int


@dataclass(frozen=True)
class Passes:
    """Time passes."""

    seconds: float


@dataclass(frozen=True)
class Forgets:
    """Everything is forgotten."""


Event = Asks | Answered | Leaves | Passes | Forgets
IDS = ("urn:a", "urn:b", "urn:c")
WAYS = ("whole", "whole", "failed", "late", "spent", "capped")

asks = st.builds(
    Asks,
    st.lists(st.sampled_from(IDS), min_size=1, max_size=3).map(tuple),
    st.sampled_from([None, None, 2]),
    st.sampled_from([False, False, False, True]),
)
answered = st.builds(
    Answered, st.integers(0, 3), st.lists(st.sampled_from(WAYS), min_size=len(IDS), max_size=len(IDS)).map(tuple)
)
rarely = st.one_of(
    st.builds(Leaves, st.integers(0, 5)),
    st.builds(Passes, st.sampled_from([1.0, 30.0, TTL])),
    st.just(Forgets()),
    st.builds(Answered, st.integers(0, 3), st.just(("defect",))),
)
# Two thirds of what happens is that someone comes or is answered, so that there is something to spoil.
events = st.lists(st.one_of(asks, answered, asks, answered, rarely), min_size=12, max_size=40)


@dataclass(eq=False)
class Caller:
    """A call, and when it came."""

    asks: Asks
    allowance: Call
    task: asyncio.Task[Answers]
    step: int
    time: float
    forgotten: int


@dataclass(eq=False)
class Record:
    """When a fetch began and ended."""

    fetch: Fetch
    forgotten: int
    defect: bool = False
    faults: list[Fault] = field(default_factory=list)
    ended_step: int = -1
    ended_time: float = -1.0


class Play:
    """A cache, its callers and the store below it, in whatever order things happen."""

    def __init__(self) -> None:
        self.now = 0.0
        self.step = 0
        self.forgotten = 0
        self.inner = FakeStore(waits=True)
        self.store = CachedStore(self.inner, megabytes=1, ttl_seconds=TTL, clock=lambda: self.now)
        self.callers: list[Caller] = []
        self.records: list[Record] = []

    async def happens(self, event_: Event) -> None:
        """Let one thing happen, and check what must always hold."""
        self.step += 1
        match event_:
            case Asks():
                self._come(event_)
            case Answered():
                self._answer(event_)
            case Leaves():
                here = [caller for caller in self.callers if not caller.task.done()]
                if here:
                    here[event_.which % len(here)].task.cancel()
            case Passes():
                self.now += event_.seconds
            case Forgets():
                self.forgotten += 1
                self.store.forget()
        await settle()
        self._note_fetches()
        self._check_fetches()

    def _come(self, asks: Asks) -> None:
        allowance = Call(Deadline.after(0.0 if asks.late else 1_000.0, lambda: 0.0), 10, 10, 10)

        async def ask() -> Answers:
            return await self.store.edges(asks.ids, allowance, per_id=asks.per_id)

        self.callers.append(Caller(asks, allowance, asyncio.create_task(ask()), self.step, self.now, self.forgotten))

    def _answer(self, answered: Answered) -> None:
        waiting = [record for record in self.records if not record.fetch.ended]
        if not waiting:
            return
        record = waiting[answered.which % len(waiting)]
        record.ended_step, record.ended_time = self.step, self.now
        if answered.ways == ("defect",):
            record.defect = True
            record.fetch.fail(RuntimeError("a defect"))
            return
        marks = {key: self._mark(way, record) for key, way in zip(record.fetch.keys, answered.ways, strict=False)}
        record.fetch.answer({key: mark for key, mark in marks.items() if mark is not None})

    @staticmethod
    def _mark(way: str, record: Record) -> Mark | None:
        most = record.fetch.name[1]
        if way == "whole" or (way == "capped" and not isinstance(most, int)):
            return None
        if way == "capped" and isinstance(most, int):
            return capped(most)
        fault = {"failed": EndpointFault, "late": DeadlinePassed, "spent": BudgetSpent}[way]("No.")
        record.faults.append(fault)
        return Mark(fault)

    def _note_fetches(self) -> None:
        for fetch in self.inner.fetches[len(self.records) :]:
            for key in fetch.keys:
                assert not self._is_known(key, fetch.name), "it was known and within its time"
            self.records.append(Record(fetch, self.forgotten))

    def _is_known(self, key: str, name: Sequence[Hashable]) -> bool:
        return any(
            record.fetch.ended == "answered"
            and record.forgotten == self.forgotten
            and self.now - record.ended_time < TTL
            and key in record.fetch.keys
            and (
                key not in record.fetch.marks
                or (isinstance(record.fetch.marks[key].fault, EdgesCapped) and record.fetch.name == name)
            )
            for record in self.records
        )

    def _check_fetches(self) -> None:
        under_way = [record for record in self.records if not record.fetch.ended]
        asked = [(record.forgotten, record.fetch.name, key) for record in under_way for key in record.fetch.keys]
        assert len(asked) == len(set(asked)), "two fetches ask about the same at once"
        for record in under_way:
            assert any(
                not caller.task.done()
                and ("edges", caller.asks.per_id) == record.fetch.name
                and not set(caller.asks.ids).isdisjoint(record.fetch.keys)
                for caller in self.callers
            ), "a fetch goes on for nobody"
        for caller in self.callers:
            asks_itself = any(record.fetch.call is caller.allowance for record in under_way)
            assert caller.task.done() or asks_itself or not caller.asks.late, "it waits past its deadline"
        assert self.store.statistics().bytes <= 1 << 20

    async def ends(self) -> None:
        """Answer all that is left, and check what everyone got."""
        while self.inner.under_way:
            await self.happens(Answered(0, ("whole",) * len(IDS)))
        assert asyncio.all_tasks() == {asyncio.current_task(), *(c.task for c in self.callers if not c.task.done())}
        for caller in self.callers:
            assert caller.task.done()
            if caller.task.cancelled():
                event("left")
            elif (error := caller.task.exception()) is not None:
                event("defect")
                assert isinstance(error, RuntimeError)
                assert any(record.defect and record.fetch.call is caller.allowance for record in self.records)
            else:
                answers = caller.task.result()
                assert list(answers) == list(dict.fromkeys(caller.asks.ids))
                for key, answer in answers.items():
                    self._check_answer(caller, key, answer)

    def _check_answer(self, caller: Caller, key: str, answer: Neighbourhood) -> None:
        fault = answer.mark.fault
        if fault is not None and not isinstance(fault, EdgesCapped):
            self._check_fault(caller, fault)
            return
        number = int(answer.edges[0].object.split(":")[2])
        record = self.records[number]
        assert answer.edges[0].subject == key
        assert record.forgotten >= caller.forgotten, "it was forgotten before the call came"
        assert record.ended_step >= caller.step or caller.time - record.ended_time < TTL, "its time was over"
        if fault is not None:
            assert record.fetch.name == ("edges", caller.asks.per_id), "a cut answer served another question"
            event("capped")
        event("whole" if record.fetch.call is caller.allowance else "whole, from another")

    def _check_fault(self, caller: Caller, fault: Fault) -> None:
        source = next((record for record in self.records if fault in record.faults), None)
        event(f"{type(fault).__name__}, {'from a fetch' if source else 'of its own'}")
        if source is None:
            assert isinstance(fault, DeadlinePassed)
            assert caller.asks.late
        else:
            assert source.ended_step >= caller.step, "a fault was stored"
            if isinstance(fault, DeadlinePassed | BudgetSpent):
                assert source.fetch.call is caller.allowance, "another's allowance was inherited"


@settings(max_examples=examples(200), deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(happening=events)
def test_in_any_order_of_events_everyone_gets_a_true_answer(happening: Sequence[Event]) -> None:
    async def play() -> None:
        stage = Play()
        for event_ in happening:
            await stage.happens(event_)
        await stage.ends()

    asyncio.run(play())
