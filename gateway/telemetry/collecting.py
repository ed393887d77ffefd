"""Gives the records of calls to whoever serves them, beside the log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from gateway.telemetry.record import Record

_RECORDS: ContextVar[list[Record] | None] = ContextVar("records", default=None)


@contextmanager
def collecting_records() -> Iterator[list[Record]]:
    """Collect the records of the calls that end inside the block, in it and in the tasks that it starts."""
    records: list[Record] = []
    token = _RECORDS.set(records)
    try:
        yield records
    finally:
        _RECORDS.reset(token)


def collect(record: Record) -> None:
    """Give a record to the block that collects here, if there is one."""
    records = _RECORDS.get()
    if records is not None:
        records.append(record)
