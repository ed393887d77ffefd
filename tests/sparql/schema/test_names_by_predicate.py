"""Names of graphs that an engine stores by predicate, so that neighbouring triples show one predicate only."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from gateway.api import open_gateway
from gateway.settings.endpoint import EndpointSettings
from gateway.settings.limits import OrientationSettings
from gateway.settings.profile import Profile
from gateway.terms.iri import RDF_TYPE, RDFS
from gateway.tools.gateway import Gateway
from tests.columns import Asked
from tests.servers.unavailable import ServerUnavailable, skip_or_fail
from tests.shared_columns import shared_server
from tests.small import X

pytestmark = [pytest.mark.anyio, pytest.mark.server]

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
def virtuoso(tmp_path_factory: pytest.TempPathFactory, run_folder: Path) -> Iterator[Mapping[str, Asked]]:
    """Return how a graph of labels and one of names by a predicate of its own are asked for at Virtuoso."""
    folder = tmp_path_factory.mktemp("by-predicate")
    files: dict[str, list[Path]] = {}
    for graph, names in {"labels": f"{RDFS}label", "own": f"{X}fullName"}.items():
        files[graph] = [folder / f"{graph}.nt"]
        files[graph][0].write_text(_graph(names))
    try:
        with shared_server("virtuoso", run_folder / "virtuoso-by-predicate", files) as graphs:
            yield graphs
    except ServerUnavailable as error:
        skip_or_fail(error)


def _opened(asked: Asked, *, sampled: bool) -> Gateway:
    orientation = (
        OrientationSettings(glance_triples=100, enumeration_seconds=0)
        if sampled
        else OrientationSettings(patience_seconds=60)
    )
    profile = Profile(endpoint=EndpointSettings(graphs=asked.graphs), orientation=orientation)
    return open_gateway(endpoint=asked.endpoint, profile=profile)


@pytest.mark.parametrize("sampled", [False, True])
async def test_a_sort_key_that_the_engine_sends_alone_is_no_name_where_every_node_has_a_label(
    virtuoso: Mapping[str, Asked], *, sampled: bool
) -> None:
    async with _opened(virtuoso["labels"], sampled=sampled) as gateway:
        schema = await gateway.describe_schema()
        entity = await gateway.describe_entity(f"{X}n5")
    assert schema.names == [f"{RDFS}label"]
    assert (entity.model_extra or {})["name"] == "Person number 5"
    assert (entity.model_extra or {})[f"{X}tutorial/name"] == "f"


@pytest.mark.parametrize("sampled", [False, True])
async def test_a_name_predicate_of_the_graphs_own_is_found_behind_predicates_without_literals(
    virtuoso: Mapping[str, Asked], *, sampled: bool
) -> None:
    async with _opened(virtuoso["own"], sampled=sampled) as gateway:
        schema = await gateway.describe_schema()
    assert [*map(gateway.prefixes.expand, schema.names or ())] == [f"{X}fullName"]
