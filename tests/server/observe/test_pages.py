"""What an operator and an orchestrator read of a server, and what they do not."""

import json
from collections.abc import Mapping

import pytest
from starlette.types import ASGIApp, Message, Receive, Send

from gateway import resources
from gateway.api import load_profile, open_gateway
from gateway.server.gateway_opener import GatewayOpener, ignore_progress
from gateway.server.observe.metrics import Metrics
from gateway.server.observe.pages import Pages, Readiness
from tests.server.observe.endpoint import Clock, switched_endpoint

pytestmark = pytest.mark.anyio


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
