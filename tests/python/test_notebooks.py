"""The example notebooks run as a notebook runs them: cell by cell, beside a running loop, and show their last lines."""

import ast
import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bfsql_gateway import SyncGateway
from gateway.answers.models import Result
from tests.servers.oxigraph import running_oxigraph

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def cells(path: Path) -> Iterator[str]:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            # What a cell showed somewhere else is no part of an example.
            assert (cell["outputs"], cell["execution_count"]) == ([], None)
            yield "".join(cell["source"])


def run(code: str, names: dict[str, Any]) -> object:
    """Run a cell, and return what a notebook would show of its last line."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)  # noqa: S102 - our own examples
    if not isinstance(last, ast.Expr):
        return None
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307 - our own examples


async def shown(path: Path) -> tuple[list[object], dict[str, Any]]:
    names: dict[str, Any] = {}
    return [run(code, names) for code in cells(path)], names


@pytest.mark.server
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_each_notebook_runs_and_shows_complete_answers(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with running_oxigraph([ROOT / "fixtures" / "films.ttl"], workdir=tmp_path) as server:
        monkeypatch.setenv("BFSQL_EXAMPLE_ENDPOINT", server.endpoint)
        values, names = asyncio.run(shown(path))
    answers = [value for value in values if isinstance(value, Result)]
    assert len(answers) >= 2
    for answer in answers:
        assert getattr(answer, "complete", None) is True, answer
        assert "</div>" in answer._repr_html_()
    assert isinstance(names["graph"], SyncGateway)
    if path.stem == "endpoint":
        printed = capsys.readouterr().out
        assert "hop 2 of 2" in printed
        assert "film:Nobody" in printed


def test_there_is_a_notebook_for_each_kind_of_user_and_the_page_names_it() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["endpoint", "file", "values", "wikidata"]
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    assert all(f"(notebooks/{path.name})" in page for path in NOTEBOOKS)
