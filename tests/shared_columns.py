"""The engines that all processes of a test run share; `python -m tests.shared_columns` is the keeper of one server."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path

from tests.columns import Asked, Column, ColumnName, Files, column_of, files_for, started
from tests.servers.cache import locked
from tests.servers.shared import keep, shared


@contextmanager
def shared_column(
    name: ColumnName, run: Path, files_for: Callable[[ColumnName, Path], Files] = files_for
) -> Iterator[Column]:
    """Use an engine with graphs, by default with every large one and the fixtures.

    Args:
        name: The engine.
        run: A folder of the test run, another one for other graphs.
        files_for: Writes the graphs of an engine into a folder.
    """
    with ExitStack() as servers:

        def start(files: Files) -> dict[str, Asked]:
            folder = run / (name if len(files) > 1 else f"{name}-{next(iter(files))}")
            return servers.enter_context(shared_server(name, folder, files))

        yield column_of(name, _files(name, run, files_for), start)


@contextmanager
def shared_server(
    name: ColumnName, folder: Path, files: Files, *, text_index: bool = False
) -> Iterator[dict[str, Asked]]:
    """Use a server with graphs, and give how each is asked for there.

    Args:
        name: The engine.
        folder: Of the server, the same for all processes that share it.
        files: The files of each graph; those of the process that asks first are loaded.
        text_index: Whether Virtuoso has a text index; Fuseki and Blazegraph always have.
    """
    request = json.dumps({"name": name, "files": _as_text(files), "text_index": text_index})
    with shared(folder, [sys.executable, "-m", __name__, request]) as said:
        yield {graph: Asked(**{**asked, "graphs": tuple(asked["graphs"])}) for graph, asked in said.items()}


def _files(name: ColumnName, run: Path, files_for: Callable[[ColumnName, Path], Files]) -> Files:
    """Return the files of the graphs as an engine can load them, made once in a run."""
    folder = run / f"files-{name}"
    with locked(run, f"files-{name}"):
        made = folder / "made.json"
        if not made.exists():
            folder.mkdir()
            made.write_text(json.dumps(_as_text(files_for(name, folder))), encoding="utf-8")
        return _as_files(json.loads(made.read_text(encoding="utf-8")))


def _as_text(files: Files) -> dict[str, list[str]]:
    return {graph: [*map(str, paths)] for graph, paths in files.items()}


def _as_files(texts: Mapping[str, Sequence[str]]) -> Files:
    return {graph: [*map(Path, paths)] for graph, paths in texts.items()}


@contextmanager
def _server(
    folder: Path, name: ColumnName, files: Mapping[str, Sequence[str]], *, text_index: bool
) -> Iterator[object]:
    with started(name, _as_files(files), folder, text_index=text_index) as asked:
        yield {graph: asdict(one) for graph, one in asked.items()}


if __name__ == "__main__":
    place = Path(sys.argv[2])
    keep(place, _server(place, **json.loads(sys.argv[1])))
