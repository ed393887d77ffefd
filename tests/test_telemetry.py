"""What a tally makes of the moments of a call, and spans where tracing is set up."""

import json
import logging
import subprocess
import sys

import pytest

from gateway.errors import NetworkFault
from gateway.telemetry.record import LOGGER, Record, line_of
from gateway.telemetry.tally import QueryTimer, Tally
from tests.clocks import Clock


class Turned(Clock):
    """A clock that a test turns."""

    def turn(self, ms: float) -> None:
        """Let so many milliseconds pass."""
        self.now += ms / 1000

    def break_after(self, ms: float) -> None:
        """Let so many milliseconds pass, and fail."""
        self.turn(ms)
        raise NetworkFault("Away.")


@pytest.fixture
def clock() -> Turned:
    return Turned()


@pytest.fixture
def tally(clock: Turned) -> Tally:
    return Tally("bfs_query", clock)


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO, LOGGER)
    return caplog


def pairs(line: str) -> dict[str, str]:
    """Take a line of the log apart as any reader of `key=value` would."""
    return dict(pair.split("=", 1) for pair in line.split(" "))


def ask(tally: Tally, clock: Turned, ms: float) -> None:
    """Send a query that takes so long, and is read in half a millisecond."""
    with tally.query_timer("edges", "SELECT ?s {}") as timer, timer.sending():
        clock.turn(ms)
        timer.received(100)
        clock.turn(0.5)
        timer.decoded(3)


def come_broken(timer: QueryTimer, clock: Turned) -> None:
    """Let bytes come that turn out to be no answer."""
    clock.turn(3)
    timer.received(50)
    clock.break_after(1)


def test_each_moment_belongs_to_the_stage_begun_last(tally: Tally, clock: Turned) -> None:
    with tally.stage("presentation"):
        clock.turn(1)
        with tally.stage("expansion"):
            clock.turn(2)
            with tally.stage("facts"):
                clock.turn(4)
            clock.turn(8)
        clock.turn(16)
    ms = tally.answered(complete=True).ms
    assert (ms.presentation, ms.expansion, ms.facts) == (17, 10, 4)
    assert (ms.schema, ms.search, ms.metadata) == (0, 0, 0)
    assert ms.total == 31


def test_of_two_stages_at_once_either_may_end_first(tally: Tally, clock: Turned) -> None:
    expansion, facts = tally.stage("expansion"), tally.stage("facts")
    with expansion:
        clock.turn(1)
        facts.__enter__()
        clock.turn(2)
    clock.turn(4)
    facts.__exit__(None, None, None)
    ms = tally.answered(complete=True).ms
    assert (ms.expansion, ms.facts) == (1, 6)


def test_a_stage_that_ends_in_an_error_is_over(tally: Tally, clock: Turned) -> None:
    with pytest.raises(NetworkFault), tally.stage("search"):
        clock.break_after(3)
    clock.turn(5)
    assert tally.failed(NetworkFault("Away.")).ms.search == 3


def test_reading_an_answer_is_own_time_and_the_way_to_it_is_not(tally: Tally, clock: Turned) -> None:
    clock.turn(1)
    ask(tally, clock, 20)
    ms = tally.answered(complete=True).ms
    assert (ms.total, ms.waiting, ms.own) == (21.5, 20, 1.5)


def test_waits_that_overlap_are_counted_once(tally: Tally, clock: Turned) -> None:
    with tally.query_timer("edges", "a") as one, tally.query_timer("facts", "b") as other:
        clock.turn(10)
        with one.sending(), other.sending():
            clock.turn(5)
            one.received(1)
            clock.turn(5)
            other.received(1)
            clock.turn(3)
    ms = tally.answered(complete=True).ms
    assert (ms.waiting, ms.own) == (20, 3)


def test_the_pause_before_a_query_is_sent_again_is_waiting(tally: Tally, clock: Turned) -> None:
    tally.with_queries = True
    with tally.query_timer("edges", "a") as timer:
        with pytest.raises(NetworkFault), timer.sending():
            clock.break_after(2)
        clock.turn(100)
        with pytest.raises(NetworkFault), timer.sending():
            come_broken(timer, clock)
        clock.turn(200)
        with timer.sending():
            clock.turn(4)
            timer.received(70)
            timer.decoded(7)
    record = tally.answered(complete=True)
    assert (record.queries, record.retries, record.rows, record.bytes) == (3, 2, 7, 120)
    assert (record.ms.waiting, record.ms.own) == (309, 1)
    assert [(sent.ms, sent.fault) for sent in record.sent] == [(2, "NetworkFault"), (3, "NetworkFault"), (4, "")]


def test_a_query_that_was_never_sent_is_none(tally: Tally, clock: Turned) -> None:
    with pytest.raises(NetworkFault), tally.query_timer("edges", "a"):
        clock.break_after(9)
    record = tally.failed(NetworkFault("The endpoint rests."))
    assert (record.queries, record.ms.waiting) == (0, 9)


def test_a_record_does_not_change_when_a_query_comes_late(tally: Tally, clock: Turned) -> None:
    tally.with_queries = True
    with tally.query_timer("edges", "a") as timer, timer.sending():
        clock.turn(5)
        record = tally.failed(TimeoutError())
        before = line_of(record)
        timer.received(1_000)
        timer.decoded(10)
    assert line_of(record) == before
    assert (record.ms.waiting, record.bytes, record.sent[0].rows) == (5, 0, 0)


def test_without_being_asked_a_record_has_no_queries(tally: Tally, clock: Turned) -> None:
    ask(tally, clock, 1)
    record = tally.answered(complete=True)
    assert record.queries == 1
    assert record.sent == ()


def records_of_every_kind(clock: Turned) -> list[Record]:
    whole, cut, broken = (Tally("bfs_query", clock) for _ in range(3))
    ask(whole, clock, 12.34)
    return [
        whole.answered(complete=True),
        cut.answered(complete=False, causes=["deadline", "edges_capped"]),
        broken.failed(NetworkFault("No answer from the endpoint.")),
    ]


def test_a_call_is_one_line_of_the_log_with_always_the_same_keys(log: pytest.LogCaptureFixture, clock: Turned) -> None:
    records = records_of_every_kind(clock)
    assert [entry.getMessage() for entry in log.records] == [line_of(record) for record in records]
    assert {entry.levelname for entry in log.records} == {"INFO"}
    whole, cut, broken = (pairs(line_of(record)) for record in records)
    assert list(whole) == list(cut) == list(broken)
    assert (whole["tool"], whole["outcome"], whole["queries"], whole["rows"]) == ("bfs_query", "complete", "1", "3")
    assert (float(whole["ms_total"]), float(whole["ms_waiting"]), float(whole["ms_own"])) == (12.8, 12.3, 0.5)
    assert (cut["outcome"], cut["causes"], cut["error"]) == ("incomplete", "deadline,edges_capped", "")
    assert (broken["outcome"], broken["causes"], broken["error"]) == ("failed", "", "NetworkFault")


def test_the_text_of_a_query_is_logged_for_debugging_only(
    log: pytest.LogCaptureFixture, tally: Tally, clock: Turned
) -> None:
    text = 'SELECT ?s WHERE {\n  ?s ?p "é\\"=" \n}'
    with tally.query_timer("edges", text) as timer, timer.sending():
        clock.turn(1)
    assert log.records == []
    log.set_level(logging.DEBUG, LOGGER)
    with tally.query_timer("edges", text) as timer, timer.sending():
        timer.received(9)
    (entry,) = log.records
    assert entry.levelname == "DEBUG"
    line, _, logged = entry.getMessage().partition(" sparql=")
    assert json.loads(logged) == text
    assert pairs(line)["template"] == "edges"


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
from tests.clocks import Clock
from tests.server.test_metrics import switched_endpoint


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
