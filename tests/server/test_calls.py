"""The calls under way: how many at once, how they end, who leaves them, and what a model reads of bad endpoints."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from mcp import Client
from mcp_types import TextContent

from gateway.api import open_gateway
from gateway.errors import DeadlinePassed, GatewayError
from gateway.server.app import build
from gateway.server.calls import SHARE, Calls, Share
from gateway.server.client import Disconnect, Origin
from gateway.settings.endpoint import AccessSettings, EndpointSettings, RequestSettings
from gateway.settings.limits import LimitSettings
from gateway.settings.profile import Profile, ServerSettings
from tests.hostile import ABSENT, EXAMPLE, HIDDEN, IN_IRIS, IN_LITERALS, NAME, A, B, hidden_in, write_hidden_graph
from tests.server.test_stopping import INITIALIZE, READY, SECONDS, Listening, Served, listening, request, served
from tests.servers.loopback import free_port
from tests.transport.fake_endpoint import Handler, answering, fake_endpoint, of_empty_graph, sending

pytestmark = pytest.mark.anyio


class Gate:
    """A call that ends when it is let through."""

    def __init__(self) -> None:
        self.running = 0
        self.most = 0
        self.opened = asyncio.Event()

    async def __call__(self) -> str:
        """Run until the gate is opened."""
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await self.opened.wait()
        finally:
            self.running -= 1
        return "answer"


async def settled() -> None:
    """Let every task go as far as it can."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_some_calls_run_some_wait_and_the_rest_are_refused() -> None:
    calls, gate = Calls(60, running=2, waiting=3), Gate()
    tasks = [asyncio.create_task(calls.run(gate)) for _ in range(8)]
    await settled()
    assert gate.running == 2
    refused = [task for task in tasks if task.done()]
    assert len(refused) == 3
    for task in refused:
        assert "2 calls are running and 3 are waiting. Call again" in str(task.exception())
    gate.opened.set()
    answered = await asyncio.gather(*(task for task in tasks if task not in refused))
    assert answered == ["answer"] * 5
    assert gate.most == 2
    assert await calls.run(gate) == "answer"


async def test_a_call_waits_no_longer_than_it_may_take() -> None:
    calls, gate = Calls(0, running=1), Gate()
    first = asyncio.create_task(calls.run(gate))
    await settled()
    with pytest.raises(DeadlinePassed, match="Call again"):
        await calls.run(gate)
    gate.opened.set()
    assert await first == "answer"


async def test_a_call_that_is_cancelled_ends_and_gives_its_place_back() -> None:
    calls, gate = Calls(60, running=1, waiting=0), Gate()
    task = asyncio.create_task(calls.run(gate))
    await settled()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert gate.running == 0
    gate.opened.set()
    assert await calls.run(gate) == "answer"


async def test_a_stop_lets_calls_end_and_refuses_new_ones() -> None:
    calls, gate = Calls(60), Gate()
    task = asyncio.create_task(calls.run(gate))
    await settled()
    stopping = asyncio.create_task(calls.stop(60))
    await settled()
    with pytest.raises(GatewayError, match="The server is stopping"):
        await calls.run(gate)
    gate.opened.set()
    await stopping
    assert await task == "answer"


async def test_a_stop_ends_calls_that_take_too_long_with_an_error() -> None:
    calls, gate = Calls(60, running=1), Gate()
    tasks = [asyncio.create_task(calls.run(gate)) for _ in range(3)]
    await settled()
    await calls.stop(0)
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    assert gate.running == 0
    for error in ended:
        assert isinstance(error, GatewayError)
        assert "The server is stopping" in str(error)


async def test_an_error_of_a_call_is_its_own() -> None:
    async def fail() -> None:
        raise GatewayError("wrong")

    with pytest.raises(GatewayError, match="wrong"):
        await Calls(60).run(fail)


async def test_a_client_above_its_share_waits_and_leaves_slots_to_others() -> None:
    calls, heavy, light = Calls(60, running=3, share=Share(2, 10)), Gate(), Gate()
    tasks = [asyncio.create_task(calls.run(heavy, Origin("heavy"))) for _ in range(5)]
    await settled()
    assert heavy.running == 2
    answer = asyncio.create_task(calls.run(light, Origin("light")))
    await settled()
    assert light.running == 1
    light.opened.set()
    assert await answer == "answer"
    assert heavy.running == 2
    heavy.opened.set()
    assert await asyncio.gather(*tasks) == ["answer"] * 5
    assert heavy.most == 2


async def test_clients_that_wait_get_slots_in_turn() -> None:
    calls, order = Calls(60, running=1), list[str]()

    def work(client: str) -> asyncio.Task[str]:
        async def run() -> str:
            order.append(client)
            await asyncio.sleep(0)
            return client

        return asyncio.create_task(calls.run(run, Origin(client)))

    tasks = [work("first") for _ in range(4)]
    await settled()
    order.clear()
    gate = Gate()
    blocking = asyncio.create_task(calls.run(gate, Origin("gate")))
    await settled()
    tasks += [work("first") for _ in range(4)] + [work("second") for _ in range(2)]
    await settled()
    gate.opened.set()
    await asyncio.gather(blocking, *tasks)
    assert order == ["first", "second", "first", "second", "first", "first"]


async def test_a_client_is_refused_above_its_share_and_told_what_to_do() -> None:
    calls, gate = Calls(60, running=2, waiting=8, share=Share(1, 3)), Gate()
    tasks = [asyncio.create_task(calls.run(gate, Origin("heavy"))) for _ in range(3)]
    await settled()
    with pytest.raises(GatewayError, match=r"3 calls under way, and may have no more. Wait for their answers"):
        await calls.run(gate, Origin("heavy"))
    tasks.append(asyncio.create_task(calls.run(gate, Origin("light"))))
    await settled()
    gate.opened.set()
    assert await asyncio.gather(*tasks) == ["answer"] * 4
    assert await calls.run(gate, Origin("heavy")) == "answer"


async def test_a_client_without_a_call_under_way_is_not_refused_because_of_others() -> None:
    calls, gate = Calls(60, running=2, waiting=2, share=Share(2, 2)), Gate()
    tasks = [asyncio.create_task(calls.run(gate, Origin(client))) for client in (1, 1, 2, 2, 3, 4)]
    await settled()
    assert not any(task.done() for task in tasks)
    with pytest.raises(GatewayError, match="The server is busy"):
        await calls.run(gate, Origin(3))
    gate.opened.set()
    assert await asyncio.gather(*tasks) == ["answer"] * 6


def test_one_client_may_have_half_of_what_there_is() -> None:
    assert Share(8, 64) == SHARE


async def test_a_call_ends_when_its_connection_is_closed_and_gives_its_place_back() -> None:
    calls, gate = Calls(60, running=1), Gate()
    running, waiting = Disconnect({}), Disconnect({})
    tasks = [asyncio.create_task(calls.run(gate, Origin("one", each))) for each in (running, waiting)]
    await settled()
    waiting.happened()
    running.happened()
    await settled()
    assert gate.running == 0
    for task in tasks:
        assert "The client closed the connection" in str(task.exception())
    with pytest.raises(GatewayError, match="closed the connection"):
        await calls.run(gate, Origin("one", running))
    gate.opened.set()
    assert await calls.run(gate) == "answer"
    running.happened()


SEEDS = [f"http://example.org/a{number}" for number in range(40)]
CALL = {"name": "bfs_query", "arguments": {"seeds": SEEDS, "max_hops": 2}}

MODERN = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}

AT_ONCE = 4
"""Requests to the endpoint at once, of several batches of one call."""

PROFILE = f"""\
[prefixes]
x = "http://example.org/"

[endpoint.requests]
concurrency = {AT_ONCE}

[limits]
batch = 4
deadline_seconds = {10 * SECONDS}
"""


class Endpoint:
    """An endpoint of an empty graph that answers the questions of the schema, and none of a call."""

    def __init__(self) -> None:
        self.open = 0
        self.asked = 0
        self.is_full = asyncio.Event()
        self.is_empty = asyncio.Event()

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request, or wait until the client is gone."""
        query = str((await request.post()).get("query", ""))
        if "<http://example.org/a" not in query:
            return of_empty_graph(query)
        self.asked += 1
        self.open += 1
        if self.open == AT_ONCE:
            self.is_full.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.open -= 1
            if not self.open:
                self.is_empty.set()
        raise AssertionError("unreachable")


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    """Return a profile with small batches, so that a call has more than may be under way, and all the time it wants."""
    path = tmp_path / "small.toml"
    path.write_text(PROFILE, encoding="utf-8")
    return path


async def session_of(server: Listening) -> tuple[str, ...]:
    """Begin a session of the handshake era; return the headers of its requests."""
    reader, writer = await server.send(json.dumps(INITIALIZE).encode())
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    writer.close()
    session = re.search(r"mcp-session-id: (\S+)", head)
    assert session is not None
    headers = (f"Mcp-Session-Id: {session[1]}", "MCP-Protocol-Version: 2025-11-25")
    _, ready = await server.send(json.dumps(READY).encode(), headers=headers)
    ready.close()
    return headers


async def disconnect(server: Listening, leave: Callable[[], Awaitable[None]]) -> None:
    """Call in the handshake era, and close the connection of the call."""
    _, writer = await server.send(json.dumps(request(1, "tools/call", CALL)).encode(), headers=await session_of(server))
    await leave()
    writer.close()


async def disconnect_modern(server: Listening, leave: Callable[[], Awaitable[None]]) -> None:
    """Call in the era without sessions, and close the connection of the call."""
    headers = (f"MCP-Protocol-Version: {MODERN}", "Mcp-Method: tools/call", "Mcp-Name: bfs_query")
    body = request(1, "tools/call", {**CALL, "_meta": META})
    _, writer = await server.send(json.dumps(body).encode(), headers=headers)
    await leave()
    writer.close()


async def delete_session(server: Listening, leave: Callable[[], Awaitable[None]]) -> None:
    """Call in the handshake era, and end the session while the connection of the call stays open."""
    headers = await session_of(server)
    _, writer = await server.send(json.dumps(request(1, "tools/call", CALL)).encode(), headers=headers)
    await leave()
    reader, deleting = await asyncio.open_connection("127.0.0.1", server.port)
    lines = ["DELETE /mcp HTTP/1.1", f"Host: 127.0.0.1:{server.port}", *headers, "", ""]
    deleting.write("\r\n".join(lines).encode())
    assert b" 200 " in await reader.readline()
    deleting.close()
    with suppress(ConnectionError):
        writer.close()


async def cancel(server: Listening, leave: Callable[[], Awaitable[None]]) -> None:
    """Call in the handshake era, and cancel the call."""
    headers = await session_of(server)
    _, writer = await server.send(json.dumps(request(1, "tools/call", CALL)).encode(), headers=headers)
    await leave()
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    _, cancelling = await server.send(json.dumps(cancelled).encode(), headers=headers)
    cancelling.close()
    with suppress(ConnectionError):
        writer.close()


@pytest.mark.server
@pytest.mark.parametrize("leaving", [disconnect, disconnect_modern, delete_session, cancel])
async def test_a_client_over_http_that_leaves_ends_all_requests_of_its_call_and_none_follows(
    leaving: Callable[[Listening, Callable[[], Awaitable[None]]], Awaitable[None]], profile: Path
) -> None:
    endpoint = Endpoint()

    async def under_way() -> None:
        await endpoint.is_full.wait()

    async with (
        asyncio.timeout(SECONDS),
        fake_endpoint(endpoint) as running,
        listening("-e", running.url, "--profile", str(profile)) as server,
    ):
        await leaving(server, under_way)
        await endpoint.is_empty.wait()
        # A call that is answered later than the end of the first shows that none of its batches followed.
        reader, writer = await server.send(
            json.dumps(request(2, "tools/call", {"name": "describe_schema", "arguments": {}})).encode(),
            headers=await session_of(server),
        )
        assert b'"id":2' in await reader.readuntil(b'"id":2')
        writer.close()
    assert endpoint.asked == AT_ONCE


@asynccontextmanager
async def called_over_stdio(profile: Path, endpoint: Endpoint) -> AsyncIterator[Served]:
    """Call over stdio, and wait until as many requests are under way as may be."""
    async with (
        asyncio.timeout(SECONDS),
        fake_endpoint(endpoint) as running,
        served("-e", running.url, "--profile", str(profile)) as server,
    ):
        await server.shake_hands()
        await server.send(request(1, "tools/call", CALL))
        await endpoint.is_full.wait()
        yield server


@pytest.mark.server
async def test_a_client_over_stdio_that_closes_its_end_ends_all_requests_of_its_call(profile: Path) -> None:
    endpoint = Endpoint()
    async with called_over_stdio(profile, endpoint) as server:
        server.stdin.close()
        await endpoint.is_empty.wait()
        assert await server.end() == (0, "")
    assert endpoint.asked == AT_ONCE


@pytest.mark.server
async def test_a_client_over_stdio_that_cancels_ends_all_requests_of_its_call(profile: Path) -> None:
    endpoint = Endpoint()
    async with called_over_stdio(profile, endpoint) as server:
        await server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        await endpoint.is_empty.wait()
        await server.send(request(2, "tools/call", {"name": "describe_schema", "arguments": {}}))
        answer = await server.answer()
        while answer is not None and answer["id"] != 2:
            answer = await server.answer()
        assert answer is not None
    assert endpoint.asked == AT_ONCE


CALLS: Sequence[tuple[str, dict[str, Any]]] = [
    ("describe_schema", {}),
    ("search_entities", {"query": f"start{HIDDEN[5]}end"}),
    ("bfs_query", {"seeds": [A], "max_hops": 2, "max_tokens": 1_000}),
    ("bfs_query", {"seeds": [A, ABSENT], "max_hops": 1, "topology_only": True}),
    ("describe_entity", {"id": A}),
    ("describe_entities", {"ids": [A, B, ABSENT], "max_tokens": 300}),
    ("intersect_subgraphs", {"seeds": [A, B], "k": 2, "via": True}),
]
WRONG: Sequence[tuple[str, dict[str, Any]]] = [
    (f"tool{IN_LITERALS}", {}),
    ("describe_schema", {f"name{IN_LITERALS}": 1}),
    ("search_entities", {"query": "\u202e\x9b"}),
    ("search_entities", {"query": "start", "node_types": [f"{NAME}?"]}),
    ("bfs_query", {"seeds": [IN_LITERALS], "max_hops": 1}),
    ("bfs_query", {"seeds": [ABSENT], "max_hops": 1}),
    ("bfs_query", {"seeds": [A], "max_hops": IN_LITERALS}),
    ("bfs_query", {"seeds": [A], "max_hops": 1, "exclude_node_types": [f"{NAME}?"]}),
    ("describe_entity", {"id": f"{EXAMPLE}start{IN_IRIS}"}),
]


@pytest.mark.anyio
@pytest.mark.parametrize("explain", [False, True])
async def test_no_text_of_a_tool_has_a_hidden_character_and_its_json_is_what_the_structure_says(
    tmp_path: Path, explain: bool
) -> None:
    profile = Profile(server=ServerSettings(explain=explain))
    async with (
        open_gateway(write_hidden_graph(tmp_path), profile=profile) as gateway,
        Client(await build(gateway)) as client,
    ):
        for tool, arguments in CALLS:
            result = await client.call_tool(tool, {**arguments, **({"explain": True} if explain else {})})
            (content,) = result.content
            assert isinstance(content, TextContent)
            assert hidden_in(content.text) == [], tool
            assert json.loads(content.text) == result.structured_content, tool
            most = arguments.get("max_tokens", 8_000) * 4
            assert len(content.text.encode()) <= most, tool
        for tool, arguments in WRONG:
            result = await client.call_tool(tool, arguments)
            (content,) = result.content
            assert isinstance(content, TextContent)
            assert result.is_error, tool
            assert hidden_in(content.text) == [], tool


PREFIXES = {"x": "https://example.org/x/"}
ONCE_MORE = RequestSettings(retries=1)
"""A further retry would wait longer and show nothing else."""

PATIENT = Profile(prefixes=PREFIXES, endpoint=EndpointSettings(requests=ONCE_MORE))
SECRETIVE = Profile(
    prefixes=PREFIXES,
    endpoint=EndpointSettings(
        requests=ONCE_MORE,
        access=AccessSettings(user="someone", password="env:TEST_BAD_ENDPOINTS"),  # noqa: S106 - a reference
    ),
)
HASTY = Profile(prefixes=PREFIXES, limits=LimitSettings(deadline_seconds=0.5, schema_seconds=0.2))
ROWS = b'{"head":{"vars":["s","p","o"]},"results":{"bindings":[{"s":{"type":"uri","value":"https://example.org/x/a"}'


async def hanging(_: web.BaseRequest) -> web.StreamResponse:
    await asyncio.Event().wait()
    raise AssertionError("unreachable")


async def text_for(url: str, profile: Profile = PATIENT) -> str:
    """Ask for a traversal through a gateway to this endpoint, and return the error that a model reads."""
    async with (
        asyncio.timeout(60),
        open_gateway(endpoint=url, profile=profile) as gateway,
        Client(await build(gateway)) as client,
    ):
        result = await client.call_tool("bfs_query", {"seeds": ["x:a"], "max_hops": 1})
    assert result.is_error
    text: str = result.content[0].text  # type: ignore[union-attr]  # errors are text
    return text


@pytest.mark.parametrize(
    ("handler", "said"),
    [
        (answering(b"<html>Welcome</html>", content_type="text/html"), "not with SPARQL JSON"),
        (answering(b"hello", content_type="text/plain"), "not with SPARQL JSON"),
        (answering(b'{"hello": "world"}'), "no whole SPARQL JSON"),
        (answering(ROWS), "no whole SPARQL JSON"),
        (
            sending(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/sparql-results+json\r\nContent-Length: 999\r\n\r\n"
                + ROWS
            ),
            "broke off",
        ),
        (answering(status=404), "no SPARQL query endpoint"),
        (answering(status=405), "takes no queries"),
        (answering(status=500), "status 500"),
        (answering(status=503), "overloaded"),
        (answering(status=429), "throttling"),
        (answering(status=301), "redirects"),
        (answering(status=401), "credentials"),
    ],
)
async def test_an_endpoint_that_is_no_use_is_an_error_that_says_so(
    handler: Handler, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_BAD_ENDPOINTS", "secret")
    async with fake_endpoint(handler) as endpoint:
        text = await text_for(endpoint.url, SECRETIVE)
    assert said in text
    for leaked in ("127.0.0.1", "secret", "someone", "Welcome", "Traceback", "aiohttp"):
        assert leaked not in text


@pytest.mark.slow
async def test_an_endpoint_that_hangs_is_an_error_at_the_deadline() -> None:
    async with fake_endpoint(hanging) as endpoint:
        text = await text_for(endpoint.url, HASTY)
    assert "time of this call is used up, and the endpoint has not answered anything so far" in text
    assert "fewer seeds" not in text


async def test_an_endpoint_that_is_not_there_is_an_error_that_says_so() -> None:
    text = await text_for(f"http://127.0.0.1:{free_port()}/sparql")
    assert "could not be reached: the connection was refused" in text
    assert "127.0.0.1" not in text


async def test_the_log_names_the_endpoint_that_is_not_there_without_its_query(
    caplog: pytest.LogCaptureFixture,
) -> None:
    url = f"http://127.0.0.1:{free_port()}/sparql"
    await text_for(f"{url}?of=private")
    assert f"no answer from the endpoint {url}: The endpoint could not be reached" in caplog.text
    assert "private" not in caplog.text


async def test_an_id_that_only_the_engine_refuses_leaves_the_others_answered() -> None:
    refused = "https://example.org/x/%zz"
    async with open_gateway() as gateway, Client(await build(gateway)) as client:
        result = await client.call_tool("bfs_query", {"seeds": ["drug:warfarin", refused], "max_hops": 1})
        alone = await client.call_tool("bfs_query", {"seeds": [refused], "max_hops": 1})
    answer = result.structured_content or {}
    assert answer["node_count"] == 16
    assert answer["complete"] is False
    (gap,) = answer["incomplete"]
    assert (gap["cause"], [*map(gateway.prefixes.expand, gap["ids"])]) == ("endpoint_failed", [refused])
    assert alone.is_error
    assert "refused" in alone.content[0].text  # type: ignore[union-attr]  # errors are text
