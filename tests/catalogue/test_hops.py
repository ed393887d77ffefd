"""One hop by the rules of each profile, over a small graph in the shape of its endpoint's."""

from pathlib import Path

import pytest

from gateway.api import open_gateway
from gateway.settings.load import built_in, load_profile
from tests.catalogue.shapes import SHAPES, turtle_of

pytestmark = pytest.mark.anyio


def test_each_public_endpoint_but_those_of_wikidata_has_a_graph_in_its_shape() -> None:
    public = {name for name in built_in() if load_profile(name).endpoint.url}
    assert {name for name in public if not name.startswith("wikidata")} == set(SHAPES)


@pytest.mark.parametrize("name", SHAPES)
async def test_one_hop_reaches_what_the_profile_calls_neighbours(name: str, tmp_path: Path) -> None:
    shape, profile = SHAPES[name], load_profile(name)
    graph = tmp_path / "graph.ttl"
    graph.write_text(turtle_of(shape, profile.prefixes), encoding="utf-8")
    async with open_gateway(graph, profile=profile) as gateway:
        found = await gateway.search_entities(shape.name)
        hop = await gateway.bfs_query([found.result[0].id], 1, topology_only=True)
    assert found.result[0].id == shape.seed
    assert {node.id for node in hop.nodes} == {shape.seed, *shape.neighbours}
