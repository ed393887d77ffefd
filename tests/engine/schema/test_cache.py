"""When the schema is read, and for how long it is believed."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import pytest

from gateway.cache.stored_schema import StoredSchema
from gateway.engine.schema.cache import SchemaCache
from gateway.engine.schema.view import SchemaView
from gateway.errors import BudgetSpent, DeadlinePassed, EndpointFault, Fault, NetworkFault
from gateway.graph.call import Call
from gateway.graph.deadline import Deadline, deadline_passed
from gateway.graph.store import GraphStore
from gateway.graph.values import Basis, Method, Schema, Term
from gateway.settings.endpoint import EndpointSettings
from gateway.settings.profile import LimitSettings, OrientationSettings, Profile
from gateway.terms.prefixes import PrefixMap
from tests.engine.small import PREFIXES, ROOM, Watched, X, engine, over

EXACT = Schema((Term(f"{X}T", 3, "thing"),), (Term(f"{X}p", 2),), exact=True, version="1", names=())
PARTIAL = Schema((Term(f"{X}T", 3),), (), exact=False, reason="too large", version="2", names=())
HOUR = 3600.0

pytestmark = pytest.mark.anyio


async def at_once() -> None:
    """Wait for nothing."""


@dataclass
class Schemas:
    """A store that knows nothing but its schema; each reading is counted."""

    answer: Schema | Fault
    before: Callable[[], Awaitable[None]] = at_once
    budgets: list[Call] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)

    whole: Schema | Fault = EXACT
    before_whole: Callable[[], Awaitable[None]] = at_once
    enumerations: int = 0

    async def quick_schema(self, call: Call) -> Schema:
        """Return what a first look shows, or raise."""
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
class Shelf:
    """A book on a clock that a test turns."""

    store: Schemas
    limits: LimitSettings = field(default_factory=LimitSettings)
    orientation: OrientationSettings = field(default_factory=lambda: OrientationSettings(enumeration_seconds=600))
    kept: StoredSchema | None = None
    now: float = 1_000.0

    def __post_init__(self) -> None:
        """Open the book."""
        profile = Profile(limits=self.limits, orientation=self.orientation)
        store = cast("GraphStore", self.store)
        self.schema_cache = SchemaCache(store, profile, PrefixMap(PREFIXES), lambda: self.now, self.kept)

    def call(self, seconds: float = 30.0) -> Call:
        """Return the budget of one call."""
        return Call(Deadline.after(seconds, lambda: self.now), 200, 500_000, 200_000)

    async def read(self, seconds: float = 30.0) -> Schema:
        """Ask for the schema as a call does."""
        return (await self.schema_cache.view(self.call(seconds))).schema

    @property
    def readings(self) -> int:
        """How often the store was asked."""
        return len(self.store.budgets)


async def test_a_schema_without_the_predicates_of_names_lasts_for_an_hour() -> None:
    storage = Shelf(Schemas(replace(EXACT, names=None)), LimitSettings(), OrientationSettings(enumeration_seconds=0))
    await storage.read()
    storage.now += HOUR - 1
    await storage.read()
    assert storage.readings == 1
    storage.now += 2
    await storage.read()
    assert storage.readings == 2


@pytest.mark.parametrize("schema", [EXACT, PARTIAL], ids=["exact", "partial"])
async def test_a_schema_that_was_read_lasts_for_its_hours(schema: Schema) -> None:
    storage = Shelf(Schemas(schema), LimitSettings(schema_hours=2.0), OrientationSettings(enumeration_seconds=0))
    assert await storage.read() == schema
    storage.now += 2 * HOUR - 1
    assert await storage.read() == schema
    assert storage.readings == 1
    storage.now += 2
    assert await storage.read() == schema
    assert storage.readings == 2


@pytest.mark.parametrize(
    "fault", [EndpointFault("Down."), NetworkFault("Away."), deadline_passed(), BudgetSpent("Spent.")]
)
async def test_a_schema_that_could_not_be_read_is_not_asked_for_again_for_a_minute(fault: Fault) -> None:
    storage = Shelf(Schemas(fault), orientation=OrientationSettings(enumeration_seconds=0))
    known = await storage.schema_cache.view(storage.call())
    assert known.fault is fault
    assert known.schema == Schema(reason=fault.wrong)
    storage.now += 59
    await storage.read()
    assert storage.readings == 1
    storage.store.answer = EXACT
    storage.now += 2
    again = await storage.schema_cache.view(storage.call())
    assert storage.readings == 2
    assert again.fault is None
    assert again.schema == EXACT


async def test_an_empty_schema_after_a_failure_refuses_no_filter() -> None:
    storage = Shelf(Schemas(EndpointFault("Down.")))
    known = await storage.schema_cache.view(storage.call())
    chosen = known.types.choose("node_types", ["Drug"])
    assert chosen.iris == frozenset()
    assert len(chosen.warnings) == 1


async def test_concurrent_first_calls_read_it_once() -> None:
    go_on = asyncio.Event()
    store = Schemas(EXACT, before=lambda: _wait(go_on))
    storage = Shelf(store)
    calls = [asyncio.create_task(storage.read()) for _ in range(20)]
    await store.asked.wait()
    go_on.set()
    assert await asyncio.gather(*calls) == [EXACT] * 20
    assert storage.readings == 1


async def _wait(event: asyncio.Event) -> None:
    await event.wait()


async def test_a_first_call_that_is_cancelled_leaves_the_reading_going_on_for_the_next() -> None:
    go_on = asyncio.Event()
    store = Schemas(EXACT, before=lambda: _wait(go_on))
    storage = Shelf(store)
    first, second = asyncio.create_task(storage.read()), asyncio.create_task(storage.read())
    await store.asked.wait()
    first.cancel()
    await asyncio.wait([first])
    go_on.set()
    assert await second == EXACT
    assert storage.readings == 1
    assert first.cancelled()


async def test_the_reading_has_an_allowance_of_its_own() -> None:
    storage = Shelf(Schemas(EXACT), LimitSettings(schema_seconds=7.0, scan_rows=123))
    call = storage.call()
    await storage.schema_cache.view(call)
    (allowance,) = storage.store.budgets
    assert (call.requests, call.rows, call.sent) == (200, 500_000, 0)
    assert allowance is not call
    assert allowance.deadline.seconds_left == 7.0


async def test_a_call_waits_for_the_reading_no_longer_than_it_has_left() -> None:
    never = asyncio.Event()
    storage = Shelf(Schemas(EXACT, before=lambda: _wait(never)))
    known = await storage.schema_cache.view(storage.call(seconds=0.01))
    assert isinstance(known.fault, DeadlinePassed)
    assert known.schema.types == ()
    assert not known.comprehensive
    await storage.schema_cache.close()


async def test_a_sample_answers_until_the_graph_was_read_in_full() -> None:
    go_on = asyncio.Event()
    store = Schemas(PARTIAL, before_whole=lambda: _wait(go_on))
    storage = Shelf(store, orientation=OrientationSettings(enumeration_seconds=600, patience_seconds=0.01))
    changes: list[bool] = []
    storage.schema_cache.on_change(lambda: changes.append(_latest(storage).comprehensive))
    assert await storage.read() == PARTIAL
    go_on.set()
    await _until(lambda: len(changes) == 2)
    assert await storage.read() == EXACT
    assert changes == [False, True]
    assert (storage.readings, store.enumerations) == (1, 1)


async def test_the_first_calls_wait_for_all_of_it_where_that_comes_soon() -> None:
    storage = Shelf(Schemas(PARTIAL), orientation=OrientationSettings(enumeration_seconds=600, patience_seconds=60.0))
    assert await storage.read() == EXACT


async def test_a_graph_whose_operator_forbids_it_is_not_read_in_full() -> None:
    storage = Shelf(Schemas(PARTIAL), orientation=OrientationSettings(enumeration_seconds=0))
    assert await storage.read() == PARTIAL
    assert storage.store.enumerations == 0


async def test_a_large_graph_is_read_in_full_for_who_wants_its_schema_and_for_no_other_question() -> None:
    storage = Shelf(Schemas(PARTIAL), orientation=OrientationSettings(patience_seconds=60.0))
    assert await storage.read() == PARTIAL
    assert await storage.read() == PARTIAL
    assert (storage.readings, storage.store.enumerations) == (1, 0)
    assert (await storage.schema_cache.view(storage.call(), in_full=True)).schema == EXACT
    assert storage.store.enumerations == 1


async def test_a_large_graph_is_read_in_full_for_a_server() -> None:
    storage = Shelf(Schemas(PARTIAL), orientation=OrientationSettings(patience_seconds=60.0))
    storage.schema_cache.start()
    assert await storage.read() == EXACT


async def test_a_graph_that_could_not_be_read_in_full_is_not_read_again_for_every_call() -> None:
    storage = Shelf(Schemas(PARTIAL, whole=deadline_passed()), orientation=OrientationSettings(patience_seconds=60.0))
    for _ in range(3):
        await storage.schema_cache.view(storage.call(), in_full=True)
    assert storage.store.enumerations == 1


async def test_a_graph_that_is_too_slow_for_the_quick_reading_is_read_in_full_behind_the_back_of_the_calls() -> None:
    storage = Shelf(
        Schemas(deadline_passed()), orientation=OrientationSettings(enumeration_seconds=600, patience_seconds=60.0)
    )
    known = await storage.schema_cache.view(storage.call())
    assert (known.schema, known.fault) == (EXACT, None)


async def test_an_enumeration_that_fails_leaves_the_sample_and_says_so() -> None:
    storage = Shelf(
        Schemas(PARTIAL, whole=deadline_passed()),
        orientation=OrientationSettings(enumeration_seconds=600, patience_seconds=60.0),
    )
    known = await storage.schema_cache.view(storage.call())
    assert known.fault is None
    assert (known.schema.types, known.comprehensive) == (PARTIAL.types, False)
    assert "in full failed" in known.schema.reason


async def test_what_an_endpoint_that_is_not_trusted_counted_is_not_called_complete() -> None:
    profile = Profile(endpoint=EndpointSettings(trusted=False))
    store = Schemas(EXACT)
    schema_cache = SchemaCache(cast("GraphStore", store), profile, PrefixMap(PREFIXES), lambda: 1_000.0)
    known = await schema_cache.view(Call(Deadline.after(30), 200, 500_000, 200_000))
    assert (known.schema.types, known.comprehensive) == (EXACT.types, False)
    assert "without a sign" in known.schema.reason


async def test_a_sample_is_comprehensive_where_the_operator_vouches_for_it() -> None:
    storage = Shelf(Schemas(PARTIAL), orientation=OrientationSettings(enumeration_seconds=0, vouched=True))
    assert (await storage.schema_cache.view(storage.call())).comprehensive


async def test_a_list_of_which_terms_are_known_to_be_missing_is_vouched_for_no_more() -> None:
    cut = replace(PARTIAL, is_cut=True)
    storage = Shelf(Schemas(cut), orientation=OrientationSettings(enumeration_seconds=0, vouched=True))
    await storage.read()
    assert storage.schema_cache.latest is not None
    assert not storage.schema_cache.latest.comprehensive


@pytest.mark.parametrize("vouched", [False, True])
async def test_a_list_is_complete_no_more_once_a_traversal_met_what_is_not_on_it(vouched: bool) -> None:
    storage = Shelf(Schemas(EXACT), orientation=OrientationSettings(enumeration_seconds=600, vouched=vouched))
    await storage.read()
    storage.schema_cache.observe([f"{X}T"], [f"{X}p"])
    assert _latest(storage).comprehensive
    storage.schema_cache.observe([f"{X}T", f"{X}New"], [f"{X}p", f"{X}q"])
    known = _latest(storage)
    assert not known.comprehensive
    assert [term.iri for term in known.schema.types] == [f"{X}T", f"{X}New"]
    assert [term.iri for term in known.schema.predicates] == [f"{X}p", f"{X}q"]
    assert known.schema.types[-1].count is None
    assert "x:New" in known.schema.reason
    # It is read again, though not at once: whoever loads data changes it many times a minute.
    assert storage.readings == 1
    storage.now += 61
    storage.schema_cache.observe([f"{X}Newer"], [])
    assert await storage.read() == EXACT
    assert _latest(storage).comprehensive
    assert storage.readings == 2


async def test_what_a_traversal_has_disproved_is_vouched_for_no_more_whatever_is_read_next() -> None:
    storage = Shelf(Schemas(PARTIAL), orientation=OrientationSettings(enumeration_seconds=0, vouched=True))
    await storage.read()
    assert _latest(storage).comprehensive
    storage.schema_cache.observe([f"{X}New"], [])
    for answer in (PARTIAL, EndpointFault("Down.")):
        storage.store.answer = answer
        storage.now += 61
        known = await storage.schema_cache.view(storage.call(), unknown_term=True)
        assert storage.schema_cache.is_reading is False
        assert not known.comprehensive
        assert f"{X}New" in {term.iri for term in known.schema.types}


async def test_an_old_schema_that_cannot_be_read_again_is_kept_but_is_complete_no_more() -> None:
    storage = Shelf(Schemas(EXACT), LimitSettings(schema_hours=1.0))
    await storage.read()
    storage.store.answer = EndpointFault("Down.")
    storage.now += HOUR + 1
    known = await storage.schema_cache.view(storage.call())
    assert (known.schema.types, known.comprehensive, known.fault) == (EXACT.types, False, None)
    assert "Down" in known.schema.reason


async def test_nothing_goes_on_once_the_book_is_closed() -> None:
    never = asyncio.Event()
    store = Schemas(PARTIAL, before_whole=lambda: _wait(never))
    storage = Shelf(store, orientation=OrientationSettings(enumeration_seconds=600, patience_seconds=0))
    others = asyncio.all_tasks()
    storage.schema_cache.start()
    assert await storage.read() == PARTIAL
    assert asyncio.all_tasks() > others
    await storage.schema_cache.close()
    assert asyncio.all_tasks() == others


async def test_what_an_earlier_run_knew_is_known_at_once_and_complete_only_when_it_was_read_again(
    tmp_path: Path,
) -> None:
    kept = StoredSchema(tmp_path)
    enumerated = replace(EXACT, basis=Basis(("enumerated",), 1_700_000_000.0, 0, 5))
    assert await Shelf(Schemas(enumerated), kept=kept).read() == enumerated
    go_on = asyncio.Event()
    store = Schemas(PARTIAL, whole=enumerated, before=lambda: _wait(go_on))
    later = Shelf(store, orientation=OrientationSettings(enumeration_seconds=600, patience_seconds=0), kept=kept)
    known = await later.schema_cache.view(later.call())
    assert (known.schema.types, known.comprehensive) == (EXACT.types, False)
    assert "2023-11-14" in known.schema.reason
    go_on.set()
    await _until(lambda: _latest(later).comprehensive)
    assert _latest(later).schema == enumerated


@pytest.mark.parametrize("methods", [("sampled",), ("enumerated",)])
async def test_the_predicates_of_names_that_an_earlier_run_found_are_unknown_until_this_one_has_found_them(
    methods: tuple[Method, ...], tmp_path: Path
) -> None:
    kept = StoredSchema(tmp_path)
    kept.save(replace(EXACT, basis=Basis(methods), names=("urn:name",)))
    looking, reading = asyncio.Event(), asyncio.Event()
    seen = replace(PARTIAL, names=("urn:name",))
    store = Schemas(seen, before=lambda: _wait(looking), before_whole=lambda: _wait(reading))
    later = Shelf(store, orientation=OrientationSettings(enumeration_seconds=600, patience_seconds=0), kept=kept)
    assert (await later.read()).names is None
    looking.set()
    await _until(lambda: store.enumerations == 1)
    assert (await later.read()).names == ("urn:name",)
    assert [term.iri for term in (await later.read()).types] == [f"{X}T"]
    await later.schema_cache.close()


async def test_samples_of_several_runs_add_up(tmp_path: Path) -> None:
    kept = StoredSchema(tmp_path)
    never = OrientationSettings(enumeration_seconds=0, patience_seconds=60)
    other = replace(PARTIAL, types=(Term(f"{X}Other", None),))
    await Shelf(Schemas(PARTIAL), orientation=never, kept=kept).read()
    later = Shelf(Schemas(other), orientation=never, kept=kept)
    await later.read()
    assert [term.iri for term in _latest(later).schema.types] == [f"{X}Other", f"{X}T"]
    assert not _latest(later).comprehensive


def _latest(storage: Shelf) -> SchemaView:
    assert storage.schema_cache.latest is not None
    return storage.schema_cache.latest


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
    assert len(scans) == len(set(scans)) == 5


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


async def test_an_old_list_of_a_graph_that_has_grown_is_complete_no_more_where_it_may_not_be_read_in_full() -> None:
    storage = Shelf(Schemas(EXACT), LimitSettings(schema_hours=1.0), OrientationSettings(enumeration_seconds=0))
    await storage.read()
    storage.store.answer = replace(PARTIAL, types=(Term(f"{X}New", None),))
    storage.now += HOUR + 1
    known = await storage.schema_cache.view(storage.call())
    assert not known.comprehensive
    assert {term.iri for term in known.schema.types} == {f"{X}T", f"{X}New"}
    assert await storage.read() == known.schema
    assert storage.readings == 2


async def test_an_old_list_of_a_large_graph_is_complete_no_more_while_it_is_made_anew() -> None:
    go_on = asyncio.Event()
    store = Schemas(EXACT, before_whole=lambda: _wait(go_on))
    storage = Shelf(
        store, LimitSettings(schema_hours=1.0), OrientationSettings(enumeration_seconds=600, patience_seconds=0)
    )
    await storage.read()
    store.answer = PARTIAL
    storage.now += HOUR + 1
    await storage.read()
    await _until(lambda: store.enumerations == 1)
    assert (_latest(storage).schema.types, _latest(storage).comprehensive) == (EXACT.types, False)
    go_on.set()
    await _until(lambda: not storage.schema_cache.is_reading)
    assert _latest(storage).comprehensive


async def test_a_reading_that_fails_as_it_never_should_is_a_fault_and_not_begun_again_at_once() -> None:
    async def broken() -> None:
        raise KeyError("?p")

    storage = Shelf(Schemas(EXACT, before=broken))
    assert "should not" in str((await storage.schema_cache.view(storage.call())).fault)
    await storage.read()
    assert storage.readings == 1
