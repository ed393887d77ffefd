"""Drawn questions about values, asked of a store: none is answered wrongly; `make values` asks 400 on each."""

import asyncio
from pathlib import Path

import pytest

from tests.servers.unavailable import ServerUnavailable, skip_or_fail
from tests.values.asking import ask_all
from tests.values.faulty import ask_through_faults
from tests.values.graphs import KINDS, drawn
from tests.values.run import Report
from tests.values.stores import STORES, StoreName, store_with

GRAPHS = [drawn(number) for number in range(len(KINDS))]
HERE = 10
"""Questions about each graph in process."""

AT_A_SERVER = 20
AT_SERVERS = [pytest.param(name, marks=pytest.mark.server) for name in STORES if name not in {"files", "in-process"}]


@pytest.mark.slow
@pytest.mark.anyio
async def test_no_answer_in_process_is_wrong(tmp_path: Path) -> None:
    report = Report("files")
    with store_with("files", tmp_path, GRAPHS) as store:
        await ask_all(store, GRAPHS, 43, HERE, report)
    assert report.is_good, report.findings


@pytest.mark.parametrize("name", AT_SERVERS)
def test_no_answer_over_a_server_is_wrong(name: StoreName, tmp_path: Path) -> None:
    # Values, and blank nodes and lists with everything else.
    graphs, report = [drawn(number) for number in (4, 5)], Report(name)
    try:
        with store_with(name, tmp_path, graphs) as store:
            asyncio.run(ask_all(store, graphs, 43, AT_A_SERVER // len(graphs), report))
    except ServerUnavailable as error:
        skip_or_fail(error)
    assert report.is_good, report.findings


@pytest.mark.server
def test_no_answer_through_the_fault_proxy_is_wrong(tmp_path: Path) -> None:
    try:
        with store_with("oxigraph", tmp_path, GRAPHS) as store:
            report = asyncio.run(ask_through_faults(store, GRAPHS, 43, HERE))
    except ServerUnavailable as error:
        skip_or_fail(error)
    assert report.injected
    assert report.is_good, report.findings
