"""What is counted of the requests of clients."""

import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from mcp import Client, MCPError
from mcp.client.client import ConnectMode
from prometheus_client.parser import text_string_to_metric_families

from gateway import resources
from gateway.api import open_gateway
from gateway.server.app import build
from gateway.server.observe.metrics import MOST_CLIENTS, Metrics
from gateway.server.observe.watching import WatchedRequest, Watching
from gateway.server.workers.supervisor import drop_gauges
from gateway.tools.gateway import Gateway

pytestmark = pytest.mark.anyio

SEED = "drug:warfarin"


@pytest.fixture
async def gateway() -> AsyncIterator[Gateway]:
    async with open_gateway(resources.folder("fixtures") / "medical.ttl") as opened:
        yield opened


def value(metrics: Metrics, name: str, **labels: str) -> float:
    """Return the sum of the samples of a name that have these labels."""
    families = text_string_to_metric_families(metrics.text().decode())
    samples = [sample for family in families for sample in family.samples if sample.name == name]
    return sum(sample.value for sample in samples if labels.items() <= sample.labels.items())


async def test_calls_are_counted_by_tool_and_outcome_with_what_they_cost(gateway: Gateway, era: ConnectMode) -> None:
    metrics = Metrics()
    server = await build(gateway)
    server.middleware.append(Watching([metrics.observe], under_way=metrics.under_way))
    async with Client(server, mode=era) as client:
        answer = await client.call_tool("bfs_query", {"seeds": [SEED], "max_hops": 2})
        await client.call_tool("bfs_query", {"seeds": [SEED], "max_hops": 0})
        await client.call_tool("no_such_tool", {})
        await client.read_resource("bfs-ql://schema")
        await client.list_tools()
    text = answer.content[0].text  # type: ignore[union-attr]  # it is text
    assert value(metrics, "bfsql_calls_total", tool="bfs_query", outcome="complete") == 1
    assert value(metrics, "bfsql_calls_total", tool="bfs_query", outcome="failed") == 1
    assert value(metrics, "bfsql_calls_total", tool="describe_schema", outcome="complete") == 1
    assert value(metrics, "bfsql_call_errors_total", error="InputError") == 1
    assert value(metrics, "bfsql_call_seconds_count", tool="bfs_query") == 2
    assert value(metrics, "bfsql_endpoint_requests_total") > 0
    assert value(metrics, "bfsql_endpoint_rows_total") > 0
    assert value(metrics, "bfsql_requests_total", method="tools/call", outcome="complete") == 1
    assert value(metrics, "bfsql_requests_total", method="tools/call", outcome="failed") == 2
    assert value(metrics, "bfsql_requests_total", method="resources/read", outcome="complete") == 1
    assert value(metrics, "bfsql_requests_total") == 4
    assert value(metrics, "bfsql_answer_bytes_total") > len(text)
    assert value(metrics, "bfsql_requests_under_way") == 0


async def test_no_text_of_a_caller_or_a_graph_is_in_a_label(gateway: Gateway) -> None:
    metrics = Metrics()
    server = await build(gateway)
    server.middleware.append(Watching([metrics.observe]))
    async with Client(server) as client:
        await client.call_tool("search_entities", {"query": "warfarin"})
        await client.call_tool("warfarin", {"warfarin": SEED})
        await client.call_tool("describe_entity", {"id": "drug:warfarinx"})
        with pytest.raises(MCPError):
            await client.read_resource("bfs-ql://warfarin")
    text = metrics.text().decode()
    assert "warfarin" not in text
    assert set(re.findall(r'tool="([^"]*)"', text)) == {"search_entities", "describe_entity"}


def asked_by(client: str) -> WatchedRequest:
    return WatchedRequest("tools/call", "bfs_query", client, "", "complete", 0.1, 10, (), {})


def test_clients_are_counted_by_name_up_to_a_bound() -> None:
    metrics = Metrics()
    for number in range(MOST_CLIENTS + 7):
        metrics.observe(asked_by(f"client {number}"))
    metrics.observe(asked_by("client 3"))
    metrics.observe(asked_by(""))
    assert value(metrics, "bfsql_client_requests_total", client="client 3") == 2
    assert value(metrics, "bfsql_client_requests_total", client="other") == 7
    assert value(metrics, "bfsql_client_requests_total", client="anonymous") == 1


_ONE_PROCESS = """
from gateway.server.observe.metrics import Metrics
from gateway.server.observe.watching import WatchedRequest

metrics = Metrics()
metrics.show_ready("", lambda: True)()
metrics.show_ready("not asked", lambda: False)
metrics.observe(WatchedRequest("tools/call", "bfs_query", "", "", "complete", 0.1, 10, (), {}))
print(metrics.text().decode())
"""


@pytest.mark.process
def test_processes_of_one_server_show_their_counts_together(tmp_path: Path) -> None:
    environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    shown = ""
    for _ in range(2):
        shown = subprocess.run(  # noqa: S603 - a program of this file
            [sys.executable, "-c", _ONE_PROCESS], env=environment, check=True, capture_output=True, text=True
        ).stdout
    assert 'bfsql_requests_total{method="tools/call",outcome="complete"} 2.0' in shown
    assert 'bfsql_ready{graph=""} 1.0' in shown
    assert "not asked" not in shown


@pytest.mark.process
def test_a_process_that_has_ended_has_nothing_under_way(tmp_path: Path) -> None:
    environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", _ONE_PROCESS], env=environment, stdout=subprocess.DEVNULL) as process:  # noqa: S603 - a program of this file
        process.wait()
    assert list(tmp_path.glob(f"gauge_live*_{process.pid}.db"))
    drop_gauges(tmp_path, process.pid)
    assert not list(tmp_path.glob(f"gauge_live*_{process.pid}.db"))
    assert list(tmp_path.glob(f"counter_{process.pid}.db"))
