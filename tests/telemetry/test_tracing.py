"""Spans, where tracing is set up: from a call of a tool to each request to the endpoint, and none elsewhere."""

import json
import subprocess
import sys

import pytest

_TRACED = """
import asyncio, json

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)

import logging
from mcp import Client
from gateway.cli.streams import logging_to_stderr
from gateway.api import open_gateway
from gateway.server.app import build
from tests.server.observe.endpoint import switched_endpoint


async def main():
    async with switched_endpoint() as switched, open_gateway(endpoint=switched.url) as gateway:
        async with Client(await build(gateway)) as client:
            exporter.clear()
            await client.call_tool("bfs_query", {"seeds": ["https://example.org/x/n0"], "max_hops": 1})
            switched.is_on = False
            await client.call_tool("bfs_query", {"seeds": ["https://example.org/x/n1"], "max_hops": 1})
    spans = exporter.get_finished_spans()
    names = {span.context.span_id: span.name for span in spans}
    print(json.dumps([
        [span.name, names.get(span.parent.span_id, "") if span.parent else "",
         dict(span.attributes), span.status.status_code.name, [event.name for event in span.events]]
        for span in spans
    ]))

with logging_to_stderr() as log:
    log.write_json()
    log.write_held()
    logging.getLogger().setLevel(logging.INFO)
    asyncio.run(main())
"""


@pytest.mark.process
def test_a_tool_call_leads_to_its_requests_without_a_word_of_the_graph() -> None:
    ran = subprocess.run(  # noqa: S603 - a program of this file
        [sys.executable, "-c", _TRACED], check=True, capture_output=True, text=True
    )
    spans = [span for span in json.loads(ran.stdout) if span[0] != "tools/list"]
    calls = [span for span in spans if span[0] == "call bfs_query"]
    requests = [span for span in spans if span[0].startswith("endpoint ")]
    assert [parent for _, parent, *_ in calls] == ["tools/call bfs_query"] * 2
    assert {parent for _, parent, *_ in requests} == {"call bfs_query"}
    assert [call[2].get("bfsql.outcome") for call in calls] == ["complete", None]
    assert [status for *_, status, _ in calls] == ["UNSET", "ERROR"]
    assert any(name == "endpoint edges" and facts["bfsql.rows"] > 0 for name, _, facts, *_ in requests)
    failed = [facts["error.type"] for *_, facts, status, _ in requests if status == "ERROR"]
    assert failed
    assert set(failed) == {"ServerFailed"}
    own = [span for span in spans if span[0].startswith(("call ", "endpoint "))]
    assert "example.org" not in json.dumps(own)
    assert not any(events for *_, events in own)
    ended = [json.loads(line) for line in ran.stderr.splitlines()]
    calls_logged = [line for line in ended if line["logger"] == "gateway.calls" and line["tool"] == "bfs_query"]
    assert [line["outcome"] for line in calls_logged] == ["complete", "failed"]
    assert all(len(line["trace_id"]) == 32 for line in calls_logged)
