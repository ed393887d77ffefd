"""The log of calls: one line a call, without what was asked.

Seeds and search words belong to the user. They are part of the SPARQL, which is logged for debugging only.
"""

from __future__ import annotations

import logging
from dataclasses import asdict

from gateway.escaping import json_text
from gateway.telemetry.record import Record, Sent

LOGGER = "gateway.calls"
"""The logger of calls: one line a call at INFO, one line a query at DEBUG."""

_log = logging.getLogger(LOGGER)

_COUNTS = ("queries", "retries", "rows", "bytes", "cache_hits", "cache_misses", "overflows", "splits")


def log_record(record: Record) -> None:
    """Log the record of a call."""
    _log.info("%s", line_of(record))


def line_of(record: Record) -> str:
    """Return a record as `key=value` pairs: always the same keys, no blank in a value, without the queries."""
    pairs = {
        "tool": record.tool,
        "outcome": record.outcome,
        "causes": ",".join(record.causes),
        "error": record.error,
        **{name: getattr(record, name) for name in _COUNTS},
        **{f"ms_{name}": value for name, value in asdict(record.ms).items()},
        "ms_own": record.ms.own,
    }
    return " ".join(f"{key}={value}" for key, value in pairs.items())


def log_query(sent: Sent, *, again: bool) -> None:
    """Log a query for debugging.

    Args:
        sent: The query.
        again: Whether it is a retry.
    """
    if _log.isEnabledFor(logging.DEBUG):
        counts = f"again={int(again)} rows={sent.rows} bytes={sent.bytes} ms={sent.ms} fault={sent.fault}"
        _log.debug("%s", f"template={sent.template} {counts} sparql={json_text(sent.sparql)}")
