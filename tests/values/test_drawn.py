"""Drawn questions about values, asked of a store: none is answered wrongly; `make values` asks 400 on each."""

import asyncio
from pathlib import Path

import pytest

from tests.servers.unavailable import ServerUnavailable, skip_or_fail
from tests.values.asking import ask_all
from tests.values.faulty import ask_through_faults
from tests.values.graphs import KINDS, PREFIXES, drawn
from tests.values.judge import Verdict
from tests.values.questions import Question
from tests.values.run import Report, ask
from tests.values.stores import STORES, Store, StoreName, store_with
from tests.values.walks import Graph

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
@pytest.mark.parametrize(
    "asked",
    [
        # Its value is a member of a list of a text and a number.
        {"node_types": ["ex:Product"], "where": ["ex:tag = 3"]},
        # What blank nodes without a type stand under is no node.
        {"node_types": ["untyped"], "values": ["name"]},
    ],
)
def test_lists_and_blank_nodes_of_tables_are_those_of_the_graph(asked: Question, tmp_path: Path) -> None:
    graph, report = drawn(10), Report("postgres")

    async def ask_it(store: Store) -> None:
        held = Graph(store.held(graph), PREFIXES, blank_nodes=store.blank_nodes)
        async with store.open(graph) as gateway:
            await ask(gateway, graph.kind, held, [{"tool": "search_entities", **asked}], report)

    try:
        with store_with("postgres", tmp_path, [graph]) as store:
            asyncio.run(ask_it(store))
    except ServerUnavailable as error:
        skip_or_fail(error)
    assert report.verdicts == {Verdict.RIGHT_COMPLETE: 1}, report.findings


@pytest.mark.server
def test_no_answer_through_the_fault_proxy_is_wrong(tmp_path: Path) -> None:
    try:
        with store_with("oxigraph", tmp_path, GRAPHS) as store:
            report = asyncio.run(ask_through_faults(store, GRAPHS, 43, HERE))
    except ServerUnavailable as error:
        skip_or_fail(error)
    assert report.injected
    assert report.is_good, report.findings
