"""The states of the schema cache and every transition between them; no clock, no task, no graph.

`docs/schema-states.md` shows these tables, and a test compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from types import MappingProxyType


class Lists(Enum):
    """How much the lists of types and predicates claim."""

    EMPTY = "empty"
    """Nothing was read."""

    UNREADABLE = "unreadable"
    """A reading failed, and nothing was read before it."""

    PARTIAL = "partial"
    """The lists are a sample; only the operator can vouch for them."""

    PARTIAL_DISPROVED = "partial, disproved"
    """The operator vouched for a sample, and a traversal found a term that it lacks."""

    OUTDATED = "outdated"
    """Every triple was counted, but the graph may have changed since; only the operator can vouch for the lists."""

    OUTDATED_DISPROVED = "outdated, disproved"
    """The lists claimed to be complete, and a traversal found a term that they lack."""

    COMPLETE = "complete"
    """Every triple was counted."""


class Reading(Enum):
    """What the cache reads at this moment."""

    IDLE = "idle"
    """Nothing."""

    SAMPLING = "sampling"
    """The quick reading, for the calls that wait for it; it stops when the last of them is cancelled."""

    SAMPLING_DETACHED = "sampling, detached"
    """The quick reading, for a server; it continues without callers."""

    ENUMERATING = "enumerating"
    """The reading of every triple; it continues without callers."""


class Enumeration(Enum):
    """Whether a graph that is too large for the quick reading is enumerated, that is, whether every triple is read."""

    FORBIDDEN = "forbidden"
    """The profile rules it out."""

    UNREQUESTED = "unrequested"
    """Only calls that need a part of the schema came."""

    REQUESTED = "requested"
    """A server, a caller that asks for the schema, or the profile requested it."""

    TRIED = "tried"
    """It was requested and has begun at least once, so it is no reason for another reading."""


class Event(Enum):
    """What happens to the cache."""

    STARTED = "started"
    """A server wants the schema ready."""

    ENUMERATION_REQUESTED = "enumeration requested"
    """A caller asks for the schema itself."""

    NEEDED = "needed"
    """A call needs the schema."""

    DUE = "due"
    """A call needs the schema, and it has expired, lacks a term that the caller names, or has a fault that may pass."""

    RECHECK_DUE = "recheck due"
    """A traversal found an unlisted term, and the last reading is not recent."""

    LOADED_SAMPLE = "loaded sample"
    """An earlier run stored lists that are a sample."""

    LOADED_ENUMERATION = "loaded enumeration"
    """An earlier run stored lists for which every triple was counted."""

    EXPIRED = "expired"
    """The quick reading came after the lists had expired, and did not count every triple."""

    PREVIEWED = "previewed"
    """The quick reading did not count every triple; the enumeration follows."""

    READ_PART = "read part"
    """A reading ended without having counted every triple, or at an endpoint that is not trusted."""

    READ_ALL = "read all"
    """A reading counted every triple."""

    FAILED = "failed"
    """A reading failed before the lists expired."""

    REREAD_FAILED = "reread failed"
    """A reading failed after the lists had expired."""

    TERM_FOUND = "term found"
    """A traversal found a term that is not on lists that claim nothing."""

    DISPROVED = "disproved"
    """A traversal found a term that is not on lists that claim to be complete."""

    ENUMERATION_BEGAN = "enumeration began"
    """The quick reading is over, and the enumeration began."""

    ENDED = "ended"
    """The reading is over: it finished, failed or was cancelled."""


class Action(Enum):
    """What the cache has to do about an event."""

    NONE = ""
    READ = "read"
    LOAD_AND_READ = "load, then read"
    ADOPT_STORED = "adopt the stored lists"
    ADOPT = "adopt the lists"
    ADOPT_NAMES = "adopt the name predicates"
    RETRACT = "retract the claim"
    REPORT_FAULT = "report the fault"
    REPORT_AGE = "report the age and the fault"
    REPORT_SAMPLE = "report that only a sample was read"
    ADD_TERMS = "add the terms"
    ADD_TERMS_AND_RETRACT = "add the terms, retract the claim"


@dataclass(frozen=True, slots=True)
class State:
    """The state of the cache.

    Attributes:
        lists: How much the lists claim.
        reading: What is being read.
        enumeration: Whether a large graph is enumerated.
    """

    lists: Lists = Lists.EMPTY
    reading: Reading = Reading.IDLE
    enumeration: Enumeration = Enumeration.UNREQUESTED

    @property
    def claims_all(self) -> bool:
        """Whether every triple was counted, and nothing has shown since that the lists may lack a term."""
        return self.lists is Lists.COMPLETE

    @property
    def can_be_vouched_for(self) -> bool:
        """Whether the operator's word can make the lists complete: nothing has disproved it."""
        return self.lists in {Lists.PARTIAL, Lists.OUTDATED}

    @property
    def enumerates(self) -> bool:
        """Whether an enumeration follows a quick reading that did not count every triple."""
        return self.enumeration in {Enumeration.REQUESTED, Enumeration.TRIED}

    @property
    def is_abandonable(self) -> bool:
        """Whether the reading is of no use without a caller."""
        return self.reading is Reading.SAMPLING


def next_state(state: State, event: Event) -> tuple[State, Action]:
    """Return the state after an event, and what has to be done; an event that changes nothing needs no action."""
    lists, action = _LISTS.get(event, _UNCHANGED).get(state.lists, (state.lists, Action.NONE))
    reading = _reading_after(state, event)
    if state.reading is Reading.IDLE and reading is not Reading.IDLE:
        action = Action.LOAD_AND_READ if lists is Lists.EMPTY else Action.READ
    enumeration = _ENUMERATION.get((state.enumeration, event), state.enumeration)
    return replace(state, lists=lists, reading=reading, enumeration=enumeration), action


_Row = Mapping[Lists, tuple[Lists, Action]]

_UNCHANGED: _Row = MappingProxyType({})

_SAMPLES = (Lists.PARTIAL, Lists.PARTIAL_DISPROVED)
_OLD = (Lists.OUTDATED, Lists.OUTDATED_DISPROVED)


def _same(action: Action, *states: Lists) -> dict[Lists, tuple[Lists, Action]]:
    return {lists: (lists, action) for lists in states}


_FIRST_SAMPLE: _Row = {
    Lists.EMPTY: (Lists.PARTIAL, Action.ADOPT),
    Lists.UNREADABLE: (Lists.PARTIAL, Action.ADOPT),
    **_same(Action.ADOPT, *_SAMPLES),
}

_FIRST_FAILURE: _Row = {
    Lists.EMPTY: (Lists.UNREADABLE, Action.REPORT_FAULT),
    **_same(Action.REPORT_FAULT, Lists.UNREADABLE),
}

_LISTS: Mapping[Event, _Row] = {
    Event.LOADED_SAMPLE: {Lists.EMPTY: (Lists.PARTIAL, Action.ADOPT_STORED)},
    Event.LOADED_ENUMERATION: {Lists.EMPTY: (Lists.OUTDATED, Action.ADOPT_STORED)},
    Event.EXPIRED: {Lists.COMPLETE: (Lists.OUTDATED, Action.RETRACT)},
    # Lists that were complete once are better than a sample while an enumeration replaces them.
    Event.PREVIEWED: {**_FIRST_SAMPLE, **_same(Action.ADOPT_NAMES, *_OLD, Lists.COMPLETE)},
    Event.READ_PART: {
        **_FIRST_SAMPLE,
        **_same(Action.ADOPT, *_OLD),
        Lists.COMPLETE: (Lists.PARTIAL, Action.ADOPT),
    },
    Event.READ_ALL: dict.fromkeys(Lists, (Lists.COMPLETE, Action.ADOPT)),
    Event.FAILED: {**_FIRST_FAILURE, **_same(Action.REPORT_SAMPLE, *_SAMPLES, *_OLD)},
    Event.REREAD_FAILED: {
        **_FIRST_FAILURE,
        **_same(Action.REPORT_AGE, *_SAMPLES, *_OLD),
        Lists.COMPLETE: (Lists.PARTIAL, Action.REPORT_AGE),
    },
    Event.TERM_FOUND: _same(Action.ADD_TERMS, *_SAMPLES, *_OLD),
    Event.DISPROVED: {
        Lists.PARTIAL: (Lists.PARTIAL_DISPROVED, Action.ADD_TERMS_AND_RETRACT),
        Lists.OUTDATED: (Lists.OUTDATED_DISPROVED, Action.ADD_TERMS_AND_RETRACT),
        Lists.COMPLETE: (Lists.OUTDATED_DISPROVED, Action.ADD_TERMS_AND_RETRACT),
    },
}

_ENUMERATION: Mapping[tuple[Enumeration, Event], Enumeration] = {
    (Enumeration.UNREQUESTED, Event.STARTED): Enumeration.REQUESTED,
    (Enumeration.UNREQUESTED, Event.ENUMERATION_REQUESTED): Enumeration.REQUESTED,
    (Enumeration.REQUESTED, Event.ENUMERATION_BEGAN): Enumeration.TRIED,
}


_BEGINNING: Mapping[Event, tuple[Lists, ...]] = {
    Event.STARTED: (Lists.EMPTY,),
    Event.NEEDED: (Lists.EMPTY,),
    Event.DUE: tuple(Lists),
    Event.RECHECK_DUE: _OLD,
}


def _reading_after(state: State, event: Event) -> Reading:
    if state.reading is Reading.IDLE:
        begun = Reading.SAMPLING_DETACHED if event is Event.STARTED else Reading.SAMPLING
        return begun if _begins(state, event) else Reading.IDLE
    match event:
        case Event.ENDED:
            return Reading.IDLE
        case Event.STARTED if state.reading is Reading.SAMPLING:
            return Reading.SAMPLING_DETACHED
        case Event.ENUMERATION_BEGAN if state.enumerates:
            return Reading.ENUMERATING
        case _:
            return state.reading


def _begins(state: State, event: Event) -> bool:
    """Return whether an event begins a reading where none is under way."""
    if event is Event.NEEDED and state.enumeration is Enumeration.REQUESTED and state.lists in {*_SAMPLES, *_OLD}:
        return True
    return state.lists in _BEGINNING.get(event, ())
