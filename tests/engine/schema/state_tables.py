"""The tables of `docs/schema-states.md`, made from the transitions of the code.

`python -m tests.engine.schema.state_tables` writes them into the page.
"""

import itertools
import re
from collections.abc import Callable, Sequence
from enum import Enum
from pathlib import Path
from typing import Final

from gateway.engine.schema.states import Action, Enumeration, Event, Lists, Reading, State, next_state

PAGE: Final = Path(__file__).resolve().parents[3] / "docs" / "schema-states.md"
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


def page_with_tables(page: str) -> str:
    """Return the page with the tables that the code says, each after the comment that names it."""
    for name, table in _tables().items():
        page = re.sub(rf"(?<=<!-- {name} -->\n\n)(?:\|.*\n)*", table, page)
    return page


def shown_events() -> set[Event]:
    """Return the events that the tables show."""
    return {*_OF_LISTS, *_OF_BEGINNING, *_OF_READING, *_OF_ENUMERATION}


def _tables() -> dict[str, str]:
    under_way = [reading for reading in Reading if reading is not Reading.IDLE]
    return {
        "lists": _table(_OF_LISTS, list(Lists), _lists_cell),
        "beginning": _table(_OF_BEGINNING, list(Lists), _beginning_cell),
        "reading": _table(_OF_READING, under_way, _reading_cell),
        "enumeration": _table(_OF_ENUMERATION, list(Enumeration), _enumeration_cell),
    }


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


if __name__ == "__main__":
    PAGE.write_text(page_with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
