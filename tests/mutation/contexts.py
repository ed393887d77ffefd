"""A pytest plugin, alone in a folder on the path of a checkout that need not have it: which test ran which line.

Coverage's own contexts end where a test's coroutine is suspended, so what other tasks run for it is nobody's.
"""

import json
import os
import time
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import Any

import coverage
import pytest

_SECONDS: dict[str, float] = defaultdict(float)
_FAILED: set[str] = set()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Run a test in a context of its own; its parameters share one."""
    test = item.nodeid.partition("[")[0]
    measuring = coverage.Coverage.current()
    if measuring is not None:
        measuring.switch_context(test)
    began = time.perf_counter()
    try:
        return (yield)
    finally:
        _SECONDS[test] += time.perf_counter() - began
        if measuring is not None:
            measuring.switch_context("")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note a test that fails."""
    if report.failed:
        _FAILED.add(report.nodeid.partition("[")[0])


def pytest_sessionfinish() -> None:
    """Write how long each test took, and which failed."""
    text = json.dumps({"seconds": _SECONDS, "failed": sorted(_FAILED)})
    Path(os.environ["MUTATION_TESTS"]).write_text(text, encoding="utf-8")
