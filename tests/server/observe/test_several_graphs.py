"""What is seen of a server of several graphs: which of them was asked, and whether each is ready."""

import json
from pathlib import Path

import pytest
from mcp import Client
from mcp_types import PromptReference
from prometheus_client.parser import text_string_to_metric_families

from gateway.server.graphs.graph_set import CallsByGraph
from gateway.server.graphs.handlers import server_of_all
from gateway.server.observe.observation import Observation
from gateway.server.observe.pages import states
from gateway.settings.serving import ObserveSettings
from tests.server.graphs.conftest import graphs

pytestmark = pytest.mark.anyio


async def test_calls_are_counted_and_audited_by_the_graph_that_they_reached(tmp_path: Path) -> None:
    several, path = graphs("argument"), tmp_path / "audit.jsonl"
    openers = {graph.name: graph.opener for graph in several.all}
    observation = Observation(ObserveSettings(("127.0.0.1", 1), path), openers)
    assert observation.metrics is not None
    server = server_of_all(several, CallsByGraph(several))
    observation.watch(server)
    async with several, Client(server) as client:
        await client.call_tool("describe_entity", {"graph": "pills", "id": "drug:warfarin"})
        await client.call_tool("describe_entity", {"graph": "films", "id": "drug:warfarin"})
        await client.call_tool("describe_entity", {"graph": "gone", "id": "drug:warfarin"})
        await client.call_tool("describe_entity", {"graph": "secrets", "id": "drug:warfarin"})
        for name in ("pills", "films"):
            await openers[name].wait_for_schema(60)
        ready = await states(observation.pages.graphs)
        text = observation.metrics.text().decode()
    observation.close()
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    counted = {
        (sample.labels["graph"], sample.labels["outcome"]): sample.value
        for sample in samples
        if sample.name == "bfsql_calls_total"
    }
    assert counted == {("pills", "complete"): 1, ("films", "failed"): 1, ("gone", "failed"): 1}
    assert "secrets" not in text
    written = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [(line["graph"], line["outcome"]) for line in written] == [
        ("pills", "complete"),
        ("films", "failed"),
        ("gone", "failed"),
        (None, "failed"),
    ]
    assert ready == {"pills": "ready", "films": "ready", "gone": "not_opened"}
    shown = {sample.labels["graph"]: sample.value for sample in samples if sample.name == "bfsql_ready"}
    assert shown == {"pills": 1, "films": 1, "gone": 0}


async def test_a_completion_is_a_request_that_reads_the_graph(tmp_path: Path) -> None:
    several, path = graphs("argument"), tmp_path / "audit.jsonl"
    observation = Observation(ObserveSettings(audit_log=path), {graph.name: graph.opener for graph in several.all})
    server = server_of_all(several, CallsByGraph(several))
    observation.watch(server)
    reference = PromptReference(type="ref/prompt", name="explore")
    async with several, Client(server) as client:
        await client.complete(reference, {"name": "name", "value": "warf"}, context_arguments={"graph": "pills"})
    observation.close()
    (line,) = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert (line["method"], line["tool"], line["outcome"]) == ("completion/complete", None, "complete")
    assert "warf" not in path.read_text(encoding="utf-8")
