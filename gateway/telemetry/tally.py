"""The running count of what one call costs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from gateway.telemetry.clock import Clock, milliseconds
from gateway.telemetry.log import log_record
from gateway.telemetry.query_timer import QueryTimer, RunningQuery, WaitingTime
from gateway.telemetry.record import Milliseconds, Outcome, Record, Stage


class Tally:
    """Counts what a call costs, until it ends.

    Attributes:
        tool: The tool that was called.
        with_queries: Whether the record will include the queries.
        cache_hits: IDs whose answer was in the cache.
        cache_misses: IDs whose answer was not in the cache.
        overflows: Answers with more rows than one query may return.
        splits: Batches that were asked again in parts.
    """

    def __init__(self, tool: str = "", clock: Clock = time.monotonic) -> None:
        self.tool = tool
        self.with_queries = False
        self.cache_hits = 0
        self.cache_misses = 0
        self.overflows = 0
        self.splits = 0
        self._clock = clock
        self._begun = self._charged_at = clock()
        self._stages: dict[Stage, float] = {}
        self._running: dict[object, Stage] = {}
        self._waiting = WaitingTime(clock)
        self._queries: list[RunningQuery] = []

    @contextmanager
    def stage(self, stage: Stage) -> Iterator[None]:
        """Count the time of the block for a stage."""
        key = object()
        self._charge()
        self._running[key] = stage
        try:
            yield
        finally:
            self._charge()
            del self._running[key]

    def _charge(self) -> None:
        """Count the time since the last change of stages for the stage that began last."""
        now = self._clock()
        if self._running:
            stage = next(reversed(self._running.values()))
            self._stages[stage] = self._stages.get(stage, 0.0) + now - self._charged_at
        self._charged_at = now

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count the time of the block as waiting."""
        self._waiting.begin()
        try:
            yield
        finally:
            self._waiting.end()

    def query_timer(self, template: str, sparql: str) -> QueryTimer:
        """Return the timer of one query."""
        return QueryTimer(template, sparql, self._clock, self._waiting, self._queries, keep_text=self.with_queries)

    def answered(self, *, complete: bool, causes: Iterable[str] = ()) -> Record:
        """Return the record of an answered call, and log it."""
        return self._record("complete" if complete else "incomplete", causes=tuple(causes))

    def failed(self, error: BaseException) -> Record:
        """Return the record of a call that ended in an error or was cancelled, and log it."""
        cancelled = isinstance(error, asyncio.CancelledError)
        return self._record("cancelled" if cancelled else "failed", error=type(error).__name__)

    def _record(self, outcome: Outcome, *, causes: tuple[str, ...] = (), error: str = "") -> Record:
        self._charge()
        stages = {stage: milliseconds(seconds) for stage, seconds in self._stages.items()}
        record = Record(
            tool=self.tool,
            outcome=outcome,
            causes=causes,
            error=error,
            queries=len(self._queries),
            retries=sum(query.again for query in self._queries),
            rows=sum(query.rows for query in self._queries),
            bytes=sum(query.bytes for query in self._queries),
            cache_hits=self.cache_hits,
            cache_misses=self.cache_misses,
            overflows=self.overflows,
            splits=self.splits,
            ms=Milliseconds(
                total=milliseconds(self._clock() - self._begun),
                waiting=milliseconds(self._waiting.seconds),
                **stages,
            ),
            sent=tuple(query.frozen() for query in self._queries) if self.with_queries else (),
        )
        log_record(record)
        return record
