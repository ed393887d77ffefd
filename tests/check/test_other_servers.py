"""The same as `test_servers` for Virtuoso and Blazegraph."""

from pathlib import Path

import pytest

from gateway.settings.endpoint import EndpointSettings
from gateway.settings.profile import Profile
from tests.check.test_servers import GRAPH, LINES, agrees_everywhere, checked, snippet
from tests.servers.blazegraph import running_blazegraph
from tests.servers.unavailable import ServerUnavailable, skip_or_fail
from tests.servers.virtuoso import running_virtuoso

pytestmark = [pytest.mark.anyio, pytest.mark.server]


def written(folder: Path, name: str, lines: list[str]) -> Path:
    path = folder / f"{name}.nt"
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


async def test_virtuoso_with_its_row_cap(tmp_path: Path) -> None:
    graphs = {"urn:check": [written(tmp_path, "graph", GRAPH)], "urn:other": [written(tmp_path, "other", LINES)]}
    try:
        with running_virtuoso(graphs, workdir=tmp_path) as server:
            found = await checked(server.endpoint, Profile(endpoint=EndpointSettings(graphs=("urn:check",))))
            both = await checked(server.endpoint, Profile(endpoint=EndpointSettings(graphs=("urn:check", "urn:other"))))
    except ServerUnavailable as error:
        skip_or_fail(error)
    values = found.values()
    assert str(values.pop("version")).startswith("07.20.")
    # Two of one's own, and those that Virtuoso itself keeps.
    assert int(values.pop("named_graphs")) >= 2
    assert values == {
        "engine": "virtuoso",
        "post": True,
        "get": True,
        "row_cap": 10_000,
        "sentinel": "united",
        "format": "TSV",
        "time_limit": None,
        "deadline": "none is sent",
        "lateral": False,
        "rdf_1_2": False,
        # Its text index is filled by rules that this server was not given.
        "text_search": None,
        "union_default_graph": True,
        "triples": len(GRAPH),
        "blank_nodes": "none",
    }
    assert agrees_everywhere(found.report)
    profile = snippet(found.report)
    assert profile.limits.query_rows == 9_000
    assert profile.endpoint == EndpointSettings(url=found.url, engine="virtuoso", lateral=False, graphs=("urn:check",))
    # A triple that is in both graphs is one.
    assert both.values()["triples"] == len(GRAPH)
    assert agrees_everywhere(both.report)


async def test_blazegraph_with_a_text_index(tmp_path: Path) -> None:
    try:
        with running_blazegraph({"check": [written(tmp_path, "graph", GRAPH)]}, workdir=tmp_path) as server:
            found = await checked(server.endpoint("check"))
    except ServerUnavailable as error:
        skip_or_fail(error)
    assert found.values() == {
        "engine": "blazegraph",
        "version": "2.1.5",
        "post": True,
        "get": True,
        "row_cap": "at least 50001",
        "sentinel": "sorted",
        "format": "JSON",
        "time_limit": None,
        "deadline": "header X-BIGDATA-MAX-QUERY-MILLIS, in milliseconds",
        "lateral": False,
        "rdf_1_2": False,
        "text_search": "bds:search",
        "named_graphs": 0,
        "union_default_graph": None,
        "triples": len(GRAPH),
        "blank_nodes": "none",
    }
    assert agrees_everywhere(found.report)
    assert snippet(found.report).endpoint == EndpointSettings(url=found.url, engine="blazegraph", lateral=False)
