"""Names of graphs that an engine stores by predicate, so that neighbouring triples show one predicate only."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.api import open_gateway
from gateway.engine.gateway import Gateway
from gateway.settings.endpoint import EndpointSettings
from gateway.settings.profile import OrientationSettings, Profile
from gateway.terms.known_iris import RDF_TYPE, RDFS
from tests.servers.virtuoso import running_virtuoso

pytestmark = [pytest.mark.anyio, pytest.mark.server, pytest.mark.xdist_group("virtuoso")]

X = "https://example.org/x/"
NODES = 9_000
"""Virtuoso sends types and labels first, so that its triples from the 27,000th on are those of the sort key."""


def _graph(names: str) -> str:
    return "\n".join(
        f"""<{X}n{number}> <{RDF_TYPE}> <{X}T> .
<{X}n{number}> <{names}> "Person number {number}" .
<{X}n{number}> <{X}knows> <{X}n{number * 7 % NODES}> .
<{X}n{number}> <{X}tutorial/{"name" if names == f"{RDFS}label" else "key"}> "{"abcdefghij"[number % 10]}" ."""
        for number in range(NODES)
    )


@pytest.fixture(scope="module")
def virtuoso(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a Virtuoso with a graph of labels and one of names by a predicate of its own."""
    folder = tmp_path_factory.mktemp("by-predicate")
    graphs = {"urn:graph:labels": f"{RDFS}label", "urn:graph:own": f"{X}fullName"}
    files: dict[str, list[Path]] = {}
    for graph, names in graphs.items():
        files[graph] = [folder / f"{graph.rpartition(':')[2]}.nt"]
        files[graph][0].write_text(_graph(names))
    (folder / "work").mkdir()
    with running_virtuoso(files, workdir=folder / "work") as server:
        yield server.endpoint


def _opened(endpoint: str, graph: str, *, sampled: bool) -> Gateway:
    orientation = (
        OrientationSettings(glance_triples=100, enumeration_seconds=0)
        if sampled
        else OrientationSettings(patience_seconds=60)
    )
    return open_gateway(
        endpoint=endpoint, profile=Profile(endpoint=EndpointSettings(graphs=(graph,)), orientation=orientation)
    )


@pytest.mark.parametrize("sampled", [False, True])
async def test_a_sort_key_that_the_engine_sends_alone_is_no_name_where_every_node_has_a_label(
    virtuoso: str, *, sampled: bool
) -> None:
    async with _opened(virtuoso, "urn:graph:labels", sampled=sampled) as gateway:
        schema = await gateway.describe_schema()
        entity = await gateway.describe_entity(f"{X}n5")
    assert schema.names == [f"{RDFS}label"]
    assert (entity.model_extra or {})["name"] == "Person number 5"
    assert (entity.model_extra or {})[f"{X}tutorial/name"] == "f"


@pytest.mark.parametrize("sampled", [False, True])
async def test_a_name_predicate_of_the_graphs_own_is_found_behind_predicates_without_literals(
    virtuoso: str, *, sampled: bool
) -> None:
    async with _opened(virtuoso, "urn:graph:own", sampled=sampled) as gateway:
        schema = await gateway.describe_schema()
    assert schema.names == [f"{X}fullName"]
