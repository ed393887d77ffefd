"""`--all` prints a traversal whole, page after page."""

import json
from pathlib import Path

import pytest

from gateway.answers.models import BfsResult
from gateway.cli import subgraph
from tests.cli.conftest import FIXTURES, Run
from tests.cli.test_render import shown
from tests.cli.test_subgraph import answer, star
from tests.cli.test_tsv import TITLES, rows

FILMS = ["bfs", "film:Blade_Runner", "-g", str(FIXTURES / "films.ttl"), "--hops", "3"]


@pytest.mark.slow
@pytest.mark.parametrize("size", [499, 500, 1_200])
def test_all_nodes_and_edges_of_many_pages_are_there_once(run: Run, tmp_path: Path, size: int) -> None:
    graph = star(tmp_path, size)
    ran = run("bfs", "x:a", "-g", graph, "--all", "--tsv")
    titles, *found = rows(ran.out)
    assert titles == TITLES["bfs"]
    assert sorted(row[2] for row in found) == sorted(f"x:n{number}" for number in range(size))
    assert ran.err.startswith(f"1 hop around x:a: {size + 1:,} nodes, {size:,} edges, complete.")
    text = run("bfs", "x:a", "-g", graph, "--all").out
    assert sum(f"x:n{number}  Node {number}  " in text for number in range(size)) == size
    assert text.count("1 hop around") == 1
    assert "Next page" not in text


def test_columns_of_all_pages_are_the_edges_of_the_export(run: Run, tmp_path: Path) -> None:
    _, *found = rows(run(*FILMS, "--all", "--tsv").out)
    run(*FILMS, "--out", tmp_path / "films.csv")
    _, *exported = (tmp_path / "films.csv").read_text().splitlines()
    assert len(found) == len(exported)
    assert {row[0] for row in found} == {line.split(",")[0] for line in exported}


@pytest.mark.parametrize("more", [["--json"], ["--explain"], ["--limit", "5"], ["--offset", "5"]])
def test_what_is_about_one_page_does_not_go_with_all(run: Run, more: list[str]) -> None:
    ran = run("bfs", "drug:warfarin", "--all", *more)
    assert ran.status == 2
    assert json.dumps(ran.err).count("error: ") == 1


@pytest.mark.parametrize("incomplete", [0, 1])
def test_all_of_it_is_complete_only_if_every_page_is(incomplete: int) -> None:
    notes = subgraph.WholeNotes()
    for place in range(2):
        page = answer("a p b", [1, 1]) | {"complete": place != incomplete, "warnings": [f"Of page {place}."]}
        notes.add(BfsResult.model_validate(page))
    text = shown(notes.shown())
    assert "not complete." in text
    assert "Of page 0." in text
    assert "Of page 1." in text
