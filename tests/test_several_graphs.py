"""A triple that stands in several named graphs is one edge, and counts as one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.api import open_gateway
from gateway.settings.endpoint import EndpointSettings
from gateway.settings.limits import LimitSettings, SizeSettings
from gateway.settings.profile import Profile
from tests.servers.oxigraph import running_oxigraph
from tests.servers.unavailable import ServerUnavailable, skip_or_fail

pytestmark = [pytest.mark.anyio, pytest.mark.server]

E = "http://example.org/"
EDGES = 12
ROOM = SizeSettings(max_tokens=10_000_000, ceiling_tokens=10_000_000)


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a seed, a hub and its leaves, every triple in three named graphs."""
    folder = tmp_path_factory.mktemp("several")
    triples = [f"<{E}seed> <{E}p> <{E}hub>", *(f"<{E}hub> <{E}p> <{E}leaf{n}>" for n in range(EDGES - 1))]
    file = Path(folder, "several.nq")
    file.write_text("".join(f"{triple} <{E}g{n}> .\n" for triple in triples for n in range(3)), encoding="utf-8")
    try:
        with running_oxigraph([file], workdir=folder) as server:
            yield server.endpoint
    except ServerUnavailable as error:
        skip_or_fail(error)


def profile(**limits: int) -> Profile:
    graphs = tuple(f"{E}g{n}" for n in range(3))
    return Profile(endpoint=EndpointSettings(graphs=graphs), size=ROOM, limits=LimitSettings.model_validate(limits))


@pytest.mark.parametrize(("max_degree", "complete"), [(EDGES, True), (EDGES - 1, False)])
async def test_the_hub_rule_counts_edges_and_not_their_copies(endpoint: str, max_degree: int, complete: bool) -> None:
    async with open_gateway(endpoint=endpoint, profile=profile()) as gateway:
        answer = await gateway.bfs_query([f"{E}seed"], 2, topology_only=True, max_degree=max_degree)
    assert answer.complete == complete
    if not complete:
        (gap,) = answer.incomplete or []
        assert gap.detail.endswith(f"has {EDGES}")


async def test_a_node_that_is_read_in_pages_adds_up(endpoint: str) -> None:
    async with open_gateway(endpoint=endpoint, profile=profile(query_rows=10)) as gateway:
        answer = await gateway.bfs_query([f"{E}hub"], 1, topology_only=True)
    assert answer.complete
    assert answer.edge_count == EDGES


async def test_a_node_shows_as_many_distinct_edges_as_it_may(endpoint: str) -> None:
    async with open_gateway(endpoint=endpoint, profile=profile()) as gateway:
        answer = await gateway.bfs_query([f"{E}hub"], 1, topology_only=True, max_edges_per_node=5)
    assert answer.edge_count == 5
