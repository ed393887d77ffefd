"""The harness of graphs at the limits, with a small one."""

from pathlib import Path

import pytest

from benchmarks.parts.pathological import measured
from benchmarks.pathological_graphs import GRAPHS, OTHER, SEED, OddGraph

pytestmark = pytest.mark.anyio

SMALL = OddGraph(lambda: iter([(SEED, "http://odd.example/p", '"a"')]), profile={"types": {"subclass_of": []}})


def test_every_graph_begins_with_triples_and_has_two_seeds() -> None:
    for graph in GRAPHS.values():
        # The long literal is made when its triple is.
        assert len(next(graph.triples())) == 3
        assert len(set(graph.seeds)) == 2


def test_a_graph_is_written_as_n_triples_with_its_seeds(tmp_path: Path) -> None:
    lines = SMALL.write(tmp_path / "graph.nt").read_text(encoding="ascii").splitlines()
    assert lines[0] == f'<{SEED}> <http://odd.example/p> "a" .'
    assert len(lines) == 4
    assert any(f"<{SEED}>" in line and f"<{OTHER}>" in line for line in lines[1:])


@pytest.mark.server
async def test_a_graph_is_asked_by_all_tools_and_its_file_removed(tmp_path: Path) -> None:
    hold, slowest = await measured("small", SMALL, tmp_path)
    assert hold.result is not None
    assert hold.result > 0
    assert "errors" not in hold.note
    assert slowest.verdict == "met"
    assert not (tmp_path / "graph.nt").exists()


@pytest.mark.server
async def test_calls_and_pings_that_are_given_up_are_figures_and_no_exceptions(tmp_path: Path) -> None:
    hold, slowest = await measured("small", SMALL, tmp_path, patience=1e-6)
    assert "pings at most" in hold.note
    assert "errors: describe_schema, search_entities" in hold.note
    assert slowest.result is not None
