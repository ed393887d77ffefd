"""What a call has cost: its counters frozen when it ends, and the line of the log.

Seeds and search words belong to the user. They are part of the SPARQL, which is logged for debugging only.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from typing import Literal

from gateway.escaping import json_text

Stage = Literal["schema", "search", "expansion", "facts", "metadata", "presentation"]
Outcome = Literal["complete", "incomplete", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class Sent:
    """A query as it was sent; a query that was sent again has one of these for each time.

    Attributes:
        template: The name of its template; for a request to a name API, `api/` and the kind of request.
        sparql: The text that was sent; for a request to a name API, the query of its URL.
        rows: Rows received.
        bytes: Bytes received, uncompressed.
        ms: Milliseconds until the answer, or the fault, arrived.
        fault: The class of the error; empty if there was none.
    """

    template: str
    sparql: str
    rows: int
    bytes: int
    ms: float
    fault: str


@dataclass(frozen=True, slots=True)
class Milliseconds:
    """The time of a call by stage.

    Stages exclude each other: if two run at once, the time counts for the one that began last.

    Attributes:
        total: The whole call.
        waiting: While at least one query was sent, waited for its turn, or paused before a retry.
        schema: Reading the schema, or waiting for another call to read it.
        search: Finding names.
        expansion: Nodes and edges, hop by hop.
        facts: Types and names.
        metadata: The metadata of nodes and edges.
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
        """The time of the gateway itself."""
        return round(self.total - self.waiting, 1)


@dataclass(frozen=True, slots=True)
class Record:
    """The cost and the outcome of one call of a tool.

    Attributes:
        tool: The tool.
        outcome: `complete` or `incomplete` as in the answer, `failed` with an error, or `cancelled`.
        causes: Why a traversal is incomplete; see `incomplete` in its answer.
        error: The class of the error; empty if there was none.
        queries: Queries sent, retries included.
        retries: Queries sent again.
        rows: Rows received.
        bytes: Bytes received, uncompressed.
        cache_hits: IDs whose answer was in the cache.
        cache_misses: IDs whose answer was not in the cache.
        overflows: Answers with more rows than one query may return.
        splits: Batches that were asked again in parts.
        ms: The time by stage.
        sent: The queries in the order sent; empty unless the call asked for them.
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


LOGGER = "gateway.calls"
"""The logger of calls: one line a call at INFO, one line a query at DEBUG."""

FIELDS = "call_fields"
"""The attribute of a log record that has the fields of a call."""

_log = logging.getLogger(LOGGER)

_COUNTS = ("queries", "retries", "rows", "bytes", "cache_hits", "cache_misses", "overflows", "splits")
"""The counts of a record, in the order of its line."""


def line_of(record: Record) -> str:
    """Return a record as `key=value` pairs: always the same keys, no blank in a value, without the queries."""
    pairs = {**fields_of(record), "causes": ",".join(record.causes)}
    return " ".join(f"{key}={value}" for key, value in pairs.items())


def fields_of(record: Record) -> dict[str, object]:
    """Return a record as fields of a log, without the queries."""
    return {
        "tool": record.tool,
        "outcome": record.outcome,
        "causes": list(record.causes),
        "error": record.error,
        **{name: getattr(record, name) for name in _COUNTS},
        **{f"ms_{name}": value for name, value in asdict(record.ms).items()},
        "ms_own": record.ms.own,
    }


def log_query(sent: Sent, *, again: bool) -> None:
    """Log a query for debugging; `again`: it is a retry."""
    if _log.isEnabledFor(logging.DEBUG):
        counts = f"again={int(again)} rows={sent.rows} bytes={sent.bytes} ms={sent.ms} fault={sent.fault}"
        _log.debug("%s", f"template={sent.template} {counts} sparql={json_text(sent.sparql)}")


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


def publish(record: Record) -> None:
    """Log the record of a call, as a line and as fields for a log that is structured, and give it to whoever collects.

    That is the block that collects here, if there is one.
    """
    if _log.isEnabledFor(logging.INFO):
        _log.info("%s", line_of(record), extra={FIELDS: fields_of(record)})
    if (collected := _COLLECTED.get()) is not None:
        collected.records.append(record)


def concerning(graph: str) -> None:
    """Say which graph the request of the block that collects here is about."""
    if (collected := _COLLECTED.get()) is not None:
        collected.graph = graph
