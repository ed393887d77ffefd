"""Gives the records of calls to whoever serves them, beside the log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from gateway.telemetry.record import Record


@dataclass(slots=True)
class Collected:
    """What is known of the calls of one request.

    Attributes:
        records: The records of those that ended.
        graph: The name of the graph; empty if it is the only one, or none was reached.
    """

    records: list[Record] = field(default_factory=list)
    graph: str = ""


_COLLECTED: ContextVar[Collected | None] = ContextVar("collected", default=None)


@contextmanager
def collecting_records() -> Iterator[Collected]:
    """Collect the records of the calls that end inside the block, in it and in the tasks that it starts."""
    collected = Collected()
    token = _COLLECTED.set(collected)
    try:
        yield collected
    finally:
        _COLLECTED.reset(token)


def collect(record: Record) -> None:
    """Give a record to the block that collects here, if there is one."""
    if (collected := _COLLECTED.get()) is not None:
        collected.records.append(record)


def concerning(graph: str) -> None:
    """Say which graph the request of the block that collects here is about."""
    if (collected := _COLLECTED.get()) is not None:
        collected.graph = graph
