"""A server that holds one graph, which is given to it as a file at its start."""

import http.client
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from pathlib import Path

from tests.columns import Asked, Files
from tests.servers.loaded import check_loaded
from tests.servers.loopback import HOST, ask, free_port, listens_elsewhere
from tests.servers.process import ServerStartError, running

Command = Callable[[Path, int, Path], Sequence[str | Path]]
"""Returns the command that serves a file of N-Triples at a port, with a folder for the server's own files."""


Fill = Callable[[int, Path], None]
"""Lets a server that has started at a port load a file."""


@contextmanager
def serving(
    files: Files, workdir: Path, *, command: Command, path: str, fill: Fill | None = None, deadline_s: float = 60.0
) -> Iterator[Mapping[str, Asked]]:
    """Serve one graph of one file, and give how it is asked for.

    Args:
        files: The graph and its file.
        workdir: A folder for the server's own files and the log.
        command: What starts the server.
        path: The path of the query endpoint, without the first slash.
        fill: What loads the file, where the start does not.
        deadline_s: Within which it answers.

    Raises:
        ServerStartError: The server died at its start, or other machines could reach it.
        LoadError: It lost a part of the file.
    """
    ((graph, (file,)),) = files.items()
    port = free_port()
    endpoint = f"http://{HOST}:{port}/{path}"
    with running(
        command(file.resolve(), port, workdir),
        ready_url=endpoint,
        is_ready=partial(_answers, endpoint, fill is None),
        log=workdir / "server.log",
        cwd=workdir,
        deadline_s=deadline_s,
    ):
        if listens_elsewhere(port):
            raise ServerStartError(f"the server of {graph} listens on more than loopback")
        if fill is not None:
            fill(port, file.resolve())
        check_loaded(graph, [file], endpoint)
        yield {graph: Asked(endpoint)}


def _answers(endpoint: str, is_filled: bool) -> bool:
    """Return whether a query is answered, or with nothing loaded yet, whether anything is."""
    try:
        status = ask(endpoint, "ASK {}", accept="application/sparql-results+json", timeout_s=2).status
    except (OSError, http.client.HTTPException):
        return False
    return status == HTTPStatus.OK or not is_filled
