"""What a model reads when the endpoint behind the gateway is no use, by MCP."""

import asyncio

import pytest
from aiohttp import web
from mcp import Client

from gateway.api import open_gateway
from gateway.server.app import build
from gateway.settings.endpoint import AccessSettings, EndpointSettings, RequestSettings
from gateway.settings.limits import LimitSettings
from gateway.settings.profile import Profile
from tests.servers.loopback import free_port
from tests.transport.fake_endpoint import Handler, answering, fake_endpoint, sending

pytestmark = pytest.mark.anyio

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
    assert (gap["cause"], gap["ids"]) == ("endpoint_failed", [refused])
    assert alone.is_error
    assert "refused" in alone.content[0].text  # type: ignore[union-attr]  # errors are text
