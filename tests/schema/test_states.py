"""The transitions of the schema cache: all of them, and what no sequence of events can lead to."""

from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.schema.states import Action, Enumeration, Event, Lists, Reading, State, next_state
from tests.generated_docs import ROOT
from tests.schema.state_tables import ALL_STATES, shown_events

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
