"""The port of operators, as a client of HTTP meets it."""

import pytest
from aiohttp import ClientSession

from gateway.errors import ConfigurationError
from gateway.server.observe.metrics import Metrics
from gateway.server.observe.pages import Pages
from gateway.server.observe.port import operators_port
from tests.servers.loopback import HOST, free_port

pytestmark = pytest.mark.anyio


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
