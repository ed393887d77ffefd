"""What an operator sees: what is counted of the requests of clients, and the pages and the port that show it."""

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pyoxigraph
import pytest
from aiohttp import ClientSession, web
from mcp import Client, MCPError
from mcp.client.client import ConnectMode
from mcp_types import PromptReference
from prometheus_client.parser import text_string_to_metric_families
from starlette.types import ASGIApp, Message, Receive, Send

from gateway import resources
from gateway.api import load_profile, open_gateway
from gateway.errors import ConfigurationError
from gateway.server.app import build
from gateway.server.gateway_opener import GatewayOpener, ignore_progress
from gateway.server.graph_handlers import server_of_all
from gateway.server.graph_set import CallsByGraph
from gateway.server.observe.metrics import MOST_CLIENTS, Metrics
from gateway.server.observe.observation import Observation, Pages
from gateway.server.observe.port import operators_port
from gateway.server.observe.readiness import Readiness, states
from gateway.server.observe.watching import WatchedRequest, Watching
from gateway.server.workers import drop_gauges
from gateway.settings.serving import ObserveSettings
from gateway.tools.gateway import Gateway
from tests.clocks import Clock
from tests.faults.small_server import TRIPLES
from tests.server.graphs.conftest import graphs
from tests.servers.loopback import HOST, free_port
from tests.transport.fake_endpoint import JSON, fake_endpoint

pytestmark = pytest.mark.anyio


@dataclass
class Switched:
    """The endpoint: `is_on` whether it answers, `asked` the harmless queries so far, `others` the others."""

    url: str = ""
    is_on: bool = True
    asked: int = 0
    others: int = 0
    retry_after: str = ""
    is_slow: bool = False
    """Whether every query but the harmless ones is never answered."""
    unanswered: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    """Those queries."""


@asynccontextmanager
async def switched_endpoint(*, is_on: bool = True) -> AsyncIterator[Switched]:
    """Serve a small graph."""
    store = pyoxigraph.Store()
    store.load("\n".join(TRIPLES).encode(), pyoxigraph.RdfFormat.N_TRIPLES)
    switched = Switched(is_on=is_on)

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        query = str((await request.post()).get("query", ""))
        if "?alive" in query:
            switched.asked += 1
        else:
            switched.others += 1
        if not switched.is_on:
            headers = {"Retry-After": switched.retry_after} if switched.retry_after else {}
            return web.Response(
                status=503 if headers else 500, text="the words of a fault: <https://example.org/x/n1>", headers=headers
            )
        if switched.is_slow and "?alive" not in query:
            switched.unanswered.put_nowait(query)
            await asyncio.Event().wait()
        if not query:
            return web.Response(status=400)
        found = cast("pyoxigraph.QuerySolutions", store.query(query))
        body = found.serialize(format=pyoxigraph.QueryResultsFormat.JSON)
        return web.Response(body=body, headers={"Content-Type": JSON})

    async with fake_endpoint(handle) as endpoint:
        switched.url = endpoint.url
        yield switched


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


def test_without_the_package_for_metrics_a_server_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gateway.server.observe.metrics", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'bfsql-gateway\[metrics\]'"):
        Observation(ObserveSettings(metrics=("127.0.0.1", 9464)), {})


@pytest.mark.process
def test_without_the_package_for_metrics_all_else_works() -> None:
    program = (
        "import sys; sys.modules['prometheus_client'] = None\n"
        "from gateway.server import run\n"
        "from gateway.server.observe.observation import Observation\n"
        "from gateway.settings.serving import NOTHING\n"
        "assert Observation(NOTHING, {}).metrics is None\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)  # noqa: S603 - a program of this file


@pytest.mark.anyio
async def test_a_request_that_its_client_gives_up_is_cancelled_and_not_under_way_any_more(era: ConnectMode) -> None:
    seen: list[WatchedRequest] = []
    began, ended = asyncio.Event(), asyncio.Event()

    async def hang(ctx: Any, call_next: Any) -> Any:
        if ctx.method == "tools/call":
            began.set()
            await asyncio.Event().wait()
        return await call_next(ctx)

    def note(request: WatchedRequest) -> None:
        seen.append(request)
        ended.set()

    async with open_gateway(resources.folder("fixtures") / "films.ttl") as gateway:
        server = await build(gateway)
        server.middleware += [Watching([note]), hang]
        async with Client(server, mode=era) as client:
            call = asyncio.create_task(client.call_tool("describe_schema", {}))
            await began.wait()
            call.cancel()
            await ended.wait()
    assert [(request.tool, request.outcome, request.records) for request in seen] == [
        ("describe_schema", "cancelled", ())
    ]


async def got(app: ASGIApp, path: str, *, host: str = "127.0.0.1:9464", method: str = "GET") -> tuple[int, str]:
    """Return the status and the text of one request."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    await app({"type": "http", "method": method, "path": path, "headers": [(b"host", host.encode())]}, receive, send)
    return sent[0]["status"], b"".join(message["body"] for message in sent[1:]).decode()


async def teapot(_scope: Message, _receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 418, "headers": []})
    await send({"type": "http.response.body", "body": b"tea"})


def films() -> GatewayOpener:
    return GatewayOpener.over(open_gateway(resources.folder("fixtures") / "films.ttl"))


async def test_probes_are_answered_beside_the_endpoint_of_clients_and_the_rest_is_passed_on() -> None:
    metrics = Metrics()
    async with films() as opener:
        app = Pages({"": Readiness(opener)}, metrics).beside(teapot)
        early = await got(app, "/readyz")
        gateway = await opener.gateway(ignore_progress)
        await gateway.wait_for_schema()
        seen = [await got(app, path) for path in ("/healthz", "/readyz", "/metrics", "/mcp")]
    assert early == (503, "not ready\n")
    assert seen == [(200, "ok\n"), (200, "ready\n"), (418, "tea"), (418, "tea")]
    assert 'bfsql_http_responses_total{status="418"} 2.0' in metrics.text().decode()


async def test_a_server_is_alive_while_its_endpoint_is_not_and_no_page_repeats_its_words() -> None:
    clock = Clock()
    async with switched_endpoint(is_on=False) as switched:
        opener = GatewayOpener.over(open_gateway(endpoint=switched.url, profile=load_profile("local"), clock=clock))
        async with opener:
            gateway = await opener.gateway(ignore_progress)
            await gateway.wait_for_schema()
            clock.now += 60
            metrics = Metrics()
            pages = Pages({"wards": Readiness(opener, clock)}, metrics)
            beside = [await got(pages.beside(teapot), path) for path in ("/healthz", "/readyz")]
            alone = [await got(pages.alone("127.0.0.1", metrics), path) for path in ("/healthz", "/readyz", "/metrics")]
    assert [status for status, _ in (*beside, *alone)] == [200, 503, 200, 503, 200]
    report = json.loads(alone[1][1])
    assert (report["ready"], report["graphs"]["wards"]["state"]) == (False, "unreachable")
    text = "".join(text for _, text in (*beside, *alone))
    assert "example.org" not in text
    assert switched.url.split("/")[2] not in text
    assert "wards" not in "".join(text for _, text in beside)


async def test_one_graph_that_is_away_does_not_take_the_others_with_it() -> None:
    async with films() as opener, films() as away:
        gateway = await opener.gateway(ignore_progress)
        await gateway.wait_for_schema()
        metrics = Metrics()
        app = Pages({"films": Readiness(opener), "away": Readiness(away)}, metrics).alone("127.0.0.1", metrics)
        status, text = await got(app, "/readyz")
    states: Mapping[str, Mapping[str, str]] = json.loads(text)["graphs"]
    assert (status, {name: graph["state"] for name, graph in states.items()}) == (
        200,
        {"films": "ready", "away": "opening"},
    )


@pytest.mark.parametrize(
    ("listens", "host", "status"),
    [
        ("127.0.0.1", "127.0.0.1:9464", 200),
        ("127.0.0.1", "localhost", 200),
        ("127.0.0.1", "[::1]:9464", 200),
        ("127.0.0.1", "evil.example:9464", 421),
        ("127.0.0.1", "127.0.0.1.evil.example", 421),
        ("192.0.2.1", "gateway.example", 200),
    ],
)
async def test_a_web_page_does_not_reach_the_counts_by_a_name_of_its_own(listens: str, host: str, status: int) -> None:
    metrics = Metrics()
    assert (await got(Pages({}, metrics).alone(listens, metrics), "/metrics", host=host))[0] == status


async def test_the_port_of_operators_has_three_pages_which_only_can_be_read() -> None:
    metrics = Metrics()
    app = Pages({}, metrics).alone("127.0.0.1", metrics)
    assert (await got(app, "/mcp"))[0] == 404
    assert (await got(app, "/healthz", method="POST"))[0] == 405
    assert await got(app, "/healthz", method="HEAD") == (200, "")


async def test_counts_are_read_at_a_port_that_ends_with_its_block() -> None:
    metrics, port = Metrics(), free_port()
    async with ClientSession() as session:
        async with operators_port(Pages({}).alone(HOST, metrics), HOST, port):
            async with session.get(f"http://{HOST}:{port}/metrics") as response:
                text = await response.text()
            assert response.status == 200
            assert response.headers["Content-Type"] == metrics.content_type
            assert response.headers["Cache-Control"] == "no-store"
            assert "bfsql_event_loop_lag_seconds_count" in text
            assert "python_gc_collections_total" in text
        with pytest.raises(OSError, match="Cannot connect"):
            await session.get(f"http://{HOST}:{port}/healthz")


async def test_a_port_that_is_taken_is_an_error_unless_processes_of_one_server_share_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app, port = Pages({}).alone(HOST, Metrics()), free_port()
    async with operators_port(app, HOST, port):
        with pytest.raises(ConfigurationError, match="Choose another one with --metrics-port"):
            async with operators_port(app, HOST, port):
                pytest.fail("two servers listen at one port")
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", "/nowhere")
    async with operators_port(app, HOST, port), operators_port(app, HOST, port):
        pass


async def test_an_address_that_is_not_of_this_machine_is_an_error() -> None:
    host = "192.0.2.1"
    with pytest.raises(ConfigurationError, match="cannot be used"):
        async with operators_port(Pages({}).alone(host, Metrics()), host, free_port()):
            pytest.fail("it listens somewhere")


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
