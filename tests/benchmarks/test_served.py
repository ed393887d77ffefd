import json
from pathlib import Path

import pytest
from mcp import Client

from benchmarks.contenders.trivial_server import NAME
from benchmarks.latencies import Latencies
from benchmarks.parts.fairness import mixed
from benchmarks.random_graphs import HUBS
from benchmarks.served import served

pytestmark = [pytest.mark.anyio, pytest.mark.server]


async def test_a_timed_server_answers_and_tells_how_long_its_loop_was_held(tmp_path: Path) -> None:
    graph = HUBS.write(tmp_path / "hubs.nt")
    async with served("benchmarks.timed_server", "--graph", str(graph)) as server:
        met = await mixed(server, 1, 0.1)
        assert len(met.light.seconds) >= 4
        assert len(met.heavy.seconds) >= 1
        assert met.errors == 0
        holds = await server.holds()
        assert holds.passes > 10
        assert 0 < holds.longest <= holds.total
        assert (await server.holds()).passes < holds.passes
        assert server.cpu_seconds() > 0
        assert server.resident_bytes() > 1_000_000


@pytest.mark.parametrize("how", [(), ("--low-level",)])
async def test_a_trivial_server_returns_its_answer(tmp_path: Path, how: tuple[str, ...]) -> None:
    file = tmp_path / "answer.json"
    file.write_text(json.dumps({"nodes": {"a": 1}}), encoding="utf-8")
    async with (
        served("benchmarks.contenders.trivial_server", str(file), *how) as server,
        Client(server.url, mode="legacy") as client,
    ):
        latencies = Latencies()
        with latencies.timed():
            answer = await client.call_tool(NAME, {"question": ""})
        assert answer.structured_content == {"nodes": {"a": 1}}
        assert len(latencies.seconds) == 1


async def test_a_server_that_does_not_start_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="ended with code"):
        async with served("benchmarks.no_such_module"):
            pass
