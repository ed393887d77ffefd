"""When the schema is read, and for how long it is used."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import pytest

from gateway.cache.on_disk import StoredSchema
from gateway.errors import BudgetSpent, DeadlinePassed, EndpointFault, Fault, NetworkFault
from gateway.graph.call import Call, Deadline, deadline_passed
from gateway.graph.store import GraphStore
from gateway.graph.values import Basis, Schema, SchemaMethod, Term
from gateway.schema.cache import SchemaCache
from gateway.schema.view import SchemaView
from gateway.settings.endpoint import EndpointSettings
from gateway.settings.limits import LimitSettings, OrientationSettings
from gateway.settings.profile import Profile
from gateway.terms.prefixes import PrefixMap
from tests.small import PREFIXES, ROOM, Watched, X, engine, over

EXACT = Schema((Term(f"{X}T", 3, "thing"),), (Term(f"{X}p", 2),), exact=True, version="1", names=())
PARTIAL = Schema((Term(f"{X}T", 3),), (), exact=False, reason="too large", version="2", names=())
HOUR = 3600.0

pytestmark = pytest.mark.anyio


async def at_once() -> None:
    """Wait for nothing."""


@dataclass
class Schemas:
    """A store that has nothing but a schema, and counts the readings."""

    answer: Schema | Fault
    before: Callable[[], Awaitable[None]] = at_once
    budgets: list[Call] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)

    whole: Schema | Fault = EXACT
    before_whole: Callable[[], Awaitable[None]] = at_once
    enumerations: int = 0

    def name_reader(self) -> None:
        """Return no reader of names."""

    async def quick_schema(self, call: Call) -> Schema:
        """Return the result of the quick reading, or raise."""
        self.budgets.append(call)
        self.asked.set()
        await self.before()
        if isinstance(self.answer, Fault):
            raise self.answer
        return self.answer

    async def schema(self, call: Call) -> Schema:
        """Return the whole schema, or raise."""
        assert call.deadline.seconds_left > 0
        self.enumerations += 1
        await self.before_whole()
        if isinstance(self.whole, Fault):
            raise self.whole
        return self.whole


@dataclass
class TimedCache:
    """A schema cache on a clock that the test sets."""

    store: Schemas
    limits: LimitSettings = field(default_factory=LimitSettings)
    orientation: OrientationSettings = field(default_factory=lambda: OrientationSettings(enumeration_seconds=600))
    storage: StoredSchema | None = None
    now: float = 1_000.0

    def __post_init__(self) -> None:
        """Make the cache."""
        profile = Profile(limits=self.limits, orientation=self.orientation)
        store = cast("GraphStore", self.store)
        self.cache = SchemaCache(store, profile, PrefixMap(PREFIXES), lambda: self.now, self.storage)

    def call(self, seconds: float = 30.0) -> Call:
        """Return the budget of one call."""
        return Call(Deadline.after(seconds, lambda: self.now), 200, 500_000, 200_000)

    async def read(self, seconds: float = 30.0) -> Schema:
        """Ask for the schema as a call does."""
        return (await self.cache.view(self.call(seconds))).schema

    @property
    def readings(self) -> int:
        """How often the store was asked."""
        return len(self.store.budgets)


async def test_a_schema_without_name_predicates_lasts_for_an_hour() -> None:
    timed = TimedCache(Schemas(replace(EXACT, names=None)), LimitSettings(), OrientationSettings(enumeration_seconds=0))
    await timed.read()
    timed.now += HOUR - 1
    await timed.read()
    assert timed.readings == 1
    timed.now += 2
    await timed.read()
    assert timed.readings == 2


@pytest.mark.parametrize("schema", [EXACT, PARTIAL], ids=["exact", "partial"])
async def test_a_schema_that_was_read_lasts_for_its_hours(schema: Schema) -> None:
    timed = TimedCache(Schemas(schema), LimitSettings(schema_hours=2.0), OrientationSettings(enumeration_seconds=0))
    assert await timed.read() == schema
    timed.now += 2 * HOUR - 1
    assert await timed.read() == schema
    assert timed.readings == 1
    timed.now += 2
    assert await timed.read() == schema
    assert timed.readings == 2


@pytest.mark.parametrize(
    "fault", [EndpointFault("Down."), NetworkFault("Away."), deadline_passed(), BudgetSpent("Spent.")]
)
async def test_a_schema_that_could_not_be_read_is_not_asked_for_again_for_a_minute(fault: Fault) -> None:
    timed = TimedCache(Schemas(fault), orientation=OrientationSettings(enumeration_seconds=0))
    view = await timed.cache.view(timed.call())
    assert view.fault is fault
    assert view.schema == Schema(reason=fault.wrong)
    timed.now += 59
    await timed.read()
    assert timed.readings == 1
    timed.store.answer = EXACT
    timed.now += 2
    again = await timed.cache.view(timed.call())
    assert timed.readings == 2
    assert again.fault is None
    assert again.schema == EXACT


async def test_an_empty_schema_after_a_failure_refuses_no_filter() -> None:
    timed = TimedCache(Schemas(EndpointFault("Down.")))
    view = await timed.cache.view(timed.call())
    chosen = view.types.choose("node_types", ["Drug"])
    assert chosen.iris == frozenset()
    assert len(chosen.warnings) == 1


async def test_concurrent_first_calls_read_it_once() -> None:
    go_on = asyncio.Event()
    store = Schemas(EXACT, before=lambda: _wait(go_on))
    timed = TimedCache(store)
    calls = [asyncio.create_task(timed.read()) for _ in range(20)]
    await store.asked.wait()
    go_on.set()
    assert await asyncio.gather(*calls) == [EXACT] * 20
    assert timed.readings == 1


async def _wait(event: asyncio.Event) -> None:
    await event.wait()


async def test_a_first_call_that_is_cancelled_leaves_the_reading_going_on_for_the_next() -> None:
    go_on = asyncio.Event()
    store = Schemas(EXACT, before=lambda: _wait(go_on))
    timed = TimedCache(store)
    first, second = asyncio.create_task(timed.read()), asyncio.create_task(timed.read())
    await store.asked.wait()
    first.cancel()
    await asyncio.wait([first])
    go_on.set()
    assert await second == EXACT
    assert timed.readings == 1
    assert first.cancelled()


async def test_the_reading_has_an_allowance_of_its_own() -> None:
    timed = TimedCache(Schemas(EXACT), LimitSettings(schema_seconds=7.0, scan_rows=123))
    call = timed.call()
    await timed.cache.view(call)
    (allowance,) = timed.store.budgets
    assert (call.requests, call.rows, call.sent) == (200, 500_000, 0)
    assert allowance is not call
    assert allowance.deadline.seconds_left == 7.0


async def test_a_call_waits_for_the_reading_no_longer_than_it_has_left() -> None:
    never = asyncio.Event()
    timed = TimedCache(Schemas(EXACT, before=lambda: _wait(never)))
    view = await timed.cache.view(timed.call(seconds=0.01))
    assert isinstance(view.fault, DeadlinePassed)
    assert view.schema.types == ()
    assert not view.comprehensive
    await timed.cache.close()


async def test_a_sample_answers_until_the_graph_was_read_in_full() -> None:
    go_on = asyncio.Event()
    store = Schemas(PARTIAL, before_whole=lambda: _wait(go_on))
    timed = TimedCache(store, orientation=OrientationSettings(enumeration_seconds=600, patience_seconds=0.01))
    changes: list[bool] = []
    timed.cache.on_change(lambda: changes.append(_latest(timed).comprehensive))
    assert await timed.read() == PARTIAL
    go_on.set()
    await _until(lambda: len(changes) == 2)
    assert await timed.read() == EXACT
    assert changes == [False, True]
    assert (timed.readings, store.enumerations) == (1, 1)


async def test_the_first_calls_wait_for_all_of_it_where_that_comes_soon() -> None:
    timed = TimedCache(
        Schemas(PARTIAL), orientation=OrientationSettings(enumeration_seconds=600, patience_seconds=60.0)
    )
    assert await timed.read() == EXACT


async def test_a_graph_whose_operator_forbids_it_is_not_read_in_full() -> None:
    timed = TimedCache(Schemas(PARTIAL), orientation=OrientationSettings(enumeration_seconds=0))
    assert await timed.read() == PARTIAL
    assert timed.store.enumerations == 0


async def test_a_large_graph_is_read_in_full_for_a_caller_that_asks_for_its_schema_and_for_no_other() -> None:
    timed = TimedCache(Schemas(PARTIAL), orientation=OrientationSettings(patience_seconds=60.0))
    assert await timed.read() == PARTIAL
    assert await timed.read() == PARTIAL
    assert (timed.readings, timed.store.enumerations) == (1, 0)
    assert (await timed.cache.view(timed.call(), in_full=True)).schema == EXACT
    assert timed.store.enumerations == 1


async def test_a_large_graph_is_read_in_full_for_a_server() -> None:
    timed = TimedCache(Schemas(PARTIAL), orientation=OrientationSettings(patience_seconds=60.0))
    timed.cache.start()
    assert await timed.read() == EXACT


async def test_a_graph_that_could_not_be_read_in_full_is_not_read_again_for_every_call() -> None:
    timed = TimedCache(
        Schemas(PARTIAL, whole=deadline_passed()), orientation=OrientationSettings(patience_seconds=60.0)
    )
    for _ in range(3):
        await timed.cache.view(timed.call(), in_full=True)
    assert timed.store.enumerations == 1


async def test_a_graph_that_is_too_slow_for_the_quick_reading_is_read_in_full_in_the_background() -> None:
    timed = TimedCache(
        Schemas(deadline_passed()), orientation=OrientationSettings(enumeration_seconds=600, patience_seconds=60.0)
    )
    view = await timed.cache.view(timed.call())
    assert (view.schema, view.fault) == (EXACT, None)


async def test_an_enumeration_that_fails_leaves_the_sample_and_says_so() -> None:
    timed = TimedCache(
        Schemas(PARTIAL, whole=deadline_passed()),
        orientation=OrientationSettings(enumeration_seconds=600, patience_seconds=60.0),
    )
    view = await timed.cache.view(timed.call())
    assert view.fault is None
    assert (view.schema.types, view.comprehensive) == (PARTIAL.types, False)
    assert "in full failed" in view.schema.reason


async def test_lists_from_an_untrusted_endpoint_are_not_complete() -> None:
    profile = Profile(endpoint=EndpointSettings(trusted=False))
    store = Schemas(EXACT)
    schema_cache = SchemaCache(cast("GraphStore", store), profile, PrefixMap(PREFIXES), lambda: 1_000.0)
    view = await schema_cache.view(Call(Deadline.after(30), 200, 500_000, 200_000))
    assert (view.schema.types, view.comprehensive) == (EXACT.types, False)
    assert "without a sign" in view.schema.reason


async def test_a_sample_is_comprehensive_where_the_operator_vouches_for_it() -> None:
    timed = TimedCache(Schemas(PARTIAL), orientation=OrientationSettings(enumeration_seconds=0, vouched=True))
    assert (await timed.cache.view(timed.call())).comprehensive


async def test_a_list_that_was_cut_is_not_complete_although_the_operator_vouches_for_it() -> None:
    cut = replace(PARTIAL, is_cut=True)
    timed = TimedCache(Schemas(cut), orientation=OrientationSettings(enumeration_seconds=0, vouched=True))
    await timed.read()
    assert timed.cache.latest is not None
    assert not timed.cache.latest.comprehensive


@pytest.mark.parametrize("vouched", [False, True])
async def test_a_list_is_not_complete_once_a_traversal_found_a_term_that_it_lacks(vouched: bool) -> None:
    timed = TimedCache(Schemas(EXACT), orientation=OrientationSettings(enumeration_seconds=600, vouched=vouched))
    await timed.read()
    await timed.cache.observe([f"{X}T"], [f"{X}p"])
    assert _latest(timed).comprehensive
    await timed.cache.observe([f"{X}T", f"{X}New"], [f"{X}p", f"{X}q"])
    view = _latest(timed)
    assert not view.comprehensive
    assert [term.iri for term in view.schema.types] == [f"{X}T", f"{X}New"]
    assert [term.iri for term in view.schema.predicates] == [f"{X}p", f"{X}q"]
    assert view.schema.types[-1].count is None
    assert "x:New" in view.schema.reason
    # It is read again, but not at once: a load changes the graph many times a minute.
    assert timed.readings == 1
    timed.now += 61
    await timed.cache.observe([f"{X}Newer"], [])
    assert await timed.read() == EXACT
    assert _latest(timed).comprehensive
    assert timed.readings == 2


async def test_a_sample_that_a_traversal_disproved_is_not_complete_whatever_is_read_next() -> None:
    timed = TimedCache(Schemas(PARTIAL), orientation=OrientationSettings(enumeration_seconds=0, vouched=True))
    await timed.read()
    assert _latest(timed).comprehensive
    await timed.cache.observe([f"{X}New"], [])
    for answer in (PARTIAL, EndpointFault("Down.")):
        timed.store.answer = answer
        timed.now += 61
        view = await timed.cache.view(timed.call(), unknown_term=True)
        assert timed.cache.is_reading is False
        assert not view.comprehensive
        assert f"{X}New" in {term.iri for term in view.schema.types}


async def test_an_expired_schema_that_cannot_be_read_again_stays_but_is_not_complete() -> None:
    timed = TimedCache(Schemas(EXACT), LimitSettings(schema_hours=1.0))
    await timed.read()
    timed.store.answer = EndpointFault("Down.")
    timed.now += HOUR + 1
    view = await timed.cache.view(timed.call())
    assert (view.schema.types, view.comprehensive, view.fault) == (EXACT.types, False, None)
    assert "Down" in view.schema.reason


async def test_no_task_runs_once_the_cache_is_closed() -> None:
    never = asyncio.Event()
    store = Schemas(PARTIAL, before_whole=lambda: _wait(never))
    timed = TimedCache(store, orientation=OrientationSettings(enumeration_seconds=600, patience_seconds=0))
    others = asyncio.all_tasks()
    timed.cache.start()
    assert await timed.read() == PARTIAL
    assert asyncio.all_tasks() > others
    await timed.cache.close()
    assert asyncio.all_tasks() == others


async def test_a_stored_schema_is_used_at_once_and_complete_only_when_it_was_read_again(
    tmp_path: Path,
) -> None:
    storage = StoredSchema(tmp_path)
    enumerated = replace(EXACT, basis=Basis(("enumerated",), 1_700_000_000.0, 0, 5))
    assert await TimedCache(Schemas(enumerated), storage=storage).read() == enumerated
    go_on = asyncio.Event()
    store = Schemas(PARTIAL, whole=enumerated, before=lambda: _wait(go_on))
    later = TimedCache(
        store, orientation=OrientationSettings(enumeration_seconds=600, patience_seconds=0), storage=storage
    )
    view = await later.cache.view(later.call())
    assert (view.schema.types, view.comprehensive) == (EXACT.types, False)
    assert "2023-11-14" in view.schema.reason
    go_on.set()
    await _until(lambda: _latest(later).comprehensive)
    assert _latest(later).schema == enumerated


@pytest.mark.parametrize("methods", [("sampled",), ("enumerated",)])
async def test_stored_name_predicates_are_unknown_until_this_run_has_found_them(
    methods: tuple[SchemaMethod, ...], tmp_path: Path
) -> None:
    storage = StoredSchema(tmp_path)
    storage.save(replace(EXACT, basis=Basis(methods), names=("urn:name",)))
    looking, reading = asyncio.Event(), asyncio.Event()
    seen = replace(PARTIAL, names=("urn:name",))
    store = Schemas(seen, before=lambda: _wait(looking), before_whole=lambda: _wait(reading))
    later = TimedCache(
        store, orientation=OrientationSettings(enumeration_seconds=600, patience_seconds=0), storage=storage
    )
    assert (await later.read()).names is None
    looking.set()
    await _until(lambda: store.enumerations == 1)
    assert (await later.read()).names == ("urn:name",)
    assert [term.iri for term in (await later.read()).types] == [f"{X}T"]
    await later.cache.close()


async def test_samples_of_several_runs_add_up(tmp_path: Path) -> None:
    storage = StoredSchema(tmp_path)
    never = OrientationSettings(enumeration_seconds=0, patience_seconds=60)
    other = replace(PARTIAL, types=(Term(f"{X}Other", None),))
    await TimedCache(Schemas(PARTIAL), orientation=never, storage=storage).read()
    later = TimedCache(Schemas(other), orientation=never, storage=storage)
    await later.read()
    assert [term.iri for term in _latest(later).schema.types] == [f"{X}Other", f"{X}T"]
    assert not _latest(later).comprehensive


def _latest(timed: TimedCache) -> SchemaView:
    assert timed.cache.latest is not None
    return timed.cache.latest


async def _until(true: Callable[[], bool]) -> None:
    while not true():  # noqa: ASYNC110 - it polls the test's own variables
        await asyncio.sleep(0)


async def test_a_gateway_reads_its_schema_once_for_all_tools() -> None:
    scans: list[str] = []

    async def hook(query: str) -> None:
        if "GROUP BY" in query:
            scans.append(query)

    async with over(Watched(engine("x:a a x:T ; x:p x:b ; rdfs:label 'A' ."), hook)) as gateway:
        await asyncio.gather(
            gateway.describe_schema(),
            gateway.bfs_query(["x:a"], 1),
            gateway.describe_entity("x:a"),
            gateway.describe_entities(["x:a", "x:b"]),
            gateway.search_entities("A"),
            gateway.intersect_subgraphs(["x:a", "x:b"], 1),
        )
    # One of them counts nodes without a name, and one the edges of a hit.
    assert len(scans) == len(set(scans)) == 8


async def test_tools_work_while_the_schema_cannot_be_read_and_describe_schema_says_so() -> None:
    async def hook(query: str) -> None:
        if "GROUP BY" in query:
            raise EndpointFault("No aggregates here.")

    async with over(Watched(engine("x:a a x:T ; x:p x:b ."), hook)) as gateway:
        answer = await gateway.bfs_query(["x:a"], 1, node_types=["T"])
        with pytest.raises(EndpointFault, match="No aggregates"):
            await gateway.describe_schema()
    assert answer.complete is True
    assert [node.entity_type for node in answer.nodes] == ["x:T", "untyped"]
    assert answer.nodes[0].metadata == {}
    assert answer.nodes[1].metadata is None


async def test_a_graph_that_is_too_large_to_enumerate_has_a_schema_that_says_so() -> None:
    turtle = " ".join(f"x:a{number} a x:T{number} ; x:p{number} x:b ." for number in range(5))
    async with over(turtle, Profile(size=ROOM, limits=LimitSettings(scan_rows=3))) as gateway:
        schema = await gateway.describe_schema()
    assert schema.comprehensive is False
    assert schema.warnings is not None
    assert schema.entity_types
    assert schema.predicates


async def test_an_expired_list_of_a_graph_that_has_grown_is_not_complete_where_it_may_not_be_read_in_full() -> None:
    timed = TimedCache(Schemas(EXACT), LimitSettings(schema_hours=1.0), OrientationSettings(enumeration_seconds=0))
    await timed.read()
    timed.store.answer = replace(PARTIAL, types=(Term(f"{X}New", None),))
    timed.now += HOUR + 1
    view = await timed.cache.view(timed.call())
    assert not view.comprehensive
    assert {term.iri for term in view.schema.types} == {f"{X}T", f"{X}New"}
    assert await timed.read() == view.schema
    assert timed.readings == 2


async def test_an_expired_list_of_a_large_graph_is_not_complete_while_it_is_read_again() -> None:
    go_on = asyncio.Event()
    store = Schemas(EXACT, before_whole=lambda: _wait(go_on))
    timed = TimedCache(
        store, LimitSettings(schema_hours=1.0), OrientationSettings(enumeration_seconds=600, patience_seconds=0)
    )
    await timed.read()
    store.answer = PARTIAL
    timed.now += HOUR + 1
    await timed.read()
    await _until(lambda: store.enumerations == 1)
    assert (_latest(timed).schema.types, _latest(timed).comprehensive) == (EXACT.types, False)
    go_on.set()
    await _until(lambda: not timed.cache.is_reading)
    assert _latest(timed).comprehensive


async def test_a_defect_of_a_reading_is_a_fault_and_not_begun_again_at_once() -> None:
    async def broken() -> None:
        raise KeyError("?p")

    timed = TimedCache(Schemas(EXACT, before=broken))
    assert "should not" in str((await timed.cache.view(timed.call())).fault)
    await timed.read()
    assert timed.readings == 1


async def test_a_traversal_that_finds_an_unlisted_term_begins_a_reading_unless_the_last_one_is_recent() -> None:
    timed = TimedCache(Schemas(EXACT))
    await timed.read()
    timed.now += 59
    await timed.cache.observe([f"{X}New"], [])
    await timed.cache.wait_until_read()
    assert timed.readings == 1
    timed.now += 2
    await timed.cache.observe([f"{X}Newer"], [])
    await timed.cache.wait_until_read()
    assert timed.readings == 2


async def test_a_name_that_is_not_listed_has_the_schema_read_again_but_not_more_than_once_a_minute() -> None:
    timed = TimedCache(Schemas(EXACT))
    await timed.read()
    for seconds, readings in ((59, 1), (2, 2), (1, 2)):
        timed.now += seconds
        await timed.cache.view(timed.call(), unknown_term=True)
        assert timed.readings == readings


async def test_a_call_after_a_fault_waits_for_the_first_lists_although_nobody_is_patient() -> None:
    timed = TimedCache(
        Schemas(EndpointFault("Down.")), orientation=OrientationSettings(enumeration_seconds=0, patience_seconds=0)
    )
    await timed.read()
    go_on = asyncio.Event()
    timed.store.answer, timed.store.before, timed.store.asked = EXACT, lambda: _wait(go_on), asyncio.Event()
    timed.now += 61
    again = asyncio.create_task(timed.read())
    await timed.store.asked.wait()
    for _ in range(10):
        await asyncio.sleep(0)
    assert not again.done()
    go_on.set()
    assert await again == EXACT


@pytest.mark.parametrize(("is_server", "readings"), [(False, 2), (True, 1)], ids=["for a call", "for a server"])
async def test_a_reading_stops_with_its_last_caller_unless_a_server_began_it(is_server: bool, readings: int) -> None:
    go_on = asyncio.Event()
    timed = TimedCache(Schemas(EXACT, before=lambda: _wait(go_on)))
    if is_server:
        timed.cache.start()
    only = asyncio.create_task(timed.read())
    await timed.store.asked.wait()
    only.cancel()
    await asyncio.wait([only])
    assert timed.cache.is_reading is is_server
    go_on.set()
    assert await timed.read() == EXACT
    assert timed.readings == readings


async def test_a_sample_without_hubs_has_those_of_the_schema_before() -> None:
    timed = TimedCache(
        Schemas(replace(PARTIAL, hubs=(f"{X}Hub",))),
        LimitSettings(schema_hours=1.0),
        OrientationSettings(enumeration_seconds=0),
    )
    await timed.read()
    timed.store.answer = PARTIAL
    timed.now += HOUR + 1
    assert (await timed.read()).hubs == (f"{X}Hub",)
