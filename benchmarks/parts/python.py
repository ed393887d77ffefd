"""What a call without `await` costs beside its work: the way to the event loop of another thread, and back."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from typing import Final

from benchmarks.report import Line, Report
from benchmarks.sites import Sites
from gateway.api import open_gateway
from gateway.python.sync_gateway import SyncGateway

_CALLS: Final = 5_000
_TARGET: Final = 1.0


async def measure(_: Sites, report: Report) -> None:
    """Time coroutines that do nothing, so that no other work hides the way."""
    with open_gateway() as graph:
        milliseconds = statistics.median(_times(graph)) * 1_000
    report.lines.append(Line("3", "a call without `await`, beside its work", "ms", _TARGET, milliseconds))


def _times(graph: SyncGateway) -> Iterator[float]:
    for _ in range(_CALLS):
        began = time.perf_counter()
        graph.run(_nothing())
        yield time.perf_counter() - began


async def _nothing() -> None:
    pass
