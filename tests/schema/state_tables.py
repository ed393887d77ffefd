"""The tables of `docs/schema-states.md`, made from the transitions of the code; `make docs` writes them."""

import itertools
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Final

from gateway.schema.states import Action, Enumeration, Event, Lists, Reading, State, next_state

ALL_STATES: Final = [State(*parts) for parts in itertools.product(Lists, Reading, Enumeration)]

_OF_LISTS = (
    Event.LOADED_SAMPLE,
    Event.LOADED_ENUMERATION,
    Event.PREVIEWED,
    Event.READ_PART,
    Event.READ_ALL,
    Event.EXPIRED,
    Event.FAILED,
    Event.REREAD_FAILED,
    Event.TERM_FOUND,
    Event.DISPROVED,
)
_OF_BEGINNING = (Event.STARTED, Event.NEEDED, Event.DUE, Event.RECHECK_DUE)
_OF_READING = (Event.STARTED, Event.ENUMERATION_BEGAN, Event.ENDED)
_OF_ENUMERATION = (Event.STARTED, Event.ENUMERATION_REQUESTED, Event.ENUMERATION_BEGAN)
_UNCHANGED = "-"


def shown_events() -> set[Event]:
    """Return the events that the tables show."""
    return {*_OF_LISTS, *_OF_BEGINNING, *_OF_READING, *_OF_ENUMERATION}


def state_table(name: str) -> str:
    """Return a table as Markdown: `lists`, `beginning`, `reading` or `enumeration`."""
    match name:
        case "lists":
            return _table(_OF_LISTS, list(Lists), _lists_cell)
        case "beginning":
            return _table(_OF_BEGINNING, list(Lists), _beginning_cell)
        case "reading":
            return _table(_OF_READING, [one for one in Reading if one is not Reading.IDLE], _reading_cell)
        case "enumeration":
            return _table(_OF_ENUMERATION, list(Enumeration), _enumeration_cell)
        case _:
            raise KeyError(name)


def _table(events: Sequence[Event], columns: Sequence[Enum], cell: Callable[[Enum, Event], str]) -> str:
    rows = [["event", *(column.value for column in columns)], ["---"] * (1 + len(columns))]
    rows += [[event.value, *(cell(column, event) for column in columns)] for event in events]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _lists_cell(lists: Enum, event: Event) -> str:
    after = {(state.lists, action) for state, action in _results(event, lambda state: state.lists is lists)}
    ((new, action),) = after
    parts = [f"**{new.value}**"] if new is not lists else []
    return "; ".join([*parts, *([action.value] if action is not Action.NONE else [])]) or _UNCHANGED


def _beginning_cell(lists: Enum, event: Event) -> str:
    return _reading_by_enumeration(Lists(lists), Reading.IDLE, event)


def _reading_cell(reading: Enum, event: Event) -> str:
    cells = {_reading_by_enumeration(lists, Reading(reading), event) for lists in Lists}
    (cell,) = cells
    return cell


def _reading_by_enumeration(lists: Lists, reading: Reading, event: Event) -> str:
    """Return what is read after an event, and for which enumerations."""
    where: dict[Reading, list[str]] = {}
    for enumeration in Enumeration:
        state, _ = next_state(State(lists, reading, enumeration), event)
        where.setdefault(state.reading, []).append(enumeration.value)
    where.pop(reading, None)
    if not where:
        return _UNCHANGED
    ((new, enumerations),) = where.items()
    condition = "" if len(enumerations) == len(Enumeration) else f" if {' or '.join(enumerations)}"
    return f"**{new.value}**{condition}"


def _enumeration_cell(enumeration: Enum, event: Event) -> str:
    (new,) = {state.enumeration for state, _ in _results(event, lambda state: state.enumeration is enumeration)}
    return f"**{new.value}**" if new is not enumeration else _UNCHANGED


def _results(event: Event, chosen: Callable[[State], bool]) -> list[tuple[State, Action]]:
    return [next_state(state, event) for state in filter(chosen, ALL_STATES)]
