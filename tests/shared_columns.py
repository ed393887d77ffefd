"""The engines that all processes of a test run share."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.columns import Column, column_of, files_for
from tests.servers.cache import locked
from tests.servers.engines import Asked, ColumnName, Files, as_files, as_text, shared_server


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


def _files(name: ColumnName, run: Path, files_for: Callable[[ColumnName, Path], Files]) -> Files:
    """Return the files of the graphs as an engine can load them, made once in a run."""
    folder = run / f"files-{name}"
    with locked(run, f"files-{name}"):
        made = folder / "made.json"
        if not made.exists():
            folder.mkdir()
            made.write_text(json.dumps(as_text(files_for(name, folder))), encoding="utf-8")
        return as_files(json.loads(made.read_text(encoding="utf-8")))
