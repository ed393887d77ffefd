"""The transitions of the schema cache: what no sequence of events leads to, what it claims, and when it expires."""

import asyncio
from collections import deque
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.cache.on_disk import StoredSchema
from gateway.errors import EndpointFault, Fault
from gateway.graph.call import Call, Deadline, deadline_passed
from gateway.graph.store import GraphStore
from gateway.graph.values import Basis, Schema, Term
from gateway.schema.cache import SchemaCache
from gateway.schema.schedule import SchemaAge
from gateway.schema.states import Action, Enumeration, Event, Lists, Reading, State, next_state
from gateway.settings.endpoint import EndpointSettings, QuotaSettings
from gateway.settings.limits import LimitSettings, OrientationSettings
from gateway.settings.profile import Profile
from gateway.terms.prefixes import PrefixMap
from tests.examples import examples
from tests.generated_docs import ROOT
from tests.schema.state_tables import ALL_STATES, shown_events
from tests.small import PREFIXES, X

STARTS = [State(enumeration=one) for one in (Enumeration.FORBIDDEN, Enumeration.UNREQUESTED, Enumeration.REQUESTED)]
LOADED = {Event.LOADED_SAMPLE, Event.LOADED_ENUMERATION}
DOUBTS = {*LOADED, Event.EXPIRED, Event.REREAD_FAILED, Event.READ_PART, Event.DISPROVED}
"""Events after which lists are complete only if every triple is counted again."""


def is_doubt(state: State, event: Event) -> bool:
    """Return whether an event takes the claim from the lists; only empty ones are loaded."""
    return event in DOUBTS and (event not in LOADED or state.lists is Lists.EMPTY)


def reachable() -> set[State]:
    """Return the states that events lead to."""
    found = set(STARTS)
    frontier = deque(STARTS)
    while frontier:
        state = frontier.popleft()
        new = {next_state(state, event)[0] for event in Event} - found
        found |= new
        frontier.extend(new)
    return found


def test_the_page_shows_every_event_and_says_what_each_value_means() -> None:
    page = (ROOT / "docs" / "schema-states.md").read_text(encoding="utf-8")
    assert shown_events() == set(Event)
    for one in (*Lists, *Reading, *Enumeration, *Event):
        assert f"\n| `{one.value}` |" in page, one


@pytest.mark.parametrize("event", Event)
def test_every_event_is_defined_in_every_state(event: Event) -> None:
    for state in ALL_STATES:
        after, action = next_state(state, event)
        assert after in ALL_STATES
        assert action in Action


def test_every_value_of_a_state_is_reached() -> None:
    states = reachable()
    assert {state.lists for state in states} == set(Lists)
    assert {state.reading for state in states} == set(Reading)
    assert {state.enumeration for state in states} == set(Enumeration)


def test_lists_are_complete_only_because_every_triple_was_counted() -> None:
    for state in ALL_STATES:
        for event in Event:
            after, action = next_state(state, event)
            if after.claims_all and not state.claims_all:
                assert (event, action) == (Event.READ_ALL, Action.ADOPT)


def test_lists_are_not_complete_after_a_doubt() -> None:
    for state in ALL_STATES:
        for event in Event:
            assert not (is_doubt(state, event) and next_state(state, event)[0].claims_all)


@given(st.sampled_from(STARTS), st.lists(st.sampled_from(Event)))
def test_after_a_doubt_only_another_count_makes_lists_complete(start: State, events: list[Event]) -> None:
    state, is_counted, is_disproved = start, False, False
    for event in events:
        is_counted = event is Event.READ_ALL or (is_counted and not is_doubt(state, event))
        is_disproved = event is not Event.READ_ALL and (is_disproved or (event is Event.DISPROVED and _claims(state)))
        state, _ = next_state(state, event)
        assert is_counted or not state.claims_all
        assert not (is_disproved and _claims(state))


def _claims(state: State) -> bool:
    return state.claims_all or state.can_be_vouched_for


@given(st.sampled_from(STARTS), st.lists(st.sampled_from(Event)))
def test_one_reading_at_a_time(start: State, events: list[Event]) -> None:
    state, under_way = start, 0
    for event in events:
        state, action = next_state(state, event)
        under_way += action in {Action.READ, Action.LOAD_AND_READ}
        under_way = 0 if event is Event.ENDED else under_way
        assert under_way == (state.reading is not Reading.IDLE)


@given(st.sampled_from(STARTS), st.lists(st.sampled_from(Event)))
def test_what_is_forbidden_is_not_begun_and_an_attempt_is_not_forgotten(start: State, events: list[Event]) -> None:
    order = list(Enumeration)
    state = start
    for event in events:
        after, _ = next_state(state, event)
        assert state.enumeration is not Enumeration.FORBIDDEN or not after.enumerates
        assert order.index(after.enumeration) >= order.index(state.enumeration)
        state = after


def test_a_caller_never_begins_a_second_reading_of_a_graph_that_was_enumerated_in_vain() -> None:
    for state in ALL_STATES:
        if state.enumeration is Enumeration.TRIED and state.lists is not Lists.EMPTY:
            assert next_state(state, Event.NEEDED) == (state, Action.NONE)


HOUR = 3600.0

EXACT = Schema((Term(f"{X}T", 3),), (), exact=True, version="1", basis=Basis(("enumerated",)), names=())
PARTIAL = replace(EXACT, exact=False, reason="too large", version="2", basis=Basis(("sampled",)))

results = st.sampled_from([EXACT, PARTIAL, EndpointFault("Down."), deadline_passed()])
steps = st.one_of(
    st.tuples(st.just("read"), results, results, st.booleans(), st.booleans()),
    st.tuples(st.just("wait"), st.sampled_from([61.0, HOUR + 1])),
    st.tuples(st.just("observe"), st.sampled_from(["T", "New", "Newer"])),
)


@dataclass
class Readings:
    """A store whose schema is what the test says, and that notes when it returned what."""

    now: float = 1_000.0
    quick: Schema | Fault = EXACT
    whole: Schema | Fault = EXACT
    returned: list[tuple[float, Schema | Fault]] = field(default_factory=list)

    def name_reader(self) -> None:
        """Return no reader of names."""

    async def quick_schema(self, _: Call) -> Schema:
        """Return the result of the quick reading, or raise."""
        return self._return(self.quick)

    async def schema(self, _: Call) -> Schema:
        """Return the result of the enumeration, or raise."""
        return self._return(self.whole)

    def _return(self, result: Schema | Fault) -> Schema:
        self.returned.append((self.now, result))
        if isinstance(result, Fault):
            raise result
        return result

    def count_holds(self) -> bool:
        """Return whether a reading counted every triple, and none failed or was cut after that had expired."""
        counted = [number for number, (_, result) in enumerate(self.returned) if result is EXACT]
        if not counted:
            return False
        at = self.returned[counted[-1]][0]
        return all(when <= at + HOUR for when, _ in self.returned[counted[-1] + 1 :])


@given(
    st.sampled_from([None, EXACT, PARTIAL]),
    st.sampled_from([None, 0.0, 600.0]),
    st.booleans(),
    st.lists(steps, max_size=12),
)
@settings(max_examples=examples(300))
def test_lists_are_comprehensive_only_if_a_count_holds_and_no_traversal_disproved_it(
    tmp_path_factory: pytest.TempPathFactory,
    stored: Schema | None,
    enumeration_seconds: float | None,
    vouched: bool,
    script: list[Any],
) -> None:
    storage = StoredSchema(tmp_path_factory.mktemp("schema"))
    if stored is not None:
        storage.save(stored)
    asyncio.run(_follow(storage, enumeration_seconds, vouched=vouched, script=script))


async def _follow(
    storage: StoredSchema, enumeration_seconds: float | None, *, vouched: bool, script: list[Any]
) -> None:
    orientation = OrientationSettings(enumeration_seconds=enumeration_seconds, vouched=vouched, patience_seconds=60)
    store = Readings()
    profile = Profile(orientation=orientation, limits=LimitSettings(schema_hours=1.0))
    cache = SchemaCache(cast("GraphStore", store), profile, PrefixMap(PREFIXES), lambda: store.now, storage)
    is_disproved = False
    for step, *arguments in script:
        before = len(store.returned)
        if step == "wait":
            store.now += arguments[0]
        elif step == "observe":
            claimed = cache.latest is not None and cache.latest.comprehensive
            listed = {} if cache.latest is None else {term.iri for term in cache.latest.schema.types}
            await cache.observe([f"{X}{arguments[0]}"], [])
            is_disproved = is_disproved or (claimed and f"{X}{arguments[0]}" not in listed)
        else:
            store.quick, store.whole, unknown_term, in_full = arguments
            call = Call(Deadline.after(30, lambda: store.now), 200, 500_000, 200_000)
            await cache.view(call, unknown_term=unknown_term, in_full=in_full)
        await cache.wait_until_read()
        if any(result is EXACT for _, result in store.returned[before:]):
            is_disproved = False
        latest = cache.latest
        if latest is not None and latest.comprehensive:
            assert not is_disproved
            assert vouched or store.count_holds()


WHOLE = Schema(exact=True, names=())
QUOTA = EndpointSettings(quota=QuotaSettings(query_seconds_per_minute=60, query_seconds_burst=120))


@dataclass
class Times:
    """A schema's times on a clock that the test sets."""

    endpoint: EndpointSettings
    now: float = 1_000.0

    def __post_init__(self) -> None:
        """Make the times."""
        profile = Profile(endpoint=self.endpoint, limits=LimitSettings(schema_hours=2.0))
        self.freshness = SchemaAge(profile, lambda: self.now)

    def seconds(self) -> float:
        """Return the seconds until the schema expires, to the second."""
        began = self.now
        low, high = 0.0, 10_000.0
        while high - low > 1.0:
            self.now = began + (low + high) / 2
            low, high = (low, self.now - began) if self.freshness.is_expired else (self.now - began, high)
        self.now = began
        return round(high)


@pytest.mark.parametrize(
    ("schema", "seconds"),
    [(WHOLE, 7_200), (replace(WHOLE, names=None), 3_600), (replace(WHOLE, labelled=False), 60)],
    ids=["whole", "without name predicates", "without labels"],
)
def test_a_schema_that_lacks_something_expires_earlier(schema: Schema, seconds: float) -> None:
    times = Times(EndpointSettings())
    times.freshness.note_reading(schema)
    assert times.seconds() == pytest.approx(seconds, abs=1)


def test_failed_readings_are_tried_again_every_minute() -> None:
    times = Times(EndpointSettings())
    for _ in range(3):
        times.freshness.note_failure()
        assert times.seconds() == pytest.approx(60, abs=1)


def test_failed_readings_of_an_endpoint_with_a_quota_are_tried_again_at_doubling_intervals() -> None:
    times = Times(QUOTA)
    for seconds in (60, 120, 240, 480, 960, 1_920, 3_600, 3_600):
        times.freshness.note_failure()
        assert times.seconds() == pytest.approx(seconds, abs=1)
    times.freshness.note_reading(WHOLE)
    times.freshness.note_failure()
    assert times.seconds() == pytest.approx(60, abs=1)


def test_a_reading_is_recent_for_a_minute() -> None:
    times = Times(EndpointSettings())
    times.freshness.note_reading(WHOLE)
    times.now += 60
    assert times.freshness.is_recent
    times.now += 1
    assert not times.freshness.is_recent


def test_a_reading_of_an_earlier_process_is_never_recent_and_expires_when_it_would_have() -> None:
    times = Times(EndpointSettings())
    times.freshness.note_reading(WHOLE, ago=0.0)
    assert not times.freshness.is_recent
    times.freshness.note_reading(WHOLE, ago=200.0)
    assert times.seconds() == pytest.approx(7_000, abs=1)
    times.freshness.note_reading(WHOLE)
    assert times.freshness.is_recent
