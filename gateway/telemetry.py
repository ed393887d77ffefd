"""What a call cost and where its time went: tallied while it runs, frozen when it ends, written to the log.

The log says which tool was called, what that cost and how it ended, on one line. It does not say what was asked:
seeds and words are the user's. They stand in the SPARQL that was sent, which is logged for debugging only.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Literal, Self

from gateway.escaping import json_text

LOGGER = "gateway.calls"
"""The logger of calls: one line a call at INFO, one line a query at DEBUG."""

_log = logging.getLogger(LOGGER)

Clock = Callable[[], float]
Stage = Literal["schema", "search", "expansion", "facts", "metadata", "presentation"]
Outcome = Literal["complete", "incomplete", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class Sent:
    """A query as it was sent; one that was sent again stands there again.

    Attributes:
        template: The template it was made from; `api/` and what was asked for, for a request to an API of names.
        sparql: Its text, to the byte; the query of its URL, for such a request.
        rows: Rows that came.
        bytes: Bytes that came, uncompressed.
        ms: Milliseconds until they had come, or until the fault.
        fault: What went wrong, as the class of the error; empty where it was answered.
    """

    template: str
    sparql: str
    rows: int
    bytes: int
    ms: float
    fault: str


@dataclass(frozen=True, slots=True)
class Milliseconds:
    """Where the time of a call went.

    The stages exclude each other: where two run at once, the time belongs to the one begun last.

    Attributes:
        total: From the first moment to the last.
        waiting: While at least one query was on its way, waited for its turn, or paused before it was sent again.
        schema: Reading the schema, or waiting for another call to read it.
        search: Finding names.
        expansion: Nodes and edges, hop by hop.
        facts: Types and names.
        metadata: What is shown beside nodes and edges.
        presentation: Filters, order, pages and size.
    """

    total: float
    waiting: float
    schema: float = 0.0
    search: float = 0.0
    expansion: float = 0.0
    facts: float = 0.0
    metadata: float = 0.0
    presentation: float = 0.0

    @property
    def own(self) -> float:
        """What the gateway itself took."""
        return round(self.total - self.waiting, 1)


@dataclass(frozen=True, slots=True)
class Record:
    """What one call of a tool cost, and how it ended.

    Attributes:
        tool: The tool.
        outcome: `complete` and `incomplete` as the answer says; `failed` with an error, or `cancelled`.
        causes: Why a traversal is not complete; see `incomplete` in its answer.
        error: The class of the error; empty where there was none.
        queries: Queries sent, those sent again included.
        retries: How many of them had been sent before.
        rows: Rows that came.
        bytes: Bytes that came, uncompressed.
        cache_hits: Answers about one ID that the cache had.
        cache_misses: Answers about one ID that it had not.
        overflows: Answers that had more rows than one query may return.
        splits: Batches that were asked again in parts.
        ms: Where the time went.
        sent: The queries in the order they were sent; empty unless they were asked for.
    """

    tool: str
    outcome: Outcome
    causes: tuple[str, ...]
    error: str
    queries: int
    retries: int
    rows: int
    bytes: int
    cache_hits: int
    cache_misses: int
    overflows: int
    splits: int
    ms: Milliseconds
    sent: tuple[Sent, ...]

    @property
    def line(self) -> str:
        """The record as `key=value` pairs, always the same keys, no value with a blank in it; without the queries."""
        counts = {
            key: getattr(self, key)
            for key in ("queries", "retries", "rows", "bytes", "cache_hits", "cache_misses", "overflows", "splits")
        }
        pairs = {
            "tool": self.tool,
            "outcome": self.outcome,
            "causes": ",".join(self.causes),
            "error": self.error,
            **counts,
            **{f"ms_{name}": value for name, value in asdict(self.ms).items()},
            "ms_own": self.ms.own,
        }
        return " ".join(f"{key}={value}" for key, value in pairs.items())


@dataclass(slots=True)
class _Query:
    """A query while it is on its way."""

    template: str
    sparql: str
    again: bool
    rows: int = 0
    bytes: int = 0
    ms: float = 0.0
    fault: str = ""

    @property
    def line(self) -> str:
        text = json_text(self.sparql)
        counts = f"again={int(self.again)} rows={self.rows} bytes={self.bytes} ms={self.ms} fault={self.fault}"
        return f"template={self.template} {counts} sparql={text}"


class _Waits:
    """The time in which at least one of several things waits."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._under_way = 0
        self._since = 0.0
        self._ended = 0.0

    @property
    def seconds(self) -> float:
        return self._ended + (self._clock() - self._since if self._under_way else 0.0)

    def begin(self) -> None:
        if not self._under_way:
            self._since = self._clock()
        self._under_way += 1

    def end(self) -> None:
        self._under_way -= 1
        if not self._under_way:
            self._ended += self._clock() - self._since


class QueryTimer:
    """One query, from before it is sent until it is answered or given up; it may be sent several times."""

    def __init__(
        self, template: str, sparql: str, clock: Clock, waits: _Waits, queries: list[_Query], *, keep: bool
    ) -> None:
        self._template = template
        self._sparql = sparql
        self._clock = clock
        self._waits = waits
        self._queries = queries
        self._keep = keep
        self._waiting = False
        self._begun = 0.0
        self._query: _Query | None = None

    def __enter__(self) -> Self:
        """Begin to wait: for a turn, to begin with."""
        self._wait()
        return self

    def __exit__(self, *_: object) -> None:
        """Wait no longer."""
        self._go_on()

    @contextmanager
    def sending(self) -> Iterator[None]:
        """Count one sending of the query, and the fault where the block ends in one."""
        query = self._query = _Query(self._template, self._sparql, again=self._query is not None)
        self._queries.append(query)
        self._begun = self._clock()
        try:
            yield
        except BaseException as error:
            query.fault = type(error).__name__
            if self._waiting:
                query.ms = _ms(self._clock() - self._begun)
            # What follows is a pause before it is sent again, or the end.
            self._wait()
            raise
        finally:
            if _log.isEnabledFor(logging.DEBUG):
                _log.debug("%s", query.line)
            if not self._keep:
                query.sparql = ""

    def came(self, size: int) -> None:
        """Note that so many bytes have come; what follows is the gateway's own time."""
        if self._query is not None:
            self._query.bytes = size
            self._query.ms = _ms(self._clock() - self._begun)
        self._go_on()

    def read(self, rows: int) -> None:
        """Note how many rows were in them."""
        if self._query is not None:
            self._query.rows = rows

    def _wait(self) -> None:
        if not self._waiting:
            self._waiting = True
            self._waits.begin()

    def _go_on(self) -> None:
        if self._waiting:
            self._waiting = False
            self._waits.end()


class Tally:
    """What a call has cost so far.

    Attributes:
        tool: The tool that was called.
        keeps_queries: Whether the record will have the queries.
        cache_hits: Answers about one ID that the cache had.
        cache_misses: Answers about one ID that it had not.
        overflows: Answers that had more rows than one query may return.
        splits: Batches that were asked again in parts.
    """

    def __init__(self, tool: str = "", clock: Clock = time.monotonic) -> None:
        self.tool = tool
        self.keeps_queries = False
        self.cache_hits = 0
        self.cache_misses = 0
        self.overflows = 0
        self.splits = 0
        self._clock = clock
        self._begun = self._charged = clock()
        self._stages: dict[Stage, float] = {}
        self._running: dict[object, Stage] = {}
        self._waits = _Waits(clock)
        self._queries: list[_Query] = []

    @contextmanager
    def stage(self, stage: Stage) -> Iterator[None]:
        """Count the time of a block as a stage's."""
        key = object()
        self._charge()
        self._running[key] = stage
        try:
            yield
        finally:
            self._charge()
            del self._running[key]

    def _charge(self) -> None:
        """Give the time since the last change of stages to the stage begun last."""
        now = self._clock()
        if self._running:
            stage = next(reversed(self._running.values()))
            self._stages[stage] = self._stages.get(stage, 0.0) + now - self._charged
        self._charged = now

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count the time of a block as waiting."""
        self._waits.begin()
        try:
            yield
        finally:
            self._waits.end()

    def asking(self, template: str, sparql: str) -> QueryTimer:
        """Follow one query."""
        return QueryTimer(template, sparql, self._clock, self._waits, self._queries, keep=self.keeps_queries)

    def answered(self, *, complete: bool, causes: Iterable[str] = ()) -> Record:
        """Return the record of a call that was answered, and log it."""
        return self._ended("complete" if complete else "incomplete", causes=tuple(causes))

    def failed(self, error: BaseException) -> Record:
        """Return the record of a call that was not, and log it."""
        cancelled = isinstance(error, asyncio.CancelledError)
        return self._ended("cancelled" if cancelled else "failed", error=type(error).__name__)

    def _ended(self, outcome: Outcome, *, causes: tuple[str, ...] = (), error: str = "") -> Record:
        self._charge()
        stages = {stage: _ms(seconds) for stage, seconds in self._stages.items()}
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
            ms=Milliseconds(total=_ms(self._clock() - self._begun), waiting=_ms(self._waits.seconds), **stages),
            sent=tuple(
                Sent(query.template, query.sparql, query.rows, query.bytes, query.ms, query.fault)
                for query in (self._queries if self.keeps_queries else ())
            ),
        )
        _log.info("%s", record.line)
        return record


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 1)
