"""The options about several graphs of the command `serve`."""

import asyncio
import json
import re
import socket
from pathlib import Path

import pytest

import gateway.server.run
from gateway.errors import GatewayError
from gateway.server.gateway_opener import ignore_progress
from gateway.server.graphs.graph_set import GraphSet
from tests.cases import check_each
from tests.cli.conftest import FIXTURES, Run

Served = list[dict[str, object]]


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Served:
    """What each graph says that the server is asked to serve, in place of serving it."""
    calls: Served = []

    async def descriptions(graphs: GraphSet) -> dict[str, object]:
        found: dict[str, object] = {"by": graphs.chosen_by}
        async with graphs:
            for graph in graphs.all:
                try:
                    gateway = await graph.opener.gateway(ignore_progress)
                    schema = await gateway.describe_schema()
                    limits = gateway.profile.limits
                    found[graph.name] = (
                        schema.entity_types_total,
                        limits.deadline_seconds,
                        gateway.profile.server.shape,
                    )
                except GatewayError as error:
                    found[graph.name] = str(error)
        return found

    async def stdio(graphs: GraphSet, _stop: asyncio.Event, **_options: object) -> None:
        calls.append(await descriptions(graphs))

    async def http(graphs: GraphSet, _access: object, _stop: asyncio.Event, **_options: object) -> None:
        calls.append(await descriptions(graphs))

    monkeypatch.setattr(gateway.server.run, "serve_stdio", stdio)
    monkeypatch.setattr(gateway.server.run, "serve_http", http)
    return calls


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "graphs.toml"
    films, medical = (json.dumps(str(FIXTURES / name)) for name in ("films.ttl", "medical.ttl"))
    path.write_text(
        f'[graphs.films]\nabout = "Films."\ngraph = {films}\n[graphs.films.limits]\ndeadline_seconds = 7\n'
        f'[graphs.pills]\nabout = "Pills."\ngraph = {medical}\n'
        '[graphs.gone]\nabout = "Gone."\ngraph = "gone.ttl"\n'
        '[graphs.odd]\nabout = "Odd."\nprofile = "odd.toml"\n',
        encoding="utf-8",
    )
    return path


def test_each_graph_has_its_source_and_its_limits_and_a_wrong_one_stops_no_other(
    run: Run, served: Served, file: Path
) -> None:
    ran = run("serve", "--graphs", file)
    assert ran.status == 0
    assert "Serving 4 graphs (films, pills, gone, odd) over stdio" in ran.err
    (found,) = served
    assert found["films"] == (2, 7.0, "compact")
    assert found["pills"] == (11, 30.0, "compact")
    assert re.search(r"The graph films is ready after \d+\.\d s: An RDF graph of 138 edges", ran.err)
    assert "the graph gone cannot be opened" in ran.err
    assert "gone.ttl" in str(found["gone"])
    assert "There is no profile" in str(found["odd"])


def test_a_graph_is_served_without_what_its_entry_hides(run: Run, served: Served, tmp_path: Path) -> None:
    films = json.dumps(str(FIXTURES / "films.ttl"))
    path = tmp_path / "graphs.toml"
    path.write_text(
        f'[graphs.whole]\nabout = "Films."\ngraph = {films}\n[graphs.part]\nabout = "Films."\ngraph = {films}\n'
        '[graphs.part.hidden]\ntypes = ["https://example.org/films/Person"]\n'
        '[graphs.far]\nabout = "Far."\nendpoint = "http://127.0.0.1:9/sparql"\n'
        '[graphs.far.hidden]\ngraphs = ["https://example.org/films/graph"]\n',
        encoding="utf-8",
    )
    ran = run("serve", "--graphs", path)
    assert ran.status == 0
    (found,) = served
    assert found["whole"] == (2, 30.0, "compact")
    assert found["part"] == (1, 30.0, "compact")
    assert "cannot be hidden of this endpoint" in str(found["far"])
    assert "Person" not in str(found["far"])


def test_databases_are_among_the_graphs_and_a_wrong_address_stops_no_other(
    run: Run, served: Served, tmp_path: Path
) -> None:
    path = tmp_path / "graphs.toml"
    path.write_text(
        '[graphs.tables]\nabout = "Tables."\nendpoint = "postgresql://reader@127.0.0.1:9/graph"\n'
        '[graphs.nodes]\nabout = "Nodes."\nprofile = "nodes.toml"\n'
        '[graphs.odd]\nabout = "Odd."\nprofile = "odd.toml"\n'
        '[graphs.nowhere]\nabout = "Nowhere."\nprofile = "bfsql-postgres"\n'
        '[graphs.file]\nabout = "No file."\ngraph = "neo4j://127.0.0.1:9/neo4j"\n',
        encoding="utf-8",
    )
    (tmp_path / "nodes.toml").write_text('[endpoint]\nurl = "neo4j://127.0.0.1:9/neo4j"\n', encoding="utf-8")
    (tmp_path / "odd.toml").write_text('[endpoint]\nurl = "mysql://127.0.0.1:9/graph"\n', encoding="utf-8")
    ran = run("serve", "--graphs", path)
    assert ran.status == 0
    (found,) = served
    for name in ("tables", "nodes"):
        assert "could not be reached" in str(found[name])
    assert "nor that of a database" in str(found["odd"])
    assert "Nothing says where the graph nowhere is" in str(found["nowhere"])
    assert "The URL of a database was given as a file" in str(found["file"])


def test_http_says_at_which_paths_the_graphs_are(run: Run, served: Served, file: Path) -> None:
    def check(case: tuple[list[str], str, str]) -> None:
        options, chosen_by, place = case
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        ran = run("serve", "--graphs", file, "--http", "--port", str(port), *options)
        assert served[-1]["by"] == chosen_by
        assert f"at {place.replace('URL', f'http://127.0.0.1:{port}/mcp')} (this machine only)" in ran.err

    check_each(
        [
            ([], "both", "URL and URL/NAME"),
            (["--graphs-by", "argument"], "argument", "URL"),
            (["--graphs-by", "path"], "path", "URL/NAME"),
        ],
        check,
    )


def test_one_option_shapes_the_answers_of_all_graphs(run: Run, served: Served, file: Path) -> None:
    run("serve", "--graphs", file, "--shape", "reference")
    assert served[0]["films"] == (2, 7.0, "reference")


WRONG = [
    (["--graph", "x.ttl"], "--graph was given too"),
    (["--endpoint", "http://127.0.0.1:1/"], "--endpoint was given too"),
    (["--profile", "wikidata"], "--profile was given too"),
    (["--prefix", "a=http://example.org/"], "--prefix was given too"),
    (["--user", "me"], "--user was given too"),
    (["--password-file", "p"], "--password-file was given too"),
    (["--graphs-by", "path"], "--graphs-by requires --graphs and --http"),
    (["--graphs-by", "name", "--http"], "'name' is not one of"),
]


def test_options_about_one_graph_are_refused_beside_several(run: Run, served: Served, file: Path) -> None:
    def check(case: tuple[list[str], str]) -> None:
        options, expected = case
        ran = run("serve", "--graphs", file, *options)
        assert ran.status == 2
        assert expected in ran.err

    check_each(WRONG, check)
    assert not served


def test_the_environment_selects_no_graph_beside_several(
    run: Run, served: Served, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BFSQL_GRAPH", "elsewhere.ttl")
    assert run("serve", "--graphs", file).status == 0
    assert set(served[0]) == {"by", "films", "pills", "gone", "odd"}
