"""Coined prefixes at the command line: what one command prints is an argument of the next."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

DATA = "http://data.example.org/resources/"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"


@pytest.fixture
def graph(tmp_path: Path) -> str:
    """Write a graph without prefixes."""
    lines = [
        line
        for number in range(12)
        for line in (
            f"<{DATA}hub> <{DATA}has> <{DATA}n{number}> .",
            f'<{DATA}n{number}> <{LABEL}> "Node {number}" .',
        )
    ]
    (tmp_path / "graph.nt").write_text("\n".join(lines), encoding="utf-8")
    return str(tmp_path / "graph.nt")


def test_an_id_that_one_command_prints_is_an_argument_of_the_next(run: Run, graph: str) -> None:
    found = run("search", "node", "-g", graph).out
    short = next(word for word in found.split() if word.endswith(":n7"))
    name = short.partition(":")[0]
    assert f"{name}: stands for {DATA}" in found
    described = run("describe", short, "-g", graph).out
    assert f"{DATA}n7" in described
    assert f"{name}: stands for {DATA}" in described
    traversal = run("bfs", short, "--hops", "2", "-g", graph).out
    assert f"{name}:n11" in traversal
    assert f"{name}: stands for {DATA}" in traversal


def test_the_store_has_them_where_one_is_given(run: Run, graph: str, tmp_path: Path) -> None:
    store = ["--store", str(tmp_path / "store")]
    answer = json.loads(run("bfs", f"{DATA}hub", "--hops", "1", "-g", graph, *store, "--json").out)
    assert [*answer["prefixes"].values()] == [DATA]
    (name,) = answer["prefixes"]
    stored = [json.loads(path.read_bytes()) for path in (tmp_path / "store").rglob("prefixes.json")]
    assert stored == [answer["prefixes"]]
    assert f"{DATA}n7" in run("describe", f"{name}:n7", "-g", graph, *store).out


def test_a_declared_prefix_leaves_nothing_to_coin(run: Run, graph: str) -> None:
    assert "stands for" not in run("bfs", "r:hub", "--hops", "1", "-g", graph, "--prefix", f"r={DATA}").out
