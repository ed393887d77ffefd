"""What an operator sees, put together."""

import asyncio
import subprocess
import sys
from typing import Any

import pytest
from mcp import Client
from mcp.client.client import ConnectMode

from gateway import resources
from gateway.api import open_gateway
from gateway.errors import ConfigurationError
from gateway.server.app import build
from gateway.server.observe.observation import Observation
from gateway.server.observe.watching import WatchedRequest, Watching
from gateway.settings.serving import ObserveSettings


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
