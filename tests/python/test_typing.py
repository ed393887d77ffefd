"""What type checkers know of calls with and without `await`: of this file mypy, of the examples mypy and pyright."""

import json
import re
import subprocess
import sys
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, assert_type

import pytest

from bfsql_gateway import (
    AsyncGateway,
    BfsResult,
    CompactAnswer,
    EntitiesResult,
    Entity,
    IntersectionResult,
    SchemaResult,
    SearchResult,
    Subgraph,
    SyncGateway,
    ToolAnswer,
    open_gateway,
)

pytestmark = pytest.mark.anyio


def test_answers_of_calls_that_wait_have_their_types() -> None:
    with open_gateway() as graph:
        assert_type(graph, SyncGateway)
        assert_type(graph.describe_schema(all=True), SchemaResult)
        assert_type(graph.search_entities("warfarin", limit=3), SearchResult)
        assert_type(graph.bfs_query(["drug:warfarin"], max_hops=1, node_types=["Drug"]), BfsResult)
        told: list[str] = []
        seen = graph.bfs_query(["drug:warfarin"], 1, progress=lambda done, total, _: told.append(f"{done}/{total}"))
        assert_type(seen, BfsResult)
        assert_type(graph.describe_entity("drug:warfarin"), Entity)
        assert_type(graph.describe_entities(["drug:warfarin"]), EntitiesResult)
        assert_type(graph.intersect_subgraphs(["drug:warfarin", "drug:aspirin"], k=1), IntersectionResult)
        assert_type(graph.bfs_subgraph(["drug:warfarin"], 1), Subgraph)
        assert_type(graph.call("describe_schema", {}), ToolAnswer)
        assert_type(graph.call("describe_schema", {}, shape="compact"), ToolAnswer | CompactAnswer)
        for page in graph.search_pages(node_types=["Drug"], limit=50):
            assert_type(page, SearchResult)


async def test_answers_of_calls_that_are_awaited_have_their_types() -> None:
    async with open_gateway() as graph:
        assert_type(graph, AsyncGateway)
        call: Coroutine[Any, Any, SchemaResult] = graph.describe_schema()
        assert_type(await call, SchemaResult)
        assert_type(await graph.search_entities("warfarin"), SearchResult)
        async for page in graph.search_pages(node_types=["Drug"], limit=50):
            assert_type(page, SearchResult)


async def test_wrong_arguments_are_found_by_type_checkers_and_when_they_are_run() -> None:
    with open_gateway() as graph:
        with pytest.raises(TypeError):
            graph.bfs_query()  # type: ignore[call-arg]
        with pytest.raises(AttributeError):
            graph.bfs_query(["drug:warfarin"], 1).to_networkx()  # type: ignore[attr-defined]
    async with open_gateway() as awaited:
        with pytest.raises(TypeError):
            await awaited.bfs_query()  # type: ignore[call-arg]
        with pytest.raises(AttributeError):
            awaited.describe_schema().complete  # type: ignore[attr-defined]  # noqa: B018 - an error by itself


ROOT = Path(__file__).resolve().parents[2]


def examples() -> Iterator[tuple[str, str]]:
    """Yield the examples of the page and the notebooks, by names of modules."""
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    for number, match in enumerate(re.finditer(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)):
        yield f"example_{number}", match[1]
    for path in (ROOT / "docs" / "notebooks").glob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        yield f"notebook_{path.stem}", "\n".join("".join(one["source"]) for one in cells if one["cell_type"] == "code")


CHECKERS = {
    "mypy": ["-m", "mypy", "--strict", "."],
    "pyright": ["-m", "basedpyright", "--pythonpath", sys.executable, "--level", "error", "."],
}


@pytest.mark.process
@pytest.mark.parametrize("checker", CHECKERS)
def test_the_examples_have_no_error_of_types(checker: str, tmp_path: Path) -> None:
    for name, code in examples():
        (tmp_path / f"{name}.py").write_text(code, encoding="utf-8")
    wrong = "from bfsql_gateway import open_gateway\n\nwith open_gateway() as graph:\n    graph.bfs_query([], '2')\n"
    (tmp_path / "wrong.py").write_text(wrong, encoding="utf-8")
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, *CHECKERS[checker]], cwd=tmp_path, capture_output=True, text=True, timeout=280, check=False
    )
    # That of a wrong argument shows that the others were looked at.
    errors = [line for line in done.stdout.splitlines() if re.search(r":\d+:.* error: ", line) or "error:" in line]
    assert len(errors) == 1, done.stdout
    assert "wrong.py:4" in errors[0]
