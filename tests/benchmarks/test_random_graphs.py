from collections import Counter
from pathlib import Path

import pytest

from benchmarks.random_graphs import RandomGraph, node
from gateway.api import open_gateway


def test_a_random_graph_is_the_same_every_time() -> None:
    graph = RandomGraph(50, 400, 3)
    lines = list(graph.triples())
    assert lines == list(graph.triples())
    assert len(lines) == 2 * 50 + 400


def test_a_skewed_graph_has_hubs_and_another_has_none() -> None:
    def largest(skew: int) -> int:
        edges = [line for line in RandomGraph(1_000, 10_000, skew).triples() if "/property/" in line]
        [(_, count)] = Counter(line.split()[0] for line in edges).most_common(1)
        return count

    assert largest(3) > 500
    assert largest(1) < 50


@pytest.mark.anyio
async def test_the_gateway_reads_a_random_graph(tmp_path: Path) -> None:
    file = RandomGraph(20, 60, 1).write(tmp_path / "random.nt")
    async with open_gateway(str(file)) as gateway:
        answer = await gateway.describe_entity(node(7))
    assert "node 7" in str(answer)
